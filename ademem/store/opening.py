"""Opening the database of a project: made, migrated, adopted or distrusted, as the case needs.

This module stands above the rest of the store, and hands each store its observer: rows know nothing
of the replication and the kept copies that follow their changes.
"""

from __future__ import annotations

import os
import time

from ademem.core import confined, trust
from ademem.core.clock import datetime, stamp
from ademem.core.errors import suppress
from ademem.store import Store, admission, database

TYPE_CHECKING = False
if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from typing import TypeAlias

    from ademem.core.memory import Memory
    from ademem.core.project import Project
    from ademem.store import Row
    from ademem.store.database import IdleConnections
    from ademem.store.memories import Change

    Judged: TypeAlias = tuple[int, str | None, Row | None]
    """Number of a row, why it is to be held, and its columns without control characters."""


_FROM_ELSEWHERE = (
    *("title", "content", "tags", "anchors", "file_scope_pattern", "topic_key", "knowledge_key"),
    *("bead", "agent_id", "source_id", "source_branch", "source_session_id", "scope_owner_id"),
)
"""Columns of another's database that reach a terminal, git, a file name or a path."""

JUDGING_S = 0.5
"""Seconds that one opening may search a database that was not made here for instructions."""


class Replicating:
    """The observer of opened stores; most changes need none of what it loads."""

    def protect(self, store: Store, before: Memory, after: Memory, change: Change) -> Memory:
        from ademem.store import kept_copies

        return kept_copies.protect(store, before, after, change)

    def follow(self, store: Store, before: Row | None, after: Row | None, change: Change) -> None:
        from ademem.store import replication

        replication.follow_up(store, before, after, change)

    def follow_relation(self, store: Store, id: str, actor: str, now: datetime) -> None:
        from ademem.store import replication

        replication.journal_relation(store, id, actor, now)


def open_store(
    project: Project,
    now: datetime,
    *,
    wait_s: float = 5.0,
    environment: Mapping[str, str] = os.environ,
    is_copy: bool = False,
    connections: IdleConnections | None = None,
    limit_s: float | None = None,
) -> Store:
    """Open the project's database, made or migrated if need be.

    A database that may not be used is set aside and made anew (see `adoption`), and so is one that
    ADE left. *wait_s* bounds the waiting for another writer; a database that *is_copy* of another
    one needs no backup; *connections* are those of a process that opens it often; *limit_s* is the
    time for taking over one from before the first release, if the caller's is short. Raises
    NewerDatabase, MigrationFailed, TakesLonger, sqlite3.OperationalError (locked, read-only, cannot
    be opened), sqlite3.DatabaseError (damaged), Refused, or OSError when the folder cannot be made.
    """
    state = admission.state(project)
    noted = trust.last_inspection(project.database, environment)
    store = None
    if admission.is_still_admitted(project, noted, state):
        idle = connections.take(project.database, state, wait_s) if connections else None
        try:
            store = _open(
                project, now, wait_s, environment, is_copy=is_copy, is_noted=True, idle=idle
            )
        except database.DatabaseError:
            if not database.is_none(project.database):
                raise
        if store:
            store.connections = connections
    if store is None:
        from ademem.store import adoption  # rare

        adoption.admit(project, environment, stamp(now), wait_s, noted)
        store = _open(
            project, now, wait_s, environment, is_copy=is_copy, is_noted=False, limit_s=limit_s
        )
        assert store
        state = admission.state(project)
    if state != noted:
        with suppress(OSError):  # a look at each opening is what it costs not to note this one
            trust.note_inspection(project.database, state, environment)
    if not store.is_trusted:
        _trust_or_judge(store, project, environment)
    return store


def _trust_or_judge(store: Store, project: Project, environment: Mapping[str, str]) -> None:
    from ademem.core.settings import trust_roots  # the person's own databases need none of it

    if trust.is_under_trusted_root(project.root, trust_roots(environment), environment):
        store.is_trusted = True
    else:
        store.judged = _quarantine_instructions(store, project, environment)
        store.distrust()


def _quarantine_instructions(
    store: Store, project: Project, environment: Mapping[str, str]
) -> int | None:
    """Return the last row that was searched; None if all were.

    The same look takes control characters out of the rows, which anybody may have written.
    """
    identity = f"{store.secret} {os.stat(project.database).st_ino}"
    last = trust.last_judged_row(project.database, identity, environment)
    deadline = time.monotonic() + JUDGING_S
    judged, is_complete = [], True
    for row in _judge_rows(store, last):
        judged.append(row)
        if time.monotonic() > deadline:
            is_complete = False
            break
    if judged:
        last = judged[-1][0]
        _write_judged(store, judged)
        with suppress(OSError):
            trust.note_judged_row(project.database, identity, last, environment)
    return None if is_complete else last


