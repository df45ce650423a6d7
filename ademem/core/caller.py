"""Tell a person at a terminal from the client of a coding agent."""

from __future__ import annotations

import os
import sys
from functools import cache

from ademem.core.errors import AdememError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

CLIENTS = frozenset(
    "aider amp claude claude-code codex copilot crush cursor-agent droid gemini gemini-cli goose"
    " kiro-cli opencode opencode-ai qwen qwen-code".split()
)

CLIENT_VARIABLES = tuple(
    "CLAUDECODE CLAUDE_CODE_SESSION_ID CLAUDE_CODE_CHILD_SESSION CLAUDE_CODE_ENTRYPOINT"
    " CODEX_SANDBOX CODEX_SANDBOX_NETWORK_DISABLED CODEX_THREAD_ID CURSOR_AGENT GEMINI_CLI OPENCODE"
    " CLINE_ACTIVE GOOSE_TERMINAL".split()
)

INTERPRETERS = ("node", "bun", "deno", "python", "ruby")
MAX_DEPTH = 64
COMMAND_LINE_BYTES = 4096


class NotByPerson(AdememError):
    hint = "type it in your own terminal, outside of any coding agent"


def client_of(environment: Mapping[str, str]) -> str:
    for name in CLIENT_VARIABLES:
        if environment.get(name):
            return name
    return client_above()


@cache
def client_above() -> str:
    return next(filter(None, map(client_in, parent_commands())), "")


def typed_by_person(environment: Mapping[str, str]) -> bool:
    return has_terminal() and not client_of(environment)


def require_person(environment: Mapping[str, str], act: str) -> None:
    """Raise NotByPerson unless a person types this in a terminal; *act* begins the message."""
    if not has_terminal():
        raise NotByPerson(f"{act} is a person's to decide, and this is not a terminal")
    refuse_client(environment, act)


def refuse_client(environment: Mapping[str, str], act: str) -> None:
    """Raise NotByPerson in a coding agent's shell, but not in a script of a person."""
    client = client_of(environment)
    if client:
        raise NotByPerson(f"{act} is a person's to decide, and {client} runs this shell")


def has_terminal() -> bool:
    return _is_tty(sys.stdin) and (_is_tty(sys.stdout) or _is_tty(sys.stderr))


def client_in(command: list[str]) -> str:
    if not command:
        return ""
    program = _name(command[0])
    if program in CLIENTS:
        return program
    if program.rstrip("0123456789.") not in INTERPRETERS:
        return ""
    script = next((word for word in command[1:] if not word.startswith("-")), "")
    parts = [_name(part) for part in script.split("/")]
    return next((part for part in parts if part in CLIENTS), "")


def parent_commands() -> Iterator[list[str]]:
    if os.path.isdir("/proc/self"):
        yield from _from_proc(os.getppid())
    else:
        yield from _from_ps(os.getppid())


def _from_proc(pid: int) -> Iterator[list[str]]:
    for _ in range(MAX_DEPTH):
        try:
            with open(f"/proc/{pid}/stat", "rb") as file:
                name, _, rest = file.read().decode("utf-8", "replace").rpartition(")")
            with open(f"/proc/{pid}/cmdline", "rb") as file:
                line = file.read(COMMAND_LINE_BYTES).decode("utf-8", "replace")
        except OSError:
            return
        yield line.split("\0")
        yield [name.partition("(")[2]]  # a process may rename itself
        pid = int(rest.split()[1])
        if pid <= 0:
            return


def _from_ps(pid: int) -> Iterator[list[str]]:
    from ademem.core import process

    try:
        listed = process.run(["ps", "-axo", "pid=,ppid=,command="], timeout_s=5).text
    except OSError:
        return
    parents: dict[int, tuple[int, str]] = {}
    for line in listed.splitlines():
        words = line.split(None, 2)
        if len(words) == 3 and words[0].isdigit() and words[1].isdigit():
            parents[int(words[0])] = (int(words[1]), words[2])
    for _ in range(MAX_DEPTH):
        if pid not in parents:
            return
        pid, line = parents[pid]
        yield line.split()


def _name(path: str) -> str:
    """Return the bare name of `/usr/bin/Codex`, of a login's `-claude` and of `gemini.js`."""
    name = path.rpartition("/")[2].lstrip("-").lower()
    for suffix in (".js", ".mjs", ".cjs", ".exe"):
        name = name.removesuffix(suffix)
    return name


def _is_tty(stream: object) -> bool:
    try:
        return bool(stream.isatty())  # type: ignore[attr-defined]
    except (AttributeError, ValueError):  # missing or closed
        return False
