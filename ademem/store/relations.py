"""Rows of `memory_relations`: pairs of memories that somebody related.

A pair has one row, whatever became of it; nothing is computed into it. Which of the two is the
later one is a matter of when each was last learned, and is computed where it is asked for. A pair
is settled when a person says that both are true (`not_conflict`), or when one of the two is no
longer live.
"""

from __future__ import annotations

from ademem.core.clock import datetime, stamp
from ademem.core.floors import VALUES
from ademem.core.json_text import array
from ademem.core.text import preview, sha256_hex, with_title
from ademem.core.value import Value, replace
from ademem.store import Store, database
from ademem.store.memories import CONFIRMING

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

    from ademem.core.memory import Memory

CONFLICT = "conflicts_with"
"""One of the two is outdated, or wrong; a person decides."""
SUPERSEDES = "supersedes"
"""The later one most likely replaced the earlier."""
NOT_CONFLICT = "not_conflict"
RELATED = "related"
"""Both are about one subject; their relation was not judged."""
SYSTEM = "system"
"""Kind of who marked a pair that was computed; others stated or judged it."""
NEAR = "near"
"""Each of the two is the nearest to the other in meaning, and none has said more of them."""


class Conflict(Value):
    """Two live memories, the earlier on the left."""

    left: str
    right: str
    reason: str
    relation: str = CONFLICT


NEWER_CHARS = 200


class Newer(Value):
    """A text that somebody stated to be newer than a confirmed one, until a person decides."""

    id: str
    text: str
    at: str
    is_said: bool
    """A typed prompt says so; else an agent alone."""
    relation: str

    @property
    def line(self) -> str:
        how = "said" if self.is_said else "written"
        text = preview(self.text, NEWER_CHARS)
        return f"newer, {how} on {self.at[:10]}, not confirmed: {text} ({self.id})"

    @property
    def row(self) -> dict[str, Any]:
        kept = {"id": self.id, "text": preview(self.text, NEWER_CHARS), "at": self.at}
        return kept | {"said": self.is_said, "relation": self.relation}


class Later(Value):
    id: str
    at: str
    trust: str
    relation: str
    is_settled: bool
    """The earlier memory was superseded; before that the pair is a proposal."""

    @property
    def replaces(self) -> bool:
        return self.relation == SUPERSEDES

    @property
    def is_near(self) -> bool:
        return self.relation == NEAR

    @property
    def flag(self) -> str:
        if self.is_near:
            return f"newer-{self.id}"
        return f"{'superseded' if self.replaces else 'contradicted'}-by-{self.id}"

    @property
    def mark(self) -> str:
        if self.is_near:
            return f"newer: {self.id}, {self.at[:10]}"
        return f"{self.flag.partition('-')[0]} by {self.id}, {self.at[:10]}"


def learning_time(memory: str) -> str:
    return (
        f"max({memory}.created_at, ifnull((select max(again.created_at)"
        f" from memory_revisions as again where again.memory_id = {memory}.id"
        f" and again.operation in {CONFIRMING}), ''))"
    )


def is_open(memory: str) -> str:
    return (
        f"{memory}.status <> 'archived' and {memory}.deleted_at is null"
        f" and {memory}.superseded_by is null and {memory}.quarantine_reason is null"
        f" and ({memory}.status <> 'candidate' or {memory}.stage <> 'heard')"
    )


_IS_PROPOSAL = f"""
judgment_status = 'pending' and marked_by_kind <> '{SYSTEM}'
  and relation in ('conflicts_with', 'supersedes')
"""
_PROPOSED = f"""
select older.id as older, newer.id, newer.title, newer.content, pair.relation,
  ifnull((select max(at) from evidence where memory_id = newer.id and kind = 'said'), '') as said,
  newer.created_at
from memory_relations as pair
join unified_memories as older on older.sync_id = pair.target_id
join unified_memories as newer on newer.sync_id = pair.source_id
where {_IS_PROPOSAL} and older.id in (select value from json_each(?))
  and older.status = 'promoted' and newer.status = 'candidate'
  and newer.deleted_at is null and newer.superseded_by is null and newer.quarantine_reason is null
order by pair.updated_at
"""


