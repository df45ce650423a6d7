"""Everything ademem does, as Python: values in, values out, and every rule below."""

from __future__ import annotations

import os
from contextlib import suppress

from ademem.api.memories import Memories
from ademem.core import clock, configuration, confined, project, worktree
from ademem.core.errors import NotEnrolled
from ademem.core.memory import Draft, Memory, Origin, Trust
from ademem.search.engine import UNARCHIVED, Filters
from ademem.store import admission, store_aside
from ademem.store.runtime import Runtime, is_writable, open_runtime, program

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from datetime import datetime

    from ademem.api.inspection import Inspection
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
    "inspect",
    "judge_command",
    "open",
    "open_memories",
]


def init(root: str, *, environment: Mapping[str, str] = os.environ) -> tuple[str, ...]:
    """Enrol the folder and tell what was done; memories that its files know are taken in."""
    from ademem.files import enrolment

    done = enrolment.enrol(project.at(root), program(environment))
    with open_memories(root, environment=environment) as memories:
        runtime = memories.runtime
        enrolment.register_typed(runtime.project, runtime.store, runtime.environment)
        done += [f"wrote {path}" for path in memories.refresh_files().written]
    return tuple(done)


def open_memories(
    root: str | None = None,
    *,
    environment: Mapping[str, str] = os.environ,
    now: Callable[[], datetime] = clock.now,
    on_import: Callable[[int, int], None] | None = None,
    catch_up: bool = True,
) -> Memories:
    """The memory of the project at *root* (default: where you are).

    What waits in its files is imported first, unless *catch_up* is False, and *on_import* hears how
    many of how many changes are in. Raises NotEnrolled, Ambiguous, NewerDatabase or sqlite3.Error.
    """
    found = project.find(root, environment, os.getcwd())
    if not is_writable(found):
        from ademem.worker.read_only import open_copy

        return Memories(open_copy(found, environment, now()), now)
    memories = Memories(open_runtime(found, environment, now()), now)
    if not os.path.exists(found.readings) and not worktree.import_waits(found):
        with suppress(confined.Refused):  # `files check` tells of it, and the rest can be used
            if worktree.changed(found):  # the files know what a new database does not
                memories.refresh_files(tell=on_import)
    elif catch_up:
        with suppress(confined.Refused):
            memories.import_waiting(on_import)
    return memories


def inspect(
    root: str | None = None,
    *,
    environment: Mapping[str, str] = os.environ,
    now: Callable[[], datetime] = clock.now,
) -> Inspection:
    """The files of the project at *root*, beside its database or, in a fresh clone, by themselves.

    Raises what `open` raises; makes nothing, and changes no file.
    """
    from ademem.api.inspection import Inspection
    from ademem.sync import read_aside

    found = project.find(root, environment, os.getcwd())
    if not is_writable(found):
        from ademem.worker.read_only import open_copy

        return Inspection(open_copy(found, environment, now()), now, None)
    if os.path.exists(found.database) and not admission.why_foreign(found):
        return Inspection(open_runtime(found, environment, now()), now, None)
    read = configuration.load(found, environment)
    store = store_aside(found, now())
    runtime = Runtime(found, read.settings, store, environment, now(), read.warnings)
    return Inspection(runtime, now, read_aside(found, runtime.store, read.settings, now()))


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
    return judge(command, configuration.load(found, environment).settings.guard)


open = open_memories
