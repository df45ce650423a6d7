"""PostToolUseFailure: recall what is known of the error, and capture it."""

from __future__ import annotations

from ademem.capture import record
from ademem.guard.policy import SHELL_TOOLS
from ademem.session import hint_events
from ademem.session.turn_tracking import key_of, note_search

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ademem.core.client import Payload
    from ademem.store.runtime import Runtime


def handle(payload: Payload, runtime: Runtime) -> str | None:
    """Look the error up before it is captured again."""
    note_search(payload, runtime)
    if payload.tool_name in SHELL_TOOLS and "git" in payload.command:  # and what failed came after
        from ademem.capture import commits

        commits.note_session_commits(payload, runtime)
    text = hint_events.after_error(payload, key_of(payload, runtime), runtime)
    record.capture_error(payload, runtime)
    return text
