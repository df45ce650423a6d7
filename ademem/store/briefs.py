"""Briefs: the project's in `cto_core_memory_state`, each agent's in a table beside it."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    import sqlite3

    from ademem.store import Store


def get(store: Store, agent: str = "") -> sqlite3.Row | None:
    """Version, payload and time of the brief of the project, or of an agent by its folder."""
    table, which, values = "cto_core_memory_state", "", [store.project_id]
    if agent:
        table, which, values = "agent_core_memory_state", " and agent_id = ?", [*values, agent]
    columns = "version, payload_json, updated_at, claimed"
    query = f"select {columns} from {table} where project_id = ?{which}"
    row: sqlite3.Row | None = store.db.execute(query, values).fetchone()
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
    if agent:
        store.db.execute(
            "insert or replace into agent_core_memory_state"
            " (project_id, agent_id, version, payload_json, updated_at, claimed)"
            " values (?, ?, ?, ?, ?, ?)",
            (store.project_id, agent, version, payload_json, updated_at, claimed),
        )
        return
    store.db.execute(
        "insert or replace into cto_core_memory_state"
        " (project_id, version, payload_json, updated_at, claimed) values (?, ?, ?, ?, ?)",
        (store.project_id, version, payload_json, updated_at, claimed),
    )


def agents(store: Store) -> set[str]:
    """Folders of the agents that have a brief."""
    query = "select agent_id from agent_core_memory_state where project_id = ?"
    return {row[0] for row in store.db.execute(query, (store.project_id,))}


def accept(store: Store) -> None:
    """Forget what of the briefs came with the files."""
    for table in ("cto_core_memory_state", "agent_core_memory_state"):
        query = f"update {table} set claimed = null where project_id = ?"
        store.db.execute(query, (store.project_id,))
