"""Sessions of the client and what the person typed in them, for hooks, commands and programs."""

from __future__ import annotations

from ademem.core.clock import datetime, days_between, parse, stamp, timedelta
from ademem.core.json_text import array
from ademem.core.redaction import redact
from ademem.core.text import sha256_hex
from ademem.core.value import Value
from ademem.store import LIVE, Store
from ademem.store.database import set_value, value
from ademem.store.memories import columns

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any


MOMENT = "[0-9][0-9][0-9][0-9]-[01][0-9]-[0-3][0-9]T*Z"
TWIN_WINDOW_S = 5.0
"""Two starts of one session with the same source within it are one start seen by two hooks."""
LATEST = 20
"""Sessions, the last to start first, among which the last to end is looked for."""
LEFT_DAYS = 14
"""Older sessions that were left open stay as they are; the client forgets them, too."""
MOST_LEFT = 10
ACTIVE_MINUTES = 30
OPEN_MINUTES = 24 * 60
"""A session that had no prompt for so long may have been left without its end."""


_SENDER = "sender"
"""Time and reason of the last start that no known client sent; then, if one did since, its time."""


def note_sender(store: Store, unproven: str, now: datetime) -> None:
    """Note why a start of a session was *unproven*, or that one was not; that is mostly a read."""
    noted = last_sender(store)
    if unproven:
        set_value(store.db, _SENDER, f"{stamp(now)}\t{unproven}")
    elif noted and len(noted) == 2:
        set_value(store.db, _SENDER, "\t".join([*noted, stamp(now)]))


def last_sender(store: Store) -> list[str]:
    """Return the time and the reason of the last unrecognised start, and the time it was over."""
    return list(filter(None, value(store.db, _SENDER).split("\t")))


class Session(Value):
    """A session; fields without a value are empty texts."""

    id: str
    directory: str
    started_at: str
    ended_at: str
    transcript: str
    own_since: str
    """The stamp before which that record is another session's."""
    compacted_at: str
    """When its last compaction began."""


def get(store: Store, id: str) -> Session | None:
    row = store.db.execute(
        "select id, directory, started_at, ifnull(ended_at, ''), ifnull(transcript_path, ''),"
        " ifnull(own_since, ''), ifnull(compacting_at, '') from sessions where id = ?",
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
    is_unattended: bool = False,
) -> bool:
    """Open or reopen the session, filling blanks only; False for the twin of a start just seen.

    One *is_unattended* that a program started.
    """
    source, directory = redact(source).text, redact(directory).text
    branch = redact(branch).text if branch else None
    with store.transaction() as db:
        query = "select last_source, last_started_at, compacting_at from sessions where id = ?"
        row = db.execute(query, (id,)).fetchone()
        if row and row["last_source"] == source:
            started = row["last_started_at"]
            is_new = source == "compact" and (row["compacting_at"] or "") > started
            elapsed_s = days_between(parse(started), now) * 86400
            if not is_new and abs(elapsed_s) < TWIN_WINDOW_S:  # it may have read its clock first
                return False
        db.execute(
            "insert into sessions"
            " (id, project_id, directory, branch, started_at, last_started_at, last_source,"
            " transcript_path, own_since, is_unattended) values (:id, :project, :directory,"
            " :branch, :now, :now, :source, :transcript, :own, :unattended)"
            " on conflict (id) do update set last_started_at = :now, last_source = :source,"
            " ended_at = null, end_reason = null, branch = ifnull(branch, :branch),"
            " transcript_path = ifnull(:transcript, transcript_path),"
            " is_unattended = :unattended,"
            " directory = case directory when '' then :directory else directory end",
            {"id": id, "project": store.project_id, "directory": directory, "branch": branch}
            | {"now": stamp(now), "source": source, "transcript": _path(transcript)}
            # A transcript may begin with an earlier conversation then.
            | {"own": stamp(now) if source in ("resume", "fork") else None}
            | {"unattended": is_unattended},
        )
    return True


def note_compaction(store: Store, id: str, now: datetime) -> None:
    store.db.execute("update sessions set compacting_at = ? where id = ?", (stamp(now), id))


def _path(transcript: str) -> str | None:
    return None if not transcript or redact(transcript).found else transcript


