"""Bringing a damaged database back: what can still be read, then what the files say."""

from __future__ import annotations

import os
import sqlite3

from ademem import clock, mirror
from ademem.errors import AdememError
from ademem.runtime import open_runtime
from ademem.store import indexes
from ademem.store.database import SCHEMA_VERSION
from ademem.text import counted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from datetime import datetime

    from ademem.project import Project


def recover(project: Project, environment: Mapping[str, str], now: datetime) -> list[str]:
    """Repair the database and tell what was done; a sound one is left alone.

    A damaged file is kept beside the new one; nothing is thrown away.
    """
    if not os.path.exists(project.database):
        return _rebuild(project, environment, now, None)
    if _is_sound(project.database):
        return _reindex(project, environment, now)
    kept = f"{project.database}.damaged-{clock.stamp(now).replace(':', '')}"
    for suffix in ("", "-wal", "-shm"):
        if os.path.exists(project.database + suffix):
            os.replace(project.database + suffix, kept + suffix)
    return [f"kept the damaged database as {kept}", *_rebuild(project, environment, now, kept)]


def _is_sound(path: str) -> bool:
    try:
        db = sqlite3.connect(path)
        try:
            return bool(db.execute("pragma quick_check").fetchone()[0] == "ok")
        finally:
            db.close()
    except sqlite3.Error:
        return False


def _reindex(project: Project, environment: Mapping[str, str], now: datetime) -> list[str]:
    runtime = open_runtime(project, environment, now)
    try:
        lost = indexes.astray(runtime.store)
        for index in lost:
            indexes.rebuild(runtime.store, index)
        return [f"rebuilt {index.name}" for index in lost]
    finally:
        runtime.close()


def _rebuild(
    project: Project, environment: Mapping[str, str], now: datetime, damaged: str | None
) -> list[str]:
    """A new database from the rows that can still be read and the lines of the mirror."""
    runtime = open_runtime(project, environment, now)
    try:
        done = []
        if damaged:
            copied = _salvage(runtime.store.db, damaged)
            done.append(f"copied {counted(copied, 'row')} that could still be read")
        taken = mirror.refresh(
            project, runtime.store, runtime.settings, now, environment=environment
        ).taken
        done.append(f"took {counted(len(taken.added), 'memory')} from the files")
        return done
    finally:
        runtime.close()


def _salvage(db: sqlite3.Connection, damaged: str) -> int:
    """Copy row by row, table by table; a row or table that cannot be read is passed over."""
    try:
        source = sqlite3.connect(f"file:{damaged}?mode=ro", uri=True)
        tables = [
            row[0]
            for row in source.execute(
                "select name from sqlite_master where type = 'table' and sql not like '%virtual%'"
            )
            if not row[0].startswith(("sqlite_", *(index.name for index in indexes.INDEXES)))
        ]
        if source.execute("pragma user_version").fetchone()[0] != SCHEMA_VERSION:
            raise AdememError(
                "the damaged database has another schema", "only the files can be read back"
            )
    except sqlite3.Error:
        return 0
    copied = 0
    db.execute("pragma foreign_keys = off")
    for table in tables:
        for row in _readable(source, table):
            marks = ", ".join("?" * len(row))
            insert = f"insert or ignore into main.{table} values ({marks})"
            copied += db.execute(insert, row).rowcount
    db.execute("pragma foreign_keys = on")
    source.close()
    return copied


def _readable(source: sqlite3.Connection, table: str) -> Iterator[tuple[object, ...]]:
    """Rows by rising and falling rowid until the damage is met from both sides."""
    for order in ("asc", "desc"):
        try:
            yield from source.execute(f"select * from {table} order by rowid {order}")
        except sqlite3.Error:
            continue
        else:
            return