def is_before(earlier: str, later: str) -> str:
    """SQL: one was last learned before the other."""
    return f"({learning_time(earlier)}, {earlier}.seq) < ({learning_time(later)}, {later}.seq)"


def is_unjudged(one: str, other: str) -> str:
    """SQL: what two memories are to each other was neither judged nor stated."""
    return (
        "not exists (select 1 from memory_relations as stated"
        f" where (stated.source_id, stated.target_id) in (values ({one}.sync_id, {other}.sync_id),"
        f" ({other}.sync_id, {one}.sync_id))"
        " and (stated.judgment_status = 'judged' or stated.relation <> 'related'))"
    )


_CONTESTED = "relation in ('conflicts_with', 'supersedes') and judgment_status <> 'ignored'"
_PAIRED = f"{_CONTESTED} and (judgment_status = 'judged' or marked_by_actor is not 'ademem')"
"""SQL: stated by somebody; what earlier versions computed counts for nothing."""
BY_MEANING = "nearest in meaning to each other"
"""Reason of a pair that was proposed and not stated."""
# Of two live memories the decision that one supersedes the other was taken back.
_UNDECIDED = """
case when judgment_status = 'judged' then 'conflicts_with' else relation end as relation
"""
_LIST = f"""
select earlier.id as "left", later.id as "right", ifnull(reason, '') as reason, {_UNDECIDED}
from memory_relations as pair
join unified_memories as earlier on earlier.sync_id in (pair.source_id, pair.target_id)
join unified_memories as later on later.sync_id in (pair.source_id, pair.target_id)
where pair.project_id = ? and {_PAIRED} and {is_open("earlier")} and {is_open("later")}
  and {is_before("earlier", "later")}
order by pair.created_at, pair.rowid
"""
_ANY = f"""
select 1 where exists (select 1 from memory_relations where {_PAIRED})
  or exists (select 1 from memory_neighbours)
"""

# A near memory `later` may stand before `asked`.
_MAY_STAND_BEFORE = f"""
{is_open("asked")} and {is_open("later")} and {is_before("asked", "later")}
  and not (asked.trust = 'user' and later.trust in ('tool', 'web'))
  and (asked.file_scope_pattern is null or later.file_scope_pattern is null
    or asked.file_scope_pattern = later.file_scope_pattern)
  -- What one session said side by side holds side by side.
  and (asked.source_session_id is null or asked.source_session_id is not later.source_session_id)
  and {is_unjudged("asked", "later")}
"""
# The chain of heirs of a superseded memory, and the live memories that a live one is paired with.
_LATER = f"""
with recursive asked as (
  select memory.* from json_each(:ids) as given
  join unified_memories as memory on memory.id = given.value
), heirs(id, heir) as (
  select id, superseded_by from asked where superseded_by is not null
  union
  select heirs.id, memory.superseded_by from heirs
  join unified_memories as memory on memory.id = heirs.heir
  where memory.superseded_by is not null
), paired as (
  select asked.seq, asked.id, asked.created_at, asked.trust, asked.status,
    pair.marked_by_kind <> '{SYSTEM}' as is_stated, pair.target_id as other_id, {_UNDECIDED}
  from asked join memory_relations as pair on pair.source_id = asked.sync_id
  where {_PAIRED} and asked.superseded_by is null
  union all
  select asked.seq, asked.id, asked.created_at, asked.trust, asked.status,
    pair.marked_by_kind <> '{SYSTEM}', pair.source_id, {_UNDECIDED}
  from asked join memory_relations as pair on pair.target_id = asked.sync_id
  where {_PAIRED} and asked.superseded_by is null
)
select * from (
select heirs.id, later.id, {learning_time("later")} as at, later.trust,
  'supersedes' as relation, 1, later.seq as row
from heirs join unified_memories as later on later.id = heirs.heir where {is_open("later")}
union all
-- What a person said is not replaced by a proposal of others.
select paired.id, later.id, {learning_time("later")} as at, later.trust,
  iif(paired.trust = 'user' and later.trust <> 'user', 'conflicts_with', relation), 0, later.seq
from paired join unified_memories as later on later.sync_id = paired.other_id
where {is_open("later")} and (at, later.seq) > ({learning_time("paired")}, paired.seq)
  and not (later.status = 'candidate' and paired.status = 'promoted' and paired.is_stated)
  and not (paired.trust = 'user' and later.trust in ('tool', 'web'))
union all
select asked.id, later.id, {learning_time("later")} as at, later.trust, '{NEAR}', 0, later.seq
from asked join memory_neighbours as mine on mine.memory_id = asked.id
join memory_neighbours as its
  on its.memory_id = mine.neighbour_id and its.neighbour_id = mine.memory_id
join unified_memories as later on later.id = its.memory_id
where mine.cosine >= {VALUES["near"]} and mine.plain >= {VALUES["near, plain"]}
  and mine.cosine - max(mine.second, its.second) >= {VALUES["near, margin"]}
  and {_MAY_STAND_BEFORE}
) order by relation <> '{NEAR}', relation, at, row  -- the last row of a memory counts
"""


