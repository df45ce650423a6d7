"""Where a search gets its rows from: the database, or files made from it."""

from __future__ import annotations

import sys

from ademem.search import lexical, neighbours, pipeline

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence
    from typing import Protocol

    from ademem.core.settings import SearchSettings
    from ademem.search.candidates import Around
    from ademem.search.embedding import Embedder
    from ademem.search.fuse import Signals
    from ademem.search.pipeline import Search
    from ademem.search.query import Query
    from ademem.search.query_vector import Vector
    from ademem.store import Store

    class Meanings(Protocol):
        """What the vectors say about one question."""

        def nearest(self, limit: int) -> Sequence[int]:
            """Rows by cosine seen through the lens, highest first; *limit* of them, or all."""

        def of(self, rows: Collection[int]) -> tuple[dict[int, float], dict[int, float]]:
            """Of those of the rows that have a vector: cosine through the lens, cosine as it is."""

    class Source(Protocol):
        @property
        def mode(self) -> str:
            """`hybrid` when the meaning is asked too, `lexical` when the words decide alone."""

        def kept(self, search: Search) -> dict[int, Signals]:
            """The best rows above the floor, a pool of them at most, and what speaks for each."""


class Database:
    """The rows as they are in the database."""

    def __init__(
        self, query: Query, floor: float, store: Store, meanings: Meanings | None = None
    ) -> None:
        self.store = store
        self.meanings = meanings
        self.mode = "lexical" if meanings is None else "hybrid"
        bounds = (floor, lexical.MAX_POSTINGS) if meanings is None else (0.0, sys.maxsize)
        self._found = lexical.find(query, store, floor, *bounds)

    def kept(self, search: Search) -> dict[int, Signals]:
        return pipeline.judged(self._found, self, search)

    def around(self, rows: Iterable[int]) -> dict[int, Around]:
        return neighbours.around(rows, self.store)


def begun(query: str, store: Store, embedder: Embedder | None) -> Vector | None:
    """The model at work on the question; None without one, or a vector of it to compare with."""
    if embedder is None:
        return None
    from ademem.search.query_vector import Vector
    from ademem.store import embeddings

    known = embeddings.has_any(store, embedder.model_id)
    return Vector(query, embedder) if known else None


def quickest(query: Query, vector: Vector | None, store: Store, settings: SearchSettings) -> Source:
    """The quickest there is that knows what the vector tells.

    Without a word in it a query means nothing either; a model that fails leaves the words.
    """
    if vector is None or not query.terms:
        return Database(query, settings.floor, store)
    from contextlib import suppress

    from ademem.search import dense, index
    from ademem.search.embedding import DamagedModel

    def from_database() -> Source:
        meanings = None
        with suppress(DamagedModel):
            meanings = dense.cosines(vector.result(), store, vector.model_id)
        return Database(query, settings.floor, store, meanings)

    found = index.open_index(store, vector.model_id)
    if found is None:
        return from_database()
    return index.indexed(found, query, vector, settings.floor, store, from_database)
