"""SubagentStop: capture learnings of a subagent's last message."""

from __future__ import annotations

from ademem.capture import may_have_learnings
from ademem.core.client import Payload, TurnKey
from ademem.session import flags
from ademem.session.turn_tracking import mark_read
from ademem.store import outcomes, turns

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ademem.store.runtime import Runtime


def handle(payload: Payload, runtime: Runtime) -> None:
    """Skip events without an agent type: they are compactions, whose last message is a summary."""
    if not payload.agent_type:
        return
    if may_have_learnings(payload.last_message):
        from ademem.capture import record

        record.capture_learnings(payload, runtime)
    key = TurnKey(session_id=payload.session_id, agent_id=payload.agent_id)
    outcomes.end_turn(runtime.store, key, runtime.now)
    turns.end(runtime.store, key, runtime.now)
    mark_read(key, runtime)
    flags.set_quiet(runtime.project, key, False)
