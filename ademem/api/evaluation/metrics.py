"""How good one ranking is: pure functions of ranked ids and the relevant ones."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

Metric = Callable[[Sequence[str], Collection[str]], float]

DEPTH = 20
"""Hits that are looked at; what stands behind them counts as not found."""


def any_hit(ranked: Sequence[str], relevant: Collection[str], k: int) -> float:
    """1 when one relevant id is among the first *k*."""
    return float(any(id in relevant for id in ranked[:k]))


def recall_all(ranked: Sequence[str], relevant: Collection[str], k: int) -> float:
    """1 when every relevant id is among the first *k*."""
    return float(set(relevant) <= set(ranked[:k]))


def recall(ranked: Sequence[str], relevant: Collection[str], k: int) -> float:
    """The share of the relevant ids that is among the first *k*."""
    return len(set(relevant) & set(ranked[:k])) / len(relevant)


def reciprocal_rank(ranked: Sequence[str], relevant: Collection[str]) -> float:
    """1 over the rank of the first relevant id within DEPTH, 0 without one."""
    ranks = (rank for rank, id in enumerate(ranked[:DEPTH], 1) if id in relevant)
    return 1 / next(ranks, math.inf)


def ndcg(ranked: Sequence[str], relevant: Collection[str], k: int) -> float:
    """Gain of 1 / log2(rank + 1) for each relevant id, over that of the best order."""
    gained = sum(_gain(rank) for rank, id in enumerate(ranked[:k], 1) if id in relevant)
    return gained / sum(_gain(rank) for rank in range(1, min(k, len(relevant)) + 1))


def _gain(rank: int) -> float:
    return 1 / math.log2(rank + 1)


METRICS: dict[str, Metric] = {
    "any@5": lambda ranked, relevant: any_hit(ranked, relevant, 5),
    "any@10": lambda ranked, relevant: any_hit(ranked, relevant, 10),
    "all@5": lambda ranked, relevant: recall_all(ranked, relevant, 5),
    "all@10": lambda ranked, relevant: recall_all(ranked, relevant, 10),
    "R@1": lambda ranked, relevant: recall(ranked, relevant, 1),
    "R@5": lambda ranked, relevant: recall(ranked, relevant, 5),
    "R@10": lambda ranked, relevant: recall(ranked, relevant, 10),
    "R@20": lambda ranked, relevant: recall(ranked, relevant, 20),
    "MRR": reciprocal_rank,
    "nDCG@10": lambda ranked, relevant: ndcg(ranked, relevant, 10),
}


def scores(ranked: Sequence[str], relevant: Collection[str]) -> dict[str, float]:
    return {name: metric(ranked, relevant) for name, metric in METRICS.items()}


def means(rows: Iterable[Mapping[str, float]]) -> dict[str, float]:
    """The mean of each score; nothing without rows."""
    found = list(rows)
    return {name: sum(row[name] for row in found) / len(found) for name in METRICS if found}
