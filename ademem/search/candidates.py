"""Rows, and what speaks for them: the same value whichever way they were looked up."""

from __future__ import annotations

from ademem.core.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    Around = tuple[tuple[int, ...], ...]
    """Rows of the same session: those next to a row, those one further on, and so forth."""


class Found(Value):
    """Rows by `seq`, and what speaks for them."""

    share: Mapping[int, float]
    """How much of what was asked the row has, 0 to 1."""
    bm25: Mapping[int, float]
    whole: frozenset[int]
    """Rows that have every term."""
    exact: frozenset[int] = frozenset()
    """Rows whose id or key is the query."""
    held: Mapping[int, tuple[int, ...]] = {}
    """Which terms each row has, by their place in `tells`; rows with too small a share too."""
    tells: tuple[float, ...] = ()
    """What each term tells, as part of a full answer."""
    meaning: Mapping[int, float] = {}
    """Cosine seen through the lens of the store, -1 to 1; rows without a vector are not in it."""
    cosine: Mapping[int, float] = {}
    """Cosine of the vectors themselves: small for what has nothing to do with each other."""
    around: Mapping[int, Around] = {}

    def ranked(self) -> list[int]:
        """The named rows, those with every term, the others; each by BM25, newest first."""
        return sorted(
            self.share,
            key=lambda seq: (seq in self.exact, seq in self.whole, self.bm25.get(seq, 0.0), seq),
            reverse=True,
        )
