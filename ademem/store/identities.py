"""Rows of `agent_identities`, and who else has memories of their own."""

from __future__ import annotations

from ademem.core.clock import stamp
from ademem.core.redaction import redact
from ademem.core.text import sha256_hex
from ademem.store import LIVE

TYPE_CHECKING = False
if TYPE_CHECKING:
    import sqlite3
    from datetime import datetime

    from ademem.store import Store


def meet(store: Store, name: str, now: datetime) -> None:
    """Remember a kind of agent that works here; one that is known costs a look."""
    name = redact(name).text
    known = store.db.execute(
        "select 1 from agent_identities where project_id = ? and name = ?",
        (store.project_id, name),
    ).fetchone()
    if known is None:
        store.db.execute(
            "insert or ignore into agent_identities (id, project_id, name, created_at, updated_at)"
            " values (?, ?, ?, ?, ?)",
            (
                sha256_hex(store.project_id, name)[:16],
                store.project_id,
                name,
                stamp(now),
                stamp(now),
            ),
        )


def all_of(store: Store) -> list[sqlite3.Row]:
    """Name and first day of every kind of agent that worked here."""
    return store.db.execute(
        "select name, created_at from agent_identities where project_id = ?"
        " order by created_at desc, name",
        (store.project_id,),
    ).fetchall()


def owners(store: Store) -> list[tuple[str, int]]:
    """Agents that have live memories of their own, and how many."""
    rows = store.db.execute(
        "select scope_owner_id, count(*) from unified_memories"
        f" where project_id = ? and scope = 'agent' and scope_owner_id is not null and {LIVE}"
        " group by scope_owner_id order by scope_owner_id",
        (store.project_id,),
    )
    return [(row[0], row[1]) for row in rows]
