"""Conflict candidates: rows that show the other version of a text, until a person decides.

They are derived from the record of their memory, and are no records themselves.
"""

from __future__ import annotations

from ademem.core.memory import MERGE
from ademem.store import LIVE, Store, memories, stamps

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ademem.core.memory import Memory


def find_live(store: Store, where: str, key: str | None, but: str = "") -> list[Memory]:
    """Return shared memories of the project for which the SQL *where* holds with *key*."""
    rows = store.db.execute(
        "select * from main.unified_memories where project_id = ? and scope = 'project'"
        f" and ifnull(scope_owner_id, '') = '' and {LIVE} and kept_of is null and {where}"
        " and id <> ?",
        (store.project_id, key, but),
    )
    return memories.from_rows(rows)


def withdraw(store: Store, key: str, id: str) -> bool:
    """Delete an undecided candidate whose text the memory *id* takes over."""
    found = find_live(store, "dedupe_key = ?", key, id)
    return any(delete(store, one.id) for one in found if one.source_type == MERGE)


def delete(store: Store, id: str) -> bool:
    """Delete the candidate without a trace; False for what is not one."""
    row = memories.raw_row(store.db, id)
    if row is None or stamps.record_of_row(row) is not None:
        return False
    store.db.execute("delete from memory_revisions where memory_id = ?", (id,))
    store.db.execute("delete from main.unified_memories where id = ?", (id,))
    return True
