"""Sessions of the client and what the person typed in them."""

from __future__ import annotations

from datetime import timedelta

from ademem.clock import days_between, parse, stamp
from ademem.digest import sha256_hex
from ademem.redact import redact

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import datetime

    from ademem.store import Store

TWIN_WINDOW_S = 5.0
"""Two starts of one session with the same source within it are one start seen by two hooks."""
LATEST = 20
"""Sessions, the last to start first, among which the last to end is looked for."""
ACTIVE_MINUTES = 30
"""An open session in which no turn began for so long was left rather than ended."""


def start(
    store: Store, id: str, *, source: str, directory: str, branch: str | None, now: datetime
) -> bool:
    """Open or reopen the session, filling blanks only; False for the twin of a start just seen."""
    source, directory = redact(source).text, redact(directory).text
    branch = redact(branch).text if branch else None
    with store.transaction() as db:
        row = db.execute(
            "select last_source, last_started_at from sessions where id = ?", (id,)
        ).fetchone()
        if row and row["last_source"] == source:
            elapsed_s = days_between(parse(row["last_started_at"]), now) * 86400
            if abs(elapsed_s) < TWIN_WINDOW_S:  # the twin may have read its clock first
                return False
        db.execute(
            "insert into sessions"
            " (id, project_id, directory, branch, started_at, last_started_at, last_source)"
            " values (:id, :project, :directory, :branch, :now, :now, :source)"
            " on conflict (id) do update set last_started_at = :now, last_source = :source,"
            " ended_at = null, end_reason = null, branch = ifnull(branch, :branch),"
            " directory = case directory when '' then :directory else directory end",
            {
                "id": id,
                "project": store.project_id,
                "directory": directory,
                "branch": branch,
                "now": stamp(now),
                "source": source,
            },
        )
    return True


def end(store: Store, id: str, reason: str, now: datetime) -> None:
    """Close the session; a session never seen to start is closed all the same."""
    store.db.execute(
        "insert into sessions (id, project_id, directory, started_at, last_started_at, last_source,"
        " ended_at, end_reason)"
        " values (:id, :project, '', :now, :now, 'startup', :now, :reason)"
        " on conflict (id) do update set ended_at = :now, end_reason = :reason",
        {"id": id, "project": store.project_id, "now": stamp(now), "reason": redact(reason).text},
    )


def add_prompt(store: Store, session_id: str, prompt_id: str, content: str, now: datetime) -> bool:
    """Keep a prompt once; False when this very prompt of this turn is there already."""
    cursor = store.db.execute(
        "insert or ignore into user_prompts"
        " (sync_id, project_id, session_id, prompt_id, content, created_at)"
        " values (?, ?, ?, ?, ?, ?)",
        (
            sha256_hex(session_id, prompt_id, content)[:32],
            store.project_id,
            session_id,
            prompt_id,
            content,
            stamp(now),
        ),
    )
    return cursor.rowcount > 0


def count_prompts(store: Store, session_id: str) -> int:
    query = "select count(*) from user_prompts where session_id = ?"
    return int(store.db.execute(query, (session_id,)).fetchone()[0])


def last_seen(store: Store, *, but: str) -> str | None:
    """The stamp at which a session other than *but* ended, or at least started, last."""
    rows = store.db.execute(
        "select ifnull(ended_at, last_started_at) from sessions"
        " where project_id = ? and id <> ? order by started_at desc limit ?",
        (store.project_id, but, LATEST),
    )
    return max((row[0] for row in rows), default=None)


def is_active(store: Store, now: datetime) -> bool:
    """Whether somebody is at work: an open session that started, or had a turn begin, lately."""
    row = store.db.execute(
        "select 1 from sessions where project_id = :project and ended_at is null"
        " and last_started_at >= :since"
        " union all"
        " select 1 from turns join sessions on sessions.id = turns.session_id"
        " where turns.project_id = :project and turns.started_at >= :since"
        " and sessions.ended_at is null limit 1",
        {"project": store.project_id, "since": stamp(now - timedelta(minutes=ACTIVE_MINUTES))},
    ).fetchone()
    return row is not None
