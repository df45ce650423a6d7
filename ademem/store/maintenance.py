"""Rows that sweeps and consolidations read and write, calls of an AI, and the logs of all."""

from __future__ import annotations

from ademem.core.clock import datetime, days_between, parse, stamp
from ademem.core.json_text import flat, loads
from ademem.core.memory import MERGE, SKILL, STOP, Memory
from ademem.core.redaction import redact
from ademem.core.value import Value, as_dict
from ademem.store import CURRENT, FOREVER, LIVE, Store, database
from ademem.store.memories import TURN, columns, from_values

TYPE_CHECKING = False
if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Iterator
    from typing import Any


SWEEP, CONSOLIDATION = "sweep", "consolidation"
UNAVAILABLE = "embeddings-unavailable"
ADEMEM = "ademem"
RUNNING = "running"
ERROR_CHARS = 300
DAY_CHARS = len("2026-01-31")
COUNTED = ("decayed", "demoted", "promoted", "archived", "orphaned")

# A session that did something with what it was shown has used it, and so has who ran a procedure.
_LAST_USE = """
max(last_accessed_at,
  ifnull((select last_used_at from memory_exposure where memory_id = memory.id), ''),
  ifnull((select last_used_at from memory_procedure_details where memory_id = memory.id), ''))
"""
_LIVE_ROWS = f"""
select id, scope, scope_owner_id as owner, category, status, tier, pinned, importance,
  confidence, quarantine_reason is not null as quarantined, revision_count as revision,
  access_score, ifnull(base_score, access_score) as base, access_count, created_at, updated_at,
  last_accessed_at,
  {_LAST_USE} as last_use, {_LAST_USE} > created_at as is_used,
  stage, claimed_author is null and trust <> 'import' and promoted_at is null
    and source_type <> '{MERGE}' as of_agent,
  (select max(at) from evidence where memory_id = memory.id) as evidence_at,
  exists (select 1 from evidence where memory_id = memory.id and kind = 'client_file') as has_file,
  trust = 'user' or instr(' ' || tags || ' ', ' {STOP} ') as of_person,
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

# A merge that a person took back is not tried again with the same memories.
_TAKEN_BACK = """
exists (select 1 from memory_revisions as undone join maintenance_log as log
  on undone.reason = 'takes back ' || log.id
  where undone.memory_id = memory.id and log.kind = 'consolidation')
