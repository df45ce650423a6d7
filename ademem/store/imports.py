"""Rows that an import checks before it writes: earlier imports and tombstones."""

from __future__ import annotations

from contextlib import contextmanager

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from ademem.store import Store

BULK_CACHE_KIB = 64 * 1024
"""Memory for pages while many rows come: each touches a page of a dozen indexes."""
BULK_CHECKPOINT_PAGES = 16_000
"""Pages of the log, 64 MB, before it is written back then."""


@contextmanager
def in_bulk(store: Store) -> Iterator[None]:
    """Trade memory for speed on this connection until the end."""
    cache, pages = (
        store.db.execute(f"pragma {name}").fetchone()[0]
        for name in ("cache_size", "wal_autocheckpoint")
    )
    store.db.execute(f"pragma cache_size = -{BULK_CACHE_KIB}")
    store.db.execute(f"pragma wal_autocheckpoint = {BULK_CHECKPOINT_PAGES}")
    try:
        yield
    finally:
        store.db.execute(f"pragma cache_size = {cache}")
        store.db.execute(f"pragma wal_autocheckpoint = {pages}")


def credited(store: Store, source_type: str, source_key: str) -> str | None:
    """The memory that came of a claimed event; None if the gate refused it."""
    row = store.db.execute(
        "select memory_id from memory_capture_ledger"
        " where project_id = ? and source_type = ? and source_key = ?",
        (store.project_id, source_type, source_key),
    ).fetchone()
    return row[0] if row else None


def tombstones(store: Store) -> list[tuple[str, str]]:
    """Sync id and moment of every memory that was deleted for good."""
    query = "select sync_id, deleted_at from tombstones where entity = 'memory' and project_id = ?"
    return [(row[0], row[1]) for row in store.db.execute(query, (store.project_id,)).fetchall()]


def is_dead(store: Store, sync_id: str) -> bool:
    """Return True if the memory was deleted for good here."""
    query = "select 1 from tombstones where entity = 'memory' and sync_id = ?"
    return store.db.execute(query, (sync_id,)).fetchone() is not None


def is_dead_by_id(store: Store, id: str) -> bool:
    """Return True if a memory with this id, a prefix of its sync id, was deleted for good."""
    query = "select 1 from tombstones where entity = 'memory' and sync_id >= ? and sync_id < ?"
    return store.db.execute(query, (id, id + "~")).fetchone() is not None
