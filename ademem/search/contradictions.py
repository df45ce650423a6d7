"""Answers of which only one can be true today: the later one goes first."""

from __future__ import annotations

from ademem.core.memory import DIALOGUE, PROCEDURE, Trust
from ademem.core.text import EDGE, fold, words
from ademem.core.value import replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from ademem.core.memory import Entry
    from ademem.search.query_features import Cues
    from ademem.search.score import Ranked
    from ademem.store import Store

COMPARED = 20
"""Hits that are compared with the best."""
SLOT = 3
"""Most words in a row that one value of a sentence has."""
FRAME = 0.5
"""Least share of the words around it."""
APART = 1e-6
"""What keeps equal scores in this order."""


def settled(hits: Sequence[Ranked], cues: Cues, full: float, store: Store) -> list[Ranked]:
    """The hits; if others answer in full as the best one does, but otherwise, the last is the best.

    Of a full answer a share *full* of what was asked is held: what is not, may tell them apart.
    What a person said yields to a person's words alone. Who names a date asks for that time.
    """
    answers = [hit for hit in hits if hit.signals["share"] >= full and _states(hit)]
    group = [] if cues.months or cues.years else _rivals(answers, cues.words)
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


def exchanged(left: str, right: str) -> tuple[list[str], list[str]] | None:
    """What stands for what where two texts are one sentence but for one place in it."""
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


def _rivals(hits: Sequence[Ranked], asked: frozenset[str]) -> list[Ranked]:
    """The best hit and those that say otherwise, best first; none when nothing does."""
    ranked = sorted(hits, key=lambda hit: hit.score, reverse=True)[:COMPARED]
    found = [hit for hit in ranked[1:] if _rival(ranked[0].memory, hit.memory, asked)]
    return [ranked[0], *found] if found else []


def _states(hit: Ranked) -> bool:
    """Whether it says how things are."""
    return DIALOGUE not in hit.memory.tags and hit.memory.source_type != PROCEDURE


def _rival(left: Entry, right: Entry, asked: frozenset[str]) -> bool:
    """Whether they are one sentence but for something that was not named in the question."""
    found = left.title == right.title and exchanged(left.content, right.content)
    return bool(found) and all(asked.isdisjoint(words(" ".join(each))) for each in found or ())


def _by_person(memory: Entry) -> bool:
    return memory.trust is Trust.USER


def _tokens(text: str) -> list[str]:
    return [token for raw in fold(text).split() if (token := raw.strip(EDGE))]
