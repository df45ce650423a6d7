"""The order of hits that say something else about one subject."""

from __future__ import annotations

import re

from ademem.core.value import replace
from ademem.store import memories, relations
from ademem.store.filters import UNARCHIVED, visible_rows

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from ademem.core.memory import Entry
    from ademem.search.ranking import Ranked
    from ademem.store import Store
    from ademem.store.filters import Filters


def order_pairs(
    query: str, hits: Sequence[Ranked], store: Store, filters: Filters, limit: int
) -> list[Ranked]:
    """Put the latest memory about a matter before the first hit that it outdates.

    However it is worded: a later memory that was not found is added, unless the query has a number
    of the earlier one ("what broke with Python 3.8"). Where a person has to decide which of the two
    holds, one that was not found follows the other. Hits that are outdated keep their place and
    name the later one; one that was superseded by a memory that cannot be seen is left out.
    """
    later = relations.find_later(store, [hit.memory.seq for hit in hits])
    if not later:
        return [hit for hit in hits if not hit.memory.superseded_by][:limit]
    found = {hit.memory.seq: hit for hit in hits}
    wanted = sorted({each.seq for each in later.values()} - found.keys())
    seen = visible_rows(wanted, store, filters, filters.statuses or UNARCHIVED, len(wanted))
    added = {memory.seq: memory for memory in memories.entries(store, seen)}
    placed: dict[int, Ranked] = {}
    for hit in hits:
        other = later.get(hit.memory.seq)
        if other and (other.seq in found or other.seq in added):
            first = found.get(other.seq) or replace(hit, memory=added[other.seq])
            is_meant = not _names_earlier(query, hit.memory, first.memory)
            raised = [_raise_to(first, hit)] if is_meant else []
            hit = replace(hit, later=other)
            goes_first = other.replaces or other.seq in found
            group = [*raised, hit] if goes_first else [hit, *raised]
        else:
            group = [] if hit.memory.superseded_by else [hit]
        for each in group:
            placed.setdefault(each.memory.seq, each)
    return list(placed.values())[:limit]


def _names_earlier(query: str, earlier: Entry, later: Entry) -> bool:
    """True if the query has a number that the earlier memory has and the later one has not."""
    asked = _numbers(query)
    return not asked.isdisjoint(_numbers(earlier.content) - _numbers(later.content))


def _numbers(text: str) -> set[str]:
    return set(re.findall(r"\d+(?:\.\d+)*", text))


def _raise_to(hit: Ranked, other: Ranked) -> Ranked:
    """The hit, at least as good as the other one."""
    evidence = max(each.signals.get("evidence", 0.0) for each in (hit, other))
    return replace(
        hit,
        score=max(hit.score, other.score),
        weak=hit.weak and other.weak,
        signals=hit.signals | {"evidence": evidence},
    )
