"""Answer the hooks of other coding agents: their events become ours, our answers theirs."""

from __future__ import annotations

import json
import os
import sys

from ademem import session
from ademem.core import clock, clone_variables, confined, project
from ademem.core.actor import OTHER_CLIENT, Who
from ademem.core.json_text import loads
from ademem.core.text import sha256_hex
from ademem.core.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from datetime import datetime
    from typing import Any

    Event = tuple[str, dict[str, Any]]
    """Module of the event, and its payload as Claude Code sends it."""
    Translate = Callable[[dict[str, Any]], Iterable[Event]]
    Render = Callable[["Reply", dict[str, Any]], dict[str, Any]]

MODULES = {
    "SessionStart": "session_start",
    "UserPromptSubmit": "user_prompt_submit",
    "PreToolUse": "pre_tool_use",
    "PostToolUse": "post_tool_use",
    "PostToolUseFailure": "post_tool_use_failure",
    "Stop": "stop",
    "SubagentStart": "subagent_start",
    "SubagentStop": "subagent_stop",
    "SessionEnd": "session_end",
}


class Reply(Value):
    context: str = ""
    denial: str = ""
    block: str = ""
    """Reason to stop a prompt, or to go on at the end of a turn."""
    notice: str = ""


class Client(Value):
    translate: Translate
    render: Render


def run(client: Client) -> None:
    clone_variables.withdraw(os.environ)
    sys.stdout.write(answer(client, sys.stdin.buffer.read(), os.environ, clock.now(), OTHER_CLIENT))
    sys.stdout.flush()
    os._exit(0)


def answer(
    client: Client,
    raw: bytes,
    environment: Mapping[str, str],
    now: datetime,
    by: Who = OTHER_CLIENT,
) -> str:
    """Return the client's JSON object, or nothing; the first denial ends the event.

    These clients do not tell when the calls of a message are over: a denial counts as read at once.
    """
    try:
        data = loads(raw.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return ""
    if not isinstance(data, dict):
        return ""
    replies = []
    for module, payload in client.translate(data):
        event = json.dumps(payload).encode()
        text = session.answer(_handler(module), event, environment, now, by=by)
        found = loads(text) if text else {}
        output = dict_of(found, "hookSpecificOutput")
        replies.append(
            Reply(
                context=text_of(output, "additionalContext"),
                denial=text_of(output, "permissionDecisionReason"),
                block=text_of(found, "reason"),
                notice=text_of(found, "systemMessage"),
            )
        )
        if replies[-1].denial:
            session.answer(_handler("post_tool_batch"), event, environment, now, by=by)
            break
    texts = {name: [getattr(reply, name) for reply in replies] for name in Reply._fields}
    merged = Reply(**{name: "\n".join(filter(None, each)) for name, each in texts.items()})
    rendered = client.render(merged, data)
    return json.dumps(rendered) if rendered else ""


def text_of(data: Mapping[str, Any], key: str) -> str:
    value = data.get(key)
    return value if isinstance(value, str) else ""


def dict_of(data: Mapping[str, Any], key: str) -> dict[str, Any]:
    value = data.get(key)
    return value if isinstance(value, dict) else {}


def _handler(module: str) -> session.Handle:
    from importlib import import_module

    handle: session.Handle = import_module(f"ademem.session.{module}").handle
    return handle


PATCH = "*** Begin Patch"
FILE_LINES = ("*** Add File: ", "*** Update File: ", "*** Delete File: ", "*** Move to: ")


def _translate_codex(data: dict[str, Any]) -> Iterator[Event]:
    """Yield the event, and for a patch one for each file that it changes."""
    name = text_of(data, "hook_event_name")
    if name not in MODULES:
        return
    payload = data | {"prompt_id": text_of(data, "turn_id"), "transcript_path": ""}
    if name == "PostToolUse" and dict_of(data, "tool_response").get("isError"):
        name, payload["error"] = "PostToolUseFailure", "the tool reported an error"
    if data.get("tool_name") != "apply_patch":
        yield MODULES[name], payload
    command = text_of(dict_of(data, "tool_input"), "command")
    if name == "PreToolUse" and PATCH in command:
        for path in _patched_files(command):
            edit = {"tool_name": "Edit", "tool_input": {"file_path": path}}
            yield MODULES[name], payload | edit


def _patched_files(patch: str) -> Iterable[str]:
    lines = [line.strip() for line in patch.splitlines()]
    heads = [(line, head) for line in lines for head in FILE_LINES if line.startswith(head)]
    return dict.fromkeys(line[len(head) :] for line, head in heads)


def _render_codex(reply: Reply, data: dict[str, Any]) -> dict[str, Any]:
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


def _translate_gemini(data: dict[str, Any]) -> Iterator[Event]:
    name = EVENTS.get(text_of(data, "hook_event_name"), "")
    if not name:
        return
    payload = data | {"hook_event_name": name, "transcript_path": ""}
    prompt, (begin, end) = text_of(data, "prompt"), BRIEFED
    payload["prompt"] = prompt.partition(end)[2].lstrip() if prompt.startswith(begin) else prompt
    payload["last_assistant_message"] = text_of(data, "prompt_response")
    tool = text_of(data, "tool_name")
    if tool.startswith("mcp_"):
        named = text_of(dict_of(data, "mcp_context"), "server_name")
        server = named or tool[4:].partition("_")[0]
        tool = f"mcp__{server}__{tool[len('mcp_' + server + '_') :]}"
    payload["tool_name"] = TOOLS.get(tool, tool)
    if name == "PostToolUse":
        response = dict_of(data, "tool_response")
        result = text_of(response, "llmContent")
        if EXIT_CODE in result or response.get("error"):
            name, payload["error"] = "PostToolUseFailure", result
    yield MODULES[name], payload


def _render_gemini(reply: Reply, data: dict[str, Any]) -> dict[str, Any]:
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


def _held_path(data: dict[str, Any]) -> tuple[str, str]:
    """Return the root and a path named after the call, of which Gemini CLI gives no id."""
    found = project.find(None, os.environ, os.getcwd())
    tool_input = str(dict_of(data, "tool_input"))
    call = (text_of(data, "session_id"), text_of(data, "tool_name"), tool_input)
    return found.root, os.path.join(found.run, HELD, sha256_hex("\n".join(call))[:16])


CODEX = Client(translate=_translate_codex, render=_render_codex)
"""Its hooks have the form of Claude Code's, but for patches and turns."""
GEMINI = Client(translate=_translate_gemini, render=_render_gemini)
"""Other names of events and tools, and no text beside a call that may run."""
