"""Backups of a database: whole copies in the person's data folder, and the way back.

A backup is one file that SQLite opens, with all that the database has: memories of agents, prompts
and history, too. Restoring writes it into the present database as one transaction, so that other
processes see the old content or the new one, and a killed one changes nothing.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from contextlib import closing, suppress
from datetime import datetime

from ademem.core import confined, shared_files
from ademem.core.clock import stamp, timedelta
from ademem.core.errors import AdememError, NotFound, UnusableStore
from ademem.core.project import Project
from ademem.core.value import Value
from ademem.store import admission, agreements, database, inspection
from ademem.store.backup_files import Backup, Kind, folder, list_all
from ademem.store.database import sqlite3

KEPT = 3
PERIOD = timedelta(days=7)
LATEST = "latest"
WAIT_S = 10.0
_STEP = 64
"""Pages that are written at once; every database of ours has more."""
_UNFINISHED = ".new"
_LIST = "`ademem backup --list` shows the backups"


class NoBackup(NotFound):
    hint = _LIST


class BadBackup(AdememError):
    hint = _LIST


class DamagedBackup(UnusableStore):
    hint = _LIST


class InUse(UnusableStore):
    hint = "end what writes to it, then try again; nothing was changed"

    def __init__(self, path: str) -> None:
        super().__init__(f"another process writes to {path}")


def is_due(project: Project, environment: Mapping[str, str], since: str, now: datetime) -> bool:
    weekly = (it.at for it in list_all(project, environment) if it.kind is Kind.WEEKLY)
    last = next((at for at in weekly if at <= stamp(now)), since)
    return last <= stamp(now - PERIOD)


def make(project: Project, environment: Mapping[str, str], kind: Kind, now: datetime) -> Backup:
    """Copy what is committed, then delete the oldest; raises OSError or sqlite3.Error."""
    place = folder(project, environment)
    os.makedirs(place, mode=0o700, exist_ok=True)
    with shared_files.locked(place):
        while os.path.lexists(
            path := os.path.join(place, f"{stamp(now).replace(':', '-')}-{kind}.db")
        ):
            now += timedelta(milliseconds=1)
        temporary = path + _UNFINISHED
        for each in os.listdir(place):
            if each.endswith(_UNFINISHED):  # of a process that was killed
                shared_files.remove(os.path.join(place, each))
        try:
            copy(project.database, temporary)
            os.replace(temporary, path)
        finally:
            shared_files.remove(temporary)
        same = [each for each in list_all(project, environment) if each.kind is kind]
        for old in same[KEPT:]:
            shared_files.remove(old.path)
    return Backup(path=path, at=stamp(now), kind=kind, bytes=os.path.getsize(path))


def make_before_migration(project: Project, environment: Mapping[str, str], now: datetime) -> str:
    try:
        return make(project, environment, Kind.MIGRATION, now).path
    except (OSError, sqlite3.DatabaseError):  # no data folder, or a damaged page
        path = f"{project.database}.before-migration"
        shared_files.remove(path)
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        with (
            closing(database.connect(project.database, WAIT_S)) as db,
            closing(sqlite3.connect(path)) as to,
        ):
            db.backup(to)
        return path


def copy(source: str, path: str) -> None:
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    with closing(sqlite3.connect(source, timeout=WAIT_S, isolation_level=None)) as db:
        db.execute("vacuum main into ?", (path,))
    with open(path, "rb") as file:
        os.fsync(file.fileno())


def forget(project: Project, environment: Mapping[str, str], memory_id: str, now: datetime) -> None:
    having = [each for each in list_all(project, environment) if _may_have(each.path, memory_id)]
    if having:
        make(project, environment, Kind.TYPED, now)
    for each in having:
        shared_files.remove(each.path)


def _may_have(path: str, memory_id: str) -> bool:
    query = (
        "select id from unified_memories where id = :id"
        " union all select memory_id from memory_revisions where memory_id = :id limit 1"
    )
    try:
        with closing(inspection.open_read_only(path, 0, inspection.LOOK_S)) as db:
            return db.execute(query, {"id": memory_id}).fetchone() is not None
    except sqlite3.Error:
        return True


def find(project: Project, environment: Mapping[str, str], named: str) -> str:
    """Find by path, name, beginning of the time, or `latest`, which is none that was replaced."""
    if os.sep in named or os.path.lexists(named):
        if not os.path.lexists(named):
            raise NoBackup(f"there is no file {named}")
        return os.path.abspath(named)
    found = [each for each in list_all(project, environment) if _is_named(each, named)]
    if named == LATEST:
        found = found[:1]
    if len(found) > 1:
        raise NoBackup(f"{len(found)} backups begin with {named!r}")
    if not found:
        raise NoBackup(f"this project has no backup {named!r}")
    return found[0].path


def _is_named(backup: Backup, named: str) -> bool:
    if named == LATEST:
        return backup.kind is not Kind.REPLACED
    return os.path.basename(backup.path).startswith(named.replace(":", "-"))


class Candidate(Value):
    path: str
    project: str
    schema: int
    memories: int


def take_in(
    project: Project, environment: Mapping[str, str], path: str, now: datetime
) -> Candidate:
    """Copy a file next to the database and check the copy, which only this user can change.

    It is made another database than the one it was copied from: files are compared with it anew,
    and its first write takes another replica id.
    Raises BadBackup, DamagedBackup or NewerDatabase.
    """
    from ademem.store import repair

    temporary = f"{project.database}.{os.getpid()}-{os.urandom(4).hex()}{_UNFINISHED}"
    try:
        _copy_file(path, temporary, project)
        if os.path.lexists(f"{path}-wal"):
            _copy_file(f"{path}-wal", f"{temporary}-wal", project)
        try:
            if inspection.kind_of(temporary, environment) is not inspection.Kind.OURS:
                raise BadBackup(f"{path} is not a database of ademem")
            if damage := repair.find_damage(temporary):
                raise DamagedBackup(f"{path} is damaged: {damage}")
            with closing(sqlite3.connect(temporary, isolation_level=None)) as db:
                schema = database.version(db)
                named = _first_project(db) if schema else ""
                if not named:
                    raise BadBackup(f"{path} is an empty database")
                db.execute("pragma journal_mode = delete")
                db.execute("update projects set created_at = ?", (stamp(now),))
                db.execute("delete from store_values where name = 'replica'")
                database.delete_values(db, agreements.PREFIX)
                count = db.execute("select count(*) from unified_memories").fetchone()[0]
            return Candidate(path=temporary, project=named, schema=schema, memories=count)
        except (sqlite3.Error, inspection.TooMuch) as error:
            raise DamagedBackup(f"{path} is damaged: {error}") from error
    except BaseException:
        database.remove_files(temporary)
        raise


def _copy_file(path: str, temporary: str, project: Project) -> None:
    import shutil  # which listing backups does not need

    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError as error:
        raise BadBackup(
            f"{path} cannot be read: {error.strerror}", "name the file itself"
        ) from error
    with open(handle, "rb") as source:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise BadBackup(f"{path} is not a regular file")
        if os.fstat(handle).st_size > shutil.disk_usage(os.path.dirname(temporary)).free:
            raise UnusableStore(f"{path} is larger than the room on the disk", "make room there")
        with confined.create_file(project.home_root, temporary, mode=0o600) as target:
            shutil.copyfileobj(source, target)
            target.flush()
            os.fsync(target.fileno())


def project_id(project: Project) -> str:
    try:
        with closing(inspection.open_read_only(project.database, 0, inspection.LOOK_S)) as db:
            return _first_project(db)
    except sqlite3.Error:
        return ""


def _first_project(db: sqlite3.Connection) -> str:
    row = db.execute("select id from projects order by rowid limit 1").fetchone()
    return str(row[0]) if row else ""


def put_in_place(
    candidate: Candidate, project: Project, environment: Mapping[str, str], now: datetime
) -> str:
    """Replace the database by the candidate; return the path of what was there, empty for nothing.

    A database that can be read becomes a backup, and its file gets the new content in one
    transaction: running processes go on with that. A damaged or foreign one is renamed. Raises
    InUse.
    """
    seen = os.lstat(project.database) if os.path.lexists(project.database) else None
    if seen is None:
        _rename_present(project, candidate, now)
        return ""
    try:
        if admission.why_foreign(project) or _is_foreign(project, environment):
            before = set(admission.list_foreign(project))
            admission.rename_database(project, seen, candidate.path)
            return next(iter(set(admission.list_foreign(project)) - before), "")
        return _overwrite(candidate, project, environment, now)
    except sqlite3.DatabaseError as error:
        if database.is_locked(error):
            raise InUse(project.database) from error
        if isinstance(error, sqlite3.OperationalError) and database.is_unwritable(error):
            raise
        return _rename_present(project, candidate, now)


def _is_foreign(project: Project, environment: Mapping[str, str]) -> bool:
    try:
        return inspection.kind_of(project.database, environment) is not inspection.Kind.OURS
    except database.NewerDatabase:
        return False


def _overwrite(
    candidate: Candidate, project: Project, environment: Mapping[str, str], now: datetime
) -> str:
    replaced = ""

    def keep(status: int, _remaining: int, _total: int) -> None:
        """Back up the present content once the first pages have locked it against writers."""
        nonlocal replaced
        if status in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
            raise InUse(project.database)
        replaced = replaced or make(project, environment, Kind.REPLACED, now).path

    with (
        closing(sqlite3.connect(candidate.path, isolation_level=None)) as source,
        closing(database.connect(project.database, WAIT_S)) as present,
    ):
        if database.version(present):
            clock = "select name, value from store_values where name = 'clock'"
            source.executemany(
                "insert into store_values values (?, ?)"
                " on conflict do update set value = max(value, excluded.value)",
                map(tuple, present.execute(clock).fetchall()),
            )
        source.backup(present, pages=_STEP, progress=keep)
        with suppress(sqlite3.OperationalError):  # readers keep the log; a later commit empties it
            present.execute("pragma wal_checkpoint(truncate)")
    return replaced


def _rename_present(project: Project, candidate: Candidate, now: datetime) -> str:
    with shared_files.locked(project.home, root=project.home_root):
        replaced = rename_damaged(project, now)
        os.rename(candidate.path, project.database)
    return replaced


def rename_damaged(project: Project, now: datetime) -> str:
    kept = f"{project.database}.damaged-{stamp(now).replace(':', '')}"
    for suffix in ("", *database.SIDECARS):
        if os.path.lexists(project.database + suffix):
            os.replace(project.database + suffix, kept + suffix)
    return kept if os.path.lexists(kept) else ""


def rename_back(project: Project, kept: str) -> None:
    """Undo `rename_damaged`, and replace what has the old name by now."""
    for suffix in ("", *database.SIDECARS):
        if os.path.lexists(kept + suffix):
            os.replace(kept + suffix, project.database + suffix)
        elif os.path.lexists(project.database + suffix):
            os.remove(project.database + suffix)
