"""Verdicts about pairs of memories, by whoever judged them.

The row of a pair has the verdict in effect, or waits for one. The verdicts of others stand beside
it, in separate rows with the status `ignored`: overruled ones, and proposals where it waits.
"""

from __future__ import annotations

from collections.abc import Iterable

from ademem.core.clock import datetime, stamp
from ademem.core.json_text import array
from ademem.core.memory import Memory
from ademem.core.text import sha256_hex
from ademem.core.value import Value
from ademem.store import Store, database, relations

SYMMETRIC = ("related", "compatible", "scoped", "conflicts_with", "not_conflict")
VERBS = (*SYMMETRIC, relations.SUPERSEDES)
BESIDE = "ignored"


class Verdict(Value):
    """A row of `memory_relations`; ids of memories are empty where they were deleted for good."""

    id: str
    relation: str
    status: str
    source: str
    """In `supersedes` the one that takes the other's place."""
    target: str
    reason: str
    evidence: str
    confidence: float
    actor: str
    kind: str
    created_at: str
    updated_at: str


_SELECT = """
select relation.sync_id, relation, judgment_status, ifnull(source.id, ''), ifnull(target.id, ''),
  ifnull(reason, ''), ifnull(evidence, ''), relation.confidence, ifnull(marked_by_actor, ''),
  ifnull(marked_by_kind, ''), relation.created_at, relation.updated_at
from memory_relations as relation
left join unified_memories as source on source.sync_id = relation.source_id
left join unified_memories as target on target.sync_id = relation.target_id
"""
# A verdict beside a pair that waits, or beside an earlier verdict of as much trust.
_PROPOSED = f"""
where relation.judgment_status = '{BESIDE}' and exists (
  select 1 from memory_relations as pair
  where pair.source_id in (relation.source_id, relation.target_id)
  and pair.target_id in (relation.source_id, relation.target_id)
  and (pair.judgment_status = 'pending' or pair.judgment_status = 'judged'
    and pair.marked_by_kind = relation.marked_by_kind and pair.updated_at < relation.updated_at))
and source.deleted_at is null and target.deleted_at is null
"""

_ANNOTATED = f"""
select mine.id, case when judgment_status = 'pending' then 'contested_by'
  when relation = '{relations.SUPERSEDES}' and mine.sync_id = pair.target_id then 'superseded_by'
  else relation end, ifnull(other.id, '(deleted)')
from json_each(?) as asked
join unified_memories as mine on mine.sync_id = asked.value
join memory_relations as pair on mine.sync_id = pair.source_id or mine.sync_id = pair.target_id
left join unified_memories as other
  on other.sync_id = iif(mine.sync_id = pair.source_id, pair.target_id, pair.source_id)
where judgment_status <> '{BESIDE}' and relation not in ('not_conflict', 'merged_from')
  and (judgment_status <> 'pending' or relation <> 'related')
order by pair.created_at, pair.rowid, mine.sync_id = pair.target_id
"""


def find(store: Store, id: str) -> Verdict | None:
    return next(iter(_read(store, "where relation.sync_id = :id", id=id)), None)


def list_all(
    store: Store, memory: Memory | None = None, status: str | None = None, limit: int = 100
) -> list[Verdict]:
    return _read(
        store,
        "where (:id is null or :id in (relation.source_id, relation.target_id))"
        " and (:status is null or judgment_status = :status)"
        " order by relation.updated_at desc, relation.rowid desc limit :most",
        id=memory.sync_id if memory else None,
        status=status,
        most=limit,
    )


def list_proposals(store: Store) -> list[Verdict]:
    return _read(store, f"{_PROPOSED} order by relation.created_at, relation.rowid")


def annotate(store: Store, found: Iterable[Memory]) -> dict[str, dict[str, list[str]]]:
    """Return ids by verb, `superseded_by` and `contested_by`; `(deleted)` if deleted for good."""
    rows = store.db.execute(_ANNOTATED, (array(memory.sync_id for memory in found),))
    marked: dict[str, dict[str, list[str]]] = {}
    for id, verb, other in rows.fetchall():
        marked.setdefault(id, {}).setdefault(verb, []).append(other)
    return marked


def put(
    store: Store,
    source: Memory,
    target: Memory,
    relation: str,
    *,
    in_effect: bool,
    reason: str,
    evidence: str,
    confidence: float,
    actor: str,
    kind: str,
    now: datetime,
) -> str:
    """Store the one verdict of an actor; another's that was in effect goes beside the pair."""
    pair, beside = relations.id_of(source, target), id_beside(source, target, actor)
    with store.transaction() as db:
        before = find(store, pair)
        if in_effect and before and before.status == "judged" and before.actor != actor:
            db.execute(
                "update or replace memory_relations set sync_id = ?, judgment_status = ?"
                " where sync_id = ?",
                (id_beside(source, target, before.actor), BESIDE, pair),
            )
        if in_effect:
            db.execute("delete from memory_relations where sync_id = ?", (beside,))
        id = pair if in_effect else beside
        row = {
            "sync_id": id,
            "project_id": store.project_id,
            "source_id": source.sync_id,
            "target_id": target.sync_id,
            "relation": relation,
            "reason": reason or None,
            "evidence": evidence or None,
            "confidence": confidence,
            "judgment_status": "judged" if in_effect else BESIDE,
            "marked_by_actor": actor,
            "marked_by_kind": kind,
            "created_at": stamp(now),
            "updated_at": stamp(now),
        }
        kept = ["project_id", "created_at"]
        database.upsert(db, "memory_relations", row, ["sync_id"], kept)
    relations.journal(store, id, actor, now)
    return id


def id_beside(one: Memory, other: Memory, actor: str) -> str:
    return "rel-" + sha256_hex(relations.id_of(one, other), actor)[:16]


def _read(store: Store, tail: str, **values: object) -> list[Verdict]:
    rows = store.db.execute(f"{_SELECT} {tail}", values)
    return [Verdict(**dict(zip(Verdict._fields, row, strict=True))) for row in rows]
