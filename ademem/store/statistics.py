"""Counts over the tables, the latest events, and what was written since a position in the logs."""

from __future__ import annotations

from ademem.core.json_text import array
from ademem.core.memory import MAIN_AGENT, SKILL
from ademem.core.value import Value, replace
from ademem.store import BROWSED, LIVE, Store, counts

TYPE_CHECKING = False
if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Collection, Iterator, Sequence
    from typing import Any


MOST = 500
RECENT_SESSIONS = 50
"""Sessions of which an end or a new start is a change."""


class Event(Value):
    at: str
    kind: str
    """session | learned | confirmed | committed."""
    text: str
    about: str
    """Branch, category with the id, or author with the commit."""
    count: int = 0


def memories(store: Store) -> dict[str, int]:
    (found,) = store.dicts(
        f"select ifnull(sum(number * ({counts.LIVE} and is_quarantined)), 0) as quarantined,"
        " ifnull(sum(number * (status = 'archived')), 0) as archived,"
        f" ifnull(sum(number * ({counts.LIVE} and is_pinned)), 0) as pinned"
        f" from {counts.of_memories(store)} where project_id = ?",
        (store.project_id,),
    )
    return found


def listed(store: Store, mission: str | None) -> dict[str, int]:
    return store.pairs(
        f"select status, sum(number) from {counts.of_memories(store)} where project_id = ?"
        f" and {counts.CURRENT} and {counts.BROWSED} and (scope = 'project'"
        f"  or scope = 'agent' and owner = '{MAIN_AGENT}'"
        "  or owner = iif(scope = 'mission', ifnull(?, ''), ''))"
        " group by status having sum(number)",
        (store.project_id, mission),
    )


def count_promoted(store: Store) -> int:
    return counts.count_memories(store, f"status = 'promoted' and {counts.LIVE}")


def by_scope(store: Store) -> dict[str, dict[str, int]]:
    return store.counts(
        f"select scope, iif({counts.LIVE}, 'tier' || tier, 'archived') as kind, sum(number) as held"
        f" from {counts.of_memories(store)} where project_id = ? group by scope, kind having held",
        (store.project_id,),
    )


def by_owner(store: Store) -> dict[str, list[int]]:
    found: dict[str, list[int]] = {}
    for scope, count in store.tuples(
        f"select scope, sum(number) as held from {counts.of_memories(store)}"
        f" where project_id = ? and {counts.LIVE} group by scope, owner having held",
        (store.project_id,),
    ):
        found.setdefault(scope, []).append(count)
    return found


def above(
    store: Store, limit_of: Callable[[str], int], missions: Collection[str]
) -> dict[str, int]:
    """Count by scope live memories beyond a limit (0: none), but those of *missions* that run."""
    over: dict[str, int] = {}
    for scope, count in store.tuples(
        f"select scope, sum(number) from {counts.of_memories(store)} where project_id = ?"
        f" and {counts.LIVE} and source <> '{SKILL}'"
        " and not (scope = 'mission' and owner in (select value from json_each(?)))"
        " group by scope, owner",
        (store.project_id, array(missions)),
    ):
        if 0 < limit_of(scope) < count:
            over[scope] = over.get(scope, 0) + count - limit_of(scope)
    return over


def live_kinds(store: Store) -> list[sqlite3.Row]:
    return store.db.execute(
        "select tags, category, source_type from unified_memories"
        f" where {LIVE} and quarantine_reason is null"
    ).fetchall()


def observations(store: Store) -> int:
    return store.number("select ifnull(sum(observation_count), 0) from unified_memories")


def count_rows(store: Store) -> dict[str, int]:
    (found,) = store.dicts(
        "select (select count(*) from sessions) as sessions,"
        # Those that are not deleted, without the pages of their texts.
        " (select count(*) from prompts_fts_docsize) as prompts,"
        " (select count(*) from decision_log"
        "  where part = 'gate' and created_at > date('now', '-7 days')) as refusals_7d,"
        " page_count * page_size as bytes from pragma_page_count, pragma_page_size"
    )
    return found


def relations(store: Store) -> dict[str, int]:
    query = "select judgment_status, count(*) from memory_relations group by 1 order by 1"
    return store.pairs(query)


def count_misplaced_sessions(store: Store, before: str) -> dict[str, int]:
    row = store.db.execute(
        "select ifnull(sum(project_id <> :project), 0) as elsewhere,"
        " ifnull(sum(ended_at is null and last_started_at < :before), 0) as orphaned"
        " from sessions",
        {"project": store.project_id, "before": before},
    ).fetchone()
    return dict(row)


def open_turns(store: Store, limit: int) -> list[sqlite3.Row]:
    return store.db.execute(
        "select session_id, agent_id, class, why, searched_at, denied, started_at from turns"
        " where ended_at is null order by started_at desc limit ?",
        (limit,),
    ).fetchall()


