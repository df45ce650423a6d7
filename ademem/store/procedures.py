"""Details of procedures, the episodes behind them, and outcomes of their uses."""

from __future__ import annotations

import os

from ademem.core.clock import parse, stamp
from ademem.core.json_text import array, loads
from ademem.core.redaction import redact
from ademem.core.value import Value, as_dict
from ademem.store import database

TYPE_CHECKING = False
if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable
    from datetime import datetime
    from typing import Any

    from ademem.store import Store

TABLE = "memory_procedure_details"
HISTORY = 50
"""Newest outcomes that are shown."""
_MOMENTS = ("last_used_at", "exported_at", "created_at", "updated_at")


class Details(Value):
    """Fields of a procedure beside those of its memory."""

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
    """A session that was shown a procedure."""

    procedure_id: str
    session_id: str
    asked: bool
    """Shown as an answer to a prompt or a recall."""


_COLUMNS = Details._fields
_PUT = (
    f"insert into memory_procedure_details ({', '.join(_COLUMNS)})"
    f" values ({', '.join(f':{name}' for name in _COLUMNS)})"
    " on conflict (memory_id) do update set "
    + ", ".join(f"{name} = :{name}" for name in _COLUMNS if name != "memory_id")
)


def all_of(store: Store) -> list[Details]:
    query = f"select {', '.join(_COLUMNS)} from memory_procedure_details order by created_at, rowid"
    rows = store.db.execute(query)
    return database.read_rows(rows, _details, TABLE, lambda row: row["memory_id"])


def get(store: Store, memory_id: str) -> Details | None:
    query = f"select {', '.join(_COLUMNS)} from memory_procedure_details where memory_id = ?"
    row = store.db.execute(query, (memory_id,)).fetchone()
    return database.read_row(row, _details, TABLE, memory_id)


def put(store: Store, details: Details) -> None:
    row = as_dict(details)
    row |= {name: stamp(row[name]) if row[name] else None for name in _MOMENTS}
    store.db.execute(_PUT, row)


def link(store: Store, memory_id: str, episode_ids: Iterable[str]) -> None:
    known = sources(store).get(memory_id, [])
    linked = array(dict.fromkeys([*known, *episode_ids]))
    query = "update memory_procedure_details set episode_ids = ? where memory_id = ?"
    store.db.execute(query, (linked, memory_id))


def sources(store: Store) -> dict[str, list[str]]:
    """Return ids of episodes by procedure."""
    rows = store.db.execute(
        "select memory_id, episode_ids from memory_procedure_details order by created_at, rowid"
    )
    found = database.read_rows(rows, lambda row: (row[0], loads(row[1])), TABLE, lambda row: row[0])
    return {id: episodes for id, episodes in found if episodes}


def learned_from(store: Store) -> dict[str, list[str]]:
    """Return ids of procedures by episode."""
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
    """Add an outcome, of the act *event*."""
    store.db.execute(
        "insert into memory_procedure_history"
        " (id, procedure_memory_id, confidence, outcome, reason, recorded_at, event_id)"
        " values (?, ?, ?, ?, ?, ?, ?)",
        (
            os.urandom(16).hex(),
            memory_id,
            confidence,
            outcome,
            redact(reason).text or None,
            stamp(now),
            event or None,
        ),
    )


def undo_outcomes(store: Store, event: str, by: str) -> None:
    """Discount the outcomes that the act *event* recorded; count again what it took back."""
    undone = store.db.execute(
        "update memory_procedure_history set taken_back_by = :by"
        " where event_id = :event and taken_back_by is null returning procedure_memory_id, outcome",
        {"event": event, "by": by},
    ).fetchall()
    redone = store.db.execute(
        "update memory_procedure_history set taken_back_by = null"
        " where taken_back_by = ? returning procedure_memory_id, outcome",
        (event,),
    ).fetchall()
    steps = [{"id": id, "outcome": outcome, "step": -1} for id, outcome in undone]
    steps += [{"id": id, "outcome": outcome, "step": 1} for id, outcome in redone]
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
    """Return outcomes of its uses, newest first, without undone ones."""
    rows = store.db.execute(
        "select id, outcome, confidence, reason, recorded_at from memory_procedure_history"
        " where procedure_memory_id = ? and taken_back_by is null"
        " order by recorded_at desc, rowid desc limit ?",
        (memory_id, HISTORY),
    )
    return [dict(row) for row in rows]


def uses(store: Store) -> list[Use]:
    """Return sessions that were shown procedures."""
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
