"""Picking the best of many scores."""

from __future__ import annotations

import numpy as np

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from numpy.typing import NDArray

BLOCK = 64


def top(
    scores: NDArray[Any], k: int, newness: Callable[[NDArray[Any]], NDArray[Any]]
) -> NDArray[np.int64]:
    """Rows of the *k* best scores, best first, of equal ones the newest; -inf is no score."""
    rows = np.flatnonzero(scores >= _threshold(scores, k)) if k else np.empty(0, np.int64)
    rows = rows[scores[rows] > -np.inf]
    if len(rows) > k:
        least = np.partition(scores[rows], len(rows) - k)[len(rows) - k]
        ties = rows[scores[rows] == least]
        better = rows[scores[rows] > least]
        newest = ties[np.argsort(newness(ties))][len(better) - k :]
        rows = np.concatenate((better, newest))
    return rows[np.lexsort((newness(rows), scores[rows]))[::-1]].astype(np.int64)


def _threshold(scores: NDArray[Any], k: int) -> float:
    """A score that at least *k* rows reach: the best of k blocks, each the best of its own rows."""
    blocks = len(scores) // BLOCK
    if blocks <= k:
        return -np.inf
    best = scores[: blocks * BLOCK].reshape(blocks, BLOCK).max(axis=1)
    return float(np.partition(best, blocks - k)[blocks - k])