def _judge_rows(store: Store, last: int) -> Iterator[Judged]:
    """Yield the rows behind the *last* one, as each should be."""
    from ademem.guard.injection import instruction_in

    rows = store.db.execute(
        f"select seq, quarantine_reason, {', '.join(_FROM_ELSEWHERE)} from unified_memories"
        " where seq > ? order by seq",
        (last,),
    )
    for seq, reason, *values in rows:
        fields = dict(zip(_FROM_ELSEWHERE, values, strict=True))
        shown = {name: _plain(name, value) for name, value in fields.items()}
        texts = (str(shown[name]) for name in ("title", "content") if shown[name])
        found = None if reason else instruction_in("\n".join(texts))
        yield seq, found, shown | {"seq": seq} if shown != fields else None


def _write_judged(store: Store, judged: Sequence[Judged]) -> None:
    held = [(found, seq) for seq, found, _ in judged if found]
    cleaned = [shown for _, _, shown in judged if shown]
    if held or cleaned:
        with store.transaction() as db:
            db.executemany("update unified_memories set quarantine_reason = ? where seq = ?", held)
            names = ", ".join(f"{name} = :{name}" for name in _FROM_ELSEWHERE)
            db.executemany(f"update unified_memories set {names} where seq = :seq", cleaned)


def _plain(name: str, value: object) -> object:
    """Return a column's value without control characters."""
    from ademem.core.json_text import array, loads
    from ademem.core.text import in_one_line, without_controls

    if not isinstance(value, str):
        return value
    if name == "anchors":
        texts = loads(value)
        return array(map(in_one_line, filter(lambda each: isinstance(each, str), texts)))
    return without_controls(value) if name == "content" else in_one_line(value)


def _open(
    project: Project,
    now: datetime,
    wait_s: float,
    environment: Mapping[str, str],
    *,
    is_copy: bool,
    is_noted: bool,
    limit_s: float | None = None,
    idle: tuple[sqlite3.Connection, Callable[[], None]] | None = None,
) -> Store | None:
    """Open the database; None where one that *is_noted* needs a look, as another has its inode."""
    path = project.database
    if not os.path.exists(path):
        forget_readings(project)
        _register(database.create(path), environment)

    store = None
    db, put_back = idle or (database.connect(path, wait_s), None)
    try:
        if database.is_outdated(db):
            if is_noted:
                return None
            _migrate(db, project, now, environment, is_copy=is_copy, limit_s=limit_s)
        secret = database.read_secret(db)
        is_registered = trust.is_registered(secret, environment)
        if is_noted and not is_registered:
            from ademem.store import inspection  # the person's own databases need none of it

            if not inspection.has_shipped_schema(db):
                return None
        database.write_ahead(db, path)
        id = _project_id(db, project, now)
        store = Store(db, id, observer=Replicating(), secret=secret, is_trusted=is_registered)
        store.put_back = put_back
    finally:
        if store is None:
            db.close()
    return store


def _migrate(
    db: sqlite3.Connection,
    project: Project,
    now: datetime,
    environment: Mapping[str, str],
    *,
    is_copy: bool,
    limit_s: float | None,
) -> None:
    from ademem.store import migration  # rare

    def back_up() -> str:
        from ademem.store import backups

        return "" if is_copy else backups.make_before_migration(project, environment, now)

    is_empty = database.version(db) == 0
    if is_empty:
        forget_readings(project)
    migration.migrate(db, now, back_up, limit_s)
    if is_empty:
        _register(database.read_secret(db), environment)


def forget_readings(project: Project) -> None:
    """Let all worktrees read their files again, which a new database does not know."""
    from ademem.core.project import worktrees

    for each in (project, *worktrees(project)):
        with suppress(OSError):
            confined.remove(each.root, each.readings)


def _register(secret: str, environment: Mapping[str, str]) -> None:
    if secret:
        with suppress(OSError):
            trust.register_store(secret, environment)


def open_in_memory(project: Project, now: datetime) -> Store:
    db = database.connect(":memory:", 0)
    database.run_schema(db)
    return Store(db, _project_id(db, project, now), observer=Replicating())


def _project_id(db: sqlite3.Connection, project: Project, now: datetime) -> str:
    row = db.execute("select id from projects order by rowid limit 1").fetchone()
    if row is None:
        moment = stamp(now)
        with database.Transaction(db):
            db.execute(
                "insert into projects (id, root_path, display_name, created_at, last_opened_at)"
                " select ?, ?, ?, ?, ? where not exists (select 1 from projects)",
                (project.name, project.root, project.name, moment, moment),
            )
            row = db.execute("select id from projects order by rowid limit 1").fetchone()
    return str(row[0])
