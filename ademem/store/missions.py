"""Missions, whose memories are visible in them alone until they end."""

from __future__ import annotations

from ademem.core.client import mission_of
from ademem.core.clock import stamp
from ademem.core.redaction import redact
from ademem.core.value import Value, replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Mapping
    from datetime import datetime

    from ademem.core.memory import Draft
    from ademem.store import Store

RUNNING = "running"


class Mission(Value):
    id: str
    goal: str
    status: str
    """running | succeeded | failed | cancelled."""
    reason: str | None
    started_at: str
    ended_at: str | None


def start(store: Store, id: str, goal: str, now: datetime) -> bool:
    """Add a mission; False if there is one with this id."""
    cursor = store.db.execute(
        "insert or ignore into memory_missions (id, project_id, goal, status, started_at)"
        " values (?, ?, ?, ?, ?)",
        (id, store.project_id, redact(goal).text, RUNNING, stamp(now)),
    )
    return cursor.rowcount > 0


def end(store: Store, id: str, status: str, reason: str | None, now: datetime) -> None:
    """End a mission; ending it again changes its outcome alone."""
    store.db.execute(
        "update memory_missions set status = ?, reason = ?, ended_at = ifnull(ended_at, ?)"
        " where id = ? and project_id = ?",
        (status, redact(reason).text if reason else None, stamp(now), id, store.project_id),
    )


def get(store: Store, id: str) -> Mission | None:
    row = store.db.execute(
        "select * from memory_missions where id = ? and project_id = ?", (id, store.project_id)
    ).fetchone()
    return row and _from_row(row)


def list_all(store: Store, *, running: bool = False) -> list[Mission]:
    rows = store.db.execute(
        "select * from memory_missions where project_id = :project"
        " and (ended_at is null or not :running) order by started_at desc, rowid desc",
        {"project": store.project_id, "running": running},
    )
    return [_from_row(row) for row in rows]


def _from_row(row: sqlite3.Row) -> Mission:
    return Mission(**{name: row[name] for name in Mission._fields})


def place_in_mission(draft: Draft, environment: Mapping[str, str]) -> Draft:
    """Move a draft of the project to the mission of the process."""
    mission = mission_of(environment)
    if mission is None:
        return draft
    from ademem.core.memory import Scope  # most processes work for no mission

    if draft.scope != Scope.PROJECT:
        return draft
    return replace(draft, scope=Scope.MISSION, owner=mission)


def assign_mission(
    draft: Draft, environment: Mapping[str, str], store: Store, now: datetime
) -> Draft:
    """Do the same, and start the mission if it is new."""
    home = place_in_mission(draft, environment)
    if home is not draft and home.owner:
        start(store, home.owner, "", now)
    return home
