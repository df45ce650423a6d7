"""The authority: one SQLite database a repository."""

from __future__ import annotations

import os

from ademem.clock import stamp
from ademem.model import DIALOGUE
from ademem.store.database import (
    LONG_LOG_BYTES,
    MigrationFailed,
    NewerDatabase,
    Transaction,
    connect,
    create,
    log_bytes,
    migrate,
    run_schema,
    version,
    write_ahead,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    import sqlite3
    from datetime import datetime

    from ademem.project import Project

__all__ = [
    "BROWSED",
    "CURRENT",
    "LIVE",
    "TURN",
    "MigrationFailed",
    "NewerDatabase",
    "Store",
    "open_store",
    "store_aside",
]

LIVE = "status <> 'archived' and deleted_at is null and superseded_by is null"
"""`Memory.live`, in SQL."""
CURRENT = "deleted_at is null and superseded_by is null and quarantine_reason is null"
"""What may be shown as true today, whatever its status; the partial index has these words."""
BROWSED = "source_type not in ('skill', 'episode')"
"""Not `Memory.hidden`, in SQL."""
TURN = f"instr(' ' || tags || ' ', ' {DIALOGUE} ') > 0"
"""Whether it is a turn of a dialogue, in SQL."""


class Store:
    """A connection and the project it speaks for."""

    def __init__(self, db: sqlite3.Connection, project_id: str) -> None:
        self.db = db
        self.project_id = project_id

    def transaction(self) -> Transaction:
        """Look-then-write as one step; inside another transaction it joins that one."""
        return Transaction(self.db)

    def close(self) -> None:
        self.db.close()

    def leave(self) -> None:
        """Before a process ends: leave the log to the next one, which would have to make it again.

        A log that has grown is written back and deleted: each process reads all of it first.
        """
        if log_bytes(self.db) > LONG_LOG_BYTES:
            self.close()


def open_store(project: Project, now: datetime, *, wait_s: float = 5.0) -> Store:
    """Open the project's database, made or migrated if need be.

    *wait_s* bounds the waiting for another writer. Raises NewerDatabase, MigrationFailed,
    sqlite3.OperationalError (locked, read-only, cannot be opened), sqlite3.DatabaseError (damaged),
    or OSError when the folder cannot be made.
    """
    path = project.database
    if not os.path.exists(path):
        create(path)
    db = connect(path, wait_s)
    try:
        migrate(db, path, now)
        write_ahead(db, path)
        return Store(db, _project_id(db, project, now))
    except BaseException:
        db.close()
        raise


def store_aside(project: Project, now: datetime) -> Store:
    """An empty store in memory; the project's own is neither read nor made."""
    db = connect(":memory:", 0)
    run_schema(db)
    return Store(db, _project_id(db, project, now))


def schema_version(store: Store) -> int:
    return version(store.db)


def made_at(store: Store) -> str:
    """The moment this database was made: another file at the same place has another."""
    query = "select created_at from projects where id = ?"
    return str(store.db.execute(query, (store.project_id,)).fetchone()[0])


def _project_id(db: sqlite3.Connection, project: Project, now: datetime) -> str:
    """The database's own project; its first opening names it."""
    row = db.execute("select id from projects order by rowid limit 1").fetchone()
    if row is None:
        moment = stamp(now)
        with Transaction(db):
            db.execute(
                "insert into projects (id, root_path, display_name, created_at, last_opened_at)"
                " select ?, ?, ?, ?, ? where not exists (select 1 from projects)",
                (project.name, project.root, project.name, moment, moment),
            )
            row = db.execute("select id from projects order by rowid limit 1").fetchone()
    return str(row[0])
