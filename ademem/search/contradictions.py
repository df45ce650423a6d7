"""Contradicting answers, of which only one can be true today: the latest goes first."""

from __future__ import annotations

from ademem.core.memory import DIALOGUE, PROCEDURE, Trust
from ademem.core.text import EDGE, fold, words
from ademem.core.value import replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from ademem.core.memory import Entry
    from ademem.search.query_features import Features
    from ademem.search.score import Ranked
    from ademem.store import Store

COMPARED = 20
"""Hits that are compared with the best one."""
SLOT = 3
"""Longest value of a sentence, in words."""
FRAME = 0.5
"""Least share of the words around the value."""
APART = 1e-6
"""Difference that keeps equal scores in this order."""


def demote(hits: Sequence[Ranked], features: Features, full: float, store: Store) -> list[Ranked]:
    """Give the best score of contradicting answers to the latest of them.

    An answer holds a share *full* of what was asked. A person's words yield only to a person's.
    A question that names a date asks for that time, so nothing is demoted.
    """
    answers = [hit for hit in hits if hit.signals["share"] >= full and _states(hit)]
    group = [] if features.months or features.years else _contradicting(answers, features.words)
    if not group:
        return list(hits)
    from ademem.store import revisions

    at = revisions.last_said(store, [hit.memory.seq for hit in group])
    scores = [hit.score for hit in group]
    group.sort(key=lambda hit: (_by_person(hit.memory), at[hit.memory.seq]), reverse=True)
    first = group[0].memory.id
    given = {
        hit.memory.seq: replace(
            hit,
            score=score - place * APART,
            signals=hit.signals | {"rivals": place},
            against=first if place else "",
        )
        for place, (hit, score) in enumerate(zip(group, scores, strict=True))
    }
    return [given.get(hit.memory.seq, hit) for hit in hits]


def differing_value(left: str, right: str) -> tuple[list[str], list[str]] | None:
    """The words that differ, if two texts are the same sentence except for one value."""
    mine, theirs = _tokens(left), _tokens(right)
    shorter = min(len(mine), len(theirs))
    start = end = 0
    while start < shorter and mine[start] == theirs[start]:
        start += 1
    while end < shorter - start and mine[-1 - end] == theirs[-1 - end]:
        end += 1
    ours, others = mine[start : len(mine) - end], theirs[start : len(theirs) - end]
    alike = start + end >= FRAME * max(len(mine), len(theirs))
    if alike and 0 < len(ours) <= SLOT and 0 < len(others) <= SLOT:
        return ours, others
    return None


def _contradicting(hits: Sequence[Ranked], asked: frozenset[str]) -> list[Ranked]:
    """The best hit and those that contradict it, best first; empty when none does."""
    ranked = sorted(hits, key=lambda hit: hit.score, reverse=True)[:COMPARED]
    found = [hit for hit in ranked[1:] if _contradicts(ranked[0].memory, hit.memory, asked)]
    return [ranked[0], *found] if found else []


def _states(hit: Ranked) -> bool:
    """Whether the memory states how things are."""
    return DIALOGUE not in hit.memory.tags and hit.memory.source_type != PROCEDURE


def _contradicts(left: Entry, right: Entry, asked: frozenset[str]) -> bool:
    """Whether they differ in one value that the question does not name."""
    found = left.title == right.title and differing_value(left.content, right.content)
    return bool(found) and all(asked.isdisjoint(words(" ".join(each))) for each in found or ())


def _by_person(memory: Entry) -> bool:
    return memory.trust is Trust.USER


def _tokens(text: str) -> list[str]:
    return [token for raw in fold(text).split() if (token := raw.strip(EDGE))]
