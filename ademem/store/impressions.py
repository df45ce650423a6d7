"""Impressions: how often memories were shown unasked, and how often they were used."""

from __future__ import annotations

from ademem.core.clock import stamp
from ademem.core.json_text import array

TYPE_CHECKING = False
if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable
    from datetime import datetime

    from ademem.store import Store

PLACES = frozenset({"briefing", "agent", "prompt", "site", "failure", "guard"})
"""Of `recall_log`: where a memory is shown to a model that did not ask for it."""
PATIENCE = 10
"""Unused impressions that cost a memory nothing; more of them lower its worth."""
SINKING = f"select memory_id from memory_exposure where unused > {PATIENCE}"
"""Memories that were shown more often than that since they were last used."""


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


def used(store: Store, ids: Iterable[str], now: datetime) -> None:
    """A session did something with each of them: what was shown before counts as well spent."""
    store.db.execute(
        "insert into memory_exposure (memory_id, used, last_used_at)"
        " select id, 1, :now from unified_memories where id in (select value from json_each(:ids))"
        " on conflict do update set used = used + 1, unused = 0, last_used_at = :now",
        {"ids": array(ids), "now": stamp(now)},
    )


def totals(store: Store) -> sqlite3.Row:
    """Count shown, used and sinking memories, and how often they were shown and used."""
    row: sqlite3.Row = store.db.execute(
        "select count(*) as memories, ifnull(sum(shown), 0) as shown, ifnull(sum(used), 0) as used,"
        " ifnull(sum(used > 0), 0) as used_memories,"
        f" ifnull(sum(unused > {PATIENCE} and not pinned), 0) as sinking"
        " from memory_exposure join unified_memories on id = memory_id"
        " where project_id = :project",
        {"project": store.project_id},
    ).fetchone()
    return row


def of_memories(store: Store, limit: int) -> list[sqlite3.Row]:
    """The memories that were shown most, with how often they were used."""
    return store.db.execute(
        "select id, category, title, content, pinned, quarantine_reason, shown, used, unused,"
        " last_used_at from memory_exposure join unified_memories on id = memory_id"
        " where project_id = ? and deleted_at is null"
        " order by shown desc, used, seq limit ?",
        (store.project_id, limit),
    ).fetchall()
