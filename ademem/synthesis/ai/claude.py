"""Asking `claude -p`: without hooks, tools, servers, notes or a trace of the conversation."""

from __future__ import annotations

import json
import os
import shutil
from contextlib import suppress

from ademem.core.client import config_dir
from ademem.core.json_text import loads
from ademem.store.ai_calls import Price
from ademem.synthesis.ai.program import run
from ademem.synthesis.ai.reply import ANSWER_BYTES, RULES, Reply, failed, number

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from ademem.synthesis.ai.program import Ran
    from ademem.synthesis.ai.reply import Question

MODEL = "haiku"
"""Small, and an alias that every account has."""
MAX_USD = "0.50"
"""The client ends a conversation that costs more."""
UNBOUND = ("/bin/sh", "-c", 'ulimit -S -d "$(ulimit -H -d)" 2>&-; exec "$@"', "sh")
"""Runs what follows without the bound that a worker sets to its own memory."""
OF_THE_CALLER = (
    "CLAUDECODE",
    "CLAUDE_CODE_ENTRYPOINT",
    "CLAUDE_CODE_SESSION_ID",
    "CLAUDE_CODE_CHILD_SESSION",
    "CLAUDE_CODE_SSE_PORT",
    "CLAUDE_EFFORT",
    "CLAUDE_ENV_FILE",
    "CLAUDE_PROJECT_DIR",
    "ADEMEM_AI_KEY",
)
"""What a session tells its children; a client that hears it takes itself for a part of it."""


NOT_THERE = "no program `claude` on PATH"


def problem(question: Question) -> str:
    """Why this cannot be asked; empty: it can."""
    return "" if _program(question.environment) else NOT_THERE


def ask(question: Question) -> Reply:
    program = _program(question.environment)
    if program is None:
        return failed(NOT_THERE)
    try:
        ran = run(
            [*UNBOUND, program, *_options(question)],
            question.prompt,
            environment=_environment(question.environment),
            timeout_s=question.timeout_s,
            max_bytes=ANSWER_BYTES,
        )
    except OSError as error:
        return failed(f"`claude` cannot be started: {error.strerror}")
    return _read(ran)


def _program(environment: Mapping[str, str]) -> str | None:
    """On PATH, or where the client's own installers put it for whom a shell alias finds it."""
    places = (
        environment.get("PATH", ""),
        os.path.join(config_dir(environment), "local"),
        os.path.join(environment.get("HOME", "/"), ".local", "bin"),
    )
    return shutil.which("claude", path=os.pathsep.join(filter(None, places)))


def _options(question: Question) -> list[str]:
    schema = json.dumps(question.schema)
    settings = json.dumps({"disableAllHooks": True, "autoMemoryEnabled": False})
    return [
        "-p",
        *("--output-format", "json"),
        *("--model", question.model or MODEL),
        *("--json-schema", schema),
        *("--system-prompt", RULES + schema),
        *("--settings", settings),
        *("--setting-sources", "user"),  # whose account it is stands there
        *("--tools", ""),
        *("--max-budget-usd", MAX_USD),
        "--safe-mode",
        "--strict-mcp-config",
        "--disable-slash-commands",
        "--no-session-persistence",
    ]


def _environment(given: Mapping[str, str]) -> dict[str, str]:
    """With the marks that keep its hooks silent, should any run, and `ademem` from asking again."""
    kept = {name: value for name, value in given.items() if name not in OF_THE_CALLER}
    return kept | {"ADEMEM_DISABLE": "1", "ADEMEM_ASKED": "1"}


def _read(ran: Ran) -> Reply:
    if ran.stopped == "timeout":
        return failed("it took too long", "timeout")
    if ran.stopped:
        return failed(f"it said more than {ANSWER_BYTES:,} bytes")
    said: Any = None
    with suppress(ValueError, RecursionError):
        said = loads(ran.output.decode("utf-8", "replace"))
    if not isinstance(said, dict):
        complaint = (ran.complaints or ran.output).decode("utf-8", "replace")
        return failed(f"exit code {ran.exit_code}: {' '.join(complaint.split())}")
    result = said.get("result")
    text = result if isinstance(result, str) else ""
    if ran.exit_code or said.get("is_error") or said.get("subtype") != "success":
        return Reply(outcome="failed", error=text or str(said.get("subtype")), price=_price(said))
    refused = said.get("stop_reason") == "refusal"
    return Reply(
        outcome="refused" if refused else "ok",
        text=text,
        value=said.get("structured_output"),
        price=_price(said),
    )


def _price(said: dict[str, Any]) -> Price:
    models = said.get("modelUsage")
    cost = said.get("total_cost_usd")
    return Price(
        model=" ".join(models) if isinstance(models, dict) else "",
        tokens_in=sum(
            int(number(said, "usage", f"{kind}input_tokens"))
            for kind in ("", "cache_creation_", "cache_read_")
        ),
        tokens_out=int(number(said, "usage", "output_tokens")),
        cost_usd=number(said, "total_cost_usd") if cost is not None else None,
    )
