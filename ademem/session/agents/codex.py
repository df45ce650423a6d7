"""Codex: its hooks have the form of Claude Code's, but for patches and turns."""

from __future__ import annotations

from ademem.session.agents import MODULES, call_of, text_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from ademem.session.agents import Event, Reply

PATCH = "*** Begin Patch"
FILE_LINES = ("*** Add File: ", "*** Update File: ", "*** Delete File: ", "*** Move to: ")


def translate(data: dict[str, Any]) -> Iterator[Event]:
    """Yield the event, and for a patch one for each file that it changes."""
    name = text_of(data, "hook_event_name")
    if name not in MODULES:
        return
    payload = data | {"prompt_id": text_of(data, "turn_id"), "transcript_path": ""}
    response = data.get("tool_response")
    if name == "PostToolUse" and isinstance(response, dict) and response.get("isError"):
        name, payload["error"] = "PostToolUseFailure", "the tool reported an error"
    command = text_of(call_of(data), "command")
    if data.get("tool_name") != "apply_patch":
        yield MODULES[name], payload
    if name == "PreToolUse" and PATCH in command:
        lines = [line.strip() for line in command.splitlines()]
        heads = [(line, head) for line in lines for head in FILE_LINES if line.startswith(head)]
        for path in dict.fromkeys(line[len(head) :] for line, head in heads):
            edit = {"tool_name": "Edit", "tool_input": {"file_path": path}}
            yield MODULES[name], payload | edit


def render(reply: Reply, data: dict[str, Any]) -> dict[str, Any]:
    """Leave out keys that Codex does not know, as it then ignores the whole answer."""
    answer: dict[str, Any] = {"systemMessage": reply.notice} if reply.notice else {}
    if reply.block:
        return answer | {"decision": "block", "reason": reply.block}
    output = {"hookEventName": text_of(data, "hook_event_name")}
    if reply.denial:
        output |= {"permissionDecision": "deny", "permissionDecisionReason": reply.denial}
    elif reply.context:
        output["additionalContext"] = reply.context
    return answer | {"hookSpecificOutput": output} if len(output) > 1 else answer
