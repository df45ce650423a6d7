"""Calls of tools of our MCP server, with the turns in which the client's hook saw them."""

from __future__ import annotations

from ademem.core.client import TurnKey
from ademem.core.clock import stamp, timedelta

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import datetime

    from ademem.store import Store

KEPT_HOURS = 24
"""Hours for which a call is kept; it is made as soon as the hook has ended."""


def note(store: Store, tool_use_id: str, key: TurnKey, now: datetime) -> None:
    if not tool_use_id:
        return
    with store.transaction() as db:
        db.execute(
            "delete from mcp_calls where created_at < ?",
            (stamp(now - timedelta(hours=KEPT_HOURS)),),
        )
        db.execute(
            "insert or replace into mcp_calls"
            " (tool_use_id, session_id, agent_id, prompt_id, created_at) values (?, ?, ?, ?, ?)",
            (tool_use_id, key.session_id, key.agent_id, key.prompt_id, stamp(now)),
        )


def find_turn(store: Store, tool_use_id: str) -> TurnKey | None:
    row = store.db.execute(
        "select session_id, agent_id, prompt_id from mcp_calls where tool_use_id = ?",
        (tool_use_id,),
    ).fetchone()
    return TurnKey(**dict(row)) if row else None
