"""Stores that need no disk, and what there is to see of those on one."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from functools import cache
from pathlib import Path

from ademem.store import Store, database
from ademem.store.opening import Replicating, open_store
from tests.builders import NOW, project


def in_memory() -> Store:
    """A new store that is gone when it is closed."""
    db = database.connect(":memory:", wait_s=0)
    db.deserialize(_new())
    return Store(db, "atlas", observer=Replicating())


@cache
def _new() -> bytes:
    with closing(database.connect(":memory:", wait_s=0)) as db:
        database.run_schema(db)
        db.execute("insert into projects values ('atlas', '', '', '', '')")
        return db.serialize()


def reopen(root: Path) -> None:
    """What a hook does to a database before anything else."""
    open_store(project(root), NOW).close()


def text_of(path: Path | str) -> tuple[list[str], int]:
    """All that a database says, and its version."""
    with closing(sqlite3.connect(path)) as db:
        return list(db.iterdump()), database.version(db)
