"""Two sessions, the worker and a doctor in a clone, with the hooks that a person has registered."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ademem.operations.install.registration import EVENTS
from tests import command_line
from tests.examples import FULL
from tests.hostile.clones import Clone, Victim
from tests.session.payloads import NAMES, understood

TIMEOUT_S = {name: each.timeout for each in EVENTS for name in (each.hook, each.started_as)}
ENDS_WITHIN_S = 60
"""Longest that one process may run before it is killed and counts as failed."""
MOST_MEMORY = 2 << 30
MOST_MIB = 190
"""Peak of resident memory of a hook and of the worker: 200 MB."""
MEASURED = Path(__file__).with_name("measured.py")
SESSION = (
    ("session_start", {"source": "startup"}),
    ("user_prompt_submit", {"prompt": "How are invoices rounded in billing? Fix src/auth.py then"}),
    (
        "pre_tool_use",
        {"tool_name": "Write", "tool_input": {"file_path": "src/auth.py", "content": "x"}},
    ),
    ("pre_tool_use", {"tool_name": "Bash", "tool_input": {"command": "git push origin main"}}),
    (
        "post_tool_use",
        {
            "tool_name": "Bash",
            "tool_input": {"command": 'ademem recall "invoices rounded"'},
            "tool_response": {"stdout": "", "stderr": "", "interrupted": False},
        },
    ),
    (
        "post_tool_use_failure",
        {
            "tool_name": "Bash",
            "tool_input": {"command": "npm test"},
            "error": "Exit code 1\nError: cannot find module 'left-pad'",
        },
    ),
    ("pre_compact", {"trigger": "auto", "custom_instructions": None}),
    ("session_start", {"source": "compact"}),
    ("subagent_start", {"agent_id": "a1", "agent_type": "Explore"}),
    ("stop", {"stop_hook_active": False, "last_assistant_message": "Done."}),
    ("session_end", {"reason": "other"}),
)
RECALL = ("recall", "how are invoices rounded", "--json")
COMMANDS = (
    ("work", "--once"),
    ("list", "--json"),
    ("candidates", "--json"),
    ("files", "refresh"),
    ("files", "check"),
    ("status",),
    ("doctor",),
)


@dataclass
class Ran:
    """One process: what it was, how it ended, what it printed, and what it cost."""

    name: str
    code: int
    output: str
    complaint: str
    seconds: float
    peak_mib: float

    @property
    def answer(self) -> dict[str, Any]:
        return json.loads(self.output) if self.output.startswith("{") else {}

    @property
    def notice(self) -> str:
        """What the client shows to the person."""
        return str(self.answer.get("systemMessage", ""))


@dataclass
class Machine:
    victim: Victim
    hooks: list[Ran] = field(default_factory=list)
    commands: list[Ran] = field(default_factory=list)

    def __post_init__(self) -> None:
        home = self.victim.home
        self.environment = {
            "PATH": os.pathsep.join([str(Path(sys.executable).parent), "/usr/bin:/bin"]),
            "HOME": str(home),
            "TMPDIR": str(self.victim.root / "tmp"),
            "LANG": "C.UTF-8",
            "ADEMEM_AI_KEY": "the key of the person",
            "ADEMEM_JOBS_AUTO": "false",
        }
        (self.victim.root / "tmp").mkdir()
        own = home / "code" / "own"
        own.mkdir(parents=True)
        for command in (["init"], ["install", "--user"]):
            command_line.ademem(*command, environment=self.environment, folder=own)
        settings = json.loads((home / ".claude/settings.json").read_text())
        self.lines = {
            event: groups[0]["hooks"][0]["command"] for event, groups in settings["hooks"].items()
        }

    def run(self, *command: str, cwd: Path, stdin: bytes = b"", **more: str) -> Ran:
        """Wait for one process, and for what it started and waited for."""
        started = time.monotonic()
        rows = self.victim.root / "rows"
        rows.unlink(missing_ok=True)
        measured = [sys.executable, "-I", "-S", MEASURED, rows, command[0], str(MOST_MEMORY)]
        with (
            (self.victim.root / "out").open("w+b") as out,
            (self.victim.root / "err").open("w+b") as err,
            subprocess.Popen(
                [*measured, *command],
                cwd=cwd,
                env=self.environment | more,
                stdin=subprocess.PIPE,
                stdout=out,
                stderr=err,
                start_new_session=True,
            ) as process,
        ):
            assert process.stdin
            timer = threading.Timer(ENDS_WITHIN_S, os.killpg, (process.pid, signal.SIGKILL))
            timer.start()
            with suppress(BrokenPipeError):
                process.stdin.write(stdin)
                process.stdin.close()
            process.wait()
            timer.cancel()
            seconds = time.monotonic() - started
            out.seek(0)
            err.seek(0)
            return Ran(
                " ".join(command[1:3]),
                process.returncode,
                out.read().decode("utf-8", "replace"),
                err.read().decode("utf-8", "replace"),
                seconds,
                json.loads(rows.read_text())["mib"] if rows.exists() else 0.0,
            )

    def session(self, id: str, events: int = len(SESSION)) -> None:
        """The first events that a session brings, in the order it brings them."""
        project = self.victim.project
        for number, (hook, keys) in enumerate(SESSION[:events]):
            payload = {
                "session_id": id,
                "transcript_path": str(project / "no-transcript.jsonl"),
                "cwd": str(project),
                "hook_event_name": NAMES[hook],
                "prompt_id": f"{id}-prompt",
                "tool_use_id": f"toolu_{id}_{number}",
            }
            ran = self.run(
                "sh",
                "-c",
                self.lines[NAMES[hook]],
                cwd=project,
                stdin=json.dumps(payload | keys).encode(),
                CLAUDE_PROJECT_DIR=str(project),
            )
            ran.name = hook
            self.hooks.append(ran)

    def command(self, *arguments: str) -> Ran:
        ran = self.run("ademem", *arguments, cwd=self.victim.project)
        ran.name = " ".join(arguments[:2])
        self.commands.append(ran)
        return ran

    def live(self, turn: int = 0) -> None:
        """A session, the worker, a session that sees what was imported, then what a person types.

        In a full run both sessions are whole and all commands are typed, else a session has all
        events at every fourth *turn*, and one command is typed beside a recall.
        """
        events = len(SESSION) if FULL or turn % 4 == 0 else 4
        self.session("11111111-1111-4111-8111-111111111111", events)
        self.command("work", "--once")
        self.session("22222222-2222-4222-8222-222222222222", len(SESSION) if FULL else 2)
        others = COMMANDS if FULL else (COMMANDS[turn % len(COMMANDS)],)
        for command in (RECALL, *others):
            self.command(*command)

    @property
    def notices(self) -> list[str]:
        return [ran.notice for ran in self.hooks if ran.notice]

    def context(self) -> str:
        """All that was put before the model."""
        said = [ran.answer.get("hookSpecificOutput", {}) for ran in self.hooks]
        return "\n".join(
            str(given.get(key, ""))
            for given in said
            for key in ("additionalContext", "permissionDecisionReason")
        )


def faults(
    clone: Clone, victim: Victim, machine: Machine, before: dict[str, str], git: str
) -> list[str]:
    """Everything that a clone must not bring about; empty when it did not."""
    after = victim.outside()
    found = [
        f"changed outside of the project: {path}"
        for path in sorted(before.keys() | after.keys())
        if before.get(path) != after.get(path)
    ]
    if victim.git_configuration() != git:
        found.append("changed git's configuration")
    if victim.listener.received:
        found.append(f"sent {len(victim.listener.received)} bytes")
    if victim.started.exists():
        found.append("started a program")
    for ran in machine.hooks:
        if ran.code != 0 or ran.complaint:
            found.append(f"{ran.name} ended with {ran.code}: {ran.complaint[:200]}")
        if not understood(ran.name, ran.output):
            found.append(f"{ran.name} printed {ran.output[:200]!r}")
        if ran.seconds > TIMEOUT_S[ran.name]:
            found.append(f"{ran.name} took {ran.seconds:.1f} s")
        if ran.peak_mib > MOST_MIB:
            found.append(f"{ran.name} took {ran.peak_mib:.0f} MiB")
    for ran in machine.commands:
        if ran.code == 3 or ran.code < 0 or "Traceback" in ran.complaint:
            found.append(f"{ran.name} ended with {ran.code}: {ran.complaint[-300:]}")
        if ran.peak_mib > MOST_MIB and ran.name.startswith("work"):
            found.append(f"{ran.name} took {ran.peak_mib:.0f} MiB")
        if ran.seconds > 120:
            found.append(f"{ran.name} took {ran.seconds:.0f} s")
    return found