def add(
    store: Store,
    earlier: Memory,
    later: Memory,
    relation: str,
    *,
    score: float,
    reason: str,
    actor: str,
    now: datetime,
    stated: bool = False,
) -> bool:
    """Add a pair; False if there was one, which if it waits gets the surer or newer relation.

    What the *actor* stated takes the place of what was computed, and nothing computed that of it.
    """
    values = {
        "id": id_of(earlier, later),
        "project": store.project_id,
        "source": later.sync_id,
        "target": earlier.sync_id,
        "relation": relation,
        "reason": reason,
        "score": score,
        "actor": actor,
        "kind": actor if stated else SYSTEM,
        "stated": stated,
        "now": stamp(now),
    }
    added = store.db.execute(
        "insert or ignore into memory_relations (sync_id, project_id, source_id, target_id,"
        " relation, reason, confidence, judgment_status, marked_by_actor, marked_by_kind,"
        " created_at, updated_at)"
        " values (:id, :project, :source, :target, :relation, :reason, :score, 'pending', :actor,"
        " :kind, :now, :now)",
        values,
    )
    if not added.rowcount:
        store.db.execute(
            "update memory_relations set relation = :relation,"
            " reason = iif(:reason = '', reason, :reason),"
            " source_id = :source, target_id = :target, confidence = :score, updated_at = :now,"
            " marked_by_actor = :actor, marked_by_kind = :kind"
            f" where sync_id = :id and judgment_status = 'pending' and :relation <> '{RELATED}'"
            f" and (:stated or marked_by_kind = '{SYSTEM}') and (:stated or relation = '{RELATED}'"
            f" or {_CONTESTED} and (confidence < :score or source_id <> :source))",
            values,
        )
    journal(store, id_of(earlier, later), actor, now)
    return added.rowcount > 0


def find(store: Store, one: Memory, other: Memory) -> tuple[str, str] | None:
    query = "select relation, judgment_status from memory_relations where sync_id = ?"
    return next(iter(store.tuples(query, (id_of(one, other),))), None)


def list_conflicts(store: Store) -> list[Conflict]:
    return [Conflict(**row) for row in store.dicts(_LIST, (store.project_id,))]


def find_later(store: Store, found: Iterable[Memory]) -> dict[str, Later]:
    """Return by id the latest memory that says something else, where there is one.

    One that replaces the memory comes before one that only contradicts it. A later memory that was
    superseded in turn gives way to its heir. Memories of another store have none here.
    """
    return find_later_by_id(
        store, [memory.id for memory in found if memory.is_personal == store.is_personal]
    )


def find_later_by_id(store: Store, ids: Sequence[str]) -> dict[str, Later]:
    if not ids or not store.has_row(_ANY):  # the rule, and cheap to tell
        return {}
    steps: dict[str, Later] = {}
    asked = set(ids)
    while asked:
        found = {
            id: Later(id=other, at=at, trust=trust, relation=relation, is_settled=bool(is_settled))
            for id, other, at, trust, relation, is_settled, _ in store.db.execute(
                _LATER, {"ids": array(sorted(asked))}
            )
        }
        steps |= found
        asked = {later.id for later in found.values()} - steps.keys()
    return {id: _follow(id, steps) for id in ids if id in steps}


