"""Whether there is anything to recall: asked on guarded calls, so without the model of a memory."""

from __future__ import annotations

from ademem.store import CURRENT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ademem.store import Store


def any_promoted(store: Store) -> bool:
    """Whether there is anything a search could recall."""
    return bool(
        store.db.execute(
            "select 1 from unified_memories where project_id = ? and status = 'promoted'"
            f" and {CURRENT} limit 1",
            (store.project_id,),
        ).fetchone()
    )
