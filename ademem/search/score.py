"""What a hit is worth: arithmetic that can be checked on paper."""

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
    from ademem.core.settings import SearchSettings

ENOUGH_WORDS = 3.0
"""Words that one memory alone has, of which so many answer any prompt in full."""
CONTENDERS = 5
"""Hits that compete for each place of a result; the others are too far behind to be compared."""

NAMED = ("exact",)
"""What was asked for by its id or key goes first;"""
COMPLETE = (*NAMED, "whole")
"""where the words decide alone, what has all of them goes next."""

ALIKE = 0.5
"""Share of common words from which two memories say the same; below, they share a topic."""

_WEIGHED = ("relevance", "recency", "importance", "confidence", "access")


class Ranked(Value):
    """What may become a hit, and what spoke for it."""

    memory: Entry
    score: float
    relevance: float
    signals: dict[str, float]
    against: str = ""
    """Id of a memory that says otherwise and stands above it."""


class Hit(Ranked):
    """A whole memory that was found."""

    memory: Memory


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
    total = weights = 0.0
    for name in _WEIGHED:
        if name in signals:
            weight = getattr(settings, name)
            total += weight * signals[name]
            weights += weight
    return float(total / (weights or 1.0))


def weigh(
    memory: Entry, signals: Mapping[str, float], settings: SearchSettings, now: datetime
) -> Ranked:
    """Add to the relevance of a memory what it is worth itself."""
    weighed = {
        **signals,
        "recency": recency(days_between(memory.updated_at, now), settings.half_life_days),
        "importance": memory.importance.weight,
        "confidence": memory.confidence,
        "access": decayed(
            memory.used,
            idle_days=days_between(memory.last_accessed_at, now),
            half_life_days=settings.half_life_days,
        ),
        "tier": _tier_bonus(memory, settings),
    }
    score = composite(weighed, settings) + weighed["tier"]
    if memory.status is Status.CANDIDATE:
        score *= settings.candidate_discount
    weighed["composite"] = score
    return Ranked(memory=memory, score=score, relevance=weighed["relevance"], signals=weighed)


def _tier_bonus(memory: Entry, settings: SearchSettings) -> float:
    """A candidate has not faded: its tier says that nobody confirmed it, and so does its status."""
    tier = Tier.PINNED if memory.pinned else memory.tier
    if tier is Tier.PINNED and memory.claimed_author is not None:
        tier = Tier.ACTIVE
    if tier is Tier.FADING and memory.status is Status.CANDIDATE:
        return 0.0
    return settings.tier_bonus[tier - 1]


def sunk(
    hits: Sequence[Ranked], name: str, discount: float, which: Collection[int]
) -> list[Ranked]:
    """The hits, *which* of them (by `seq`) with less behind them; *name* is that of the reason."""
    return [
        replace(hit, score=hit.score * discount, signals=hit.signals | {name: discount})
        if hit.memory.seq in which
        else hit
        for hit in hits
    ]


def diversify(
    hits: Sequence[Ranked], mmr_lambda: float, limit: int, first: Sequence[str] = NAMED
) -> list[Ranked]:
    """The best *limit* hits, each discounted by how far an earlier one says the same already.

    Those with the signals *first* go before everything.
    """
    left = sorted((_Contender(hit, mmr_lambda, first) for hit in hits), key=_order)
    del left[: -CONTENDERS * limit]
    chosen: list[_Contender] = []
    while left and len(chosen) < limit:
        best = left.pop()
        # Likeness only grows: who is first after a look at all that is chosen stays first.
        if best.looks_at(chosen):
            insort(left, best, key=_order)
        else:
            chosen.append(best)
    return [replace(one.hit, signals=one.hit.signals | {"mmr": one.marginal}) for one in chosen]


_order = attrgetter("order")


class _Contender:
    """A hit on its way into the result; the higher its order, the better."""

    def __init__(self, hit: Ranked, mmr_lambda: float, first: Sequence[str]) -> None:
        self.hit = hit
        self.before = _before(hit, first)
        self.is_rival = "rivals" in hit.signals
        self.weight = mmr_lambda
        self.words: frozenset[str] | None = None
        self.alike = 0.0
        self.seen = 0
        self._settle()

    def looks_at(self, chosen: Sequence[_Contender]) -> bool:
        """Compare with those chosen since the last look; whether there were any."""
        news = chosen[self.seen :]
        self.seen = len(chosen)
        for other in news:
            likeness = jaccard(self.vocabulary, other.vocabulary)
            if likeness >= ALIKE and not (self.is_rival and other.is_rival):
                self.alike = max(self.alike, likeness)
        self._settle()
        return bool(news)

    @property
    def vocabulary(self) -> frozenset[str]:
        if self.words is None:
            self.words = words(self.hit.memory.content)
        return self.words

    def _settle(self) -> None:
        self.marginal = self.weight * self.hit.score - (1 - self.weight) * self.alike**2
        self.order = (self.before, self.marginal, self.hit.memory.seq)


def _before(hit: Ranked, first: Sequence[str]) -> tuple[float, ...]:
    """A turn of a dialogue repeats the words of a question before anybody answers it."""
    names = NAMED if DIALOGUE in hit.memory.tags else first
    return tuple(hit.signals[name] if name in names else 0.0 for name in first)
