"""Pairs of hits that are each the nearest to the other among the hits of one answer.

The question has brought them together, so that less likeness tells of one subject than in the
whole store, and groups of three characters are enough where there are no vectors.
"""

from __future__ import annotations

from itertools import combinations

from ademem.core.floors import VALUES
from ademem.core.text import jaccard
from ademem.search.query import list_grams

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ademem.core.memory import Memory

WORDS = 1.5
"""Weight of the groups of characters that two share, beside their plain cosine."""


def find_nearest(
    memories: Sequence[Memory], cosines: Mapping[tuple[int, int], float] = {}
) -> dict[str, str]:
    """Map the ids of each two statements of one home that are the nearest to each other.

    The plain *cosines* are by their numbers, the smaller first. A long text is about several
    matters, and is no statement.
    """
    compared = [each for each in memories if each.is_statement]
    if len(compared) < 2:
        return {}
    alike = _measure(compared, cosines)
    nearest = [max((value, to) for to, value in row.items()) for row in alike]
    return {
        compared[at].id: compared[to].id
        for at, (value, to) in enumerate(nearest)
        if nearest[to][1] == at
        and value >= 1.0
        and _home_of(compared[at]) == _home_of(compared[to])
    }


def _measure(
    memories: Sequence[Memory], cosines: Mapping[tuple[int, int], float]
) -> list[dict[int, float]]:
    """Return of each the likeness to the others by position, 1.0 at the line for one subject."""
    grams = [frozenset(list_grams(each.whole_text)) for each in memories]
    alike: list[dict[int, float]] = [{} for _ in memories]
    for one, other in combinations(range(len(memories)), 2):
        shared = jaccard(grams[one], grams[other])
        rows = sorted((memories[one].seq, memories[other].seq))
        cosine = cosines.get((rows[0], rows[1]))
        if cosine is None:
            value = shared / VALUES["hits, words"]
        else:
            value = (cosine + WORDS * shared) / VALUES["hits, cosine"]
        alike[one][other] = alike[other][one] = value
    return alike


def _home_of(memory: Memory) -> tuple[object, ...]:
    return memory.scope, memory.scope_owner_id, memory.source_branch