def end(store: Store, id: str, reason: str, now: datetime, *, transcript: str = "") -> None:
    """End the session, or add it, as older clients start a fork under the name of its origin."""
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
    """Return the newest open sessions without a recent turn or a later episode, except *beside*."""
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
    return store.tuples(
        "select content, created_at from user_prompts"
        " where session_id = ? and deleted_at is null order by seq",
        (session_id,),
    )


def add_prompt(
    store: Store, session_id: str, prompt_id: str, content: str, now: datetime, *, sync_id: str = ""
) -> bool:
    """Return False if the turn has the prompt already, or it was deleted."""
    sync_id = sync_id or sha256_hex(session_id, prompt_id, content)[:32]
    cursor = store.db.execute(
        "insert or ignore into user_prompts"
        " (sync_id, project_id, session_id, prompt_id, content, created_at)"
        " values (?, ?, ?, ?, ?, ?)",
        (sync_id, store.project_id, session_id, prompt_id, content, stamp(now)),
    )
    return cursor.rowcount > 0


def has_prompt(store: Store, session_id: str, prompt_id: str) -> bool:
    query = "select 1 from user_prompts where session_id = ? and prompt_id = ?"
    return store.has_row(query, (session_id, prompt_id))


def find_prompt(store: Store, session_id: str, prompt_id: str) -> str:
    """Return the first prompt of a turn; empty where none is stored."""
    query = (
        "select content from user_prompts where session_id = ? and prompt_id = ?"
        " and deleted_at is null order by seq limit 1"
    )
    return store.first(query, (session_id, prompt_id), "")


def was_typed(store: Store, session_id: str, prompt: str) -> bool:
    """Tell whether the session had a prompt of this text before."""
    query = "select 1 from user_prompts where session_id = ? and content = ?"
    return store.has_row(query, (session_id, prompt))


def count_attended(store: Store) -> int:
    """Count the sessions of the project that no program started."""
    query = "select count(*) from sessions where project_id = ? and not is_unattended"
    return store.number(query, (store.project_id,))


def count_prompts(store: Store, session_id: str) -> int:
    query = "select count(*) from user_prompts where session_id = ?"
    return store.number(query, (session_id,))


def last_activity(store: Store, now: datetime, *, but: str) -> str | None:
    rows = store.db.execute(
        "select ifnull(ended_at, last_started_at) from sessions"
        " where project_id = ? and id <> ? and ifnull(ended_at, last_started_at) <= ?"
        " order by started_at desc limit ?",
        (store.project_id, but, stamp(now + timedelta(days=1)), LATEST),
    )
    return max((row[0] for row in rows), default=None)


def find_newest(store: Store, *, but: str = "") -> tuple[str, str]:
    """Return id and start of the session that began last; empty for none."""
    query = "select id, started_at from sessions where project_id = ? and id <> ?"
    values = (store.project_id, but)
    found = store.tuples(f"{query} order by started_at desc limit 1", values)
    return (str(found[0][0]), str(found[0][1])) if found else ("", "")


def last_start(store: Store, now: datetime, *, but: str) -> str | None:
    query = "select max(started_at) from sessions where project_id = ? and id <> ?"
    values = (store.project_id, but, stamp(now + timedelta(days=1)))
    return store.first(f"{query} and started_at <= ?", values, None)


def find_last(store: Store, *, but: str) -> str:
    """Return the session of a person that started last; empty where there is no other one."""
    query = "select id from sessions where project_id = ? and id <> ? and not is_unattended"
    return store.first(f"{query} order by started_at desc limit 1", (store.project_id, but), "")


def is_active(
    store: Store, now: datetime, minutes: int = ACTIVE_MINUTES, *, by_hooks: bool = False
) -> bool:
    """Tell whether a session is open that started, or took a prompt, within so many minutes.

    One *by_hooks* of the client has a transcript; those that an MCP server or a command opens have
    none.
    """
    return store.has_row(
        "select 1 from sessions where project_id = :project and ended_at is null"
        " and last_started_at >= :since and last_started_at <= :ahead"
        " and (transcript_path is not null or not :by_hooks)"
        " union all"
        " select 1 from turns join sessions on sessions.id = turns.session_id"
        " where turns.project_id = :project and turns.started_at >= :since"
        " and turns.started_at <= :ahead"
        " and sessions.ended_at is null"
        " and (sessions.transcript_path is not null or not :by_hooks) limit 1",
        {
            "project": store.project_id,
            "by_hooks": by_hooks,
            "since": stamp(now - timedelta(minutes=minutes)),
            "ahead": stamp(now + timedelta(days=1)),
        },
    )


