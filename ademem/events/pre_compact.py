"""PreCompact: plain words for whoever summarises the conversation; findings are kept before."""

from __future__ import annotations

from ademem import work
from ademem.episodes import keeping
from ademem.episodes.place import here
from ademem.store import jobs, sessions

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ademem.client import Payload
    from ademem.runtime import Runtime


def handle(payload: Payload, runtime: Runtime) -> str:
    """The client appends the text to the summariser's instructions as it stands."""
    said = keeping.text(payload.session_id, payload.transcript_path, runtime)
    try:
        sessions.compacting(runtime.store, payload.session_id, runtime.now)
        place = here(payload.session_id, runtime)
        jobs.queue(runtime.store, "extract", place.key, runtime.now)
    except runtime.store.db.OperationalError:
        return said  # somebody holds the database; the end of the session asks again
    work.start(runtime)
    return said
