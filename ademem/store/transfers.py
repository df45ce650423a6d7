"""Rows that go from one database of ours to another."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from ademem.core.json_text import flat, loads
from ademem.core.memory import Memory
from ademem.core.text import sha256_hex
from ademem.core.value import replace
from ademem.store import (
    LIVE,
    Store,
    evidence,
    memories,
    memory_queries,
    relations,
    replication,
    stamps,
    verdicts,
)
from ademem.store.memories import Change

MOVED = (
    *("sessions", "user_prompts", "memory_procedure_details", "memory_procedure_history"),
    *("memory_missions", "episodes", "memory_capture_ledger", "cto_core_memory_state"),
    *("agent_identities", "turns", "recall_log", "decision_log", "ai_calls"),
    *("maintenance_log", "tombstones"),
)
REFERENCES = {
    "memory_procedure_details": "memory_id",
    "memory_procedure_history": "procedure_memory_id",
    "episodes": "memory_id",
}
MERGE = "merge"

_OWN = ("unified_memory_embeddings", "memory_exposure")
_IDS = (
    "memory_id",
    "procedure_memory_id",
    "episode_memory_id",
    "superseded_by",
    "superseded_by_memory_id",
)


def copy_memories(source: Store, target: Store, ids: str, now: datetime) -> dict[str, str]:
    """Copy the memories that the SQL *ids* selects, with history; return new ids by old ones.

    A live memory with the text of one there adds to its observations; one with its topic becomes
    a revision of it, and the later text stays. Where an id is taken, the memory gets a free one.
    """
    rows = source.dicts(f"select * from main.unified_memories where id in ({ids}) order by seq")
    with target.transaction():
        doubles = {row["id"]: _double(memories.from_values(row), target) for row in rows}
        names: dict[str, str] = {}
        for row in rows:
            found = doubles[row["id"]]
            id, sync_id = (found.id, found.sync_id) if found else _free_ids(target, row)
            names |= {row["id"]: id, row["sync_id"]: sync_id}
        for row in rows:
            if found := doubles[row["id"]]:
                _join(memories.from_values(row), memories.get(target, found.id), target, now)
            else:
                _copy_whole(source, target, row, names, now)
            for each in source.dicts("select * from evidence where memory_id = ?", (row["id"],)):
                _insert(target, "evidence", _rename_ids(each, names))
            evidence.update_stage(target, names[row["id"]])
    return names


def _rename_ids(row: dict[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    return row | {name: names.get(row[name], row[name]) for name in _IDS if row.get(name)}


def remove_memories(source: Store, ids: str) -> None:
    """Remove the memories that the SQL *ids* selects, and their history, without a tombstone."""
    with source.transaction() as db:
        db.execute(f"delete from memory_revisions where memory_id in ({ids})")
        db.execute(f"delete from main.unified_memories where id in ({ids})")


def merge_all(source: Store, target: Store, now: datetime) -> dict[str, int]:
    counts: dict[str, int] = {}
    with target.transaction():
        query = "select count(*) from main.unified_memories"
        before = target.number(query)
        names = copy_memories(source, target, "select id from main.unified_memories", now)
        counts["unified_memories"] = target.number(query) - before
        counts["memory_relations"] = _copy_relations(source, target, names, now)
        for table in MOVED:
            rows = [_rename_ids(row, names) for row in source.dicts(f"select * from {table}")]
            if reference := REFERENCES.get(table):
                there = "select 1 from main.unified_memories where id = ?"
                rows = [row for row in rows if target.has_row(there, (row[reference],))]
            counts[table] = sum(_insert(target, table, row) for row in rows)
    return counts


def _free_ids(target: Store, row: dict[str, Any]) -> tuple[str, str]:
    """Return the ids of a memory, or the next ones that the target has not."""
    id, sync_id = row["id"], row["sync_id"]
    while memory_queries.is_id_used(target, id, sync_id):
        sync_id = sha256_hex(sync_id, MERGE)[: len(sync_id)]
        id = sync_id[: len(id)]
    return id, sync_id


def _copy_whole(
    source: Store, target: Store, row: dict[str, Any], names: Mapping[str, str], now: datetime
) -> None:
    """Copy a memory with its history and vectors; the targets of the exchange get it, too."""
    new = {"id": names[row["id"]], "sync_id": names[row["sync_id"]]}
    _insert(target, "unified_memories", _rename_ids(row, names) | new)
    for table in ("memory_revisions", *_OWN):
        for each in source.dicts(f"select * from {table} where memory_id = ?", (row["id"],)):
            if "snapshot" in each:
                each["snapshot"] = flat(_rename_ids(loads(each["snapshot"]), names) | new)
            _insert(target, table, _rename_ids(each, names))
    change = Change(operation=MERGE, actor="ademem", at=now)
    stamps.follow_up(target, None, memories.raw_row(target.db, new["id"]), change)


def _copy_relations(source: Store, target: Store, names: Mapping[str, str], now: datetime) -> int:
    """Copy relations between what the memories became; of two about one pair the later counts."""
    copied = 0
    for row in source.dicts("select * from memory_relations order by rowid"):
        ends = [names.get(row[end], row[end]) for end in ("source_id", "target_id")]
        one, other = (memory_queries.by_sync_id(target, end) for end in ends)
        if one and one == other:
            continue
        if one and other:
            _rename_ends(row, one, other)
        current = relations.read_shared(target, row["sync_id"])
        if current and replication.relation_order(current) < replication.relation_order(row):
            target.db.execute("delete from memory_relations where sync_id = ?", (row["sync_id"],))
        if _insert(target, "memory_relations", row):
            copied += current is None
            relations.journal(target, row["sync_id"], "ademem", now)
    return copied


def _rename_ends(row: dict[str, Any], one: Memory, other: Memory) -> None:
    """Let a relation name what its memories became, in place; its id follows from the two."""
    ends = {"source_id": one.sync_id, "target_id": other.sync_id}
    if ends.items() <= row.items():
        return
    is_beside = row["judgment_status"] == verdicts.BESIDE
    actor = str(row["marked_by_actor"])
    id = verdicts.id_beside(one, other, actor) if is_beside else relations.id_of(one, other)
    row |= ends | {"sync_id": id}


def empty(source: Store) -> None:
    with source.transaction() as db:
        remove_memories(source, "select id from main.unified_memories")
        for table in ("memory_relations", *MOVED):
            db.execute(f"delete from {table}")
        db.execute("delete from jobs")


def _double(mine: Memory, target: Store) -> Memory | None:
    if not mine.live:
        return None
    where = (
        f"{LIVE} and scope = :scope and scope_owner_id is :owner"
        " and (dedupe_key = :key or topic_key = :topic)"
    )
    values = {"scope": mine.scope, "owner": mine.scope_owner_id}
    values |= {"key": mine.dedupe_key, "topic": mine.topic_key}
    tail = "order by topic_key is :topic desc, seq limit 1"
    return next(iter(memories.find(target, where, tail, **values)), None)


def _join(mine: Memory, theirs: Memory, target: Store, now: datetime) -> None:
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
        fields = {name: getattr(theirs, name) for name in text}
        memories.update(target, replace(counted, **fields), change)


def _insert(target: Store, table: str, row: dict[str, Any]) -> bool:
    numbers = [name for name in ("seq", "id") if isinstance(row.get(name), int)]
    row = {name: value for name, value in row.items() if name not in numbers}
    if "project_id" in row:
        row["project_id"] = target.project_id
    names = ", ".join(row)
    marks = ", ".join(f":{name}" for name in row)
    query = f"insert or ignore into main.{table} ({names}) values ({marks})"
    return target.db.execute(query, row).rowcount > 0