_SESSION = f"""
select id, directory, branch, started_at, last_source as source, ended_at, end_reason, summary,
  (select count(*) from user_prompts
   where session_id = sessions.id and deleted_at is null) as prompts,
  (select count(*) from unified_memories
   where source_session_id = sessions.id and {LIVE}) as memories
from sessions where project_id = :project
"""
_PROMPT = "select substr(sync_id, 1, 12) as id, session_id, content, created_at from user_prompts"

_WORKED = """
exists (select 1 from unified_memories where source_session_id = sessions.id
  and scope = '{scope}' and scope_owner_id = :{scope})
"""
_WHERE = f"""
and (:id is null or id = :id)
and (:branch is null or branch = :branch)
and (:agent is null or {_WORKED.format(scope="agent")} or exists (select 1 from unified_memories
  where source_session_id = sessions.id and agent_id = :agent))
and (:mission is null or {_WORKED.format(scope="mission")} or exists (select 1 from episodes
  where episodes.session_id = sessions.id and mission_id = :mission))
and (:after is null or (started_at, rowid)
  < (select started_at, rowid from sessions where id = :after))
order by started_at desc, rowid desc limit :most
"""


def list_sessions(
    store: Store,
    limit: int,
    id: str | None = None,
    *,
    branch: str | None = None,
    agent: str | None = None,
    mission: str | None = None,
    after: str | None = None,
) -> list[dict[str, Any]]:
    """Return sessions, the newest first, or the one with this id; values may be missing.

    Those of an *agent* or a *mission* wrote a memory for it, or have an episode of it.
    A list goes on *after* a session.
    """
    values = {"project": store.project_id, "id": id, "most": limit, "after": after}
    values |= {"branch": branch, "agent": agent, "mission": mission}
    rows = store.db.execute(f"{_SESSION} {_WHERE}", values)
    return [
        {name: value for name, value in columns(row).items() if value is not None} for row in rows
    ]


def list_summaries(store: Store, limit: int) -> tuple[list[tuple[str, str]], int]:
    rows = store.db.execute(
        "select started_at, summary, count(*) over () from sessions"
        " where project_id = ? and summary <> '' order by started_at desc, rowid desc limit ?",
        (store.project_id, limit),
    ).fetchall()
    return [(row[0], row[1]) for row in rows], rows[0][2] if rows else 0


def find_first_prompts(store: Store, ids: Iterable[str]) -> dict[str, str]:
    return store.pairs(
        "select session_id, content from user_prompts where seq in (select min(seq)"
        " from user_prompts where session_id in (select value from json_each(?))"
        " and deleted_at is null group by session_id)",
        (array(ids),),
    )


def list_first_prompts(store: Store, ids: Iterable[str], most: int) -> dict[str, list[str]]:
    """Map sessions to their first prompts, in order."""
    found: dict[str, list[str]] = {}
    rows = store.db.execute(
        "select session_id, content from (select session_id, content, seq,"
        " row_number() over (partition by session_id order by seq) as place from user_prompts"
        " where session_id in (select value from json_each(?)) and deleted_at is null)"
        " where place <= ? order by seq",
        (array(ids), most),
    )
    for id, content in rows:
        found.setdefault(id, []).append(content)
    return found


def map_transcripts(store: Store, ids: Iterable[str]) -> dict[str, str]:
    """Map sessions to the paths of their transcripts, where the client told one."""
    return store.pairs(
        "select id, transcript_path from sessions where transcript_path is not null"
        " and id in (select value from json_each(?))",
        (array(ids),),
    )


def find_prompt_at(store: Store, session: str, at: datetime) -> str:
    return store.first(
        "select content from user_prompts where session_id = ? and created_at <= ?"
        " and deleted_at is null order by created_at desc, seq desc limit 1",
        (session, stamp(at)),
        "",
    )


