"""Open a project: its settings, its store, and the imports that wait."""

from __future__ import annotations

import os

from ademem.core import clock, project, worktree
from ademem.store.runtime import Runtime, is_writable, open_runtime, program

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from datetime import datetime


def init(root: str, *, environment: Mapping[str, str] = os.environ) -> tuple[str, ...]:
    """Enrol the folder, import what its files hold, and return a line for each step."""
    from ademem.api.files import refresh_files
    from ademem.files import enrolment

    done = enrolment.enrol(project.at(root), program(environment))
    with open_memories(root, environment=environment) as runtime:
        enrolment.register_typed(runtime.project, runtime.store, runtime.environment)
        done += [f"wrote {path}" for path in refresh_files(runtime).written]
    return tuple(done)


def open_memories(
    root: str | None = None,
    *,
    environment: Mapping[str, str] = os.environ,
    now: Callable[[], datetime] = clock.now,
    on_import: Callable[[int, int], None] | None = None,
    catch_up: bool = True,
) -> Runtime:
    """Open the memory of the project at *root* (default: of the current folder).

    Pending changes of its files are imported first, unless *catch_up* is False; *on_import* gets
    how many of how many are done. Raises NotEnrolled, Ambiguous, NewerDatabase or sqlite3.Error.
    """
    found = project.find(root, environment, os.getcwd())
    if not is_writable(found):
        from ademem.worker.read_only import open_copy

        runtime = open_copy(found, environment, now())
        runtime.clock, runtime.before_close = now, refresh_hints
        return runtime
    runtime = open_runtime(found, environment, now())
    runtime.clock, runtime.before_close = now, refresh_hints
    is_pending = worktree.import_waits(found)
    is_new = not is_pending and not os.path.exists(found.readings)
    if is_new or (is_pending and catch_up):
        from ademem.api.files import import_pending

        import_pending(runtime, on_import, is_new=is_new)
    return runtime


def refresh_hints(runtime: Runtime) -> None:
    """Tell the hooks at which files and commands changed memories come up."""
    from ademem.store import hints as table

    try:
        if table.any_of(runtime.store, "due"):
            from ademem.search import hints

            hints.refresh(runtime)
    except runtime.store.db.OperationalError:  # read-only, or busy: a hook does it
        return
