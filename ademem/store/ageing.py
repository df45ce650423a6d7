"""Rows that a sweep reads and writes, and its log."""

from __future__ import annotations

from ademem.core.clock import days_between, parse, stamp
from ademem.core.memory import SKILL
from ademem.core.value import Value
from ademem.store import FOREVER, LIVE

TYPE_CHECKING = False
if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Iterator, Mapping
    from datetime import datetime

    from ademem.store import Store

ADEMEM = "ademem"
"""The actor of what is done by itself."""
RUNNING = "running"
"""The outcome of a sweep that has not come to its end, or never will."""
COUNTED = ("decayed", "demoted", "promoted", "archived", "orphaned")
"""Counts of the log, each with its column."""

# Whoever says the same in one session, by whatever way, has said it once.
_SAID = """
(select count(distinct ifnull(session_id, substr(reason, 1, instr(reason, ': '))))
 from memory_revisions as said
 where said.memory_id = memory.id and operation in ('insert', 'merge', 'revise') {whose})
"""
# A session that did something with what it was shown has used it, and so has who ran a procedure.
_LAST_USE = """
max(last_accessed_at,
  ifnull((select last_used_at from memory_exposure where memory_id = memory.id), ''),
  ifnull((select last_used_at from memory_procedure_details where memory_id = memory.id), ''))
"""
_LIVE_ROWS = f"""
select memory.*, {_LAST_USE} as last_use,
  case when observation_count > 1 then {_SAID.format(whose="")} else 1 end as origins,
  case when observation_count > 1
    then {_SAID.format(whose="and actor in ('user', 'agent')")} else 1 end as witnesses,
  tier = 3 and status = 'promoted' and exists (
    select 1 from memory_revisions as faded
    where faded.memory_id = memory.id and actor = '{ADEMEM}' and operation = 'demote'
      and faded.created_at < {_LAST_USE}) as used_since_faded,
  mission is not null and mission_end is null as in_live_mission,
  mission_end is not null as of_ended_mission
from unified_memories as memory
left join (select id as mission, ended_at as mission_end from memory_missions)
  on scope = 'mission' and mission = scope_owner_id
where memory.project_id = :project and {LIVE} and source_type <> '{SKILL}'
order by memory.seq
"""


class Sweep(Value):
    """A row of the log."""

    id: str
    trigger: str
    started_at: str
    completed_at: str | None
    outcome: str
    error: str | None
    counts: dict[str, int]


def rows(store: Store) -> Iterator[sqlite3.Row]:
    """Every live memory and what else decides about its age, in the order they came.

    Skills are as old as their files.
    """
    return iter(store.db.execute(_LIVE_ROWS, {"project": store.project_id}))


def oldest(store: Store, now: datetime) -> str | None:
    """When the first of the memories that are not of the future was made, as a stamp."""
    query = "select min(created_at) from unified_memories where project_id = ? and created_at <= ?"
    row = store.db.execute(query, (store.project_id, stamp(now))).fetchone()
    return row[0] if row[0] else None


def fullest(store: Store) -> dict[str, int]:
    """By scope, the live memories of the owner that has most of them."""
    rows = store.db.execute(
        "select scope, max(held) from (select scope, count(*) as held from unified_memories"
        f" where project_id = ? and {LIVE} group by scope, scope_owner_id) group by scope",
        (store.project_id,),
    )
    return {row[0]: row[1] for row in rows}


def above(store: Store, limits: Mapping[str, int]) -> dict[str, int]:
    """By scope, the live memories beyond the limit of their owner, if there are any; 0: no limit.

    Those of a running mission have none.
    """
    rows = store.db.execute(
        "select scope, count(*) as held from unified_memories"
        f" where project_id = :project and {LIVE} and source_type <> '{SKILL}'"
        " and not (scope = 'mission' and scope_owner_id in"
        "  (select id from memory_missions where ended_at is null))"
        " group by scope, scope_owner_id",
        {"project": store.project_id},
    )
    over: dict[str, int] = {}
    for scope, held in rows:
        if limits[scope] and held > limits[scope]:
            over[scope] = over.get(scope, 0) + held - limits[scope]
    return over


def idle_days(row: sqlite3.Row, now: datetime) -> float:
    """Days since the last use; a use that a clock ahead noted counts as the last change before."""
    moments = (parse(row[name]) for name in ("last_use", "updated_at", "created_at"))
    return next((days for each in moments if (days := days_between(each, now)) > -1), 0.0)


def decay(store: Store, scores: Iterable[tuple[float, int, str]]) -> None:
    """Store scores by memory, each with the last access that it was worked out from."""
    store.db.executemany(
        "update main.unified_memories set base_score = ifnull(base_score, access_score),"
        " access_score = ? where seq = ? and last_accessed_at = ?",
        scores,
    )


def begin(store: Store, id: str, trigger: str, now: datetime) -> str:
    """The id under which this sweep is logged: its own, or that of one which was killed."""
    with store.transaction() as db:
        unfinished = db.execute(
            "select sweep_id from memory_sweep_log where project_id = ? and outcome = ?",
            (store.project_id, RUNNING),
        ).fetchone()
        if unfinished:
            return str(unfinished[0])
        db.execute(
            "insert into memory_sweep_log"
            " (sweep_id, project_id, trigger_reason, started_at, outcome) values (?, ?, ?, ?, ?)",
            (id, store.project_id, trigger, stamp(now), RUNNING),
        )
    return id


def count(store: Store, id: str, counts: dict[str, int]) -> None:
    """Add to what the sweep is known to have done; in the transaction that does it."""
    store.db.execute(
        "update memory_sweep_log set "
        + ", ".join(f"entries_{name} = entries_{name} + :{name}" for name in COUNTED)
        + " where sweep_id = :id",
        dict.fromkeys(COUNTED, 0) | counts | {"id": id},
    )


def end(store: Store, id: str, outcome: str, error: str | None, now: datetime) -> None:
    """Log how it ended; its duration, in milliseconds, counts from its very beginning."""
    store.db.execute(
        "update memory_sweep_log set completed_at = :now, outcome = :outcome, error = :error,"
        " duration_ms = max(0, round((julianday(:now) - julianday(started_at)) * 86400000))"
        " where sweep_id = :id",
        {"id": id, "outcome": outcome, "error": error, "now": stamp(now)},
    )


def last(store: Store, outcome: str = "%", *, until: str = FOREVER) -> Sweep | None:
    """The sweep that came to its end last, with this outcome and by this stamp if asked for."""
    row = store.db.execute(
        "select * from memory_sweep_log"
        " where project_id = ? and completed_at <= ? and outcome like ?"
        " order by completed_at desc, rowid desc limit 1",
        (store.project_id, until, outcome),
    ).fetchone()
    return row and Sweep(
        id=row["sweep_id"],
        trigger=row["trigger_reason"],
        started_at=row["started_at"],
        completed_at=row["completed_at"],
        outcome=row["outcome"],
        error=row["error"],
        counts={name: row[f"entries_{name}"] for name in COUNTED},
    )
