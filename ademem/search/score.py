"""The score of a hit and the choice of the best: arithmetic that can be checked on paper."""

from __future__ import annotations

import math
from bisect import insort
from operator import attrgetter

from ademem.core.aging import decayed
from ademem.core.clock import days_between
from ademem.core.memory import DIALOGUE, Status, Tier
from ademem.core.text import jaccard, words
from ademem.core.value import Value, replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from datetime import datetime

    from ademem.core.memory import Entry, Memory
    from ademem.search.parameters import Parameters

ENOUGH_WORDS = 3.0
"""Words that only one memory has: so many of them answer any prompt in full."""
CONTENDERS = 5
"""Hits that are compared for each place of a result; the others are too far behind."""

NAMED = ("exact",)
"""Signals of hits that go first: a memory asked for by its id or key."""
COMPLETE = (*NAMED, "whole")
"""The same where words alone decide: then a memory that has all of them."""

SAME = 0.5
"""Jaccard similarity from which two memories say the same; below, they share a topic."""

_WEIGHTED = ("relevance", "recency", "importance", "confidence", "access")


class Ranked(Value):
    """A candidate with its score and the signals behind it."""

    memory: Entry
    score: float
    relevance: float
    signals: dict[str, float]
    against: str = ""
    """Id of a contradicting memory that is ranked above it."""


class Hit(Ranked):
    """A candidate with its whole memory."""

    memory: Memory


def information(total: int, holders: int) -> float:
    """Information of a word in *holders* of *total* rows: BM25's idf, as Lucene writes it."""
    return math.log1p((total - holders + 0.5) / (holders + 0.5))


def answer(*, asked: float, rarest: float) -> float:
    """The information of a full answer to a query that asked for so much.

    A short query is answered by all of its words. A prompt says more than any memory can match, so
    a few rare words do; one rare word is a third of that, one common word next to nothing.
    """
    return min(asked, ENOUGH_WORDS * rarest)


def recency(age_days: float, half_life_days: float) -> float:
    return math.exp2(-max(0.0, age_days) / half_life_days)


def weighted_mean(signals: Mapping[str, float], weights: Mapping[str, float]) -> float:
    """Mean of the signals there are; a missing one costs nothing."""
    total = divisor = 0.0
    for name, weight in weights.items():
        if name in signals:
            total += weight * signals[name]
            divisor += weight
    return total / (divisor or 1.0)


def weigh(
    memory: Entry, signals: Mapping[str, float], parameters: Parameters, now: datetime
) -> Ranked:
    """Score a memory by its relevance and its own signals."""
    weighed = {
        **signals,
        "recency": recency(days_between(memory.updated_at, now), parameters.half_life_days),
        "importance": memory.importance.weight,
        "confidence": memory.confidence,
        "access": decayed(
            memory.used,
            idle_days=days_between(memory.last_accessed_at, now),
            half_life_days=parameters.half_life_days,
        ),
        "tier": _tier_bonus(memory, parameters),
    }
    score = (
        weighted_mean(weighed, {name: getattr(parameters, name) for name in _WEIGHTED})
        + weighed["tier"]
    )
    if memory.status is Status.CANDIDATE:
        score *= parameters.candidate_discount
    weighed["composite"] = score
    return Ranked(memory=memory, score=score, relevance=weighed["relevance"], signals=weighed)


def _tier_bonus(memory: Entry, parameters: Parameters) -> float:
    """A candidate loses nothing by its tier: its status has the same reason, no confirmation."""
    tier = Tier.PINNED if memory.pinned else memory.tier
    if tier is Tier.PINNED and memory.claimed_author is not None:
        tier = Tier.ACTIVE
    if tier is Tier.FADING and memory.status is Status.CANDIDATE:
        return 0.0
    return parameters.tier_bonus[tier - 1]


def discount(
    hits: Sequence[Ranked], name: str, factor: float, rows: Collection[int]
) -> list[Ranked]:
    """The hits; the scores of *rows* (by `seq`) are multiplied, with *name* as their signal."""
    return [
        replace(hit, score=hit.score * factor, signals=hit.signals | {name: factor})
        if hit.memory.seq in rows
        else hit
        for hit in hits
    ]


def diversify(
    hits: Sequence[Ranked], mmr_lambda: float, limit: int, first: Sequence[str] = NAMED
) -> list[Ranked]:
    """Choose *limit* hits by maximal marginal relevance; signals in *first* go before all."""
    left = sorted((_Contender(hit, mmr_lambda, first) for hit in hits), key=_order)
    del left[: -CONTENDERS * limit]
    chosen: list[_Contender] = []
    while left and len(chosen) < limit:
        best = left.pop()
        # Similarity only grows: the first after a comparison with all chosen ones stays first.
        if best.compare(chosen):
            insort(left, best, key=_order)
        else:
            chosen.append(best)
    return [replace(one.hit, signals=one.hit.signals | {"mmr": one.marginal}) for one in chosen]


_order = attrgetter("order")


class _Contender:
    """A hit that competes for a place; the higher its order, the better."""

    def __init__(self, hit: Ranked, mmr_lambda: float, first: Sequence[str]) -> None:
        self.hit = hit
        self.precedence = _precedence(hit, first)
        self.contradicts = "rivals" in hit.signals
        self.weight = mmr_lambda
        self.words: frozenset[str] | None = None
        self.similarity = 0.0
        self.compared = 0
        self._update_order()

    def compare(self, chosen: Sequence[_Contender]) -> bool:
        """Compare with the hits chosen since the last call; return whether there were any."""
        added = chosen[self.compared :]
        self.compared = len(chosen)
        for other in added:
            similarity = jaccard(self.vocabulary, other.vocabulary)
            if similarity >= SAME and not (self.contradicts and other.contradicts):
                self.similarity = max(self.similarity, similarity)
        self._update_order()
        return bool(added)

    @property
    def vocabulary(self) -> frozenset[str]:
        if self.words is None:
            self.words = words(self.hit.memory.content)
        return self.words

    def _update_order(self) -> None:
        self.marginal = self.weight * self.hit.score - (1 - self.weight) * self.similarity**2
        self.order = (self.precedence, self.marginal, self.hit.memory.seq)


def _precedence(hit: Ranked, first: Sequence[str]) -> tuple[float, ...]:
    """A turn of a dialogue often repeats the question, so all of its words prove little."""
    names = NAMED if DIALOGUE in hit.memory.tags else first
    return tuple(hit.signals[name] if name in names else 0.0 for name in first)
