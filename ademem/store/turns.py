"""State of the guard: a row for each turn of the main thread and each subagent.

Calls of our MCP server's tools are stored with the turn in which the client's hook saw them.
What the guard asks about memories is answered without the class Memory.
"""

from __future__ import annotations

from ademem.core.client import Turn, TurnKey
from ademem.core.clock import datetime, stamp, timedelta
from ademem.core.value import as_dict
from ademem.store import CURRENT, Store

CALL_HOURS = 24
_TURN = "session_id = :session_id and agent_id = :agent_id and prompt_id = :prompt_id"


def get(store: Store, key: TurnKey) -> Turn | None:
    row = store.db.execute(
        "select class as turn_class, why, hint, searched_at is not null as searched, denied,"
        f" started_at, begins_after from turns where {_TURN}",
        as_dict(key),
    ).fetchone()
    if row is None:
        return None
    values = dict(row) | {"searched": bool(row["searched"])}
    return Turn(key=key, **values | {"denied": tuple(row["denied"].split())})


def begin(store: Store, key: TurnKey, turn_class: str, why: str, hint: str, now: datetime) -> None:
    """Start a turn; an order starts a running one anew, other prompts make it no less strict."""
    store.db.execute(
        "insert into turns"
        " (session_id, agent_id, prompt_id, project_id, class, why, hint, started_at, begins_after)"
        " values (:session_id, :agent_id, :prompt_id, :project, :class, :why, :hint, :now,"
        " (select ifnull(max(id), 0) from recall_log))"
        " on conflict do update set class = excluded.class, why = excluded.why,"
        " hint = excluded.hint, searched_at = null, denied = '', ended_at = null,"
        " begins_after = excluded.begins_after"
        " where excluded.class = 'required' or class = 'none'"
        " or class = 'soft' and excluded.class <> 'none'",
        as_dict(key)
        | {"project": store.project_id, "class": turn_class, "why": why, "hint": hint}
        | {"now": stamp(now)},
    )


def continue_turn(store: Store, earlier: TurnKey, key: TurnKey, now: datetime) -> bool:
    """Start a turn without a prompt as a continuation; False if it has started already."""
    cursor = store.db.execute(
        "insert or ignore into turns"
        " (session_id, agent_id, prompt_id, project_id, class, why, hint, searched_at, denied,"
        " begins_after, started_at)"
        " select session_id, :agent, :prompt, project_id, class, why, hint, searched_at, denied,"
        f" begins_after, :now from turns where {_TURN}",
        as_dict(earlier) | {"agent": key.agent_id, "prompt": key.prompt_id, "now": stamp(now)},
    )
    return cursor.rowcount > 0


def note_search(store: Store, key: TurnKey, now: datetime) -> None:
    query = f"update turns set searched_at = :now where {_TURN}"
    store.db.execute(query, as_dict(key) | {"now": stamp(now)})


def rearm(store: Store, key: TurnKey) -> None:
    query = f"update turns set searched_at = null, denied = '' where {_TURN}"
    store.db.execute(query, as_dict(key))


def deny(store: Store, turn: Turn, tool_use_id: str) -> bool:
    """Count a denial; False for a call already counted (the twin hook of a double installation)."""
    if tool_use_id in turn.denied:
        return False
    call = tool_use_id or f"call-{len(turn.denied) + 1}"
    query = f"update turns set denied = trim(denied || ' ' || :call) where {_TURN}"
    store.db.execute(query, as_dict(turn.key) | {"call": call})
    return True


def end(store: Store, key: TurnKey, now: datetime) -> None:
    query = f"update turns set ended_at = :now where {_TURN}"
    store.db.execute(query, as_dict(key) | {"now": stamp(now)})


def has_ended(store: Store, key: TurnKey) -> bool:
    query = f"select 1 from turns where {_TURN} and ended_at is not null"
    return bool(store.db.execute(query, as_dict(key)).fetchone())


def latest(store: Store, session_id: str) -> TurnKey | None:
    row = store.db.execute(
        "select prompt_id from turns where session_id = ? and agent_id = ''"
        " order by rowid desc limit 1",
        (session_id,),
    ).fetchone()
    return TurnKey(session_id=session_id, prompt_id=row["prompt_id"]) if row else None


def count(store: Store, session_id: str) -> int:
    query = "select count(*) from turns where session_id = ? and agent_id = ''"
    return store.number(query, (session_id,))


def list_open(store: Store, session_id: str, agent_id: str = "") -> list[TurnKey]:
    if agent_id:
        return [TurnKey(session_id=session_id, agent_id=agent_id)]
    rows = store.db.execute(
        "select agent_id from turns where session_id = ? and agent_id <> '' and ended_at is null",
        (session_id,),
    )
    main = latest(store, session_id)
    agents = [TurnKey(session_id=session_id, agent_id=row["agent_id"]) for row in rows]
    return [main, *agents] if main else agents


def note_mcp_call(store: Store, tool_use_id: str, key: TurnKey, now: datetime) -> None:
    if not tool_use_id:
        return
    with store.transaction() as db:
        before = stamp(now - timedelta(hours=CALL_HOURS))
        db.execute("delete from mcp_calls where created_at < ?", (before,))
        db.execute(
            "insert or replace into mcp_calls"
            " (tool_use_id, session_id, agent_id, prompt_id, created_at) values (?, ?, ?, ?, ?)",
            (tool_use_id, *as_dict(key).values(), stamp(now)),
        )


def find_turn_of_call(store: Store, tool_use_id: str) -> TurnKey | None:
    query = "select session_id, agent_id, prompt_id from mcp_calls where tool_use_id = ?"
    row = store.db.execute(query, (tool_use_id,)).fetchone()
    return TurnKey(**dict(row)) if row else None


def any_promoted(store: Store) -> bool:
    """Tell if this person made or accepted one; before that, a clone's files stop no call."""
    return store.is_trusted and store.has_row(
        "select 1 from unified_memories where project_id = ? and status = 'promoted'"
        f" and claimed_author is null and {CURRENT} limit 1",
        (store.project_id,),
    )


def any_quarantined(store: Store, id: str = "") -> bool:
    return store.has_row(
        "select 1 from unified_memories where project_id = :project"
        " and quarantine_reason is not null and deleted_at is null"
        " and (substr(id, 1, length(:id)) = :id or substr(sync_id, 1, length(:id)) = :id)"
        " limit 1",
        {"project": store.project_id, "id": id},
    )
