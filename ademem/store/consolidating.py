"""Memories that a consolidation compares, and its log."""

from __future__ import annotations

from ademem.core.clock import stamp
from ademem.core.memory import SKILL
from ademem.core.value import Value
from ademem.store import CURRENT, FOREVER, unreadable
from ademem.store.memories import TABLE, TURN, columns, from_values

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from ademem.core.memory import Memory
    from ademem.store import Store

PURPOSE = "consolidation"
"""Under which `ademem status cost` counts what an AI is asked."""
UNAVAILABLE = "embeddings-unavailable"
"""The outcome when no memory has a vector to be compared by."""

# A merge that a person took back is not tried again with the same memories.
_TAKEN_BACK = """
exists (select 1 from memory_revisions as undone join memory_consolidation_log as log
  on undone.reason = 'takes back ' || log.consolidation_id
  where undone.memory_id = memory.id)
"""
_COMPARABLE = f"""
memory.project_id = :project and {CURRENT} and status in {{}} and pinned = 0 and tier > 1
and topic_key is null and source_type <> '{SKILL}'
and not {TURN}
and category in ('fact', 'pattern', 'gotcha', 'decision', 'convention', 'preference')
"""


_CONFIRMED = _COMPARABLE.format("('promoted')")
_LIVE = _COMPARABLE.format("('promoted', 'candidate')")


class Known(Value):
    """A memory that may be compared, with the vector of its text."""

    memory: Memory
    vector: bytes
    taken_back: bool
    """A person undid a merge that it was part of."""


class Consolidation(Value):
    """A row of the log."""

    id: str
    trigger: str
    completed_at: str
    outcome: str
    error: str | None
    found: int
    """Groups of two or more."""
    merged: int
    created: int


def known(store: Store, model: str) -> Iterator[Known]:
    """Yield comparable memories by age: neither pinned nor records of events."""
    rows = store.db.execute(
        f"select memory.*, vector.embedding_blob as vector, {_TAKEN_BACK} as taken_back"
        " from unified_memories as memory join unified_memory_embeddings as vector"
        " on vector.memory_id = memory.id and vector.embedding_model = :model"
        f" where {_LIVE} order by memory.seq",
        {"project": store.project_id, "model": model},
    )
    for row in rows:
        values = columns(row)
        vector, taken_back = values.pop("vector"), bool(values.pop("taken_back"))
        memory = unreadable.read_row(values, from_values, TABLE, row["id"])
        if memory:
            yield Known(memory=memory, vector=vector, taken_back=taken_back)


def any_comparable(store: Store) -> bool:
    query = f"select 1 from unified_memories as memory where {_CONFIRMED} limit 1"
    return store.db.execute(query, {"project": store.project_id}).fetchone() is not None


def note(store: Store, done: Consolidation, started: datetime, now: datetime) -> None:
    """Enter how a consolidation ended."""
    store.db.execute(
        "insert into memory_consolidation_log (consolidation_id, project_id, trigger_reason,"
        " started_at, completed_at, clusters_found, entries_merged, entries_created, tokens_used,"
        " duration_ms, outcome, error)"
        " values (:id, :project, :trigger, :started, :now, :found, :merged, :created,"
        " (select ifnull(sum(tokens_in + tokens_out), 0) from ai_calls"
        "  where purpose = :purpose and at >= :started),"
        " :ms, :outcome, :error)",
        {
            "id": done.id,
            "project": store.project_id,
            "trigger": done.trigger,
            "purpose": PURPOSE,
            "started": stamp(started),
            "now": done.completed_at,
            "found": done.found,
            "merged": done.merged,
            "created": done.created,
            "ms": max(0, round((now - started).total_seconds() * 1000)),
            "outcome": done.outcome,
            "error": done.error,
        },
    )


def last(store: Store, *, until: str = FOREVER) -> Consolidation | None:
    """The one that ended last, however it ended, by this stamp if one is given."""
    row = store.db.execute(
        "select * from memory_consolidation_log where project_id = ? and completed_at <= ?"
        " order by completed_at desc, rowid desc limit 1",
        (store.project_id, until),
    ).fetchone()
    return row and Consolidation(
        id=row["consolidation_id"],
        trigger=row["trigger_reason"],
        completed_at=row["completed_at"],
        outcome=row["outcome"],
        error=row["error"],
        found=row["clusters_found"],
        merged=row["entries_merged"],
        created=row["entries_created"],
    )
