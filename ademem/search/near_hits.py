"""Pairs of hits of one answer that are about one subject, of which the later may hold now.

The question has brought them together, so that less likeness tells of one subject than in the
whole store.
"""

from __future__ import annotations

from itertools import combinations

from ademem.core import anchor
from ademem.core.floors import VALUES
from ademem.core.text import jaccard
from ademem.search.evidence import INFINITE
from ademem.search.query import list_grams

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ademem.search.ranking import Hit

AHEAD, BEHIND = -6.0, 8.0
"""Differences in evidence beyond which it does not matter how large they are."""


def find_pairs(
    hits: Sequence[Hit], terms: int, cosines: Mapping[tuple[int, int], float] = {}
) -> dict[str, str]:
    """Map the ids of each two statements of one home that seem to be about one subject.

    *terms* is how many the question has; the plain *cosines* are by the numbers of two, the smaller
    first. The best hits choose first. A long text is about several matters, and is no statement.
    """
    compared = [hit for hit in hits if hit.memory.is_statement]
    alike = _measure(compared, cosines)
    pairs: dict[int, int] = {}
    for at, hit in enumerate(compared):
        behind = [
            (_weigh(alike, at, to, compared, terms), to)
            for to in range(at + 1, len(compared))
            if at not in pairs and to not in pairs and _home_of(hit) == _home_of(compared[to])
        ]
        if behind and (best := max(behind))[0] >= 0:
            pairs |= {at: best[1], best[1]: at}
    return {compared[at].memory.id: compared[to].memory.id for at, to in pairs.items()}


def _measure(
    hits: Sequence[Hit], cosines: Mapping[tuple[int, int], float]
) -> list[dict[int, float]]:
    """Return of each the likeness to the others by position: shared groups, and the cosine if any.

    What a memory is wanted for says as much of its subject as its text.
    """
    grams = [
        frozenset(list_grams(hit.memory.whole_text, *anchor.occasions(hit.memory.anchors)))
        for hit in hits
    ]
    alike: list[dict[int, float]] = [{} for _ in hits]
    for one, other in combinations(range(len(hits)), 2):
        seqs = sorted((hits[one].memory.seq, hits[other].memory.seq))
        value = jaccard(grams[one], grams[other]) + cosines.get((seqs[0], seqs[1]), 0.0)
        alike[one][other] = alike[other][one] = value
    return alike


def _weigh(
    alike: Sequence[Mapping[int, float]], at: int, to: int, hits: Sequence[Hit], terms: int
) -> float:
    """Return by how much the log odds that two are about one subject exceed their floor.

    By a logistic regression on questions about facts that changed, and on searches for others,
    which `bench/README.md` describes: how alike the two are, how much more than each is to a third,
    how far the second is behind, and how near it is to the question. Of many that are all alike no
    two are a pair: one of the two has to be the nearest to the other.
    """
    likeness = alike[at][to]
    thirds = [
        max((value for each, value in alike[one].items() if each not in (at, to)), default=0.0)
        for one in (at, to)
    ]
    if likeness <= min(thirds):
        return -INFINITE
    margins = 2 * likeness - sum(thirds)
    first, second = hits[at].signals, hits[to].signals
    gap = min(BEHIND, max(AHEAD, first["evidence"] - second["evidence"]))
    if "cosine" in first and "cosine" in second:
        odds = 1.05 * likeness + 3.56 * margins + 5.17 * second["cosine"]
        return odds - 0.36 * gap - 0.14 * terms - 2.99 - VALUES["pair, hybrid"]
    odds = 8.81 * likeness + 7.41 * margins
    return odds - 0.62 * gap - 0.12 * terms - 1.45 - VALUES["pair, lexical"]


def _home_of(hit: Hit) -> tuple[object, ...]:
    memory = hit.memory
    return memory.scope, memory.scope_owner_id, memory.source_branch
