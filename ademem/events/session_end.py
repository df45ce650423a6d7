"""SessionEnd: close the session; the client grants 1.5 s for everything."""

from __future__ import annotations

from ademem import work
from ademem.store import sessions

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ademem.client import Payload
    from ademem.runtime import Runtime


def handle(payload: Payload, runtime: Runtime) -> None:
    sessions.end(runtime.store, payload.session_id, payload.reason or "other", runtime.now)
    work.start(runtime)
