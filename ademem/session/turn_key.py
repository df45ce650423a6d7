"""Find the turn of an event, and record that memory was searched in it."""

from __future__ import annotations

from ademem.core.client import TurnKey
from ademem.guard import flags
from ademem.store import logs, sessions, turns

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ademem.core.client import Payload
    from ademem.store.runtime import Runtime


def key_of(payload: Payload, runtime: Runtime) -> TurnKey:
    """Return the turn of an event: a subagent is one turn; without prompt ids, the newest."""
    if payload.agent_id:
        return TurnKey(session_id=payload.session_id, agent_id=payload.agent_id)
    if payload.prompt_id:
        return TurnKey(session_id=payload.session_id, prompt_id=payload.prompt_id)
    return turns.latest(runtime.store, payload.session_id) or TurnKey(session_id=payload.session_id)


def new_key(payload: Payload, runtime: Runtime) -> TurnKey:
    """Return the turn that a prompt starts; prompts without an id are numbered."""
    prompt_id = payload.prompt_id
    if not prompt_id:
        prompt_id = f"prompt-{sessions.count_prompts(runtime.store, payload.session_id) + 1}"
    return TurnKey(session_id=payload.session_id, prompt_id=prompt_id)


def lift(payload: Payload, runtime: Runtime, reason: str) -> None:
    """Record that memory was searched, so that the guard allows changes in this turn."""
    key = key_of(payload, runtime)
    with runtime.store.transaction():
        turn = turns.get(runtime.store, key)
        if turn is None or turn.searched:
            return
        turns.searched(runtime.store, key, runtime.now)
        logs.decided(
            runtime.store,
            key,
            tool_use_id=payload.tool_use_id,
            tool=payload.tool_name,
            target=turn.hint,
            decision="lift",
            reason=reason,
            now=runtime.now,
        )
    flags.set_quiet(runtime.project, key, True)
