"""SessionEnd: close the session; the client grants 1.5 s for everything."""

from __future__ import annotations

from ademem import work
from ademem.store import jobs, sessions

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ademem.client import Payload
    from ademem.runtime import Runtime


def handle(payload: Payload, runtime: Runtime) -> None:
    store, now = runtime.store, runtime.now
    sessions.end(
        store,
        payload.session_id,
        payload.reason or "other",
        now,
        transcript=payload.transcript_path,
    )
    jobs.queue(store, "extract", payload.session_id, now)
    mission_id = runtime.environment.get("ADEMEM_MISSION", "")
    jobs.queue(store, "episode", f"{payload.session_id} {mission_id}".strip(), now)
    jobs.queue(store, "current", "project", now)
    work.start(runtime)
