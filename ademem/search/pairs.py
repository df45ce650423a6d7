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
    of the earlier one ("what broke with Python 3.8"). Hits that it outdates keep their place and
    name it; one that was superseded by a memory that cannot be seen is left out.
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
            later_one = found[other.seq].memory if other.seq in found else added[other.seq]
            if other.seq not in placed and not _names_earlier(query, hit.memory, later_one):
                first = found.get(other.seq) or _found_by(hit, added[other.seq])
                placed[other.seq] = _raise_to(first, hit)
            hit = replace(hit, later=other)
        elif hit.memory.superseded_by:
            continue
        placed.setdefault(hit.memory.seq, hit)
    return list(placed.values())[:limit]


def _names_earlier(query: str, earlier: Entry, later: Entry) -> bool:
    """True if the query has a number that the earlier memory has and the later one has not."""
    asked = _numbers(query)
    return not asked.isdisjoint(_numbers(earlier.content) - _numbers(later.content))


def _numbers(text: str) -> set[str]:
    return set(re.findall(r"\d+(?:\.\d+)*", text))


def _found_by(hit: Ranked, memory: Entry) -> Ranked:
    """A hit that is found by what another one says."""
    return replace(hit, memory=memory)


def _raise_to(hit: Ranked, other: Ranked) -> Ranked:
    """The hit, at least as good as the other one."""
    evidence = max(each.signals.get("evidence", 0.0) for each in (hit, other))
    return replace(
        hit,
        score=max(hit.score, other.score),
        weak=hit.weak and other.weak,
        signals=hit.signals | {"evidence": evidence},
    )
