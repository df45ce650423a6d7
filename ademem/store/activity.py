"""Events of the project in the order of time, for logs that people read."""

from __future__ import annotations

from ademem.core.value import Value
from ademem.store import BROWSED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ademem.store import Store

MOST = 500
"""Of each kind, the last ones."""


class Happening(Value):
    at: str
    """A stamp."""
    kind: str
    """session | learned | confirmed | committed."""
    text: str
    about: str
    """Branch, category with the id, or author with the commit."""
    count: int = 0
    """Prompts of a session."""


class Session(Value):
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


def since(store: Store, moment: str) -> list[Happening]:
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
    return [Happening(**dict(row)) for row in rows]


def sessions(store: Store, limit: int) -> list[Session]:
    """The last sessions, the newest first."""
    rows = store.db.execute(
        f"select started_at, ended_at, branch, {_PROMPTS} as prompts, {_ASKED} as asked"
        " from sessions where project_id = ? order by started_at desc, id limit ?",
        (store.project_id, limit),
    )
    return [Session(**dict(row)) for row in rows]
