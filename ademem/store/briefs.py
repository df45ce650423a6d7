"""Agents that worked here, and the briefs of the project and of each agent."""

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


def register_agent(store: Store, name: str, now: datetime) -> None:
    name = redact(name).text
    query = "select 1 from agent_identities where project_id = ? and name = ?"
    if not store.has_row(query, (store.project_id, name)):
        id = sha256_hex(store.project_id, name)[:16]
        store.db.execute(
            "insert or ignore into agent_identities (id, project_id, name, created_at, updated_at)"
            " values (?1, ?2, ?3, ?4, ?4)",
            (id, store.project_id, name, stamp(now)),
        )


def list_agents(store: Store) -> list[sqlite3.Row]:
    """Return name and first day of every kind of agent, the newest first."""
    return store.db.execute(
        "select name, created_at from agent_identities where project_id = ?"
        " order by created_at desc, name",
        (store.project_id,),
    ).fetchall()


def list_owners(store: Store) -> list[tuple[str, int]]:
    """Return agents with live memories, and their number."""
    rows = store.db.execute(
        "select scope_owner_id, count(*) from unified_memories"
        f" where project_id = ? and scope = 'agent' and scope_owner_id is not null and {LIVE}"
        " group by scope_owner_id order by scope_owner_id",
        (store.project_id,),
    )
    return [(row[0], row[1]) for row in rows]


def get(store: Store, agent: str = "") -> sqlite3.Row | None:
    """Version, payload and time of the brief of the project, or of an agent by its folder."""
    row: sqlite3.Row | None = store.db.execute(
        "select version, payload_json, updated_at, claimed from cto_core_memory_state"
        " where project_id = ? and agent_id = ?",
        (store.project_id, agent),
    ).fetchone()
    return row


def put(
    store: Store,
    agent: str,
    *,
    version: int,
    payload_json: str,
    updated_at: str,
    claimed: str | None = None,
) -> None:
    """Replace the brief; *claimed* is the JSON of its parts from the files."""
    from ademem.store.revisions import add_brief  # which few hooks need

    before = get(store, agent)
    if before and before["version"] != version:
        names = ("version", "payload_json", "updated_at")
        add_brief(store, agent, {name: before[name] for name in names})
    store.db.execute(
        "insert or replace into cto_core_memory_state"
        " (project_id, agent_id, version, payload_json, updated_at, claimed)"
        " values (?, ?, ?, ?, ?, ?)",
        (store.project_id, agent, version, payload_json, updated_at, claimed),
    )


def list_folders(store: Store) -> set[str]:
    query = "select agent_id from cto_core_memory_state where project_id = ? and agent_id <> ''"
    return set(store.column(query, (store.project_id,)))


def accept(store: Store) -> None:
    """Accept the parts of briefs that came from elsewhere."""
    query = "update cto_core_memory_state set claimed = null where project_id = ?"
    store.db.execute(query, (store.project_id,))
