"""BM25 as FTS5 computes it."""

from __future__ import annotations

import math

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from numpy.typing import NDArray

K1 = 1.2
B = 0.75
LEAST_IDF = 1e-6
"""Of a word that more than half of the rows have."""


def idf(rows: int, holders: int) -> float:
    return max(LEAST_IDF, math.log((rows - holders + 0.5) / (holders + 0.5)))


def saturated(counts: NDArray[Any], lengths: NDArray[Any], mean_length: float) -> NDArray[Any]:
    """What of its idf a word is worth to rows of *lengths* words that have it *counts* times."""
    return (counts * (K1 + 1.0)) / (counts + K1 * (1 - B + B * lengths / mean_length))
