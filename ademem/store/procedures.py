"""Details of procedures, the episodes behind them, outcomes of their uses, and skill files."""

from __future__ import annotations

import os

from ademem.core.clock import datetime, parse, stamp
from ademem.core.json_text import array, loads
from ademem.core.redaction import redact
from ademem.core.value import Value, as_dict, replace
from ademem.store import Store, database

TYPE_CHECKING = False
if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

    from ademem.core.memory import Memory

HISTORY = 50
SHARED = 500
ELSEWHERE = "hub"
"""Stands for the act that recorded an outcome in another store, or took it back there."""
_MOMENTS = ("last_used_at", "exported_at", "created_at", "updated_at")


class Details(Value):
    memory_id: str
    trigger: str
    procedure_markdown: str
    success_count: int = 0
    failure_count: int = 0
    last_used_at: datetime | None = None
    exported_skill_path: str | None = None
    exported_at: datetime | None = None
    superseded_by_memory_id: str | None = None
    created_at: datetime
    updated_at: datetime


class Use(Value):
    procedure_id: str
    session_id: str
    asked: bool
    """Shown as an answer to a prompt or a recall."""


_COLUMNS = Details._fields


def all_of(store: Store) -> list[Details]:
    query = f"select {', '.join(_COLUMNS)} from memory_procedure_details order by created_at, rowid"
    return database.read_rows(store.db.execute(query), _details)


def get(store: Store, memory_id: str) -> Details | None:
    query = f"select {', '.join(_COLUMNS)} from memory_procedure_details where memory_id = ?"
    return database.read_row(store.db.execute(query, (memory_id,)).fetchone(), _details)


def put(store: Store, details: Details) -> None:
    row = as_dict(details)
    row |= {name: stamp(row[name]) if row[name] else None for name in _MOMENTS}
    database.upsert(store.db, "memory_procedure_details", row, ["memory_id"])


def link(store: Store, memory_id: str, episode_ids: Iterable[str]) -> None:
    linked_before = sources(store).get(memory_id, [])
    linked = array(dict.fromkeys([*linked_before, *episode_ids]))
    query = "update memory_procedure_details set episode_ids = ? where memory_id = ?"
    store.db.execute(query, (linked, memory_id))


def sources(store: Store) -> dict[str, list[str]]:
    query = "select memory_id, episode_ids from memory_procedure_details order by created_at, rowid"
    rows = store.db.execute(query)
    found = database.read_rows(rows, lambda row: (row[0], loads(row[1])))
    return {id: episodes for id, episodes in found if episodes}


def list_source_episodes(store: Store) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for procedure, ids in sources(store).items():
        for episode in ids:
            found.setdefault(episode, []).append(procedure)
    return found


def record(
    store: Store,
    memory_id: str,
    confidence: float,
    outcome: str,
    reason: str,
    now: datetime,
    *,
    event: str = "",
) -> None:
    id, why = os.urandom(16).hex(), redact(reason).text or None
    store.db.execute(
        "insert into memory_procedure_history"
        " (id, procedure_memory_id, confidence, outcome, reason, recorded_at, event_id)"
        " values (?, ?, ?, ?, ?, ?, ?)",
        (id, memory_id, confidence, outcome, why, stamp(now), event or None),
    )


def undo_outcomes(store: Store, event: str, by: str) -> None:
    """Discount the outcomes that the act *event* recorded; count again what it took back."""
    steps = store.dicts(
        "update memory_procedure_history set taken_back_by = iif(taken_back_by = :event, null, :by)"
        " where taken_back_by = :event or event_id = :event and taken_back_by is null"
        " returning procedure_memory_id as id, outcome, iif(taken_back_by is null, 1, -1) as step",
        {"event": event, "by": by},
    )
    store.db.executemany(
        "update memory_procedure_details set"
        " success_count = success_count + iif(:outcome = 'success', :step, 0),"
        " failure_count = failure_count + iif(:outcome = 'failure', :step, 0),"
        " last_used_at = (select max(recorded_at) from memory_procedure_history"
        "  where procedure_memory_id = :id and taken_back_by is null)"
        " where memory_id = :id",
        steps,
    )


def history(store: Store, memory_id: str) -> list[dict[str, Any]]:
    return store.dicts(
        "select id, outcome, confidence, reason, recorded_at from memory_procedure_history"
        " where procedure_memory_id = ? and taken_back_by is null"
        " order by recorded_at desc, rowid desc limit ?",
        (memory_id, HISTORY),
    )


def own_outcomes(store: Store, details: Details) -> tuple[list[int], list[dict[str, Any]]]:
    rows = store.dicts(
        "select id, outcome, confidence, recorded_at as at, taken_back_by is not null as taken_back"
        " from memory_procedure_history where procedure_memory_id = ? and event_id is not ?"
        " order by recorded_at desc, rowid desc limit ?",
        (details.memory_id, ELSEWHERE, SHARED),
    )
    return _count_learned(store, details), rows


