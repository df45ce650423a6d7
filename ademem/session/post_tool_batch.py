"""PostToolBatch: the calls of one message are over, and the model reads their results."""

from __future__ import annotations

from ademem.session.turn_tracking import key_of, mark_read

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ademem.core.client import Payload
    from ademem.store.runtime import Runtime


def handle(payload: Payload, runtime: Runtime) -> None:
    mark_read(key_of(payload, runtime), runtime)
