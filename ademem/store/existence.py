"""Existence of memories, asked on guarded calls: without the model of a memory."""

from __future__ import annotations

from ademem.store import CURRENT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ademem.store import Store


def any_promoted(store: Store) -> bool:
    """Return True if a search could recall something that this person made or accepted.

    Before that, what came with the files of a clone, or in a database, stops no call.
    """
    return store.is_trusted and bool(
        store.db.execute(
            "select 1 from unified_memories where project_id = ? and status = 'promoted'"
            f" and claimed_author is null and {CURRENT} limit 1",
            (store.project_id,),
        ).fetchone()
    )


def any_quarantined(store: Store, id: str = "") -> bool:
    """Return True if a memory with an id or sync id of this prefix is quarantined; empty: any."""
    return bool(
        store.db.execute(
            "select 1 from unified_memories where project_id = :project"
            " and quarantine_reason is not null and deleted_at is null"
            " and (substr(id, 1, length(:id)) = :id or substr(sync_id, 1, length(:id)) = :id)"
            " limit 1",
            {"project": store.project_id, "id": id},
        ).fetchone()
    )
