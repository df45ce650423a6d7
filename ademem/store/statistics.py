"""Counts over the tables, for `ademem status`."""

from __future__ import annotations

from ademem.store import LIVE

TYPE_CHECKING = False
if TYPE_CHECKING:
    import sqlite3

    from ademem.store import Store


def memories(store: Store) -> dict[str, int]:
    """Live memories by status, and the archived ones that are not deleted."""
    row = store.db.execute(
        f"select ifnull(sum(status = 'promoted' and {LIVE}), 0) as promoted,"
        f" ifnull(sum(status = 'candidate' and {LIVE}), 0) as candidates,"
        f" ifnull(sum(quarantine_reason is not null and {LIVE}), 0) as quarantined,"
        " ifnull(sum(status = 'archived' and deleted_at is null), 0) as archived,"
        f" ifnull(sum(pinned = 1 and {LIVE}), 0) as pinned from unified_memories"
    ).fetchone()
    return dict(row)


def by_owner(store: Store, scope: str) -> list[int]:
    """Live memories of each owner in the scope."""
    rows = store.db.execute(
        f"select count(*) from unified_memories where scope = ? and {LIVE} group by scope_owner_id",
        (scope,),
    )
    return [row[0] for row in rows]


def live_kinds(store: Store) -> list[sqlite3.Row]:
    """Tags, category and source type of each live memory that is not quarantined."""
    return store.db.execute(
        "select tags, category, source_type from unified_memories"
        f" where {LIVE} and quarantine_reason is null"
    ).fetchall()


def observations(store: Store) -> int:
    return _number(store, "select ifnull(sum(observation_count), 0) from unified_memories")


def sessions(store: Store) -> int:
    return _number(store, "select count(*) from sessions")


def refusals(store: Store, days: int) -> int:
    """Drafts that the write gate refused in the last *days* by the database's clock."""
    return _number(
        store,
        "select count(*) from decision_log"
        f" where part = 'gate' and created_at > date('now', '-{days:d} days')",
    )


def open_turns(store: Store, limit: int) -> list[sqlite3.Row]:
    """The newest turns that have not ended."""
    return store.db.execute(
        "select session_id, agent_id, class, why, searched_at, denied, started_at from turns"
        " where ended_at is null order by started_at desc limit ?",
        (limit,),
    ).fetchall()


def guard_decisions(store: Store) -> dict[str, int]:
    rows = store.db.execute(
        "select decision, count(*) from decision_log where part = 'guard' group by decision"
    )
    return {row[0]: row[1] for row in rows}


def _number(store: Store, query: str) -> int:
    return int(store.db.execute(query).fetchone()[0])
