"""Read a copy of the store of a project that cannot be written, or whose database is locked."""

from __future__ import annotations

import os
import shutil
import stat
from contextlib import suppress

from ademem.core import confined, failure_log, shared_files
from ademem.core.errors import LOCKED, READ_ONLY, UnusableStore
from ademem.core.settings import load_configuration
from ademem.core.text import sha256_hex
from ademem.core.value import replace
from ademem.store import admission
from ademem.store.database import SIDECARS, OperationalError
from ademem.store.opening import open_store
from ademem.store.runtime import Runtime

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from ademem.core.project import Project
    from ademem.core.settings import Settings
    from ademem.store import Store

LINE = "ademem reads a copy of this project's memory: its `.ade/` cannot be written"
LOCKED_LINE = "ademem reads a copy of this project's memory: another program holds the database"
_COPIED = ("", "-wal")
IN_MEMORY = "/dev/shm"
"""Files in memory, of Linux."""
INDEX_HEADER_BYTES = 48


def open_copy(
    project: Project, environment: Mapping[str, str], now: datetime, *, is_locked: bool = False
) -> Runtime:
    """Open a copy in the first folder that has room for it; raises what the first one did."""
    found = load_configuration(project, environment)
    failures: list[Exception] = []
    for folder in list_folders(project, environment):
        try:
            store = _open_in(folder, project, environment, found.settings, now)
            break
        except (OSError, OperationalError) as error:
            failures.append(error)
    else:
        raise failures[0]
    store.forbid_changes(LOCKED if is_locked else READ_ONLY)
    notice = LOCKED_LINE if is_locked else LINE
    return Runtime(
        project, found.settings, store, environment, now, found.warnings, copy_notice=notice
    )


def _open_in(
    folder: str,
    project: Project,
    environment: Mapping[str, str],
    settings: Settings,
    now: datetime,
) -> Store:
    _make_own(folder)
    copy = replace(project, home=folder)
    has_database = os.path.lexists(project.database) and not admission.why_foreign(project)
    with shared_files.locked(os.path.join(folder, "lock"), root=folder):
        is_new = _refresh(project, copy, has_database)
    store = open_store(copy, now, environment=environment, is_copy=True)
    if is_new and not has_database:
        from ademem.sync.mirror import import_into_copy

        import_into_copy(project, store, settings, now)
    return store


def _refresh(project: Project, copy: Project, has_database: bool) -> bool:
    """Copy the database if its source changed; return whether it did.

    The database and its log fit together where neither changed during the copy: commits grow the
    log, and only a checkpoint writes the database.
    """
    noted = os.path.join(copy.home, "source")
    state = _state(project, has_database)
    if shared_files.read_text(noted) == state and os.path.exists(copy.database):
        return False
    for suffix in ("", *SIDECARS):
        shared_files.remove(copy.database + suffix)
    for suffix in _COPIED if has_database else ():
        if os.path.exists(project.database + suffix):
            confined.check_database(project.database, project.home_root)
            shutil.copyfile(
                project.database + suffix, copy.database + suffix, follow_symlinks=False
            )
    if os.path.lexists(f"{project.database}-journal") or _state(project, has_database) != state:
        raise UnusableStore(
            f"{project.database} is locked, and changes while it is copied",
            "another program holds it; try again",
        )
    shared_files.write_atomic(noted, state)
    return True


def _state(project: Project, has_database: bool) -> str:
    paths = [project.database + suffix for suffix in _COPIED]
    if not has_database:
        names = confined.names(project.root, project.memory)
        paths = [os.path.join(project.memory, name) for name in names]
    lines = []
    for path in paths:
        with suppress(OSError):
            found = os.lstat(path)
            lines.append(f"{path} {found.st_mtime_ns} {found.st_size} {found.st_ino}")
    if has_database and len(lines) == len(paths):
        with suppress(OSError):
            lines[-1] = _head_of_log(project)
    return "\n".join(lines)


def _head_of_log(project: Project) -> str:
    """Return what each commit changes in the index of the log; one that finds no room does not.

    See https://www.sqlite.org/walformat.html, 2.1.
    """
    path = f"{project.database}-shm"
    with confined.open_file(project.home_root, path) as file:
        return file.read(INDEX_HEADER_BYTES).hex()


def list_folders(project: Project, environment: Mapping[str, str]) -> tuple[str, ...]:
    """List folders of the user for a copy; the last one lies in memory, and Linux alone has it."""
    home = environment.get("HOME") or os.path.expanduser("~")
    cache = environment.get("XDG_CACHE_HOME") or os.path.join(home, ".cache")
    name = sha256_hex(project.home)[:16]
    return (
        os.path.join(cache, "ademem", "read-only", name),
        os.path.join(failure_log.user_log_dir(environment), "read-only", name),
        os.path.join(IN_MEMORY, f"ademem-{os.getuid()}-{name}"),
    )


def _make_own(folder: str) -> None:
    if not os.path.isdir(folder):
        make = os.mkdir if os.path.dirname(folder) == IN_MEMORY else os.makedirs
        make(folder, 0o700)
    found = os.lstat(folder)
    is_own = stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid()
    if not is_own or not os.access(folder, os.W_OK):
        raise PermissionError(f"{folder} is no folder for a copy")
