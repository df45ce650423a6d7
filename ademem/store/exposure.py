"""How often memories were shown to who did not ask for them, and what came of it."""

from __future__ import annotations

from ademem.jsontext import array

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from ademem.store import Store

PLACES = frozenset({"briefing", "agent", "prompt", "site", "failure", "guard"})
"""Of `recall_log`: where a memory is shown to a model that did not ask for it."""
SINKING = "select memory_id from memory_exposure where unused > :patience"
"""Memories that were shown more often than :patience since they were last used."""


def unused(store: Store, ids: Iterable[str]) -> dict[str, int]:
    """By id: how often it was shown since it was last used; of those that were shown at all."""
    rows = store.db.execute(
        "select memory_id, unused from memory_exposure"
        " where memory_id in (select value from json_each(?))",
        (array(ids),),
    )
    return {row[0]: row[1] for row in rows}


def shown(store: Store, ids: Iterable[str]) -> None:
    """Count one showing of each memory that there still is."""
    store.db.execute(
        "insert into memory_exposure (memory_id, shown, unused)"
        " select id, 1, 1 from unified_memories where id in (select value from json_each(?))"
        " on conflict do update set shown = shown + 1, unused = unused + 1",
        (array(ids),),
    )
