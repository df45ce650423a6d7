"""Numbers of what waits for a person's review, as doors and the briefing of a session tell them."""

from __future__ import annotations

from ademem.core.clock import timedelta
from ademem.store import memory_queries, relations
from ademem.store.database import read_list

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from ademem.store.relations import Conflict
    from ademem.store.runtime import Runtime

SKIPPED = "review_skipped"
"""Name in `store_values`: a day and what was skipped on it."""


def list_skipped(runtime: Runtime) -> list[str]:
    day, *ids = read_list(runtime.store.db, SKIPPED) or [""]
    return ids if day == day_of(runtime.clock()) else []


def count_by_reason(runtime: Runtime, pairs: Sequence[Conflict] | None = None) -> dict[str, int]:
    """Count what a review asks about; *pairs* are those of `list_conflicts`, if read."""
    skipped = list_skipped(runtime)
    pairs = relations.list_conflicts(runtime.store) if pairs is None else pairs
    shown = [pair.right for pair in pairs if pair.right not in skipped]
    counts = {"contradictory": len(shown)} if shown else {}
    counts |= memory_queries.count_waiting(runtime.store, {*skipped, *shown})
    if misplaced := [id for id, _ in list_misplaced(runtime) if id not in skipped]:
        counts["misplaced"] = len(misplaced)
    own = runtime.open_personal()
    waiting = sum(memory_queries.count_waiting(own.store, skipped).values()) if own else 0
    return counts | ({"personal": waiting} if waiting else {})


GONE_DAYS = 30
"""Days after which a place that is not there is asked about."""


def list_misplaced(runtime: Runtime) -> list[tuple[str, str]]:
    """Return ids of memories and the places at which they may not belong.

    They were overruled there, or the place is gone for GONE_DAYS.
    """
    from ademem.store import bindings, gone_places, outcomes  # which a program need not load

    doubted = outcomes.list_doubted(runtime.store)
    found = [(each.memory_id, each.binding) for each in doubted]
    long_ago = runtime.clock() - timedelta(days=GONE_DAYS)
    gone = [(id, place.place) for id, place in gone_places.list_since(runtime.store, long_ago)]
    return [*bindings.find_bound(runtime.store, found), *gone]


def day_of(now: datetime) -> str:
    return now.astimezone().date().isoformat()
