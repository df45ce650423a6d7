"""Rows that go from one database of ours to another."""

from __future__ import annotations

from ademem.store.memories import columns

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ademem.store import Store

_OWN = ("unified_memory_embeddings", "memory_exposure")
"""Tables with a reference to a memory that are worth keeping."""


def copy_memories(source: Store, target: Store, ids: str) -> int:
    """Copy the memories that the SQL *ids* selects, with history; return the number of new ones."""
    rows = _rows(source, f"select * from main.unified_memories where id in ({ids}) order by seq")
    with target.transaction():
        new = [row for row in rows if _insert(target, "unified_memories", row, drop="seq")]
        for table in ("memory_revisions", *_OWN):
            for row in _rows(source, f"select * from {table} where memory_id in ({ids})"):
                if any(row["memory_id"] == memory["id"] for memory in new):
                    _insert(target, table, row, drop="seq")
    return len(new)


def remove_memories(source: Store, ids: str) -> None:
    """Remove the memories that the SQL *ids* selects, and their history, without a tombstone."""
    with source.transaction() as db:
        db.execute(f"delete from memory_revisions where memory_id in ({ids})")
        db.execute(f"delete from main.unified_memories where id in ({ids})")


def _rows(store: Store, query: str, *values: object) -> list[dict[str, Any]]:
    return [columns(row) for row in store.db.execute(query, values)]


def _insert(target: Store, table: str, row: dict[str, Any], drop: str = "") -> bool:
    """Insert a row of another database as one of this project; False where it has it."""
    row = {name: value for name, value in row.items() if name != drop}
    if "project_id" in row:
        row["project_id"] = target.project_id
    names = ", ".join(row)
    marks = ", ".join(f":{name}" for name in row)
    query = f"insert or ignore into main.{table} ({names}) values ({marks})"
    return target.db.execute(query, row).rowcount > 0
