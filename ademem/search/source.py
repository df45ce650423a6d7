"""Where a search gets its rows from: the database, or files made from it."""

from __future__ import annotations

import sys

from ademem.search import lexical, pipeline, window

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence
    from typing import Protocol

    from ademem.search.found import Around
    from ademem.search.fuse import Signals
    from ademem.search.pipeline import Search
    from ademem.search.query import Query
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
        return window.around(rows, self.store)
