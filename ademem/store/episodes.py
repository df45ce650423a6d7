"""Rows of `episodes`: actions, files, tests and outcomes of sessions, beside the text."""

from __future__ import annotations

from ademem.core.clock import datetime, stamp
from ademem.core.json_text import array, loads
from ademem.core.value import Value, as_dict
from ademem.store import LIVE, Store, database

TYPE_CHECKING = False
if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable
    from typing import Any

RULES = "rules"
"""Author of an episode that no model summarised."""
SESSION = "session"
"""The tool of an action of a mission, which is one of its sessions."""


class Action(Value):
    tool: str
    target: str
    kind: str
    """edit | run | test | read | search | web | delegate | other."""


class Run(Value):
    """One run of the tests; a count is None where the tool printed none."""

    command: str
    passed: int | None = None
    failed: int | None = None
    error: str = ""


class Episode(Value):
    memory_id: str
    session_id: str
    """Empty for the episode of a whole mission."""
    mission_id: str = ""
    task: str
    outcome: str
    """succeeded | partial | failed | unknown."""
    started_at: str
    ended_at: str
    actions: tuple[Action, ...] = ()
    files: tuple[str, ...] = ()
    tests: tuple[Run, ...] = ()
    errors: tuple[str, ...] = ()
    decisions: tuple[str, ...] = ()
    corrections: tuple[str, ...] = ()
    summarised_by: str = RULES
    transcript_offset: int = 0


_TEXTS = ("files", "errors", "decisions", "corrections")
_COLUMNS = ", ".join(Episode._fields)


def put(store: Store, episode: Episode, now: datetime) -> None:
    import json  # the hook that reads these names writes none

    row = as_dict(episode)
    for name in ("actions", "tests"):
        row[name] = [as_dict(each) for each in row[name]]
    for name in (*_TEXTS, "actions", "tests"):
        row[name] = json.dumps(row[name], ensure_ascii=False)
    row |= {"project_id": store.project_id, "created_at": stamp(now), "updated_at": stamp(now)}
    keys = ["project_id", "session_id", "mission_id"]
    database.upsert(store.db, "episodes", row, keys, kept=["created_at"])


def of_session(store: Store, session_id: str, mission_id: str = "") -> Episode | None:
    row = store.db.execute(
        f"select {_COLUMNS} from episodes"
        " where project_id = ? and session_id = ? and mission_id = ?",
        (store.project_id, session_id, mission_id),
    ).fetchone()
    return database.read_row(row, _from_row)


def list_all(
    store: Store,
    limit: int | None = None,
    *,
    mission_id: str | None = None,
    session_ids: Iterable[str] | None = None,
) -> list[Episode]:
    """Return episodes whose memory is neither archived, deleted nor quarantined, newest first."""
    rows = store.db.execute(
        f"select {_COLUMNS} from episodes where project_id = :project"
        " and (:mission is null or mission_id = :mission)"
        " and (:sessions is null or session_id in (select value from json_each(:sessions)))"
        " and exists (select 1 from unified_memories as memory where memory.id = memory_id"
        f" and {LIVE} and quarantine_reason is null)"
        " order by ended_at desc, memory_id limit ifnull(:limit, -1)",
        {"project": store.project_id, "mission": mission_id, "limit": limit}
        | {"sessions": None if session_ids is None else array(session_ids)},
    )
    return database.read_rows(rows, _from_row)


def sessions_of(store: Store) -> dict[str, str]:
    query = "select memory_id, session_id from episodes where project_id = ?"
    return store.pairs(query, (store.project_id,))


def _from_row(row: sqlite3.Row) -> Episode:
    values: dict[str, Any] = dict(zip(Episode._fields, row, strict=True))
    for name in _TEXTS:
        values[name] = tuple(loads(values[name]))
    values["actions"] = tuple(Action(**given) for given in loads(values["actions"]))
    values["tests"] = tuple(Run(**given) for given in loads(values["tests"]))
    return Episode(**values)
