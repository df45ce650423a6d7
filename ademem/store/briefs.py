"""Rows of `cto_core_memory_state`: the brief of the project, and that of each agent."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    import sqlite3

    from ademem.store import Store


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
    """Replace the brief; *claimed* says what of it came with the files."""
    store.db.execute(
        "insert or replace into cto_core_memory_state"
        " (project_id, agent_id, version, payload_json, updated_at, claimed)"
        " values (?, ?, ?, ?, ?, ?)",
        (store.project_id, agent, version, payload_json, updated_at, claimed),
    )


def agents(store: Store) -> set[str]:
    """Folders of the agents that have a brief."""
    query = "select agent_id from cto_core_memory_state where project_id = ? and agent_id <> ''"
    return {row[0] for row in store.db.execute(query, (store.project_id,))}


def accept(store: Store) -> None:
    """Forget what of the briefs came with the files."""
    query = "update cto_core_memory_state set claimed = null where project_id = ?"
    store.db.execute(query, (store.project_id,))
