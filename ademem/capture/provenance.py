"""Trust in an agent's words, which is lower after the turn read the web or a foreign tool."""

from __future__ import annotations

from ademem.core import client
from ademem.core.memory import Origin, Trust
from ademem.store import Store, ledger

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ademem.core.client import Payload, TurnKey
    from ademem.store.runtime import Runtime

WEB_TOOLS = frozenset({"WebFetch", "WebSearch"})

SOURCES = (Trust.WEB, Trust.TOOL)
"""Untrusted sources, least trusted first."""
_RECEIVED = "heard_"
"""Prefix of the kind, as stores have it, of a ledger entry for a turn with such a source."""


def source_of(tool_name: str) -> Trust | None:
    if tool_name in WEB_TOOLS:
        return Trust.WEB
    return Trust.TOOL if tool_name.startswith("mcp__") else None


def record_source(payload: Payload, runtime: Runtime) -> None:
    """Record an outside source for the turn, and for the turn that started a subagent."""
    source = source_of(payload.tool_name)
    if source is None:
        return
    for turn in {payload.agent_id, prompt_of(payload, runtime)} - {""}:
        key = f"{payload.session_id}:{turn}"
        ledger.claim(runtime.store, _RECEIVED + source, key, runtime.now)


def carry_sources(earlier: TurnKey, later: TurnKey, runtime: Runtime) -> None:
    """Record the outside sources of a turn for the one that goes on with it."""
    for source in SOURCES:
        read = f"{earlier.session_id}:{earlier.prompt_id}"
        if ledger.is_claimed(runtime.store, _RECEIVED + source, read):
            key = f"{later.session_id}:{later.prompt_id}"
            ledger.claim(runtime.store, _RECEIVED + source, key, runtime.now)


def origin_of(payload: Payload, runtime: Runtime, source_type: str) -> Origin:
    turn = payload.agent_id or prompt_of(payload, runtime)
    return Origin(
        trust=trust_of_turn(f"{payload.session_id}:{turn}", runtime.store),
        source_type=source_type,
        session_id=payload.session_id,
        agent_id=payload.agent_type or None,
    )


def trust_of_caller(runtime: Runtime) -> Trust:
    """Return the trust in a command: a person's, or that of the turn in whose shell it runs.

    Whoever is not known to be a person has an agent's trust.
    """
    if runtime.by.is_person:
        return Trust.USER
    session_id, store = client.session_of(runtime.environment), runtime.store
    if not session_id:
        return Trust.AGENT
    from ademem.store import turns

    running = turns.latest(store, session_id)
    return trust_of_turn(f"{session_id}:{running.prompt_id}", store) if running else Trust.AGENT


def trust_of_turn(turn: str, store: Store) -> Trust:
    """Return the trust in the words of a turn, `session:prompt` or `session:subagent`."""
    for source in SOURCES:
        if ledger.is_claimed(store, _RECEIVED + source, turn):
            return source
    return Trust.AGENT


def trust_of_session(session_id: str, store: Store) -> Trust:
    for source in SOURCES:
        if ledger.list_endings(store, _RECEIVED + source, f"{session_id}:"):
            return source
    return Trust.AGENT


def prompt_of(payload: Payload, runtime: Runtime) -> str:
    """Return the id of the prompt that is answered, also in a subagent."""
    if payload.prompt_id:
        return payload.prompt_id
    from ademem.store import turns  # for clients that name no prompt

    running = turns.latest(runtime.store, payload.session_id)
    return running.prompt_id if running else ""
