"""PostToolUse: capture what a command records, and notice searches and outside sources."""

from __future__ import annotations

from ademem.guard.policy import SEARCHES, SHELL_TOOLS, own_tool

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ademem.core.client import Payload
    from ademem.store.runtime import Runtime


def handle(payload: Payload, runtime: Runtime) -> None:
    """Print nothing: the model sees the result of its call."""
    is_shell = payload.tool_name in SHELL_TOOLS
    own = own_tool(payload.tool_name, runtime.settings.guard.mcp_servers)
    if own in SEARCHES or "ademem" in payload.command:
        from ademem.session.turn_tracking import note_search  # most calls are no search

        note_search(payload, runtime)
    if not is_shell and not own:
        from ademem.capture import provenance

        provenance.record_source(payload, runtime)
    if is_shell and "git" in payload.command:
        from ademem.capture import commits

        commits.note_session_commits(payload, runtime)
    if is_shell and runtime.settings.capture.learned and _has_succeeded(payload):
        from ademem.capture import learned

        if learned.may_have_lessons(payload.command):
            learned.capture_lessons(payload, runtime)


def _has_succeeded(payload: Payload) -> bool:
    """Exclude interrupted and background commands; other failures are another event."""
    response = payload.tool_response
    if not isinstance(response, dict):
        return True
    return not (
        response.get("interrupted") or response.get("backgroundTaskId") or response.get("is_error")
    )
