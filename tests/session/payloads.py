"""What Claude Code 2.1.328 sends to each hook, recorded key by key; ids and texts are ours."""

import json

from ademem.core.client import CONTEXT_UNITS, units
from ademem.operations.install.registration import EVENTS

NAMES = {event.hook: event.name for event in EVENTS}
"""The client's name of the event that a hook of ours answers."""

SESSION = "f5ad2e6d-add9-44d9-860d-a2f79e96530b"
PROMPT = "f54beba1-7948-486e-bcc8-fcb6ee0f58f4"
LESSON = "TaskGroup requires @Sendable closures"
LEARNED = f'bd comment BD-1 "LEARNED: {LESSON}"'
ORDER = "Fix the login bug in src/auth.py"
REPORT = "Done.\n\n## Key Learnings\n- The cache must be cleared before the migration\n"

_HEAD = {
    "session_id": SESSION,
    "transcript_path": f"/home/u/.claude/projects/-home-u-p/{SESSION}.jsonl",
    "cwd": "/home/u/p",
}
_TURN = {"prompt_id": PROMPT, "permission_mode": "default", "effort": {"level": "medium"}}
_AGENT = {"agent_id": "a3e51143d22105154", "agent_type": "general-purpose"}
_BASH = {
    "tool_name": "Bash",
    "tool_input": {"command": LEARNED, "description": "Comment on the bead"},
}
_BUILD = {"tool_name": "Bash", "tool_input": {"command": "npm ci", "description": "Install"}}
_SEARCH = {"tool_name": "Bash", "tool_input": {"command": 'ademem recall "login"'}}
_WRITE = {
    "tool_name": "Write",
    "tool_input": {"file_path": "/home/u/p/src/auth.py", "content": "x = 1\n"},
}
_MCP = {"tool_name": "mcp__files__write_file", "tool_input": {"path": "a.txt", "content": "x"}}
_OUR_MCP = {"tool_name": "mcp__ademem__memory_search", "tool_input": {"query": "login"}}
_CALLED = {"tool_use_id": "toolu_9e776c0e2b67477a9a3e361b"}
_ANSWERED = {"tool_response": [{"type": "text", "text": "{}"}], **_CALLED, "duration_ms": 6}
_PRINTED = {
    "tool_response": {
        "stdout": "Comment added",
        "stderr": "",
        "interrupted": False,
        "isImage": False,
        "noOutputExpected": False,
    },
    **_CALLED,
    "duration_ms": 19,
}
_FAILED = {
    **_CALLED,
    "error": "Exit code 1\nnpm error ERESOLVE could not resolve",
    "is_interrupt": False,
    "duration_ms": 21,
}
_STOPPED = {
    "stop_hook_active": False,
    "last_assistant_message": REPORT,
    "background_tasks": [],
    "session_crons": [],
}


def _event(hook, context, content):
    return _HEAD | context | {"hook_event_name": NAMES[hook]} | content


RECORDED = {
    "session_start": [
        _event("session_start", {}, {"source": "startup"}),
        _event("session_start", {}, {"source": "compact", "model": "claude-opus-5-5"}),
        _event("session_start", {}, {"source": "resume", "context_tokens": 31250}),
    ],
    "user_prompt_submit": [
        _event("user_prompt_submit", _TURN, {"prompt": ORDER}),
        _event("user_prompt_submit", _TURN, {"prompt": "remember: deploys go through staging"}),
        _event("user_prompt_submit", _TURN, {"prompt": "<task-notification>\n<task-id>a3"}),
    ],
    "pre_tool_use": [
        _event("pre_tool_use", _TURN, _WRITE | _CALLED),
        _event("pre_tool_use", _TURN, _BASH | _CALLED),
        _event("pre_tool_use", _TURN | _AGENT, _MCP | _CALLED),
    ],
    "post_tool_use": [
        _event("post_tool_use", _TURN, _BASH | _PRINTED),
        _event("post_tool_use", _TURN, _SEARCH | _PRINTED),
        _event("post_tool_use", _TURN | _AGENT, _OUR_MCP | _ANSWERED),
    ],
    "post_tool_use_failure": [_event("post_tool_use_failure", _TURN, _BUILD | _FAILED)],
    "post_tool_batch": [_event("post_tool_batch", _TURN, {"tool_calls": [_BUILD | _CALLED]})],
    "pre_compact": [_event("pre_compact", {}, {"trigger": "auto", "custom_instructions": None})],
    "stop": [_event("stop", _TURN, _STOPPED)],
    "subagent_start": [_event("subagent_start", {"prompt_id": PROMPT} | _AGENT, {})],
    "subagent_stop": [_event("subagent_stop", _TURN | _AGENT, _STOPPED)],
    "session_end": [_event("session_end", {"prompt_id": PROMPT}, {"reason": "other"})],
}

ODD = {
    "nothing": (b"", False),
    "invalid UTF-8 around": (b"\xff\xfe{}", False),
    "invalid UTF-8 inside": (b'{"prompt":"\xff\xc0","cwd":"\xed\xa0\x80"}', True),
    "cut off": (json.dumps(RECORDED["stop"][0]).encode()[:-20], False),
    "no object": (b"[]", False),
    "no keys": (b"{}", True),
    "unknown event": (b'{"hook_event_name":"TeammateIdle","session_id":"s","news":[1]}', True),
    "wrong types": (json.dumps(dict.fromkeys(RECORDED["stop"][0], 1)).encode(), True),
}
"""What no client sends, and whether it can be read all the same."""


def payload(hook, **changes):
    """The first recorded payload of a hook, with some keys changed."""
    return RECORDED[hook][0] | changes


def understood(hook, said):
    """Whether the client takes it: nothing, plain words for PreCompact, else one object."""
    if not said:
        return True
    if hook == "pre_compact":
        return not said.startswith("{") and units(said) <= CONTEXT_UNITS
    answer = json.loads(said)
    output = answer.get("hookSpecificOutput")
    if output is None:  # a notice to the person alone
        return isinstance(answer.get("systemMessage"), str)
    return output.pop("hookEventName") == NAMES[hook] and all(
        isinstance(text, str) and units(text) <= CONTEXT_UNITS for text in output.values()
    )
