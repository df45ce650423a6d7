"""The one row of `cto_core_memory_state`."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    import sqlite3

    from ademem.store import Store


def get(store: Store) -> sqlite3.Row | None:
    """Version, payload and time of the project's brief."""
    row: sqlite3.Row | None = store.db.execute(
        "select version, payload_json, updated_at from cto_core_memory_state where project_id = ?",
        (store.project_id,),
    ).fetchone()
    return row


def put(store: Store, *, version: int, payload_json: str, updated_at: str) -> None:
    store.db.execute(
        "insert or replace into cto_core_memory_state"
        " (project_id, version, payload_json, updated_at) values (?, ?, ?, ?)",
        (store.project_id, version, payload_json, updated_at),
    )
