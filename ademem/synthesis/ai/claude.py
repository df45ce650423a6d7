"""Ask `claude -p`: without hooks, tools, servers, memory files or a stored conversation."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import IO, Any

from ademem.core.client import config_dir
from ademem.core.json_text import loads
from ademem.core.process import Finished
from ademem.store.maintenance import Price
from ademem.synthesis.ai import ANSWER_BYTES, RULES, Question, Reply, number

MODEL = "haiku"
"""A small model, by an alias that every account has."""
UNBOUND = ("/bin/sh", "-c", 'ulimit -S -d "$(ulimit -H -d)" 2>&-; exec "$@"', "sh")
"""Runs a command without the memory limit that a worker sets for itself."""
SESSION_VARIABLES = frozenset(
    "CLAUDECODE CLAUDE_CODE_ENTRYPOINT CLAUDE_CODE_SESSION_ID CLAUDE_CODE_CHILD_SESSION"
    " CLAUDE_CODE_SESSION_ATTENDED CLAUDE_CODE_CHILD_NOTES_DIR CLAUDE_PID AI_AGENT"
    " CLAUDE_CODE_SSE_PORT CLAUDE_EFFORT CLAUDE_ENV_FILE CLAUDE_PROJECT_DIR ADEMEM_AI_KEY".split()
)
"""Variables a session sets for its children; with them the client joins that session."""
NOT_INSTALLED = "no program `claude` on PATH"
POLL_S = 0.05
ERROR_BYTES = 4_000
MAX_ERROR_BYTES = 64_000_000


def problem(question: Question) -> str:
    return "" if _find_program(question.environment) else NOT_INSTALLED


def ask(question: Question) -> Reply:
    program = _find_program(question.environment)
    if program is None:
        return Reply(error=NOT_INSTALLED)
    schema = json.dumps(question.schema)
    options = [
        "-p",
        *("--output-format", "json"),
        *("--model", question.settings.model or MODEL),
        *question.options,
        *("--json-schema", schema),
        *("--system-prompt", question.system or RULES + schema),
        *("--settings", json.dumps({"disableAllHooks": True, "autoMemoryEnabled": False})),
        *("--tools", ""),
        *("--max-budget-usd", question.max_usd),
        "--safe-mode",
        "--strict-mcp-config",
        "--disable-slash-commands",
        "--no-session-persistence",
    ]
    inherited = {
        name: value for name, value in question.environment.items() if name not in SESSION_VARIABLES
    }
    try:
        ran = _run(
            [*UNBOUND, program, *options],
            question.prompt,
            inherited | {"ADEMEM_DISABLE": "1", "ADEMEM_ASKED": "1"},
            question.settings.timeout_s,
        )
    except TimeoutError:
        return Reply(outcome="timeout", error="it took too long")
    except OSError as error:
        return Reply(error=f"`claude` cannot be started: {error.strerror}")
    return _parse(ran)


def _find_program(environment: Mapping[str, str]) -> str | None:
    """Look on PATH, and where the client's installers put it behind a shell alias."""
    folders = (
        environment.get("PATH", ""),
        os.path.join(config_dir(environment), "local"),
        os.path.join(environment.get("HOME", "/"), ".local", "bin"),
    )
    return shutil.which("claude", path=os.pathsep.join(filter(None, folders)))


def _parse(ran: Finished | None) -> Reply:
    if ran is None:
        return Reply(error=f"its answer is longer than {ANSWER_BYTES:,} bytes")
    answer: Any = None
    with suppress(ValueError, RecursionError):
        answer = loads(ran.text)
    if not isinstance(answer, dict):
        error = (ran.errors or ran.output).decode("utf-8", "replace")
        return Reply(error=f"exit code {ran.code}: {' '.join(error.split())}")
    result = answer.get("result")
    text = result if isinstance(result, str) else ""
    price = _price_of(answer)
    if ran.code or answer.get("is_error") or answer.get("subtype") != "success":
        return Reply(error=text or str(answer.get("subtype")), price=price)
    refused = answer.get("stop_reason") == "refusal"
    return Reply(
        outcome="refused" if refused else "ok",
        text=text,
        value=answer.get("structured_output"),
        price=price,
    )


def _price_of(answer: dict[str, Any]) -> Price:
    models = answer.get("modelUsage")
    has_cost = answer.get("total_cost_usd") is not None
    return Price(
        model=" ".join(models) if isinstance(models, dict) else "",
        tokens_in=sum(
            int(number(answer, "usage", f"{kind}input_tokens"))
            for kind in ("", "cache_creation_", "cache_read_")
        ),
        tokens_out=int(number(answer, "usage", "output_tokens")),
        cost_usd=number(answer, "total_cost_usd") if has_cost else None,
    )


def _run(
    command: Sequence[str], text: str, environment: Mapping[str, str], timeout_s: float
) -> Finished | None:
    """Run *command* in an empty folder with *text* as its input; none of its children outlives it.

    The streams are files: a child that holds them open delays nothing. None for too long an output.
    Raises TimeoutError, and OSError when it cannot be started.
    """
    with (
        tempfile.TemporaryDirectory(prefix="ademem-") as folder,
        tempfile.TemporaryFile() as given,
        tempfile.TemporaryFile() as output,
        tempfile.TemporaryFile() as errors,
    ):
        given.write(text.encode("utf-8", "replace"))
        given.seek(0)
        process = subprocess.Popen(
            command,
            stdin=given,
            stdout=output,
            stderr=errors,
            cwd=folder,
            env=environment,
            start_new_session=True,  # so that its whole process group can be ended
        )
        deadline = time.monotonic() + timeout_s
        try:
            while process.poll() is None:
                time.sleep(POLL_S)
                if _size(output) > ANSWER_BYTES or _size(errors) > MAX_ERROR_BYTES:
                    return None
                if time.monotonic() > deadline:
                    raise TimeoutError
        finally:
            with suppress(ProcessLookupError, PermissionError):  # macOS: an empty group
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        if _size(output) > ANSWER_BYTES:
            return None
        output.seek(0)
        errors.seek(max(0, _size(errors) - ERROR_BYTES))
        return Finished(
            code=process.returncode,
            output=output.read(ANSWER_BYTES),
            errors=errors.read(ERROR_BYTES),
        )


def _size(file: IO[bytes]) -> int:
    return os.fstat(file.fileno()).st_size
