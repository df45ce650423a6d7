"""A store that changes in every way, and what its database itself says about each row."""

from __future__ import annotations

from itertools import count

import numpy as np

from ademem.core.memory import Memory
from ademem.search.index import build, open_index, opening
from ademem.search.index.reading import Index
from ademem.store import Store
from tests.builders import insert, memory

MODEL = "fake"
DIMENSIONS = 8
WEIGHTS = "5, 1, 2, 1, 3"


class World:
    """Memories are named by their number."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.numbers = count()
        self.rng = np.random.default_rng(1)

    def add(self, content: str, *, session: str | None = None, **texts: object) -> str:
        id = f"m{next(self.numbers)}"
        made: Memory = memory(
            content, id=id, sync_id=id, dedupe_key=id, source_session_id=session, **texts
        )
        insert(self.store, made)
        return id

    def edit(self, id: str, content: str) -> None:
        self.store.db.execute("update unified_memories set content = ? where id = ?", (content, id))

    def move(self, id: str, session: str | None) -> None:
        query = "update unified_memories set source_session_id = ? where id = ?"
        self.store.db.execute(query, (session, id))

    def hide(self, id: str) -> None:
        """Soft-delete it, or take that back."""
        moment = "iif(deleted_at is null, '2026-02-01T12:00:00.000Z', null)"
        query = f"update unified_memories set deleted_at = {moment} where id = ?"
        self.store.db.execute(query, (id,))

    def remove(self, id: str) -> None:
        self.store.db.execute("delete from unified_memories where id = ?", (id,))

    def embed(self, id: str, model: str = MODEL, vector: np.ndarray | None = None) -> None:
        blob = (self.vector() if vector is None else vector).astype("<f4").tobytes()
        self.store.db.execute(
            "insert or replace into unified_memory_embeddings"
            " select id || ?, id, project_id, ?, ?, ?, 1, '', '' from unified_memories"
            " where id = ?",
            (model, model, blob, DIMENSIONS, id),
        )

    def vector(self) -> np.ndarray:
        drawn = self.rng.standard_normal(DIMENSIONS)
        return (drawn / np.linalg.norm(drawn)).astype("<f4")

    def build(self) -> None:
        build(self.store, MODEL)

    def open(self) -> Index | None:
        """As a process that has opened none yet."""
        opening.forget()
        return open_index(self.store, MODEL)

    def bm25(self, expression: str) -> dict[int, float]:
        """By FTS5."""
        rows = self.store.db.execute(
            f"select rowid, -bm25(unified_memories_fts, {WEIGHTS}) from unified_memories_fts"
            " where unified_memories_fts match ?",
            (expression,),
        )
        return dict(map(tuple, rows))

    def cosines(self, wanted: np.ndarray) -> dict[int, float]:
        """By the stored vectors."""
        rows = self.store.db.execute(
            "select seq, embedding_blob from unified_memories as memory"
            " join unified_memory_embeddings on memory_id = memory.id"
            " where deleted_at is null and embedding_model = ?",
            (MODEL,),
        )
        return {seq: float(np.frombuffer(blob, "<f4") @ wanted) for seq, blob in rows}

    def sessions(self) -> dict[int, str | None]:
        """Of every row that is not deleted, in order."""
        query = "select seq, source_session_id from unified_memories where deleted_at is null"
        return dict(map(tuple, self.store.db.execute(f"{query} order by seq")))

    def neighbours(self, seq: int, reach: int) -> list[int | None]:
        """At distance -1, 1, -2, 2, …"""
        sessions = self.sessions()
        mine = [other for other in sessions if sessions[other] == sessions[seq]]
        if sessions[seq] is None:
            mine = [seq]
        places = [mine.index(seq) + step * sign for step in range(1, reach + 1) for sign in (-1, 1)]
        return [mine[place] if 0 <= place < len(mine) else None for place in places]
