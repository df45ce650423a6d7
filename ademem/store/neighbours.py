"""Rows of `memory_neighbours`: of each memory the one nearest in meaning, computed from vectors.

Two memories that are each the nearest to the other may say of one matter what held then and what
holds now, or the same twice, or that two things are alike. So the pair decides where both stand in
an answer, and what a person is asked to judge, and nothing else. The rows stay on this machine.
"""

from __future__ import annotations

from ademem.core.floors import VALUES
from ademem.core.json_text import array
from ademem.core.memory import DIALOGUE, STATEMENTS
from ademem.core.value import Value
from ademem.store import BROWSED, CURRENT, Store, relations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from ademem.core.memory import Memory
    from ademem.store.relations import Conflict

MOST = 50
"""Proposals that are listed, the nearest first."""


class Nearest(Value):
    """The memory that is nearest to one, and the cosine of the second nearest."""

    id: str
    neighbour: str
    cosine: float
    plain: float
    second: float


class Statement(Value):
    """A statement, and the nearest that it had; only statements of one home are compared."""

    seq: int
    id: str
    home: str
    neighbour: str
    """Empty for none."""
    cosine: float
    second: float


_STATEMENTS = f"""
select seq, id, json_array(scope, scope_owner_id, source_branch) as home,
  ifnull(neighbour_id, '') as neighbour, ifnull(cosine, 0.0) as cosine,
  ifnull(second, 0.0) as second
from unified_memories as memory left join memory_neighbours on memory_id = memory.id
where project_id = ? and status <> 'archived' and {CURRENT} and {BROWSED}
  and (status <> 'candidate' or stage <> 'heard')
  and category in ({", ".join(f"'{each}'" for each in sorted(STATEMENTS))})
  and instr(' ' || tags || ' ', ' {DIALOGUE} ') = 0
order by seq
"""
_PROPOSALS = f"""
select earlier.id as "left", later.id as "right",
  '{relations.BY_MEANING} (' || printf('%.2f', mine.cosine) || ')' as reason,
  'related' as relation
from memory_neighbours as mine
cross join memory_neighbours as its  -- in this order: pairs are few
  on its.memory_id = mine.neighbour_id and its.neighbour_id = mine.memory_id
cross join unified_memories as earlier on earlier.id = mine.memory_id
cross join unified_memories as later on later.id = its.memory_id
where earlier.project_id = :project and mine.cosine >= :least
  and mine.cosine - max(mine.second, its.second) >= :apart
  and {relations.is_open("earlier")} and {relations.is_open("later")}
  and {relations.is_before("earlier", "later")}
  and {relations.is_unjudged("earlier", "later")}
order by mine.cosine desc, earlier.seq limit :most
"""


def list_statements(store: Store) -> list[Statement]:
    """List the statements that are compared, by row number."""
    return [Statement(**row) for row in store.dicts(_STATEMENTS, (store.project_id,))]


def list_ids(store: Store) -> set[str]:
    return set(store.column("select memory_id from memory_neighbours"))


def list_all(store: Store) -> list[Nearest]:
    query = "select memory_id as id, neighbour_id as neighbour, cosine, plain, second"
    return [Nearest(**row) for row in store.dicts(f"{query} from memory_neighbours")]


def list_cosines(store: Store, ids: Iterable[str]) -> dict[str, float]:
    """Return by id the whitened cosine to the memory that is nearest."""
    query = "select memory_id, cosine from memory_neighbours where memory_id in"
    return dict(store.tuples(f"{query} (select value from json_each(?))", (array(ids),)))


def save(store: Store, stale: Iterable[str], found: Iterable[Nearest]) -> None:
    """Replace the rows of *stale* memories, and those that were *found*."""
    with store.transaction() as db:
        query = "delete from memory_neighbours where memory_id in (select value from json_each(?))"
        db.execute(query, (array(stale),))
        db.executemany(
            "insert or replace into memory_neighbours"
            " (memory_id, neighbour_id, cosine, plain, second)"
            " select memory.id, other.id, ?3, ?4, ?5"
            " from unified_memories as memory, unified_memories as other"
            " where memory.id = ?1 and other.id = ?2",  # which may have been deleted since
            [(each.id, each.neighbour, each.cosine, each.plain, each.second) for each in found],
        )


def is_proposed(store: Store, one: Memory, other: Memory) -> bool:
    """Tell whether a pair is proposed whose relation was not judged."""
    ids = {one.id, other.id}
    return any({pair.left, pair.right} == ids for pair in list_proposals(store))


def list_proposals(store: Store) -> list[Conflict]:
    """List the pairs for a person to judge, the nearest first."""
    lines = {"least": VALUES["proposed"], "apart": VALUES["proposed, margin"]}
    values = {"project": store.project_id, **lines, "most": MOST}
    return [relations.Conflict(**row) for row in store.dicts(_PROPOSALS, values)]
