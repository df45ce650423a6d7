"""The product's ranking and the baselines it is compared with, over the same memories."""

from __future__ import annotations

import re
from collections import defaultdict

from ademem.api.evaluation.metrics import DEPTH
from ademem.store import memory_queries

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from ademem.api.evaluation.arena import Arena

    Ranking = Callable[[str, Arena], list[str]]

RANK_CONSTANT = 60
"""Constant of reciprocal rank fusion (Cormack, Clarke and Buettcher 2009)."""


def ours(query: str, arena: Arena) -> list[str]:
    return arena.search(query)


def bm25(query: str, arena: Arena) -> list[str]:
    """FTS5's own order of the rows that have any of the words."""
    words = re.findall(r"\w+", query)
    return memory_queries.match_any_word(arena.store, words, DEPTH) if words else []


def dense(query: str, arena: Arena) -> list[str]:
    """The nearest vectors alone, as the model gives them."""
    return arena.nearest(query, DEPTH)


def fused(query: str, arena: Arena) -> list[str]:
    """Reciprocal rank fusion of `bm25` and `dense`."""
    scores: defaultdict[str, float] = defaultdict(float)
    for ranking in (bm25(query, arena), dense(query, arena)):
        for rank, id in enumerate(ranking, 1):
            scores[id] += 1 / (RANK_CONSTANT + rank)
    return sorted(scores, key=lambda id: -scores[id])[:DEPTH]


BASELINES: dict[str, Ranking] = {
    "ademem": ours,
    "RRF": fused,
    "dense only": dense,
    "BM25 only": bm25,
}
NEED_A_MODEL = ("RRF", "dense only")
