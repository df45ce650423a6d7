"""What a hit is worth: arithmetic that can be checked on paper."""

from __future__ import annotations

import math

from ademem.clock import days_between
from ademem.lifecycle import decayed
from ademem.model import Status, Tier
from ademem.text import jaccard, words
from ademem.value import Value, replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from datetime import datetime

    from ademem.model import Memory
    from ademem.settings import SearchSettings

ENOUGH_WORDS = 3.0
"""Words that one memory alone has, of which so many answer any prompt in full."""
CONTENDERS = 5
"""Hits that compete for each place of a result; the others are too far behind to be compared."""

ALIKE = 0.5
"""Share of common words from which two memories say the same; below, they share a topic."""

_WEIGHED = ("relevance", "recency", "importance", "confidence", "access")


class Hit(Value):
    """A memory and what spoke for it."""

    memory: Memory
    score: float
    relevance: float
    signals: dict[str, float]


def information(total: int, holders: int) -> float:
    """What a word tells that *holders* of *total* rows have: BM25's idf, as Lucene writes it."""
    return math.log1p((total - holders + 0.5) / (holders + 0.5))


def answer(*, asked: float, rarest: float) -> float:
    """The information of a full answer to a query that asked for so much.

    A short query is answered by all of its words. A prompt says more than any memory can match, so
    a few rare words do; one rare word is a third of that, one common word next to nothing.
    """
    return min(asked, ENOUGH_WORDS * rarest)


def recency(age_days: float, half_life_days: float) -> float:
    return math.exp2(-max(0.0, age_days) / half_life_days)


def composite(signals: Mapping[str, float], settings: SearchSettings) -> float:
    """Mean of the signals there are by the weights of the settings; a missing one costs nothing."""
    weights = {name: getattr(settings, name) for name in _WEIGHED if name in signals}
    total = sum(weights.values()) or 1.0
    return float(sum(weights[name] * signals[name] for name in weights) / total)


def weigh(
    memory: Memory, signals: Mapping[str, float], settings: SearchSettings, now: datetime
) -> Hit:
    """Add to the relevance of a memory what it is worth itself."""
    tier = Tier.PINNED if memory.pinned else memory.tier
    weighed = {
        **signals,
        "recency": recency(days_between(memory.updated_at, now), settings.half_life_days),
        "importance": memory.importance.weight,
        "confidence": memory.confidence,
        "access": decayed(
            memory.access_score,
            idle_days=days_between(memory.last_accessed_at, now),
            half_life_days=settings.half_life_days,
        ),
        "tier": settings.tier_bonus[tier - 1],
    }
    score = composite(weighed, settings) + weighed["tier"]
    if memory.status is Status.CANDIDATE:
        score *= settings.candidate_discount
    weighed["composite"] = score
    return Hit(memory=memory, score=score, relevance=weighed["relevance"], signals=weighed)


def sunk(hits: Sequence[Hit], settings: SearchSettings, astray: Collection[int]) -> list[Hit]:
    """The hits, those of which the code went *astray* (by `seq`) with less behind them."""
    return [
        replace(
            hit,
            score=hit.score * settings.astray_discount,
            signals=hit.signals | {"astray": settings.astray_discount},
        )
        if hit.memory.seq in astray
        else hit
        for hit in hits
    ]


def diversify(hits: Sequence[Hit], mmr_lambda: float, limit: int) -> list[Hit]:
    """The best *limit* hits, each discounted by how far an earlier one says the same already.

    What was asked for by its id or key goes before everything.
    """
    contenders = sorted(hits, key=_first, reverse=True)[: CONTENDERS * limit]
    left = {hit.memory.seq: hit for hit in contenders}
    vocabulary = {hit.memory.seq: words(hit.memory.content) for hit in contenders}
    alike = dict.fromkeys(left, 0.0)
    chosen: list[Hit] = []

    def marginal(seq: int) -> float:
        return mmr_lambda * left[seq].score - (1 - mmr_lambda) * alike[seq] ** 2

    while left and len(chosen) < limit:
        best = max(left, key=lambda seq: (left[seq].signals["exact"], marginal(seq), seq))
        mmr = marginal(best)
        hit = left.pop(best)
        chosen.append(replace(hit, signals=hit.signals | {"mmr": mmr}))
        for seq in left:
            likeness = jaccard(vocabulary[seq], vocabulary[best])
            if likeness >= ALIKE:
                alike[seq] = max(alike[seq], likeness)
    return chosen


def _first(hit: Hit) -> tuple[float, float]:
    return hit.signals["exact"], hit.score
