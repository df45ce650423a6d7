"""Put a newer memory first that is nearest in meaning to the hit that leads.

People change a fact in other words than they learned it in: "Customers pay by invoice", and later
"customers pay by card". Where two statements are each the nearest to the other of all memories,
and a question finds them alike, it does not ask for the earlier one. What a pair of memories says
about each other comes after this, and decides. The numbers were chosen on the sets of notes,
changes and look-alikes that `bench/README.md` describes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from ademem.core.memory import Memory, Trust, are_about_one_place
from ademem.core.text import tells_work
from ademem.core.value import replace
from ademem.search.contradiction import name_two_things
from ademem.search.ranking import Hit, Search, names_earlier, raise_to
from ademem.store import Store, memories, relations

EQUAL = 0.65
"""Share of the score of the hit that leads from which the question finds another one alike."""
NEAR = 0.35
"""Whitened cosine of two statements about one matter."""
CLEAR = 0.1
"""Cosine by which they are nearer to each other than to any third: the timeouts of ten services
are all alike."""
COMPANY = 20
"""Memories around the first that are looked at."""
MOST_WORK = 1
"""Of these, how many may tell of work done: a record of work adds to what was done before."""


def _may_lead(later: Memory, earlier: Memory, store: Store) -> bool:
    """Tell whether both are about one thing, and nobody judged what they are to each other."""
    if not are_about_one_place(later, earlier):
        return False
    if earlier.trust is Trust.USER and later.trust is not Trust.USER:
        return False
    times = relations.read_learning_times(store, [later.id, earlier.id])
    if times[later.id] <= times[earlier.id]:
        return False
    if name_two_things(later.whole_text, earlier.whole_text):
        return False
    return relations.find(store, earlier, later) in (None, (relations.RELATED, "pending"))


def put_newer_first(hits: Sequence[Hit], asked: Search) -> Sequence[Hit]:
    """Give the newer twin of the hit that leads the first place.

    Nothing changes where words alone decide, where the question has a number that only the first
    hit has, or where it was judged what the two are to each other.
    """
    cosines, store = asked.cosines, asked.store
    if cosines is None or len(hits) < 2:
        return hits
    first = max(hits, key=lambda hit: (hit.score, hit.memory.seq))
    since, least = first.memory.created_at, EQUAL * first.score
    rivals = {
        hit.memory.seq: hit for hit in hits if hit.memory.created_at > since and hit.score >= least
    }
    if not rivals:
        return hits
    twin = cosines.find_twin(first.memory.seq, rivals, NEAR)
    if twin is None or twin.margin < CLEAR:
        return hits
    later, earlier = rivals[twin.row].memory, first.memory
    if names_earlier(asked.query.text, earlier, later):
        return hits
    around = [row for row in twin.cosines.nearest(COMPANY + 1) if row != first.memory.seq]
    company = memories.list_by_number(store, around[:COMPANY])
    if sum(tells_work(memory.whole_text) for memory in company) > MOST_WORK:
        return hits
    if not _may_lead(later, earlier, store):
        return hits
    leader = raise_to(rivals[twin.row], first)
    score, signals = math.nextafter(leader.score, math.inf), leader.signals | {"newer": 1.0}
    leader = replace(leader, score=score, signals=signals)
    return [leader if hit.memory.seq == twin.row else hit for hit in hits]
