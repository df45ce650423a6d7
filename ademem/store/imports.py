"""What an import must know before it writes: what came before, and what is gone for good."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ademem.store import Store


def credited(store: Store, source_type: str, source_key: str) -> str | None:
    """The memory that came of a claimed event; None if the gate refused it."""
    row = store.db.execute(
        "select memory_id from memory_capture_ledger"
        " where project_id = ? and source_type = ? and source_key = ?",
        (store.project_id, source_type, source_key),
    ).fetchone()
    return row[0] if row else None


def is_dead(store: Store, sync_id: str) -> bool:
    """Whether the memory was deleted for good here."""
    query = "select 1 from tombstones where entity = 'memory' and sync_id = ?"
    return store.db.execute(query, (sync_id,)).fetchone() is not None
