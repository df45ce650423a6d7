"""Everything ademem does, as Python: values in, values out, and every rule below."""

from __future__ import annotations

import os

from ademem import clock, configuration, project
from ademem.api.memories import Memories
from ademem.errors import NotEnrolled
from ademem.model import Draft, Memory, Origin, Trust
from ademem.runtime import open_runtime, program
from ademem.search import UNARCHIVED, Filters

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from datetime import datetime

    from ademem.guard.mutation import Judgement

__all__ = [
    "UNARCHIVED",
    "Draft",
    "Filters",
    "Memories",
    "Memory",
    "Origin",
    "Trust",
    "init",
    "judge_command",
    "open",
    "open_memories",
]


def init(root: str) -> tuple[str, ...]:
    """Enrol the folder and tell what was done; memories that its files know are taken in."""
    from ademem import enrolment

    done = enrolment.enrol(project.at(root), program(os.environ))
    with open_memories(root) as memories:
        done += [f"wrote {path}" for path in memories.refresh_files().written]
    return tuple(done)


def open_memories(
    root: str | None = None,
    *,
    environment: Mapping[str, str] = os.environ,
    now: Callable[[], datetime] = clock.now,
) -> Memories:
    """The memory of the project at *root* (default: where you are).

    Raises NotEnrolled, Ambiguous, BadSetting, NewerDatabase or sqlite3.Error.
    """
    found = project.find(root, environment, os.getcwd())
    new = not os.path.exists(found.database)
    memories = Memories(open_runtime(found, environment, now()), now)
    if new:
        from ademem import worktree

        if worktree.changed(found):  # a fresh clone: its files know what its database does not
            memories.refresh_files()
    return memories


def judge_command(
    command: str, root: str | None = None, *, environment: Mapping[str, str] = os.environ
) -> Judgement:
    """Whether the guard takes a shell command for a mutation, and why.

    By the settings of the project at *root* (default: where you are), if there is one.
    """
    from ademem.guard.mutation import judge

    try:
        found = project.find(root, environment, os.getcwd())
    except NotEnrolled:
        return judge(command)
    return judge(command, configuration.load(found.config, environment).guard)


open = open_memories
