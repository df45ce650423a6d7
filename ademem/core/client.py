"""What Claude Code says to a hook, and what it understands in answer."""

from __future__ import annotations

import os

from ademem.core.errors import AdememError
from ademem.core.json_text import loads, quoted
from ademem.core.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

CONTEXT_UNITS = 10_000
"""UTF-16 units of one context above which the client shows a 2 KB preview instead."""

NAME_BYTES = 255
"""A longer id or name counts as missing: those of turns and agents become names of files."""

MESSAGE_CHARS = 200_000
"""How much of the end of a model's message is read."""

SECRET_CHARS = 12
"""A shorter id holds no secret."""
_DIGITS = frozenset("0123456789")


class BadPayload(AdememError):
    """Not a JSON object; nothing in it can be trusted."""


class Payload(Value):
    """One event. Missing or mistyped keys are empty: a hook lives with what it gets."""

    event: str
    session_id: str
    prompt_id: str
    agent_id: str
    agent_type: str
    cwd: str
    transcript_path: str
    source: str
    permission_mode: str
    prompt: str
    tool_name: str
    tool_input: dict[str, Any]
    tool_response: Any
    tool_use_id: str
    error: str
    is_interrupt: bool
    last_message: str
    stop_hook_active: bool
    reason: str
    duration_ms: int
    """How long a tool took; 0: the client does not say."""

    @property
    def command(self) -> str:
        """What a Bash-like tool was asked to run."""
        return _text(self.tool_input, "command")

    @property
    def path(self) -> str:
        """The file a writing tool was asked to change."""
        return _text(self.tool_input, "file_path") or _text(self.tool_input, "notebook_path")


class TurnKey(Value):
    """Identity of a turn: session and prompt, or session and agent for a subagent."""

    session_id: str
    agent_id: str = ""
    prompt_id: str = ""


class Turn(Value):
    """State of a turn for the guard."""

    key: TurnKey
    turn_class: str
    why: str
    hint: str
    """Words of the search that a denial suggests."""
    searched: bool
    denied: tuple[str, ...]
    """`tool_use_id` of each denied call."""
    started_at: str
    ended: bool


def read(raw: bytes) -> Payload:
    """Read a hook's standard input; raises BadPayload."""
    try:
        data = loads(raw.decode("utf-8", "replace"))
    except (ValueError, RecursionError) as error:
        raise BadPayload(f"hook input is not JSON: {error}") from error
    if not isinstance(data, dict):
        raise BadPayload(f"hook input is a {type(data).__name__}, not an object")
    tool_input = data.get("tool_input")
    return Payload(
        event=_name(data, "hook_event_name"),
        session_id=safe_id(_name(data, "session_id")),
        prompt_id=safe_id(_name(data, "prompt_id")),
        agent_id=safe_id(_name(data, "agent_id")),
        agent_type=safe_id(_name(data, "agent_type")),
        cwd=_text(data, "cwd"),
        transcript_path=_text(data, "transcript_path"),
        source=_name(data, "source"),
        permission_mode=_name(data, "permission_mode"),
        prompt=_text(data, "prompt"),
        tool_name=_name(data, "tool_name"),
        tool_input=tool_input if isinstance(tool_input, dict) else {},
        tool_response=data.get("tool_response"),
        tool_use_id=safe_id(_name(data, "tool_use_id")),
        error=_text(data, "error"),
        is_interrupt=data.get("is_interrupt") is True,
        last_message=_end_of(_text(data, "last_assistant_message")),
        stop_hook_active=data.get("stop_hook_active") is True,
        reason=_name(data, "reason"),
        duration_ms=_count(data, "duration_ms"),
    )


def context(event: str, text: str, notices: Sequence[str] = ()) -> str:
    """An answer that puts *text* before the model, and the notices before the person."""
    answer = {"hookEventName": event, "additionalContext": text}
    return _answer(answer, notices) if text else notice(*notices)


def notice(*lines: str) -> str:
    """An answer for the person alone; empty without lines."""
    return _object({"systemMessage": "\n".join(lines)}) if lines else ""


def deny(reason: str) -> str:
    """The one answer that stops a tool call in every client version."""
    return _answer(
        {
            "hookEventName": "PreToolUse",
            "permissionDecision": "deny",
            "permissionDecisionReason": reason,
        }
    )


def keep_going(reason: str) -> str:
    """The answer to Stop that gives the model another turn with *reason* before it."""
    return _object({"decision": "block", "reason": reason})


def units(text: str) -> int:
    """Length as the client counts it: UTF-16 units."""
    return len(text) if text.isascii() else len(text) + sum(char > "\uffff" for char in text)


def config_dir(environment: Mapping[str, str]) -> str:
    return environment.get("CLAUDE_CONFIG_DIR") or os.path.join(
        environment.get("HOME", "/"), ".claude"
    )


def transcript_folder(directory: str) -> str:
    """The name of the folder in which the client keeps transcripts of sessions in *directory*."""
    return "".join(char if char.isascii() and char.isalnum() else "-" for char in directory)


def session_of(environment: Mapping[str, str]) -> str:
    """The session in whose shell this process runs, as its events name it; empty for none."""
    return safe_id(environment.get("CLAUDE_CODE_SESSION_ID", ""))


def safe_id(id: str) -> str:
    """The id as it may be stored: a digest stands for one with a secret in it."""
    if len(id) < SECRET_CHARS or _DIGITS.isdisjoint(id) or _is_made_by_the_client(id):
        return id
    from ademem.core.redaction import redact

    if not redact(id).found:
        return id
    from ademem.core.text import sha256_hex

    return f"redacted-{sha256_hex(id)[:16]}"


def _is_made_by_the_client(id: str) -> bool:
    """Whether it is a UUID or the id of a tool call, which are all that a client makes."""
    if len(id) == 36 and id.count("-") == 4:
        return True
    return id.startswith("toolu_") and len(id) <= 32 and id[6:].isalnum()


def _answer(output: dict[str, str], notices: Sequence[str] = ()) -> str:
    shown = f'"systemMessage":{quoted(chr(10).join(notices))},' if notices else ""
    return f'{{{shown}"hookSpecificOutput":{_object(output)}}}'


def _object(texts: dict[str, str]) -> str:
    return "{" + ",".join(f"{quoted(key)}:{quoted(text)}" for key, text in texts.items()) + "}"


def _end_of(message: str) -> str:
    """The last MESSAGE_CHARS at most, from between two words: half a secret is not known as one."""
    if len(message) <= MESSAGE_CHARS:
        return message
    end = message[-MESSAGE_CHARS:]
    return end[next((at for at, sign in enumerate(end) if sign.isspace()), 0) :]


def _name(data: dict[str, Any], key: str) -> str:
    text = _text(data, key)
    return text if len(text.encode()) <= NAME_BYTES else ""


def _count(data: dict[str, Any], key: str) -> int:
    value = data.get(key)
    return value if type(value) is int and 0 < value < 10**9 else 0


def _text(data: dict[str, Any], key: str) -> str:
    value = data.get(key)
    return (
        value.replace("\x00", "").encode("utf-8", "replace").decode()
        if isinstance(value, str)
        else ""
    )
