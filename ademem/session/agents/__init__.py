"""Answer the hooks of other coding agents: their events become ours, our answers theirs."""

from __future__ import annotations

import json
import os
import sys

from ademem import session
from ademem.core import clock
from ademem.core.json_text import loads
from ademem.core.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
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
    """An answer of our events; empty texts for nothing."""

    context: str = ""
    """Text for the model."""
    denial: str = ""
    """Reason to deny a tool call."""
    block: str = ""
    """Reason to stop a prompt, or to go on at the end of a turn."""
    notice: str = ""
    """Lines for the person."""


def run(translate: Translate, render: Render) -> None:
    """Answer the event on standard input in the form of its client."""
    raw = sys.stdin.buffer.read()
    sys.stdout.write(answer(translate, render, raw, os.environ, clock.now()))
    sys.stdout.flush()
    os._exit(0)


def answer(
    translate: Translate, render: Render, raw: bytes, environment: Mapping[str, str], now: datetime
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
    for module, payload in translate(data):
        event = json.dumps(payload).encode()
        replies.append(_read(session.answer(_handler(module), event, environment, now)))
        if replies[-1].denial:
            session.answer(_handler("post_tool_batch"), event, environment, now)
            break
    texts = {name: [getattr(reply, name) for reply in replies] for name in Reply._fields}
    merged = Reply(**{name: "\n".join(filter(None, each)) for name, each in texts.items()})
    rendered = render(merged, data)
    return json.dumps(rendered) if rendered else ""


def text_of(data: Mapping[str, Any], key: str) -> str:
    value = data.get(key)
    return value if isinstance(value, str) else ""


def call_of(data: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments of a tool call."""
    value = data.get("tool_input")
    return value if isinstance(value, dict) else {}


def _handler(module: str) -> session.Handle:
    from importlib import import_module

    handle: session.Handle = import_module(f"ademem.session.{module}").handle
    return handle


def _read(text: str) -> Reply:
    """Read an answer to Claude Code; its plain text of PreCompact is of no use elsewhere."""
    if not text.startswith("{"):
        return Reply()
    data = loads(text)
    output = data.get("hookSpecificOutput") or {}
    return Reply(
        context=text_of(output, "additionalContext"),
        denial=text_of(output, "permissionDecisionReason"),
        block=text_of(data, "reason"),
        notice=text_of(data, "systemMessage"),
    )