"""
_COMPARABLE = f"""
memory.project_id = :project and {CURRENT} and pinned = 0 and tier > 1
and topic_key is null and source_type <> '{SKILL}'
and not {TURN}
and category in ('fact', 'pattern', 'gotcha', 'decision', 'convention', 'preference')
"""


class LoggedRun(Value):
    id: str
    trigger_reason: str
    started_at: str
    completed_at: str | None
    counts: dict[str, int]
    """Of a sweep COUNTED; of a consolidation groups found, memories merged and created."""
    outcome: str
    error: str | None
    tokens_used: int = 0
    duration_ms: int | None = None


def aging_rows(store: Store) -> Iterator[sqlite3.Row]:
    return iter(store.db.execute(_LIVE_ROWS, {"project": store.project_id}))


def oldest(store: Store, now: datetime) -> str | None:
    query = "select min(created_at) from unified_memories where project_id = ? and created_at <= ?"
    return store.first(query, (store.project_id, stamp(now)), None)


def idle_days(row: sqlite3.Row, now: datetime) -> float:
    """Return days since the last use, or the last change where the use is of the future."""
    moments = (parse(row[name]) for name in ("last_use", "updated_at", "created_at"))
    return next((days for each in moments if (days := days_between(each, now)) > -1), 0.0)


def decay(store: Store, scores: Iterable[tuple[float, str, str]]) -> None:
    """Store scores by id, where the last access did not change since."""
    store.db.executemany(
        "update main.unified_memories set base_score = ifnull(base_score, access_score),"
        " access_score = ? where id = ? and last_accessed_at = ?",
        scores,
    )


def comparable(store: Store, model: str) -> Iterator[tuple[Memory, bytes]]:
    rows = store.db.execute(
        "select memory.*, vector.embedding_blob as vector"
        " from unified_memories as memory join unified_memory_embeddings as vector"
        " on vector.memory_id = memory.id and vector.embedding_model = :model"
        f" where {_COMPARABLE} and status = 'promoted' and not {_TAKEN_BACK} order by memory.seq",
        {"project": store.project_id, "model": model},
    )
    for row in rows:
        values = columns(row)
        vector = values.pop("vector")
        memory = database.read_row(values, from_values)
        if memory:
            yield memory, vector


def any_comparable(store: Store) -> bool:
    query = (
        f"select 1 from unified_memories as memory where {_COMPARABLE} and status = 'promoted'"
        " limit 1"
    )
    return store.has_row(query, {"project": store.project_id})


def begin_sweep(store: Store, id: str, trigger: str, now: datetime) -> str:
    with store.transaction() as db:
        query = "select id from maintenance_log where project_id = ? and outcome = ?"
        unfinished = db.execute(query, (store.project_id, RUNNING)).fetchone()
        if unfinished:
            return str(unfinished[0])
        db.execute(
            "insert into maintenance_log"
            " (id, project_id, kind, trigger_reason, started_at, counts, outcome)"
            " values (?, ?, ?, ?, ?, ?, ?)",
            (id, store.project_id, SWEEP, trigger, stamp(now), flat(_counts({})), RUNNING),
        )
    return id


def count(store: Store, id: str, counts: dict[str, int]) -> None:
    row = store.db.execute("select counts from maintenance_log where id = ?", (id,)).fetchone()
    read = database.read_row(row, lambda row: _counts(loads(row[0])))
    known = read or _counts({})
    total = {name: known[name] + counts.get(name, 0) for name in COUNTED}
    store.db.execute("update maintenance_log set counts = ? where id = ?", (flat(total), id))


def end_sweep(store: Store, id: str, outcome: str, error: str | None, now: datetime) -> None:
    store.db.execute(
        "update maintenance_log set completed_at = :now, outcome = :outcome, error = :error,"
        " duration_ms = max(0, round((julianday(:now) - julianday(started_at)) * 86400000))"
        " where id = :id",
        {"id": id, "outcome": outcome, "error": error, "now": stamp(now)},
    )


def log_consolidation(store: Store, done: LoggedRun) -> None:
    store.db.execute(
        "insert into maintenance_log (id, project_id, kind, trigger_reason, started_at,"
        " completed_at, counts, tokens_used, duration_ms, outcome, error)"
        " values (:id, :project, :kind, :trigger_reason, :started_at, :completed_at, :counts,"
        " (select ifnull(sum(tokens_in + tokens_out), 0) from ai_calls"
        "  where purpose = :kind and at >= :started_at),"
        " max(0, round((julianday(:completed_at) - julianday(:started_at)) * 86400000)),"
        " :outcome, :error)",
        as_dict(done)
        | {"project": store.project_id, "kind": CONSOLIDATION, "counts": flat(done.counts)},
    )


def last(
    store: Store, kind: str, outcome: str = "%", *, until: str = FOREVER, running: bool = False
) -> LoggedRun | None:
    """Return the run that ended last, by the stamp, or one that is *running*."""
    row = store.db.execute(
        "select id, trigger_reason, started_at, completed_at, counts, outcome, error,"
        " tokens_used, duration_ms from maintenance_log"
        " where project_id = :project and kind = :kind and outcome like :outcome"
        " and ifnull(completed_at, iif(:running, '', null)) <= :until"
        " order by ifnull(completed_at, :until) desc, rowid desc limit 1",
        {"project": store.project_id, "kind": kind, "outcome": outcome}
        | {"until": until, "running": running},
    ).fetchone()

    def read(row: sqlite3.Row) -> LoggedRun:
        return LoggedRun(**dict(row) | {"counts": _counts(loads(row["counts"]), kind)})

    return database.read_row(row, read)


def _counts(counts: dict[str, int], kind: str = SWEEP) -> dict[str, int]:
    names = COUNTED if kind == SWEEP else ("found", "merged", "created")
    return {name: int(counts.get(name, 0)) for name in names}


class Price(Value):
    """US dollars; None where the provider names no price."""

    model: str = ""
    tokens_in: int = 0
    tokens_out: int = 0
    cost_usd: float | None = None


def begin_call(
    store: Store,
    purpose: str,
    provider: str,
    now: datetime,
    *,
    daily_calls: int,
    most: int | None = None,
) -> int | None:
    """Add a call before it is made, as an aborted one counts; None after the UTC day's last.

    *most*, where given, is the number of calls of this purpose in a day.
    """
    with store.transaction() as db:
        if count_calls_today(store, now) >= daily_calls:
            return None
        if most is not None and count_calls_today(store, now, purpose) >= most:
            return None
        entered = db.execute(
            "insert into ai_calls (project_id, at, purpose, provider, outcome)"
            " values (?, ?, ?, ?, 'asked')",
            (store.project_id, stamp(now), purpose, provider),
        )
        return entered.lastrowid


def end_call(
    store: Store, call: int, outcome: str, price: Price, *, ms: int, error: str = ""
) -> None:
    store.db.execute(
        "update ai_calls set outcome = :outcome, error = :error, ms = :ms, model = :model,"
        " tokens_in = :tokens_in, tokens_out = :tokens_out, cost = :cost_usd where id = :id",
        as_dict(price)
        | {"id": call, "outcome": outcome, "ms": ms, "model": redact(price.model).text}
        | {"error": redact(error).text[:ERROR_CHARS] or None},
    )


def count_calls_today(store: Store, now: datetime, purpose: str | None = None) -> int:
    return store.number(
        "select count(*) from ai_calls where project_id = :project and at >= :day"
        " and at < :day || 'T~'"  # not those that a clock ahead noted
        " and (:purpose is null or purpose = :purpose)",
        {"project": store.project_id, "day": stamp(now)[:DAY_CHARS], "purpose": purpose},
    )


def last_call(store: Store) -> dict[str, Any] | None:
    row = store.db.execute(
        "select at, purpose, provider, model, outcome, error from ai_calls order by id desc limit 1"
    ).fetchone()
    return dict(row) if row else None


def sum_calls(store: Store, since: datetime) -> list[dict[str, Any]]:
    """Sum by day and purpose; `usd` is None where no call has a price."""
    return store.dicts(
        "select substr(at, 1, 10) as day, purpose, count(*) as calls,"
        " sum(outcome = 'ok') as answered, sum(tokens_in) as tokens_in,"
        " sum(tokens_out) as tokens_out, round(sum(cost), 6) as usd, sum(ms) as ms"
        " from ai_calls where at >= ? group by day, purpose order by day desc, purpose",
        (stamp(since)[:DAY_CHARS],),
    )


_WORK_SECONDS = "work_seconds"


def read_work_seconds(store: Store, now: datetime) -> float:
    """Return the processor seconds that embedding and relating took on this UTC day."""
    day, _, seconds = database.value(store.db, _WORK_SECONDS).partition(" ")
    return float(seconds) if day == stamp(now)[:DAY_CHARS] else 0.0


def add_work_seconds(store: Store, now: datetime, seconds: float) -> None:
    total = read_work_seconds(store, now) + seconds
    database.set_value(store.db, _WORK_SECONDS, f"{stamp(now)[:DAY_CHARS]} {total:.3f}")