def merge_outcomes(
    store: Store,
    memory_id: str,
    learned: Sequence[int],
    outcomes: Iterable[Mapping[str, Any]],
    now: datetime,
) -> bool:
    """Add outcomes once; of what it was learned from, the greater counts are right."""
    details = get(store, memory_id)
    assert details is not None
    base = [
        max(pair) for pair in zip(_count_learned(store, details), map(int, learned), strict=True)
    ]
    for one in outcomes:
        store.db.execute(
            "insert into memory_procedure_history"
            " (id, procedure_memory_id, outcome, confidence, recorded_at, event_id, taken_back_by)"
            " values (:id, :memory, :outcome, :confidence, :at, :elsewhere, :by)"
            " on conflict (id) do update set taken_back_by = :by where event_id = :elsewhere",
            {
                **{name: one[name] for name in ("id", "outcome", "confidence")},
                "at": stamp(parse(one["at"])),
                "memory": memory_id,
                "elsewhere": ELSEWHERE,
                "by": ELSEWHERE if one["taken_back"] else None,
            },
        )
    recorded, last = _count_recorded(store, memory_id)
    successes, failures = (sum(pair) for pair in zip(base, recorded, strict=True))
    changed = replace(details, success_count=successes, failure_count=failures)
    if changed == details:
        return False
    last_used_at = parse(last) if last else details.last_used_at
    put(store, replace(changed, last_used_at=last_used_at, updated_at=now))
    return True


def _count_learned(store: Store, details: Details) -> list[int]:
    (successes, failures), _ = _count_recorded(store, details.memory_id)
    return [max(0, details.success_count - successes), max(0, details.failure_count - failures)]


def _count_recorded(store: Store, memory_id: str) -> tuple[list[int], str]:
    row = store.db.execute(
        "select ifnull(sum(outcome = 'success'), 0), ifnull(sum(outcome = 'failure'), 0),"
        " ifnull(max(recorded_at), '') from memory_procedure_history"
        " where procedure_memory_id = ? and taken_back_by is null",
        (memory_id,),
    ).fetchone()
    return [row[0], row[1]], row[2]


def uses(store: Store) -> list[Use]:
    rows = store.db.execute(
        "select memory_id, session_id, max(place <> 'briefing') from recall_log"
        " where project_id = ? and session_id is not null"
        " and place in ('briefing', 'prompt', 'recall')"
        " and memory_id in (select memory_id from memory_procedure_details)"
        " group by memory_id, session_id order by min(id)",
        (store.project_id,),
    )
    return [Use(procedure_id=row[0], session_id=row[1], asked=bool(row[2])) for row in rows]


def _details(row: sqlite3.Row) -> Details:
    values: dict[str, Any] = dict(zip(_COLUMNS, row, strict=True))
    values |= {name: parse(values[name]) if values[name] else None for name in _MOMENTS}
    "".join((values["trigger"], values["procedure_markdown"]))  # raises TypeError for no texts
    values["success_count"] + values["failure_count"] + 0
    return Details(**values)


USER, EXPORTED = "user", "exported"
"""Author of the file: a person, or ademem from a procedure."""
_SKILL_MOMENTS = ("last_modified_at", "archived_at", "created_at", "updated_at")


class IndexedSkill(Value):
    id: str
    path: str
    kind: str
    source: str
    memory_id: str | None = None
    content_hash: str
    last_modified_at: datetime | None = None
    archived_at: datetime | None = None
    created_at: datetime
    updated_at: datetime


def any_exported(store: Store) -> bool:
    return store.has_row(
        "select 1 from memory_skill_index where project_id = ? and source = ?"
        " and archived_at is null limit 1",
        (store.project_id, EXPORTED),
    )


def list_skills(store: Store) -> list[IndexedSkill]:
    rows = store.db.execute(
        f"select {', '.join(IndexedSkill._fields)} from memory_skill_index where project_id = ?"
        " order by archived_at is not null, path",
        (store.project_id,),
    )

    def read(row: sqlite3.Row) -> IndexedSkill:
        moments = {name: parse(str(row[name])) if row[name] else None for name in _SKILL_MOMENTS}
        return IndexedSkill(**dict(row) | moments)

    return database.read_rows(rows, read)


def put_skill(store: Store, entry: IndexedSkill) -> None:
    row = as_dict(entry) | {"project_id": store.project_id}
    row |= {name: stamp(row[name]) if row[name] else None for name in _SKILL_MOMENTS}
    keys, kept = ["project_id", "path"], ["id", "created_at"]
    database.upsert(store.db, "memory_skill_index", row, keys, kept)


def remove_skill(store: Store, path: str) -> None:
    query = "delete from memory_skill_index where project_id = ? and path = ?"
    store.db.execute(query, (store.project_id, path))


def undo_details(store: Store, restored: Iterable[Memory]) -> None:
    """Let procedures follow memories that an undo has restored."""
    for memory in restored:
        details = get(store, memory.id)
        if details is None or details.superseded_by_memory_id == memory.superseded_by:
            continue
        successor = get(store, memory.superseded_by or details.superseded_by_memory_id or "")
        changed = replace(details, superseded_by_memory_id=memory.superseded_by)
        put(store, replace(changed, exported_at=None))
        if successor:
            path = details.exported_skill_path if memory.superseded_by else None
            put(store, replace(successor, exported_skill_path=path, exported_at=None))
