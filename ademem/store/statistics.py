"""Counts over the tables, and the latest events, for reports and logs."""

from __future__ import annotations

from ademem.core.value import Value
from ademem.store import BROWSED, LIVE

TYPE_CHECKING = False
if TYPE_CHECKING:
    import sqlite3

    from ademem.store import Store


MOST = 500
"""Of each kind of event, the last ones."""


class Event(Value):
    at: str
    """A stamp."""
    kind: str
    """session | learned | confirmed | committed."""
    text: str
    about: str
    """Branch, category with the id, or author with the commit."""
    count: int = 0
    """Prompts of a session."""


class SessionSummary(Value):
    started_at: str
    ended_at: str | None
    branch: str | None
    prompts: int
    asked: str
    """The first prompt; empty when prompts are not kept."""


_ASKED = (
    "ifnull((select content from user_prompts where session_id = sessions.id"
    " and deleted_at is null order by seq limit 1), '')"
)
_PROMPTS = (
    "(select count(*) from user_prompts where session_id = sessions.id and deleted_at is null)"
)


def memories(store: Store) -> dict[str, int]:
    """Count live memories in quarantine and pinned ones, and the archived that are not deleted."""
    row = store.db.execute(
        f"select ifnull(sum(quarantine_reason is not null and {LIVE}), 0) as quarantined,"
        " ifnull(sum(status = 'archived'), 0) as archived,"
        f" ifnull(sum(pinned = 1 and {LIVE}), 0) as pinned from unified_memories"
        # Sums over the few rows that count: five over all rows took five times as long.
        " where deleted_at is null"
        " and (pinned = 1 or quarantine_reason is not null or status = 'archived')"
    ).fetchone()
    return dict(row)


def promoted(store: Store) -> int:
    query = f"select count(*) from unified_memories where status = 'promoted' and {LIVE}"
    return store.number(query)


def by_scope(store: Store) -> dict[str, dict[str, int]]:
    """Count the memories of each scope: live ones by tier, and archived ones."""
    rows = store.db.execute(
        f"select scope, iif({LIVE}, 'tier' || tier, 'archived'), count(*) from unified_memories"
        " where project_id = ? and deleted_at is null group by 1, 2",
        (store.project_id,),
    )
    found: dict[str, dict[str, int]] = {}
    for scope, kind, count in rows:
        found.setdefault(scope, {})[kind] = count
    return found


def by_owner(store: Store) -> dict[str, list[int]]:
    rows = store.db.execute(
        f"select scope, count(*) from unified_memories where project_id = ? and {LIVE}"
        " group by scope, scope_owner_id",
        (store.project_id,),
    )
    found: dict[str, list[int]] = {}
    for scope, count in rows:
        found.setdefault(scope, []).append(count)
    return found


def live_kinds(store: Store) -> list[sqlite3.Row]:
    return store.db.execute(
        "select tags, category, source_type from unified_memories"
        f" where {LIVE} and quarantine_reason is null"
    ).fetchall()


def observations(store: Store) -> int:
    return store.number("select ifnull(sum(observation_count), 0) from unified_memories")


def sessions(store: Store) -> int:
    return store.number("select count(*) from sessions")


def prompts(store: Store) -> int:
    return store.number("select count(*) from user_prompts where deleted_at is null")


def relations(store: Store) -> dict[str, int]:
    query = "select judgment_status, count(*) from memory_relations group by 1 order by 1"
    rows = store.db.execute(query)
    return dict(rows)


def misplaced_sessions(store: Store, before: str) -> dict[str, int]:
    """Count sessions of another project, and open ones that started before a stamp."""
    row = store.db.execute(
        "select ifnull(sum(project_id <> :project), 0) as elsewhere,"
        " ifnull(sum(ended_at is null and last_started_at < :before), 0) as orphaned"
        " from sessions",
        {"project": store.project_id, "before": before},
    ).fetchone()
    return dict(row)


def refusals(store: Store, days: int) -> int:
    return store.number(
        "select count(*) from decision_log"
        f" where part = 'gate' and created_at > date('now', '-{days:d} days')",
    )


def open_turns(store: Store, limit: int) -> list[sqlite3.Row]:
    return store.db.execute(
        "select session_id, agent_id, class, why, searched_at, denied, started_at from turns"
        " where ended_at is null order by started_at desc limit ?",
        (limit,),
    ).fetchall()


def size(store: Store) -> int:
    return store.number("select page_count * page_size from pragma_page_count, pragma_page_size")


def guard_decisions(store: Store) -> dict[str, int]:
    query = "select decision, count(*) from decision_log where part = 'guard' group by decision"
    rows = store.db.execute(query)
    return dict(rows)


def events_since(store: Store, moment: str) -> list[Event]:
    """Return events after the stamp; agents' own and quarantined memories are left out."""
    rows = store.db.execute(
        "select * from ("
        f" select ended_at as at, 'session' as kind, {_ASKED} as text,"
        f"  ifnull(branch, '') as about, {_PROMPTS} as count"
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


def latest_sessions(store: Store, limit: int) -> list[SessionSummary]:
    rows = store.db.execute(
        f"select started_at, ended_at, branch, {_PROMPTS} as prompts, {_ASKED} as asked"
        " from sessions where project_id = ? order by started_at desc, id limit ?",
        (store.project_id, limit),
    )
    return [SessionSummary(**dict(row)) for row in rows]