def add(
    store: Store, id: str, directory: str, branch: str | None, source: str, now: datetime
) -> None:
    store.db.execute(
        "insert into sessions"
        " (id, project_id, directory, branch, started_at, last_started_at, last_source)"
        " values (:id, :project, :directory, :branch, :now, :now, :source)"
        " on conflict (id) do update set branch = ifnull(branch, :branch),"
        " directory = case directory when '' then :directory else directory end",
        {"id": id, "project": store.project_id, "now": stamp(now), "source": source}
        | {"directory": redact(directory).text, "branch": branch and redact(branch).text},
    )


def end_if_open(store: Store, id: str, reason: str, now: datetime) -> None:
    store.db.execute(
        "update sessions set end_reason = ifnull(end_reason, ?), ended_at = ifnull(ended_at, ?)"
        " where id = ?",
        (reason, stamp(now), id),
    )


def set_summary(store: Store, id: str, summary: str) -> None:
    store.db.execute("update sessions set summary = ? where id = ?", (redact(summary).text, id))


def set_end(store: Store, id: str, ended: datetime | None, summary: str | None) -> None:
    query = "update sessions set ended_at = ?, summary = ?, end_reason = 'import' where id = ?"
    store.db.execute(query, (ended and stamp(ended), summary, id))


def list_deleted(store: Store, since: str) -> list[str]:
    query = "select sync_id from tombstones where entity = 'session' and deleted_at > ? order by 1"
    return store.column(query, (since,))


def delete(store: Store, id: str, now: datetime) -> None:
    with store.transaction() as db:
        for row in db.execute("select sync_id from user_prompts where session_id = ?", (id,)):
            delete_prompt(store, row[0], now)
        db.execute("delete from turns where session_id = ?", (id,))
        db.execute("delete from injections where session_id = ?", (id,))
        db.execute("delete from sessions where id = ?", (id,))
        _bury(store, "session", id, now)


def search_prompts(
    store: Store, words: str, session_id: str | None, limit: int
) -> list[dict[str, Any]]:
    """Return prompts that have all words, else some, the best first; without words the newest."""
    import re  # which no hook needs

    terms = [f'"{term}"' for term in re.findall(r"\w+", words)]
    within = "deleted_at is null and (:session is null or session_id = :session)"
    values = {"session": session_id, "most": limit, "text": f"%{words.strip()}%"}
    if not words.strip():
        return store.dicts(f"{_PROMPT} where {within} order by seq desc limit :most", values)
    for joined in (" ".join(terms), " OR ".join(terms)) if terms else ():
        found = store.dicts(
            f"{_PROMPT} join (select rowid as found, rank from prompts_fts"
            f" where prompts_fts match :match) on found = seq where {within}"
            " order by rank, seq desc limit :most",
            values | {"match": joined},
        )
        if found:
            return found
    # Part of a word, as in scripts without blanks.
    query = f"{_PROMPT} where {within} and content like :text order by seq desc limit :most"
    return store.dicts(query, values)


def list_prompts(store: Store) -> list[dict[str, Any]]:
    return store.dicts(
        "select seq, sync_id, session_id, content, created_at from user_prompts"
        " where project_id = ? and deleted_at is null order by seq",
        (store.project_id,),
    )


def may_import(store: Store, id: str) -> bool:
    return not store.has_row(
        "select 1 from sessions where id = :id union all"
        " select 1 from tombstones where entity = 'session' and sync_id = :id",
        {"id": id},
    )


def find_prompts(store: Store, id: str) -> list[str]:
    query = "select sync_id from user_prompts where substr(sync_id, 1, :chars) = :id"
    return store.column(f"{query} and deleted_at is null", {"id": id, "chars": len(id)})


def delete_prompt(store: Store, sync_id: str, now: datetime) -> None:
    """Delete the text of a prompt; its row and a tombstone keep any import from adding it again."""
    with store.transaction() as db:
        query = "update user_prompts set content = '', deleted_at = ? where sync_id = ?"
        db.execute(query, (stamp(now), sync_id))
        db.execute(
            "update injections set text = null, sha256 = '' where event = 'pre_compact'"
            " and session_id = (select session_id from user_prompts where sync_id = ?)",
            (sync_id,),
        )
        _bury(store, "prompt", sync_id, now)


def _bury(store: Store, entity: str, id: str, now: datetime) -> None:
    store.db.execute(
        "insert or ignore into tombstones (entity, sync_id, project_id, deleted_at)"
        " values (?, ?, ?, ?)",
        (entity, id, store.project_id, stamp(now)),
    )