_LATER_OF_TWO = f"""
select asked.id, later.id, {learning_time("later")} as at, later.trust
from json_each(:ids) as mine join json_each(:others) as its on its.key = mine.key
join unified_memories as asked on asked.id = mine.value
join unified_memories as later on later.id = its.value
where date({learning_time("asked")}) < date({learning_time("later")}) and {_MAY_STAND_BEFORE}
"""


def find_later_of_two(store: Store, nearest: Mapping[str, str]) -> dict[str, Later]:
    """Return by id the memory that is *nearest* to it, if it is of a later day and may stand first.

    What was learned on one day, as in a first import, says nothing of which holds now.
    """
    if not nearest:
        return {}
    values = {"ids": array(nearest), "others": array(nearest.values())}
    return {
        id: Later(id=other, at=at, trust=trust, relation=NEAR, is_settled=False)
        for id, other, at, trust in store.tuples(_LATER_OF_TWO, values)
    }


_BESIDE = f"""
select asked.value, neighbour_id from json_each(:ids) as asked
join memory_neighbours on memory_id = asked.value
union
select mine.id, other.id from json_each(:ids) as asked
join unified_memories as mine on mine.id = asked.value
join memory_relations as pair on pair.source_id = mine.sync_id or pair.target_id = mine.sync_id
join unified_memories as other
  on other.sync_id = iif(pair.source_id = mine.sync_id, pair.target_id, pair.source_id)
where {_PAIRED}
"""


def find_earlier(store: Store, found: Iterable[Memory]) -> dict[str, str]:
    """Map ids to the id of a memory that says something else and was learned before."""
    ids = [memory.id for memory in found if memory.is_personal == store.is_personal]
    if not ids or not store.has_row(_ANY):
        return {}
    beside = dict(store.tuples(_BESIDE, {"ids": array(ids)})).values()
    later = find_later_by_id(store, list(beside))
    return {other.id: id for id, other in later.items() if other.id in ids and not other.replaces}


def _follow(id: str, steps: Mapping[str, Later]) -> Later:
    """Return the end of a chain, which ends: each step from a live memory leads to a later one."""
    later = steps[id]
    while (heir := steps.get(later.id)) and heir.replaces:
        is_settled = later.is_settled and heir.is_settled
        later = replace(heir, relation=later.relation, is_settled=is_settled)
    return later


def find_proposals(store: Store, ids: Iterable[str]) -> dict[str, Newer]:
    """Return by the id of a confirmed memory the text that was stated last to be newer."""
    if not store.has_row(f"select 1 from memory_relations where {_IS_PROPOSAL} limit 1"):
        return {}
    return {
        older: Newer(
            id=id,
            text=with_title(title, content),
            at=said or created_at,
            is_said=bool(said),
            relation=relation,
        )
        for older, id, title, content, relation, said, created_at in store.tuples(
            _PROPOSED, (array(ids),)
        )
    }


def list_replaced(store: Store, memory: Memory) -> list[str]:
    """Return ids of live memories that somebody stated to be replaced by this one."""
    return store.column(
        "select older.id from memory_relations as pair"
        " join unified_memories as older on older.sync_id = pair.target_id"
        f" where pair.source_id = ? and {_IS_PROPOSAL} and relation = '{SUPERSEDES}'"
        f" and {is_open('older')}",
        (memory.sync_id,),
    )


def mark_contradicted(found: Iterable[Memory], later: Mapping[str, Later]) -> dict[str, str]:
    shown = {memory.id for memory in found if not memory.is_personal}
    return {id: later[id].mark for id in shown if id in later and later[id].id in shown}


def put_later_first(found: Iterable[Memory], later: Mapping[str, Later]) -> list[Memory]:
    """Put a later memory before the first that it says otherwise, and one near to it behind it."""
    rows = {memory.id: memory for memory in found}
    earlier = {other.id: id for id, other in later.items() if other.is_near and id in rows}
    placed: dict[str, Memory] = {}
    for id, memory in rows.items():
        if id in later and later[id].id in rows:
            placed.setdefault(later[id].id, rows[later[id].id])
        placed.setdefault(id, memory)
        if id in earlier:
            placed.setdefault(earlier[id], rows[earlier[id]])
    return list(placed.values())


