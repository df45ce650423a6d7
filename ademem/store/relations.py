"""Rows of `memory_relations`: conflicts between memories."""

from __future__ import annotations

from ademem.core.clock import stamp
from ademem.core.json_text import numbers
from ademem.core.text import sha256_hex
from ademem.core.value import Value
from ademem.store.memories import CONFIRMING

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from ademem.core.memory import Memory
    from ademem.store import Store

CONFLICT = "conflicts_with"
NOT_CONFLICT = "not_conflict"


class Conflict(Value):
    """Two live memories that cannot both be true, by their ids."""

    left: str
    right: str
    reason: str


_OPEN = """
select one.id, other.id, relation.reason
from memory_relations as relation
join unified_memories as one on one.sync_id = relation.source_id
join unified_memories as other on other.sync_id = relation.target_id
where relation.project_id = :project
  and relation = 'conflicts_with' and judgment_status = 'pending'
  and one.status <> 'archived' and one.deleted_at is null and one.superseded_by is null
  and other.status <> 'archived' and other.deleted_at is null and other.superseded_by is null
  and one.quarantine_reason is null and other.quarantine_reason is null
order by relation.created_at, relation.rowid
"""


_ANY_PENDING = """
select 1 from memory_relations
where relation = 'conflicts_with' and judgment_status = 'pending' limit 1
"""

_OUTDATED = f"""
with asked as (
  select mine.seq, mine.id, mine.sync_id, mine.trust, mine.created_at
  from json_each(:rows) as row join unified_memories as mine on mine.seq = row.value
), pairs as (
  select asked.*, target_id as other_id, relation, judgment_status
  from asked join memory_relations on source_id = asked.sync_id
  union all
  select asked.*, source_id as other_id, relation, judgment_status
  from asked join memory_relations on target_id = asked.sync_id
)
select pairs.seq, other.id
from pairs join unified_memories as other on other.sync_id = pairs.other_id
where relation = 'conflicts_with' and judgment_status = 'pending'
  and other.status <> 'archived' and other.deleted_at is null and other.superseded_by is null
  and other.quarantine_reason is null
  and other.created_at > pairs.created_at
  and (other.trust = 'user' or pairs.trust <> 'user')
  and not exists (
    select 1 from memory_revisions as again
    where again.memory_id = pairs.id and again.operation in {CONFIRMING}
      and again.created_at > other.created_at)
"""


def add_conflict(
    store: Store, left: Memory, right: Memory, reason: str, actor: str, now: datetime
) -> bool:
    """Add a conflict between two memories; False if there is one, or was."""
    one, other = sorted((left.sync_id, right.sync_id))
    cursor = store.db.execute(
        "insert or ignore into memory_relations (sync_id, project_id, source_id, target_id,"
        " relation, reason, judgment_status, marked_by_actor, marked_by_kind, created_at,"
        " updated_at)"
        " values (:id, :project, :one, :other, :relation, :reason, 'pending', :actor, 'system',"
        " :now, :now)",
        {
            "id": sha256_hex(CONFLICT, one, other)[:32],
            "project": store.project_id,
            "one": one,
            "other": other,
            "relation": CONFLICT,
            "reason": reason,
            "actor": actor,
            "now": stamp(now),
        },
    )
    return cursor.rowcount > 0


def list_conflicts(store: Store) -> list[Conflict]:
    """Return conflicts that wait for a person's decision, oldest first."""
    rows = store.db.execute(_OPEN, {"project": store.project_id})
    return [Conflict(left=row[0], right=row[1], reason=row[2] or "") for row in rows]


def find_outdated(store: Store, rows: Sequence[int]) -> dict[int, str]:
    """Return rows that a later memory contradicts, with its id, unless they were confirmed since.

    A person's memory is outdated by a person's alone.
    """
    if not rows or store.db.execute(_ANY_PENDING).fetchone() is None:  # the rule, and cheap to tell
        return {}
    return {row[0]: row[1] for row in store.db.execute(_OUTDATED, {"rows": numbers(rows)})}


def find_all_outdated(store: Store) -> dict[int, str]:
    rows = store.db.execute(
        "select memory.seq from memory_relations as said join unified_memories as memory"
        " on memory.sync_id in (said.source_id, said.target_id)"
        " where said.project_id = ? and said.relation = ? and said.judgment_status = 'pending'",
        (store.project_id, CONFLICT),
    )
    return find_outdated(store, sorted({row[0] for row in rows}))


def resolve(store: Store, left: Memory, right: Memory, actor: str, now: datetime) -> bool:
    """Resolve a conflict: both memories can be true; False if there is none."""
    return _judge(store, left, right, (CONFLICT, NOT_CONFLICT, "judged"), actor, now)


def reopen(store: Store, left: Memory, right: Memory, actor: str, now: datetime) -> bool:
    """Take a resolution back; False if there is none."""
    return _judge(store, left, right, (NOT_CONFLICT, CONFLICT, "pending"), actor, now)


def _judge(
    store: Store,
    left: Memory,
    right: Memory,
    change: tuple[str, str, str],
    actor: str,
    now: datetime,
) -> bool:
    """Change a relation of two memories: from, to, and the status after it."""
    one, other = sorted((left.sync_id, right.sync_id))
    cursor = store.db.execute(
        "update memory_relations set relation = :after, judgment_status = :status,"
        " marked_by_actor = :actor, marked_by_kind = :actor, updated_at = :now"
        " where project_id = :project and source_id = :one and target_id = :other"
        " and relation = :before",
        dict(zip(("before", "after", "status"), change, strict=True))
        | {
            "project": store.project_id,
            "one": one,
            "other": other,
            "actor": actor,
            "now": stamp(now),
        },
    )
    return cursor.rowcount > 0
