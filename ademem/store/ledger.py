"""Events that were captured, so that each is captured once."""

from __future__ import annotations

from ademem.core.clock import stamp
from ademem.core.text import sha256_hex

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import datetime

    from ademem.store import Store


def claim(store: Store, source_type: str, source_key: str, now: datetime) -> bool:
    """Enter the event, in the transaction of its capture; False when it was captured before."""
    cursor = store.db.execute(
        "insert or ignore into memory_capture_ledger"
        " (id, project_id, source_type, source_key, created_at, updated_at)"
        " values (?, ?, ?, ?, ?, ?)",
        (
            sha256_hex(store.project_id, source_type, source_key)[:32],
            store.project_id,
            source_type,
            source_key,
            stamp(now),
            stamp(now),
        ),
    )
    return cursor.rowcount > 0


def claimed(store: Store, source_type: str, source_key: str) -> bool:
    """Return True if the event was entered before."""
    row = store.db.execute(
        "select 1 from memory_capture_ledger"
        " where project_id = ? and source_type = ? and source_key = ?",
        (store.project_id, source_type, source_key),
    ).fetchone()
    return row is not None


def any_claimed(store: Store, source_type: str, beginning: str) -> bool:
    """Return True if an event was entered whose key has this prefix."""
    row = store.db.execute(
        "select 1 from memory_capture_ledger where project_id = :project"
        " and source_type = :type and substr(source_key, 1, length(:beginning)) = :beginning"
        " limit 1",
        {"project": store.project_id, "type": source_type, "beginning": beginning},
    ).fetchone()
    return row is not None


def release(store: Store, source_type: str, source_key: str) -> None:
    """Nothing came of the claimed event: it may be tried again."""
    store.db.execute(
        "delete from memory_capture_ledger"
        " where project_id = ? and source_type = ? and source_key = ?",
        (store.project_id, source_type, source_key),
    )


def credit(store: Store, source_type: str, source_key: str, memory_id: str) -> None:
    """Note which memory came of a claimed event."""
    store.db.execute(
        "update memory_capture_ledger set memory_id = ?"
        " where project_id = ? and source_type = ? and source_key = ?",
        (memory_id, store.project_id, source_type, source_key),
    )


def credit_episode(store: Store, source_type: str, source_key: str, memory_id: str) -> None:
    """Note which episode came of a claimed event."""
    store.db.execute(
        "update memory_capture_ledger set episode_memory_id = ?"
        " where project_id = ? and source_type = ? and source_key = ?",
        (memory_id, store.project_id, source_type, source_key),
    )
