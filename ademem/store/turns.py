"""State of the guard: a row for each turn of the main thread and each subagent."""

from __future__ import annotations

from ademem.core.client import Turn, TurnKey
from ademem.core.clock import stamp

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import datetime

    from ademem.store import Store


def get(store: Store, key: TurnKey) -> Turn | None:
    row = store.db.execute(
        "select class, why, hint, searched_at, denied, started_at, ended_at, begins_after"
        " from turns where session_id = ? and agent_id = ? and prompt_id = ?",
        (key.session_id, key.agent_id, key.prompt_id),
    ).fetchone()
    if row is None:
        return None
    return Turn(
        key=key,
        turn_class=row["class"],
        why=row["why"],
        hint=row["hint"],
        searched=row["searched_at"] is not None,
        denied=tuple(row["denied"].split()),
        started_at=row["started_at"],
        ended=row["ended_at"] is not None,
        begins_after=row["begins_after"],
    )


def begin(store: Store, key: TurnKey, turn_class: str, why: str, hint: str, now: datetime) -> None:
    """Start a turn.

    An order typed into a running turn starts it anew; another prompt makes it no less strict.
    """
    store.db.execute(
        "insert into turns"
        " (session_id, agent_id, prompt_id, project_id, class, why, hint, started_at, begins_after)"
        " values (?, ?, ?, ?, ?, ?, ?, ?, (select ifnull(max(id), 0) from recall_log))"
        " on conflict do update set class = excluded.class, why = excluded.why,"
        " hint = excluded.hint, searched_at = null, denied = '', ended_at = null,"
        " begins_after = excluded.begins_after"
        " where excluded.class = 'required' or class = 'none'"
        " or class = 'soft' and excluded.class <> 'none'",
        (
            key.session_id,
            key.agent_id,
            key.prompt_id,
            store.project_id,
            turn_class,
            why,
            hint,
            stamp(now),
        ),
    )


def continue_turn(store: Store, earlier: TurnKey, key: TurnKey, now: datetime) -> bool:
    """Start a turn without a prompt as the continuation of an earlier one.

    False if it has started already.
    """
    cursor = store.db.execute(
        "insert or ignore into turns"
        " (session_id, agent_id, prompt_id, project_id, class, why, hint, searched_at, denied,"
        " begins_after, started_at)"
        " select session_id, ?, ?, project_id, class, why, hint, searched_at, denied,"
        " begins_after, ? from turns where session_id = ? and agent_id = ? and prompt_id = ?",
        (
            key.agent_id,
            key.prompt_id,
            stamp(now),
            earlier.session_id,
            earlier.agent_id,
            earlier.prompt_id,
        ),
    )
    return cursor.rowcount > 0


def note_search(store: Store, key: TurnKey, now: datetime) -> None:
    """Record that memory was consulted in the turn."""
    store.db.execute(
        "update turns set searched_at = ? where session_id = ? and agent_id = ? and prompt_id = ?",
        (stamp(now), key.session_id, key.agent_id, key.prompt_id),
    )


def rearm(store: Store, key: TurnKey) -> None:
    """Forget the search and the denials of a turn, which its context has lost."""
    store.db.execute(
        "update turns set searched_at = null, denied = ''"
        " where session_id = ? and agent_id = ? and prompt_id = ?",
        (key.session_id, key.agent_id, key.prompt_id),
    )


def deny(store: Store, turn: Turn, tool_use_id: str) -> bool:
    """Count a denial; False for a call already counted (the twin hook of a double installation)."""
    if tool_use_id in turn.denied:
        return False
    store.db.execute(
        "update turns set denied = trim(denied || ' ' || ?)"
        " where session_id = ? and agent_id = ? and prompt_id = ?",
        (
            tool_use_id or f"call-{len(turn.denied) + 1}",
            turn.key.session_id,
            turn.key.agent_id,
            turn.key.prompt_id,
        ),
    )
    return True


def end(store: Store, key: TurnKey, now: datetime) -> None:
    store.db.execute(
        "update turns set ended_at = ? where session_id = ? and agent_id = ? and prompt_id = ?",
        (stamp(now), key.session_id, key.agent_id, key.prompt_id),
    )


def latest(store: Store, session_id: str) -> TurnKey | None:
    """Return the turn of the main thread that was added last."""
    row = store.db.execute(
        "select prompt_id from turns where session_id = ? and agent_id = ''"
        " order by rowid desc limit 1",
        (session_id,),
    ).fetchone()
    return TurnKey(session_id=session_id, prompt_id=row["prompt_id"]) if row else None


def list_open(store: Store, session_id: str, agent_id: str = "") -> list[TurnKey]:
    """Return the turn of a subagent; else the main thread's last and those of running subagents."""
    if agent_id:
        return [TurnKey(session_id=session_id, agent_id=agent_id)]
    rows = store.db.execute(
        "select agent_id from turns where session_id = ? and agent_id <> '' and ended_at is null",
        (session_id,),
    )
    main = latest(store, session_id)
    agents = [TurnKey(session_id=session_id, agent_id=row["agent_id"]) for row in rows]
    return [main, *agents] if main else agents
