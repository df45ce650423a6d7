"""One function for each thing that a door can do, by subject in modules; here what opens memory."""

from __future__ import annotations

import os

from ademem.core import clock, project
from ademem.core.actor import Who
from ademem.core.caching import partial
from ademem.core.errors import NotEnrolled, suppress
from ademem.core.project import files_edited, import_waits
from ademem.store import agreements, database
from ademem.store.runtime import Runtime, is_writable, move_personal, open_runtime, program

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from datetime import datetime

    from ademem.store.database import IdleConnections


def init(
    root: str,
    *,
    environment: Mapping[str, str] = os.environ,
    merges: bool = True,
    by: Who | None = None,
) -> tuple[str, ...]:
    """Enrol the folder and import its files; return a line for each step.

    Without *merges*, git merges the files as text: where no `ademem` outlives the session.
    """
    from ademem.files import enrolment
    from ademem.operations.files import refresh_files

    done = enrolment.enrol(project.at(root), program(environment) if merges else "")
    with open_memories(root, environment=environment, by=by) as runtime:
        enrolment.register_typed(runtime)
        done += [f"wrote {path}" for path in refresh_files(runtime, lazily=True).written]
        enrolment.note_use(runtime.project, runtime.settings.project.name, environment, runtime.now)
    return tuple(done)


def open_memories(
    root: str | project.Project | None = None,
    *,
    environment: Mapping[str, str] = os.environ,
    now: Callable[[], datetime] = clock.now,
    on_import: Callable[[int, int], None] | None = None,
    catch_up: bool = True,
    with_personal: bool = True,
    connections: IdleConnections | None = None,
    by: Who | None = None,
) -> Runtime:
    """Open the memory of a project, or of that at *root* (default: of the current folder).

    Pending changes of its files are imported first, unless *catch_up* is False; *on_import* gets
    how many of how many are done. A database that cannot be written or is locked is read from a
    copy. Without *with_personal* the person's own memories are left out. *connections* are those
    of a process that opens memories often; *by* says who acts. Raises NotEnrolled,
    Ambiguous, NewerDatabase or sqlite3.Error.
    """
    if isinstance(root, project.Project):
        found = root
    else:
        found = project.find(root, environment, os.getcwd())
    runtime = _open(found, environment, now(), connections)
    changes = runtime.store.db.total_changes
    runtime.clock, runtime.before_close = now, partial(_follow_up, changes)
    runtime.with_personal = with_personal
    if by is not None:
        runtime.by = by
    if runtime.is_read_only:
        return runtime
    move_personal(runtime)
    is_pending = import_waits(found)
    is_new = agreements.has_unread_files(found, runtime.store) and not is_pending
    if is_new or (is_pending and catch_up):
        from ademem.operations.files import import_pending

        import_pending(runtime, on_import, is_new=is_new)
    return runtime


def _open(
    found: project.Project,
    environment: Mapping[str, str],
    moment: datetime,
    connections: IdleConnections | None,
) -> Runtime:
    """Open the database of a project, or a copy where it is locked or cannot be written."""
    is_locked = False
    if is_writable(found):
        try:
            return open_runtime(found, environment, moment, connections=connections)
        except database.OperationalError as error:
            if not database.is_locked(error):
                raise
            is_locked = True
    from ademem.worker.read_only import open_copy

    return open_copy(found, environment, moment, is_locked=is_locked)


def find_project(
    root: str | None = None, *, environment: Mapping[str, str] = os.environ
) -> project.Project | None:
    """Return the project at *root*; without one that of the current folder, or None outside."""
    try:
        return project.find(root, environment, os.getcwd())
    except (NotEnrolled, project.Ambiguous):
        if root is not None:
            raise
        return None


def _follow_up(changes: int, runtime: Runtime) -> None:
    """Do what hooks need of changed memories, and leave the rest to the worker."""
    from ademem.store import bindings as table

    is_changed = runtime.store.db.total_changes > changes
    with suppress(database.OperationalError):  # read-only, or busy: a hook does it
        if table.has_bindings(runtime.store, "due"):
            from ademem.search import binding

            binding.refresh(runtime)
    if is_changed:
        start_worker(runtime)


def start_worker(runtime: Runtime) -> None:
    from ademem import worker

    worker.start(runtime)


def request_import(runtime: Runtime) -> None:
    """Have the worker import edits of the files, where no session of hooks does."""
    if files_edited(runtime.project):
        from ademem.store import jobs

        with suppress(database.OperationalError):  # busy: the next call does it
            jobs.queue(runtime.store, "mirror", "project", runtime.clock())
