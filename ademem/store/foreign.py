"""Databases of other programs, opened read-only, and fields that only their formats know."""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ademem.core.errors import UsageError
from ademem.store import Store
from ademem.store.database import DECODE

MAX_VALUE_BYTES = 64 << 20
MAX_CHARS = 1 << 20
COPY_AGAIN = "copy it again while nothing writes to it"


@contextmanager
def open_foreign(path: str) -> Iterator[sqlite3.Connection]:
    """Open it without a change to any file, as immutable where no log is; raises UsageError."""
    has_log = any(os.path.exists(path + ending) for ending in ("-wal", "-journal"))
    mode = "mode=ro" if has_log else "mode=ro&immutable=1"
    try:
        db = sqlite3.connect(f"{Path(path).absolute().as_uri()}?{mode}", uri=True)
    except sqlite3.Error as error:
        raise UsageError(f"cannot open {path}: {error}", "name a database file") from error
    try:
        # No text of the schema may run a function, but for columns that are a part of JSON.
        db.execute("pragma trusted_schema = off")
        try:
            db.execute("select 1 from sqlite_schema limit 1")
        except sqlite3.DatabaseError as error:
            if "unsafe use of json_extract" not in str(error):
                raise
            db.execute("pragma trusted_schema = on")
            db.set_authorizer(_authorize)
        if os.path.getsize(path) % db.execute("pragma page_size").fetchone()[0]:
            raise UsageError(f"cannot read {path}: its end is missing", COPY_AGAIN)
        db.execute("pragma query_only = on")
        db.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MAX_VALUE_BYTES)
        db.row_factory = sqlite3.Row
        db.text_factory = DECODE
        yield db
    except sqlite3.DatabaseError as error:
        raise UsageError(f"cannot read {path}: {error}", COPY_AGAIN) from error
    finally:
        db.close()


def _authorize(action: int, _first: str | None, name: str | None, *_: str | None) -> int:
    if action == sqlite3.SQLITE_FUNCTION and name != "json_extract":
        return sqlite3.SQLITE_DENY
    return sqlite3.SQLITE_OK


def require_sound(path: str) -> None:
    """Raises UsageError for a database that is damaged; another file is left alone."""
    with open(path, "rb") as file:
        if file.read(16) != b"SQLite format 3\0":
            return
    with open_foreign(path) as db:
        found = db.execute("pragma quick_check(1)").fetchone()[0]
        if found != "ok":
            raise UsageError(f"{path} is damaged: {found}", COPY_AGAIN)


def columns(db: sqlite3.Connection, table: str) -> frozenset[str]:
    """Return a table's columns; none for a view, as reading it would run what its author wrote."""
    query = "select 1 from sqlite_schema where type = 'table' and name = ?"
    if db.execute(query, (table,)).fetchone() is None:
        return frozenset()
    return frozenset(row[1] for row in db.execute(f'pragma table_info("{table}")'))


def rows(db: sqlite3.Connection, table: str, *wanted: str) -> Iterator[dict[str, Any]]:
    there = columns(db, table)
    names = [name for name in wanted if name in there]
    if not names:
        return
    listed = ", ".join(f'"{name}"' for name in names)
    missing = dict.fromkeys(name for name in wanted if name not in there)
    for row in db.execute(f'select {listed} from main."{table}" order by rowid'):
        yield missing | {
            name: value[:MAX_CHARS] if isinstance(value, str) else value
            for name, value in dict(row).items()
        }


MEMORY, SESSION, PROMPT = "unified_memories.id", "sessions.id", "user_prompts.sync_id"


def get_all(store: Store, kind: str) -> dict[str, dict[str, Any]]:
    table, _, name = kind.partition(".")
    rows = store.db.execute(
        f"select {name}, foreign_fields from {table}"
        " where project_id = ? and foreign_fields is not null",
        (store.project_id,),
    )
    return {row[0]: json.loads(row[1]) for row in rows}


def put(store: Store, kind: str, key: str, fields: dict[str, Any]) -> None:
    table, _, name = kind.partition(".")
    query = f"update main.{table} set foreign_fields = ? where {name} = ?"
    store.db.execute(query, (json.dumps(fields, ensure_ascii=False, sort_keys=True), key))


def mark(store: Store, kind: str, key: str, field: str, value: str) -> None:
    table, _, name = kind.partition(".")
    store.db.execute(
        f"update main.{table} set foreign_fields ="
        f" json_set(ifnull(foreign_fields, '{{}}'), '$.{field}', ?) where {name} = ?",
        (value, key),
    )
