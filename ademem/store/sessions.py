"""Sessions of the client and what the person typed in them."""

from __future__ import annotations

from ademem.core.clock import days_between, parse, stamp, timedelta
from ademem.core.redaction import redact
from ademem.core.text import sha256_hex
from ademem.core.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    import sqlite3
    from datetime import datetime

    from ademem.store import Store

MOMENT = "[0-9][0-9][0-9][0-9]-[01][0-9]-[0-3][0-9]T*Z"
"""A moment that a column of moments can hold, as a pattern of `glob`."""
TWIN_WINDOW_S = 5.0
"""Two starts of one session with the same source within it are one start seen by two hooks."""
LATEST = 20
"""Sessions, the last to start first, among which the last to end is looked for."""
LEFT_DAYS = 14
"""Older sessions that were left open stay as they are; the client forgets them, too."""
MOST_LEFT = 10
ACTIVE_MINUTES = 30
"""Minutes without a turn after which an open session counts as left."""


CONTINUED = ("resume", "fork")
"""Start reasons of sessions whose transcript may begin with an earlier conversation."""


class Session(Value):
    """A session; fields without a value are empty texts."""

    id: str
    directory: str
    started_at: str
    ended_at: str
    transcript: str
    """Path of the client's record of it."""
    own_since: str
    """The stamp before which that record is another session's."""


def get(store: Store, id: str) -> Session | None:
    row = store.db.execute(
        "select id, directory, started_at, ifnull(ended_at, ''), ifnull(transcript_path, ''),"
        " ifnull(own_since, '') from sessions where id = ?",
        (id,),
    ).fetchone()
    return Session(**dict(zip(Session._fields, row, strict=True))) if row else None


def start(
    store: Store,
    id: str,
    *,
    source: str,
    directory: str,
    branch: str | None,
    now: datetime,
    transcript: str = "",
) -> bool:
    """Open or reopen the session, filling blanks only; False for the twin of a start just seen."""
    source, directory = redact(source).text, redact(directory).text
    branch = redact(branch).text if branch else None
    with store.transaction() as db:
        if _is_twin(db, id, source, now):
            return False
        db.execute(
            "insert into sessions"
            " (id, project_id, directory, branch, started_at, last_started_at, last_source,"
            " transcript_path, own_since)"
            " values (:id, :project, :directory, :branch, :now, :now, :source, :transcript, :own)"
            " on conflict (id) do update set last_started_at = :now, last_source = :source,"
            " ended_at = null, end_reason = null, branch = ifnull(branch, :branch),"
            " transcript_path = ifnull(:transcript, transcript_path),"
            " directory = case directory when '' then :directory else directory end",
            {"id": id, "project": store.project_id, "directory": directory, "branch": branch}
            | {"now": stamp(now), "source": source, "transcript": _path(transcript)}
            | {"own": stamp(now) if source in CONTINUED else None},
        )
    return True


def _is_twin(db: sqlite3.Connection, id: str, source: str, now: datetime) -> bool:
    query = "select last_source, last_started_at, compacting_at from sessions where id = ?"
    row = db.execute(query, (id,)).fetchone()
    if row is None or row["last_source"] != source:
        return False
    if source == "compact" and (row["compacting_at"] or "") > row["last_started_at"]:
        return False
    elapsed_s = days_between(parse(row["last_started_at"]), now) * 86400
    return abs(elapsed_s) < TWIN_WINDOW_S  # the twin may have read its clock first


def note_compaction(store: Store, id: str, now: datetime) -> None:
    store.db.execute("update sessions set compacting_at = ? where id = ?", (stamp(now), id))


def _path(transcript: str) -> str | None:
    """Return the path, or None for one with a secret in it."""
    return None if not transcript or redact(transcript).found else transcript


