"""Sessions and prompts as commands and other programs see them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import datetime
from typing import Any

from ademem.core.clock import stamp
from ademem.core.json_text import array
from ademem.core.redaction import redact
from ademem.store import LIVE, Store
from ademem.store.memories import columns

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
    """Return start and summary of the newest sessions that have one, and how many there are."""
    rows = store.db.execute(
        "select started_at, summary, count(*) over () from sessions"
        " where project_id = ? and summary <> '' order by started_at desc, rowid desc limit ?",
        (store.project_id, limit),
    ).fetchall()
    return [(row[0], row[1]) for row in rows], rows[0][2] if rows else 0


def find_first_prompts(store: Store, ids: Iterable[str]) -> dict[str, str]:
    rows = store.db.execute(
        "select session_id, content from user_prompts where seq in (select min(seq)"
        " from user_prompts where session_id in (select value from json_each(?))"
        " and deleted_at is null group by session_id)",
        (array(ids),),
    )
    return dict(rows)


def find_prompt_at(store: Store, session: str, at: datetime) -> str:
    """Return the last prompt of a session before a moment; empty without one."""
    row = store.db.execute(
        "select content from user_prompts where session_id = ? and created_at <= ?"
        " and deleted_at is null order by created_at desc, seq desc limit 1",
        (session, stamp(at)),
    ).fetchone()
    return row[0] if row else ""


def add(
    store: Store, id: str, directory: str, branch: str | None, source: str, now: datetime
) -> None:
    """Add a session, or fill the blanks of the one there is."""
    store.db.execute(
        "insert into sessions"
        " (id, project_id, directory, branch, started_at, last_started_at, last_source)"
        " values (:id, :project, :directory, :branch, :now, :now, :source)"
        " on conflict (id) do update set branch = ifnull(branch, :branch),"
        " directory = case directory when '' then :directory else directory end",
        {"id": id, "project": store.project_id, "now": stamp(now), "source": source}
        | {"directory": redact(directory).text, "branch": branch and redact(branch).text},
    )


def end(store: Store, id: str, reason: str, now: datetime) -> None:
    """End a session, which keeps the end that it has."""
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
    """Delete a session and its prompts, so that no import brings them back."""
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
    terms = [f'"{term}"' for term in re.findall(r"\w+", words)]
    within = "deleted_at is null and (:session is null or session_id = :session)"
    values = {"session": session_id, "most": limit, "text": f"%{words.strip()}%"}
    if not words.strip():
        rows = store.db.execute(f"{_PROMPT} where {within} order by seq desc limit :most", values)
        return [columns(row) for row in rows]
    for joined in (" ".join(terms), " OR ".join(terms)) if terms else ():
        rows = store.db.execute(
            f"{_PROMPT} join (select rowid as found, rank from prompts_fts"
            f" where prompts_fts match :match) on found = seq where {within}"
            " order by rank, seq desc limit :most",
            values | {"match": joined},
        )
        if found := [columns(row) for row in rows]:
            return found
    rows = store.db.execute(  # part of a word, as in scripts without blanks
        f"{_PROMPT} where {within} and content like :text order by seq desc limit :most", values
    )
    return [columns(row) for row in rows]


def list_prompts(store: Store) -> list[dict[str, Any]]:
    rows = store.db.execute(
        "select seq, sync_id, session_id, content, created_at from user_prompts"
        " where project_id = ? and deleted_at is null order by seq",
        (store.project_id,),
    )
    return [columns(row) for row in rows]


def may_import(store: Store, id: str) -> bool:
    """Return True for a session that is not here, and was not deleted here."""
    row = store.db.execute(
        "select 1 from sessions where id = :id union all"
        " select 1 from tombstones where entity = 'session' and sync_id = :id",
        {"id": id},
    ).fetchone()
    return row is None


def find_prompts(store: Store, id: str) -> list[str]:
    """Return the whole ids of prompts whose id begins so."""
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
