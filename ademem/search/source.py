"""Where a search gets its rows from: the database, or files made from it."""

from __future__ import annotations

from ademem.search import lexical, window

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence
    from typing import Protocol

    from ademem.search.found import Around, Found
    from ademem.search.query import Query
    from ademem.store import Store

    class Meanings(Protocol):
        """What the vectors say about one question."""

        def nearest(self, limit: int) -> Sequence[int]:
            """Rows by cosine seen through the lens, highest first; *limit* of them, or all."""

        def of(self, rows: Collection[int]) -> tuple[dict[int, float], dict[int, float]]:
            """Of those of the rows that have a vector: cosine through the lens, cosine as it is."""

    class Source(Protocol):
        """The three questions of a search."""

        meanings: Meanings | None

        def words(self, query: Query, floor: float, least: float) -> Found: ...

        def around(self, rows: Iterable[int]) -> dict[int, Around]: ...


class Database:
    """The rows as they are in the database."""

    def __init__(self, store: Store, meanings: Meanings | None = None) -> None:
        self.store = store
        self.meanings = meanings

    def words(self, query: Query, floor: float, least: float) -> Found:
        return lexical.find(query, self.store, floor, least)

    def around(self, rows: Iterable[int]) -> dict[int, Around]:
        return window.around(rows, self.store)
