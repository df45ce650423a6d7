"""The stored vectors as a search reads them."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    import sqlite3

    from ademem.store import Store


def stored(store: Store, model: str) -> sqlite3.Cursor:
    """Row number and vector of every memory that has one of this model."""
    return store.db.execute(
        "select memory.seq, vector.embedding_blob"
        " from unified_memory_embeddings as vector"
        " join unified_memories as memory on memory.id = vector.memory_id"
        " where vector.embedding_model = ? order by memory.seq",
        (model,),
    )


def state(store: Store, model: str) -> tuple[object, ...]:
    """Another one whenever a vector of the model came, went or changed."""
    row = store.db.execute(
        "select count(*), max(rowid) from unified_memory_embeddings where embedding_model = ?",
        (model,),
    ).fetchone()
    last = store.db.execute(
        "select memory_id, updated_at from unified_memory_embeddings where rowid = ?", (row[1],)
    ).fetchone()
    (_, _, path), *_ = store.db.execute("pragma database_list")
    return (path, os.stat(path).st_ino if path else id(store), *row, *(last or ()))


def count(store: Store, model: str) -> int:
    query = "select count(*) from unified_memory_embeddings where embedding_model = ?"
    return int(store.db.execute(query, (model,)).fetchone()[0])