def _read_cursor(store: Store) -> tuple[int, str]:
    change, _, rest = database.value(store.db, "related").partition(" ")
    return int(change) if change.isdecimal() else 0, rest.partition(" ")[0]


def read_learned(store: Store) -> int:
    """Return the number of vectors of the whitening with which neighbours were computed."""
    *_, learned = database.value(store.db, "related").split(" ")
    return int(learned) if learned.isdecimal() else 0


def save_cursor(store: Store, change: int, now: datetime, learned: int) -> None:
    database.set_value(store.db, "related", f"{change} {stamp(now)} {learned}")


def is_behind(store: Store) -> bool:
    return last_change(store) > _read_cursor(store)[0]


def last_change(store: Store) -> int:
    return store.first("select max(seq) from memory_revisions", (), 0)


def list_changed(store: Store, model: str = "") -> list[str]:
    change, at = _read_cursor(store)
    return store.column(
        "select memory_id from memory_revisions where seq > :change"
        " union select memory_id from unified_memory_embeddings"
        " where embedding_model = :model and updated_at >= :at",
        {"change": change, "at": at, "model": model},
    )


def resolve(store: Store, left: Memory, right: Memory, actor: str, now: datetime) -> bool:
    """Both are true. Return False where nothing of the pair was stated or proposed."""
    open_ = f"({_CONTESTED} or relation = '{RELATED}' and judgment_status = 'pending')"
    return _judge(store, left, right, open_, (NOT_CONFLICT, "judged"), actor, now)


def reopen(store: Store, left: Memory, right: Memory, actor: str, now: datetime) -> bool:
    was = f"relation = '{NOT_CONFLICT}'"
    if _judge(
        *(store, left, right, f"{was} and reason = '{BY_MEANING}'"),
        *((RELATED, "pending"), actor, now),
    ):
        return True
    return _judge(store, left, right, was, (CONFLICT, "pending"), actor, now)


def mark_superseded(
    store: Store, earlier: Memory, later: Memory, actor: str, now: datetime
) -> None:
    add(store, earlier, later, SUPERSEDES, score=1.0, reason="", actor=actor, now=now)
    _judge(store, earlier, later, _CONTESTED, (SUPERSEDES, "judged"), actor, now)


def _judge(
    store: Store,
    earlier: Memory,
    later: Memory,
    before: str,
    after: tuple[str, str],
    actor: str,
    now: datetime,
) -> bool:
    """Give a pair for which the SQL *before* holds another relation and status."""
    cursor = store.db.execute(
        "update memory_relations set relation = :relation, judgment_status = :status,"
        " source_id = :source, target_id = :target, marked_by_actor = :actor,"
        f" marked_by_kind = :actor, updated_at = :now where sync_id = :id and {before}",
        {"id": id_of(earlier, later), "relation": after[0], "status": after[1]}
        | {"source": later.sync_id, "target": earlier.sync_id, "actor": actor, "now": stamp(now)},
    )
    journal(store, id_of(earlier, later), actor, now)
    return cursor.rowcount > 0


SHARED = (
    *("sync_id", "source_id", "target_id", "relation", "reason", "confidence", "judgment_status"),
    *("marked_by_actor", "marked_by_kind", "created_at", "updated_at"),
)


def read_shared(store: Store, id: str) -> dict[str, Any] | None:
    query = f"select {', '.join(SHARED)} from memory_relations where sync_id = ?"
    row = store.db.execute(query, (id,)).fetchone()
    return dict(row) if row else None


def list_shared(store: Store) -> list[dict[str, Any]]:
    return store.dicts(f"select {', '.join(SHARED)} from memory_relations order by sync_id")


def journal(store: Store, id: str, actor: str, now: datetime) -> None:
    from ademem.store import stamps

    if store.observer and stamps.targets(store.db):
        store.observer.follow_relation(store, id, actor, now)


def id_of(one: Memory, other: Memory) -> str:
    """Return the id of a pair, the same for both orders and on every machine."""
    return "rel-" + sha256_hex(CONFLICT, *sorted((one.sync_id, other.sync_id)))[:16]
