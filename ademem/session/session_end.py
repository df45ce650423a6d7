"""SessionEnd: close the session, within the 1.5 s that the client allows."""

from __future__ import annotations

from ademem import worker
from ademem.store import jobs, outcomes, sessions
from ademem.store.missions import current_location

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ademem.core.client import Payload
    from ademem.store.runtime import Runtime


def handle(payload: Payload, runtime: Runtime) -> None:
    store, now = runtime.store, runtime.now
    if not payload.session_id:
        return
    sessions.end(
        store,
        payload.session_id,
        payload.reason or "other",
        now,
        transcript=payload.transcript_path,
    )
    outcomes.leave_open(store, payload.session_id, None)
    location = current_location(payload.session_id, runtime)
    jobs.queue(store, "extract", location.key, now)
    jobs.queue(store, "episode", location.episode_key, now)
    jobs.queue(store, "current", "project", now)
    if runtime.settings.learn.reader == "on":
        jobs.queue(store, "reader", location.key, now)
    worker.start(runtime)
