"""Rows that go from one database of ours to another."""

from __future__ import annotations

from ademem.core.memory import Memory
from ademem.core.value import replace
from ademem.store import LIVE, memories
from ademem.store.memories import Change, columns

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import datetime
    from typing import Any

    from ademem.store import Store

MOVED = {
    "sessions": "",
    "user_prompts": "seq",
    "memory_procedure_details": "",
    "memory_procedure_history": "",
    "memory_relations": "",
    "memory_missions": "",
    "episodes": "",
    "memory_capture_ledger": "",
    "cto_core_memory_state": "",
    "agent_identities": "",
    "turns": "",
    "recall_log": "id",
    "decision_log": "id",
    "ai_calls": "id",
    "maintenance_log": "",
    "tombstones": "",
}
"""Tables besides those of memories that another project takes over, and their row numbers.

The others are about the files and the work of one folder.
"""
REFERENCES = {
    "memory_procedure_details": "memory_id",
    "memory_procedure_history": "procedure_memory_id",
    "episodes": "memory_id",
}
"""Columns that have to name a memory which is there."""
MERGE = "merge"

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


def merge_all(source: Store, target: Store, now: datetime) -> dict[str, int]:
    """Copy all of a project into another one, in one transaction; return new rows by table.

    A live memory with the text of one there adds to its observations; one with its topic becomes
    a revision of it, and the later text stays.
    """
    counts: dict[str, int] = {}
    with target.transaction():
        same = {
            id: found for id in _live(source) if (found := _double(id, source, target)) is not None
        }
        for id, found in same.items():
            _join(memories.get(source, id), found, target, now)
        ids = ", ".join(f"'{id}'" for id in same) or "''"
        query = f"select id from main.unified_memories where id not in ({ids})"
        counts["unified_memories"] = copy_memories(source, target, query)
        for table, number in MOVED.items():
            rows = _rows(source, f"select * from {table}")
            if reference := REFERENCES.get(table):
                there = "select 1 from main.unified_memories where id = ?"
                rows = [row for row in rows if _rows(target, there, row[reference])]
            counts[table] = sum(_insert(target, table, row, drop=number) for row in rows)
    return counts


def empty(source: Store) -> None:
    """Remove what `merge_all` copied."""
    with source.transaction() as db:
        remove_memories(source, "select id from main.unified_memories")
        for table in MOVED:
            db.execute(f"delete from {table}")
        db.execute("delete from jobs")


def _live(store: Store) -> list[str]:
    return [row[0] for row in store.db.execute(f"select id from unified_memories where {LIVE}")]


def _double(id: str, source: Store, target: Store) -> Memory | None:
    """Return the live memory of the target with the topic or the text of one of the source."""
    mine = memories.get(source, id)
    found = memories.find(
        target,
        f"{LIVE} and scope = :scope and scope_owner_id is :owner"
        " and (dedupe_key = :key or topic_key = :topic)",
        "order by topic_key is :topic desc, seq limit 1",
        scope=mine.scope,
        owner=mine.scope_owner_id,
        key=mine.dedupe_key,
        topic=mine.topic_key,
    )
    return found[0] if found else None


def _join(mine: Memory, theirs: Memory, target: Store, now: datetime) -> None:
    """Count the observations of a double, and put another text in as a revision."""
    change = Change(
        operation=MERGE, actor="ademem", at=now, reason=f"from the project {mine.project_id}"
    )
    counted = replace(theirs, observation_count=theirs.observation_count + mine.observation_count)
    if mine.dedupe_key == theirs.dedupe_key:
        memories.update(target, counted, change)
        return
    text = {
        name: getattr(mine, name)
        for name in ("content", "title", "dedupe_key", "trust", "quarantine_reason")
    }
    memories.update(target, replace(counted, **text), change)
    if theirs.updated_at >= mine.updated_at:
        kept = {name: getattr(theirs, name) for name in text}
        memories.update(target, replace(counted, **kept), change)


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
