"""PreCompact: give the summariser instructions, and queue the extraction of findings."""

from __future__ import annotations

from ademem import worker
from ademem.store import jobs, sessions
from ademem.store.missions import current_location
from ademem.synthesis.compaction import KEEP, summary_instructions

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ademem.core.client import Payload
    from ademem.store.runtime import Runtime


def handle(payload: Payload, runtime: Runtime) -> str:
    """Return plain text, which the client appends to the summariser's instructions."""
    if payload.agent_id:
        return KEEP
    instructions = summary_instructions(payload.session_id, payload.transcript_path, runtime)
    try:
        sessions.note_compaction(runtime.store, payload.session_id, runtime.now)
        location = current_location(payload.session_id, runtime)
        jobs.queue(runtime.store, "extract", location.key, runtime.now)
    except runtime.store.db.OperationalError:
        return instructions  # the database is locked; SessionEnd queues it again
    worker.start(runtime)
    return instructions
