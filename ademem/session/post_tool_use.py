"""PostToolUse: capture what a call records, and notice searches and outside sources."""

from __future__ import annotations

from ademem.guard.policy import SEARCHES, SHELL_TOOLS, WRITING_TOOLS, own_tool

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ademem.core.client import Payload
    from ademem.store.runtime import Runtime


def handle(payload: Payload, runtime: Runtime) -> None:
    is_shell = payload.tool_name in SHELL_TOOLS
    own = own_tool(payload.tool_name, runtime.settings.guard.mcp_servers)
    if own in SEARCHES or "ademem" in payload.command:
        from ademem.session.turn_tracking import note_search  # most calls are not a search

        note_search(payload, runtime)
    if not is_shell and not own:
        from ademem.capture import provenance

        provenance.record_source(payload, runtime)
    if is_shell and "git" in payload.command:
        from ademem.capture import commits

        commits.note_session_commits(payload, runtime)
    if payload.path.endswith(".md") if payload.tool_name in WRITING_TOOLS else is_shell:
        from ademem.capture import reconciling

        reconciling.after_call(payload, runtime)
    if is_shell:
        _capture_lessons(payload, runtime)


def _capture_lessons(payload: Payload, runtime: Runtime) -> None:
    response = payload.tool_response if isinstance(payload.tool_response, dict) else {}
    # interrupted and background commands are left out; other failures are another event
    is_over = not any(map(response.get, ("interrupted", "backgroundTaskId", "is_error")))
    if is_over and runtime.settings.capture.learned:
        from ademem.capture import learned

        if learned.may_have_lessons(payload.command):
            learned.capture_lessons(payload, runtime)
