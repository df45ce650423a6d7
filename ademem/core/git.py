"""Run git: bounded in time, without prompts or locks, and without programs that a clone names."""

from __future__ import annotations

import os

from ademem.core import process

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from ademem.core.clock import Deadline

TIMEOUT_S = 10.0
"""The limit of one run; a deadline of the whole process shortens it."""
LONG_S = 60.0
"""The limit where a whole history is searched, in the worker and in typed commands."""

_OPTIONS = (
    *("-c", "core.fsmonitor=false"),  # a program that `status` starts
    *("-c", "core.quotePath=false"),
    *("-c", "log.showSignature=false"),  # another one
)
_NO_PROGRAMS = dict.fromkeys(("diff", "log", "show"), ("--no-ext-diff", "--no-textconv"))
_ENVIRONMENT = {"GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0"}
_REDIRECTIONS = ("GIT_DIR", "GIT_WORK_TREE", "GIT_COMMON_DIR", "GIT_NAMESPACE")
"""Variables that git sets for its hooks; with them `-C` names another repository than ours."""

OFFLINE = {"GIT_NO_LAZY_FETCH": "1", "GIT_ALLOW_PROTOCOL": "none"}
"""With these, git fetches no object that a partial clone lacks."""

_deadline: Deadline | None = None


class limited:
    """Let no run of git in this block outlast the deadline; a run after it raises TooLate."""

    def __init__(self, deadline: Deadline) -> None:
        self._limit = deadline

    def __enter__(self) -> None:
        global _deadline
        _deadline = self._limit

    def __exit__(self, *_error: object) -> None:
        global _deadline
        _deadline = None


def run(
    root: str,
    command: str,
    *arguments: str,
    stdin: bytes = b"",
    environment: Mapping[str, str] = {},
    timeout_s: float = TIMEOUT_S,
) -> process.Finished:
    """Raise OSError without git, TimeoutError after *timeout_s*, TooLate after the deadline."""
    if _deadline:
        _deadline.check()
        timeout_s = min(timeout_s, _deadline.left_s)
    inherited = {name: value for name, value in os.environ.items() if name not in _REDIRECTIONS}
    try:
        return process.run(
            ["git", "-C", root, *_OPTIONS, command, *_NO_PROGRAMS.get(command, ()), *arguments],
            stdin=stdin,
            environment={**inherited, **_ENVIRONMENT, **environment},
            timeout_s=timeout_s,
        )
    except TimeoutError:
        if _deadline:
            _deadline.check()
        raise


def output(
    root: str,
    command: str,
    *arguments: str,
    codes: Collection[int] = (0,),
    environment: Mapping[str, str] = {},
    timeout_s: float = TIMEOUT_S,
) -> bytes | None:
    """Return None without git, after the timeout, or for another exit status."""
    try:
        ran = run(root, command, *arguments, environment=environment, timeout_s=timeout_s)
    except OSError:
        return None
    return ran.output if ran.code in codes else None


def text(root: str, command: str, *arguments: str, timeout_s: float = TIMEOUT_S) -> str:
    found = output(root, command, *arguments, timeout_s=timeout_s)
    return (found or b"").decode("utf-8", "replace")


def parse_objects(printed: bytes) -> Iterator[bytes | None]:
    """Yield None for an object that `cat-file --batch` reports as missing."""
    at = 0
    while at < len(printed):
        end = printed.index(b"\n", at)
        size = printed[at:end].rsplit(b" ", 1)[-1]
        at = end + 1
        if not size.isdigit():
            yield None
            continue
        yield printed[at : at + int(size)]
        at += int(size) + 1
