"""PreCompact: give the summariser instructions, and queue the extraction of findings."""

from __future__ import annotations

from ademem import worker
from ademem.core.client import TurnKey
from ademem.store import injections, jobs, sessions
from ademem.store.missions import current_location
from ademem.synthesis.compaction import KEEP, summary_instructions

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ademem.core.client import Payload
    from ademem.store.runtime import Runtime


def handle(payload: Payload, runtime: Runtime) -> str:
    """Return plain text, which the client appends to the summariser's instructions."""
    key = TurnKey(session_id=payload.session_id, agent_id=payload.agent_id)
    if payload.agent_id:
        injections.record_alone(runtime, "pre_compact", KEEP, key)
        return KEEP
    instructions, learned = summary_instructions(
        payload.session_id, payload.transcript_path, runtime
    )
    injections.record_alone(
        runtime,
        "pre_compact",
        instructions,
        key,
        map(injections.place, learned),
        keep_text=runtime.settings.capture.prompts,  # which it quotes
    )
    try:
        sessions.note_compaction(runtime.store, payload.session_id, runtime.now)
        location = current_location(payload.session_id, runtime)
        jobs.queue(runtime.store, "extract", location.key, runtime.now)
    except runtime.store.db.OperationalError:
        return instructions  # the database is locked; SessionEnd queues it again
    worker.start(runtime)
    return instructions
