"""Missions, whose memories are visible in them alone until they end."""

from __future__ import annotations

from ademem.core.client import MISSION, mission_of
from ademem.core.clock import datetime, stamp
from ademem.core.redaction import redact
from ademem.core.value import Value, as_dict, replace
from ademem.store import Store, database

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from ademem.core.memory import Draft
    from ademem.store.runtime import Runtime

RUNNING = "running"


class Mission(Value):
    id: str
    goal: str
    status: str
    """running | succeeded | failed | cancelled."""
    reason: str | None
    started_at: str
    ended_at: str | None


_COLUMNS = ", ".join(Mission._fields)


def start(store: Store, id: str, goal: str, now: datetime) -> bool:
    cursor = store.db.execute(
        "insert or ignore into memory_missions (id, project_id, goal, status, started_at)"
        " values (?, ?, ?, ?, ?)",
        (id, store.project_id, redact(goal).text, RUNNING, stamp(now)),
    )
    return cursor.rowcount > 0


def end(store: Store, id: str, status: str, reason: str | None, now: datetime) -> None:
    store.db.execute(
        "update memory_missions set status = ?, reason = ?, ended_at = ifnull(ended_at, ?)"
        " where id = ? and project_id = ?",
        (status, redact(reason).text if reason else None, stamp(now), id, store.project_id),
    )


def put(store: Store, id: str, mission: Mission | None) -> None:
    if mission:
        row = as_dict(mission) | {"project_id": store.project_id}
        database.upsert(store.db, "memory_missions", row, ["id"])
    else:
        query = "delete from memory_missions where id = ? and project_id = ?"
        store.db.execute(query, (id, store.project_id))


def get(store: Store, id: str) -> Mission | None:
    query = f"select {_COLUMNS} from memory_missions where id = ? and project_id = ?"
    rows = store.dicts(query, (id, store.project_id))
    return Mission(**rows[0]) if rows else None


def list_all(store: Store, *, running: bool = False) -> list[Mission]:
    rows = store.dicts(
        f"select {_COLUMNS} from memory_missions where project_id = :project"
        " and (ended_at is null or not :running) order by started_at desc, rowid desc",
        {"project": store.project_id, "running": running},
    )
    return [Mission(**row) for row in rows]


def assign_mission(
    draft: Draft, environment: Mapping[str, str], store: Store | None, now: datetime
) -> Draft:
    mission = mission_of(environment)
    if not mission or draft.scope != "project":
        return draft
    if store:
        start(store, mission, "", now)
    return replace(draft, scope="mission", owner=mission)


NO_BRANCH = "-"
"""Stands for a detached HEAD or no repository; git allows no branch of this name."""


class SessionLocation(Value):
    session_id: str
    branch: str = ""
    mission_id: str = ""

    @classmethod
    def parse(cls, key: str) -> SessionLocation:
        session_id, branch, mission_id = [*key.split(" ", 2), "", ""][:3]
        branch = "" if branch == NO_BRANCH else branch
        return cls(session_id=session_id, branch=branch, mission_id=mission_id)

    @property
    def key(self) -> str:
        """The key of the `extract` job; neither session ids nor branches contain blanks."""
        return f"{self.session_id} {self.branch or NO_BRANCH} {self.mission_id}".strip()

    @property
    def episode_key(self) -> str:
        return f"{self.session_id} {self.mission_id}".strip()

    def assign(self, draft: Draft, runtime: Runtime) -> Draft:
        draft = replace(draft, origin=replace(draft.origin, branch=self.branch or None))
        return assign_mission(draft, {MISSION: self.mission_id}, runtime.store, runtime.now)


def current_location(session_id: str, runtime: Runtime) -> SessionLocation:
    return SessionLocation(
        session_id=session_id,
        branch=runtime.branch or "",
        mission_id=mission_of(runtime.environment) or "",
    )