def guard_decisions(store: Store) -> dict[str, int]:
    query = "select decision, count(*) from decision_log where part = 'guard' group by decision"
    return store.pairs(query)


def events_since(store: Store, moment: str) -> list[Event]:
    """Leave out agents' own and quarantined memories."""
    rows = store.db.execute(
        "select * from ("
        " select ended_at as at, 'session' as kind,"
        "  ifnull((select content from user_prompts where session_id = sessions.id"
        "   and deleted_at is null order by seq limit 1), '') as text, ifnull(branch, '') as about,"
        "  (select count(*) from user_prompts"
        "   where session_id = sessions.id and deleted_at is null) as count"
        "  from sessions where project_id = :project and ended_at > :moment"
        "  order by ended_at desc limit :most"
        ") union all select * from ("
        " select max(created_at, ifnull(promoted_at, '')),"
        "  iif(ifnull(promoted_at, '') > created_at, 'confirmed', 'learned'),"
        "  ifnull(title || ': ', '') || content, '[' || category || '] ' || id, 0"
        "  from unified_memories where project_id = :project and scope = 'project'"
        "  and status = 'promoted' and quarantine_reason is null and deleted_at is null"
        f" and category <> 'episode' and {BROWSED}"
        "  and (created_at > :moment or promoted_at > :moment) order by 1 desc limit :most"
        ") union all select * from ("
        " select seen_at, 'committed', subject, author || ' ' || substr(sha, 1, 7), 0"
        "  from commits where project_id = :project and session_id is null and seen_at > :moment"
        "  order by id desc limit :most"
        ") order by at, kind, about",
        {"project": store.project_id, "moment": moment, "most": MOST},
    )
    return [Event(**dict(row)) for row in rows]


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


_LAST = f"""
select ifnull((select max(seq) from memory_revisions), 0) as revision,
  ifnull((select max(rowid) from sessions), 0) as session,
  ifnull((select max(seq) from user_prompts), 0) as prompt,
  ifnull((select max(id) from injections), 0) as injection,
  ifnull((select max(id) from decision_log), 0) as decision,
  (select ifnull(max(last_started_at), '') || ifnull(max(ended_at), '') from
    (select last_started_at, ended_at from sessions where project_id = :project
     order by started_at desc limit {RECENT_SESSIONS}))
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
select ifnull(revision.session_id, ''), revision.operation in ('insert', 'import', 'adopt')
    and ifnull({LIVE} and {BROWSED} and scope = 'project', 0),
  ifnull({LIVE} and (quarantine_reason is not null or status = 'candidate' and {BROWSED}), 0),
  revision.actor = 'import' or revision.operation in ('import', 'adopt'), count(*)
from memory_revisions as revision
left join unified_memories as memory on memory.id = revision.memory_id
where revision.seq > ? and revision.seq <= ? group by 1, 2, 3, 4
"""
_NEW_PROMPTS = "select session_id, count(*) from user_prompts where seq > ? and seq <= ? group by 1"
_INJECTIONS = "select session_id, count(*) from injections where id > ? and id <= ? group by 1"
_DECISIONS = (
    "select ifnull(session_id, ''), part = 'guard' and decision in ('deny', 'warn'), count(*)"
    " from decision_log where id > ? and id <= ? group by 1, 2"
)


def find_changes(store: Store, since: Position | None) -> tuple[Position, list[Change]]:
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


def _of_revisions(revisions: Sequence[sqlite3.Row], *, has_pairs: bool) -> Iterator[Change]:
    learned: dict[str, int] = {}
    waiting = from_files = decided = 0
    for session, is_new, waits, is_of_files, count in revisions:
        if is_new:
            learned[session] = learned.get(session, 0) + count
            waiting += count * waits
        else:
            decided += 1
        from_files += count * is_of_files
    yield Change(kind="memory", count=sum(learned.values()), sessions=learned)
    if waiting or decided or has_pairs:
        yield Change(kind="review", count=waiting, sessions={})
    if from_files:
        yield Change(kind="files", count=from_files, sessions={})


def _compare(db: sqlite3.Connection, since: Position, now: Position) -> Iterator[Change]:
    if now.revision != since.revision:
        revisions = db.execute(_REVISIONS, (since.revision, now.revision)).fetchall()
        yield from _of_revisions(revisions, has_pairs=now.pairs != since.pairs)
    elif now.pairs != since.pairs:
        yield Change(kind="review", count=0, sessions={})
    if (now.session, now.prompt, now.sessions) != (since.session, since.prompt, since.sessions):
        count = max(0, now.session - since.session)
        asked = dict(db.execute(_NEW_PROMPTS, (since.prompt, now.prompt)).fetchall())
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
