"""What was written since a position in the logs, by whichever process."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from typing import Any

from ademem.core.value import Value, replace
from ademem.store import BROWSED, LIVE, Store

NEW = "('insert', 'import', 'adopt')"
RECENT = 50
"""Sessions of which an end or a new start is seen."""


class Position(Value):
    connection: Any
    version: int
    """Of the database as this connection sees it; it moves with each commit of another one."""
    revision: int
    session: int
    prompt: int
    injection: int
    decision: int
    sessions: str
    """State of the sessions, of which rows change as well."""
    pairs: str
    jobs: str


class Change(Value):
    kind: str
    """memory | review | session | injection | guard | job | files."""
    count: int
    """Number of new rows; 0 where others changed."""
    sessions: dict[str, int]
    """Number of them by session."""


_LAST = f"""
select ifnull((select max(seq) from memory_revisions), 0) as revision,
  ifnull((select max(rowid) from sessions), 0) as session,
  ifnull((select max(seq) from user_prompts), 0) as prompt,
  ifnull((select max(id) from injections), 0) as injection,
  ifnull((select max(id) from decision_log), 0) as decision,
  (select ifnull(max(last_started_at), '') || ifnull(max(ended_at), '') from
    (select last_started_at, ended_at from sessions where project_id = :project
     order by started_at desc limit {RECENT}))
    || ifnull((select max(rowid) from turns), 0) as sessions,
  (select count(*) || ' ' || ifnull(max(rowid), 0) from memory_relations
    where judgment_status = 'pending') as pairs,
  (select count(*) || ' ' || ifnull(max(id), 0) || ' ' || count(parked_at) || ' '
      || ifnull(sum(attempts), 0) from jobs)
    || ifnull((select max(rowid) from maintenance_log), 0)
    || ifnull((select max(completed_at) from maintenance_log
      where project_id = :project and kind = 'sweep'), '')
    || ifnull((select max(completed_at) from maintenance_log
      where project_id = :project and kind = 'consolidation'), '') as jobs
"""
_REVISIONS = f"""
select ifnull(revision.session_id, ''), revision.operation in {NEW}
    and ifnull({LIVE} and {BROWSED} and scope = 'project', 0),
  ifnull({LIVE} and (quarantine_reason is not null or status = 'candidate' and {BROWSED}), 0),
  revision.actor = 'import' or revision.operation in ('import', 'adopt'), count(*)
from memory_revisions as revision
left join unified_memories as memory on memory.id = revision.memory_id
where revision.seq > ? and revision.seq <= ? group by 1, 2, 3, 4
"""
_PROMPTS = "select session_id, count(*) from user_prompts where seq > ? and seq <= ? group by 1"
_INJECTIONS = "select session_id, count(*) from injections where id > ? and id <= ? group by 1"
_DECISIONS = (
    "select ifnull(session_id, ''), part = 'guard' and decision in ('deny', 'warn'), count(*)"
    " from decision_log where id > ? and id <= ? group by 1, 2"
)


def find(store: Store, since: Position | None) -> tuple[Position, list[Change]]:
    """Return the position of now, and what was written since the other one.

    Where another connection committed nothing, one pragma is all it costs. Without a position
    before, or where rows at the end of a log were deleted, its count is 0.
    """
    db = store.db
    version = int(db.execute("pragma data_version").fetchone()[0])
    if since and since.connection is db and since.version == version:
        return since, []
    row = db.execute(_LAST, {"project": store.project_id}).fetchone()
    now = Position(connection=db, version=version, **dict(row))
    if since is None or replace(since, connection=db, version=version) == now:
        return now, []
    return now, list(_compare(db, since, now))


def _compare(db: sqlite3.Connection, since: Position, now: Position) -> Iterator[Change]:
    if now.revision != since.revision:
        yield from _find_revisions(db, since, now)
    elif now.pairs != since.pairs:
        yield Change(kind="review", count=0, sessions={})
    if (now.session, now.prompt, now.sessions) != (since.session, since.prompt, since.sessions):
        count = max(0, now.session - since.session)
        asked = dict(db.execute(_PROMPTS, (since.prompt, now.prompt)).fetchall())
        yield Change(kind="session", count=count, sessions=asked)
    if now.injection != since.injection:
        sent = dict(db.execute(_INJECTIONS, (since.injection, now.injection)).fetchall())
        yield Change(kind="injection", count=sum(sent.values()), sessions=sent)
    if now.decision != since.decision:
        rows = db.execute(_DECISIONS, (since.decision, now.decision)).fetchall()
        shown = {session: count for session, is_shown, count in rows if is_shown}
        yield Change(kind="guard", count=sum(row[2] for row in rows), sessions=shown)
    if now.jobs != since.jobs:
        yield Change(kind="job", count=0, sessions={})


def _find_revisions(db: sqlite3.Connection, since: Position, now: Position) -> Iterator[Change]:
    rows = db.execute(_REVISIONS, (since.revision, now.revision)).fetchall()
    learned: dict[str, int] = {}
    for session, is_new, _, _, count in rows:
        if is_new:
            learned[session] = learned.get(session, 0) + count
    yield Change(kind="memory", count=sum(learned.values()), sessions=learned)
    waiting = sum(count for _, is_new, waits, _, count in rows if is_new and waits)
    is_decided = any(not is_new for _, is_new, _, _, _ in rows)
    if waiting or is_decided or now.pairs != since.pairs:
        yield Change(kind="review", count=waiting, sessions={})
    if from_files := sum(row[4] for row in rows if row[3]):
        yield Change(kind="files", count=from_files, sessions={})