def end(store: Store, id: str, reason: str, now: datetime, *, transcript: str = "") -> None:
    """End the session; add it if its start was missed.

    Older clients start a fork under the name of the session that it was copied from.
    """
    store.db.execute(
        "insert into sessions (id, project_id, directory, started_at, last_started_at, last_source,"
        " ended_at, end_reason, transcript_path, own_since)"
        " values (:id, :project, '', :now, :now, 'startup', :now, :reason, :transcript,"
        " (select min(started_at) from turns where session_id = :id and started_at glob :moment))"
        " on conflict (id) do update set ended_at = :now, end_reason = :reason,"
        " transcript_path = ifnull(:transcript, transcript_path)",
        {"id": id, "project": store.project_id, "now": stamp(now), "moment": MOMENT}
        | {"reason": redact(reason).text, "transcript": _path(transcript)},
    )


def list_left_open(store: Store, now: datetime, beside: str) -> list[str]:
    """Return the newest open sessions without a recent turn, except *beside*.

    Without those whose episode was written after their last start.
    """
    return store.column(
        "select id from sessions where project_id = :project and ended_at is null and id <> :beside"
        " and (last_started_at < :idle and last_started_at >= :oldest or last_started_at > :ahead)"
        " and not exists (select 1 from turns where session_id = sessions.id"
        "  and started_at >= :idle and started_at <= :ahead)"
        " and not exists (select 1 from episodes where session_id = sessions.id"
        "  and episodes.updated_at >= last_started_at)"
        " order by started_at desc limit :most",
        {"project": store.project_id, "beside": beside, "most": MOST_LEFT}
        | {"idle": stamp(now - timedelta(minutes=ACTIVE_MINUTES))}
        | {"ahead": stamp(now + timedelta(days=1))}
        | {"oldest": stamp(now - timedelta(days=LEFT_DAYS))},
    )


def prompts(store: Store, session_id: str) -> list[tuple[str, str]]:
    rows = store.db.execute(
        "select content, created_at from user_prompts"
        " where session_id = ? and deleted_at is null order by seq",
        (session_id,),
    )
    return [(row[0], row[1]) for row in rows]


def add_prompt(
    store: Store, session_id: str, prompt_id: str, content: str, now: datetime, *, sync_id: str = ""
) -> bool:
    """Add a prompt; False if the turn has it already, or it was deleted.

    *sync_id* is that of an import.
    """
    sync_id = sync_id or sha256_hex(session_id, prompt_id, content)[:32]
    cursor = store.db.execute(
        "insert or ignore into user_prompts"
        " (sync_id, project_id, session_id, prompt_id, content, created_at)"
        " values (?, ?, ?, ?, ?, ?)",
        (sync_id, store.project_id, session_id, prompt_id, content, stamp(now)),
    )
    return cursor.rowcount > 0


def count_prompts(store: Store, session_id: str) -> int:
    query = "select count(*) from user_prompts where session_id = ?"
    return store.number(query, (session_id,))


def last_seen(store: Store, now: datetime, *, but: str) -> str | None:
    """Return the last stamp of an end, or start, of a session other than *but*."""
    rows = store.db.execute(
        "select ifnull(ended_at, last_started_at) from sessions"
        " where project_id = ? and id <> ? and ifnull(ended_at, last_started_at) <= ?"
        " order by started_at desc limit ?",
        (store.project_id, but, stamp(now + timedelta(days=1)), LATEST),
    )
    return max((row[0] for row in rows), default=None)


def last_start(store: Store, now: datetime, *, but: str) -> str | None:
    """Return the stamp of the last start of a session other than *but*, resumptions left out."""
    query = "select max(started_at) from sessions where project_id = ? and id <> ?"
    values = (store.project_id, but, stamp(now + timedelta(days=1)))
    row = store.db.execute(f"{query} and started_at <= ?", values).fetchone()
    return row[0] if row else None


def is_active(store: Store, now: datetime) -> bool:
    return store.has_row(
        "select 1 from sessions where project_id = :project and ended_at is null"
        " and last_started_at >= :since and last_started_at <= :ahead"
        " union all"
        " select 1 from turns join sessions on sessions.id = turns.session_id"
        " where turns.project_id = :project and turns.started_at >= :since"
        " and turns.started_at <= :ahead"
        " and sessions.ended_at is null limit 1",
        {
            "project": store.project_id,
            "since": stamp(now - timedelta(minutes=ACTIVE_MINUTES)),
            "ahead": stamp(now + timedelta(days=1)),
        },
    )
