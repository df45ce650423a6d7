"""Databases of ADE that were taken over, and what to look at in them."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from typing import Any

from ademem.core.clock import stamp
from ademem.core.memory import Memory
from ademem.store import Store, ade, database, memories
from ademem.store.opening import Replicating
from tests.builders import NOW
from tests.store import ade_file
from tests.store.ade_file import CODE


def adopted_store(ddl: str = CODE, **rows: list[dict[str, Any]]) -> Store:
    source, db = sqlite3.connect(":memory:"), database.connect(":memory:", wait_s=0)
    source.text_factory = lambda raw: raw.decode("utf-8", "replace")
    ade_file.fill(source, ddl, **rows)
    db.execute("pragma foreign_keys = off")
    with closing(source), database.Transaction(db):
        ade.adopt(source, db, stamp(NOW))
    db.execute("pragma foreign_keys = on")
    named = db.execute("select id from projects order by rowid").fetchone()[0]
    return Store(db, named, observer=Replicating())


def one(store: Store, id: str = "m") -> Memory:
    return memories.get(store, id)


def table(store: Store, name: str) -> list[dict[str, Any]]:
    return [dict(row) for row in store.db.execute(f"select * from {name}")]


def tables(store: Store) -> set[str]:
    rows = store.db.execute("select name from sqlite_master where type = 'table'")
    return {row[0] for row in rows}


def reason(store: Store, id: str = "m") -> dict[str, Any]:
    """What the history of an adopted memory says it had and lost."""
    (revision,) = memories.revisions(store, id)
    return json.loads(revision["reason"].removeprefix("ADE had ")) if revision["reason"] else {}
