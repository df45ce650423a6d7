"""PostToolUseFailure: a search that found nothing still counts; an error may be a lesson."""

from __future__ import annotations

from ademem.capture import record
from ademem.events.searched import notice

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ademem.client import Payload
    from ademem.runtime import Runtime


def handle(payload: Payload, runtime: Runtime) -> None:
    notice(payload, runtime)
    record.error(payload, runtime)
