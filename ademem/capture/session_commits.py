"""Find the commits that a session's shell command made, in git's log of HEAD."""

from __future__ import annotations

import os

from ademem.core.clock import timedelta
from ademem.core.repository import commit, git_dir, git_root
from ademem.store import commits as table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ademem.core.client import Payload
    from ademem.store.runtime import Runtime

MAKING = frozenset("commit merge rebase cherry-pick revert am pull".split())
"""Subcommands of git that make commits."""
UNKNOWN_S = 10.0
"""Assumed duration of a command when the client reports none."""
SLACK_S = 2.0
"""Git notes whole seconds, and our clock is read after the command."""
TAIL_BYTES = 64_000
"""Bytes read from the end of git's log of HEAD."""
_MADE = ("commit", "cherry-pick", "revert", "am")
_REMADE = ("(pick)", "(reword)", "(edit)", "(squash)", "(fixup)", "(continue)")


def note(payload: Payload, runtime: Runtime) -> None:
    """Store the commits that a command made, so that no briefing lists them as news."""
    if not makes_commits(payload.command):
        return
    took = payload.duration_ms / 1000 if payload.duration_ms else UNKNOWN_S
    since = runtime.now - timedelta(seconds=took + SLACK_S)
    made = _since(runtime.project.root, int(since.timestamp()))
    if made:
        table.by_session(runtime.store, made, payload.session_id, runtime.now)


def makes_commits(command: str) -> bool:
    """Return True for a command that runs git to make commits, or may where it cannot be parsed."""
    from ademem.guard import shell

    if "git" not in command:
        return False
    script = shell.parse(command)
    if script is None:
        return any(word in command for word in MAKING)
    return any(
        words[0].rpartition("/")[2] == "git" and MAKING & set(words[1:])
        for words in shell.argvs(script)
        if words
    )


def _since(root: str, moment: int) -> list[str]:
    """List the commits in git's log of HEAD from *moment* on; HEAD alone where there is no log."""
    top = git_root(root)
    if top is None:
        return []
    try:
        with open(os.path.join(git_dir(top), "logs", "HEAD"), "rb") as file:
            file.seek(max(0, os.fstat(file.fileno()).st_size - TAIL_BYTES))
            lines = file.read().decode("utf-8", "replace").splitlines()
    except FileNotFoundError:
        head = commit(root)
        return [head] if head else []
    return [made for line in lines if (made := _made(line, moment))]


def _made(line: str, moment: int) -> str | None:
    """Return the commit that a line of the log says was made at *moment* or later."""
    who, _, did = line.partition("\t")
    words = who.split()
    if len(words) < 4 or not words[-2].isdigit() or int(words[-2]) < moment:
        return None
    verb = did.partition(":")[0]
    made = verb.startswith(_MADE) or verb.endswith(_REMADE) or "Merge made" in did
    return words[1] if made else None
