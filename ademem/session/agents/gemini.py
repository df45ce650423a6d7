"""Gemini CLI: other names of events and tools, and no text beside a call that may run."""

from __future__ import annotations

import os

from ademem.core import clock, confined, project
from ademem.core.text import sha256_hex
from ademem.session.agents import MODULES, call_of, text_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from ademem.session.agents import Event, Reply

EVENTS = {
    "SessionStart": "SessionStart",
    "BeforeAgent": "UserPromptSubmit",
    "BeforeTool": "PreToolUse",
    "AfterTool": "PostToolUse",
    "AfterAgent": "Stop",
    "SessionEnd": "SessionEnd",
}
TOOLS = {
    "run_shell_command": "Bash",
    "write_file": "Write",
    "replace": "Edit",
    "web_fetch": "WebFetch",
    "google_web_search": "WebSearch",
}
BRIEFED = "<hook_context>", "</hook_context>"
"""Begin and end of the briefing, which stands in front of the prompt."""
EXIT_CODE = "\nExit Code: "
"""Line in the result of a command that failed."""
HELD = "held"
"""Folder below `.ade/run/` of texts that wait for the end of their call."""
HELD_S = 24 * 3600
"""Age of a text whose call never ran, as the person refused it."""


def translate(data: dict[str, Any]) -> Iterator[Event]:
    name = EVENTS.get(text_of(data, "hook_event_name"), "")
    if not name:
        return
    payload = data | {"hook_event_name": name, "transcript_path": ""}
    prompt, (begin, end) = text_of(data, "prompt"), BRIEFED
    payload["prompt"] = prompt.partition(end)[2].lstrip() if prompt.startswith(begin) else prompt
    payload["last_assistant_message"] = text_of(data, "prompt_response")
    payload["tool_name"] = _tool(data)
    if name == "PostToolUse":
        response = data.get("tool_response")
        result = text_of(response, "llmContent") if isinstance(response, dict) else ""
        failed = EXIT_CODE in result or (isinstance(response, dict) and bool(response.get("error")))
        if failed:
            name, payload["error"] = "PostToolUseFailure", result
    yield MODULES[name], payload


def render(reply: Reply, data: dict[str, Any]) -> dict[str, Any]:
    """Hold the text beside a call until its result, which is where Gemini CLI takes one."""
    event = text_of(data, "hook_event_name")
    answer: dict[str, Any] = {"systemMessage": reply.notice} if reply.notice else {}
    if reason := reply.denial or reply.block:
        return answer | {"decision": "deny", "reason": reason}
    context = reply.context
    if event == "BeforeTool" and context:
        root, path = _held_path(data)
        confined.prune(root, os.path.dirname(path), clock.now().timestamp() - HELD_S)
        confined.write_text(root, path, context, mode=0o600, sync=False)
        context = ""
    elif event == "AfterTool":
        root, path = _held_path(data)
        if held := confined.read_text(root, path):
            confined.remove(root, path)
            context = "\n".join(filter(None, (held, context)))
    if context:
        answer["hookSpecificOutput"] = {"hookEventName": event, "additionalContext": context}
    return answer


def _tool(data: dict[str, Any]) -> str:
    """Return the name that Claude Code has for the tool."""
    tool = text_of(data, "tool_name")
    if tool.startswith("mcp_"):
        context = data.get("mcp_context")
        server = text_of(context, "server_name") if isinstance(context, dict) else ""
        server = server or tool[4:].partition("_")[0]
        return f"mcp__{server}__{tool[len('mcp_' + server + '_') :]}"
    return TOOLS.get(tool, tool)


def _held_path(data: dict[str, Any]) -> tuple[str, str]:
    """Return the root and a path named after the call, of which Gemini CLI gives no id."""
    found = project.find(None, os.environ, os.getcwd())
    call = (text_of(data, "session_id"), text_of(data, "tool_name"), str(call_of(data)))
    return found.root, os.path.join(found.run, HELD, sha256_hex("\n".join(call))[:16])
