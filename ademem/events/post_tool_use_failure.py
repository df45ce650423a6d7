"""PostToolUseFailure: an error may be known, or a lesson; a search without hits still counts."""

from __future__ import annotations

from ademem.capture import record
from ademem.events import sites
from ademem.events.searched import notice
from ademem.events.turn import key_of
from ademem.guard.policy import SHELL_TOOLS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ademem.client import Payload
    from ademem.runtime import Runtime


def handle(payload: Payload, runtime: Runtime) -> str | None:
    """What was known of the error before it is counted once more."""
    notice(payload, runtime)
    if payload.tool_name in SHELL_TOOLS and "git" in payload.command:  # and what failed came after
        from ademem.commits import made

        made.note(payload, runtime)
    known = sites.failed(payload, key_of(payload, runtime), runtime)
    record.error(payload, runtime)
    return known
