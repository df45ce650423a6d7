"""Events that Claude Code sends to a hook, and the answers it understands."""

from __future__ import annotations

import codecs
import os

from ademem.core.errors import AdememError
from ademem.core.json_text import loads, quoted
from ademem.core.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

MISSION = "ADEMEM_MISSION"
SESSION = "CLAUDE_CODE_SESSION_ID"
SESSIONS = (SESSION, "CODEX_THREAD_ID", "ADEMEM_SESSION_ID")
"""The last is set by our plugin for OpenCode."""
CONTEXT_UNITS = 10_000
"""UTF-16 units of a context, above which the client shows a preview of 2 KB instead."""

MARK = "◆"
"""First sign of all that hooks show to the person."""

SLASH = "/ademem:"

WITHOUT_AGENTS = (2, 1, 197)
"""The newest version that is known to leave AGENTS.md alone."""
WATCHING = (2, 1, 332)
"""The oldest version that is known to watch files for its hooks."""

NAME_BYTES = 255
"""Longest id or name, as those of turns and agents become names of files."""

PATH_CHARS = 4096
"""Longest path that Linux knows; a longer one names no file, and takes a minute to be resolved."""

MESSAGE_CHARS = 200_000

SECRET_CHARS = 12
_DIGITS = frozenset("0123456789")


class BadPayload(AdememError):
    pass


class Payload(Value):
    """One event; missing or mistyped keys are empty."""

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

    @property
    def command(self) -> str:
        return _text(self.tool_input, "command")

    @property
    def path(self) -> str:
        return _path(self.tool_input, "file_path") or _path(self.tool_input, "notebook_path")


class TurnKey(Value):
    """Identity of a turn: session and prompt, or session and agent for a subagent."""

    session_id: str
    agent_id: str = ""
    prompt_id: str = ""


class Turn(Value):
    key: TurnKey
    turn_class: str
    why: str
    hint: str
    """Words of the search that a denial suggests."""
    searched: bool
    denied: tuple[str, ...]
    """`tool_use_id` of each denied call."""
    started_at: str
    begins_after: int = 0


def read(raw: bytes) -> Payload:
    try:
        data = loads(raw.decode("utf-8", "replace"))
    except (ValueError, RecursionError) as error:
        raise BadPayload(f"hook input is not JSON: {error}") from error
    if not isinstance(data, dict):
        raise BadPayload(f"hook input is a {type(data).__name__}, not an object")
    tool_input, duration = data.get("tool_input"), data.get("duration_ms")
    message = _text(data, "last_assistant_message")
    if len(message) > MESSAGE_CHARS:  # from a word's start, as half a secret is not found
        message = message[-MESSAGE_CHARS:]
        message = message[next((at for at, sign in enumerate(message) if sign.isspace()), 0) :]
    return Payload(
        event=_name(data, "hook_event_name"),
        session_id=safe_id(_name(data, "session_id")),
        prompt_id=safe_id(_name(data, "prompt_id")),
        agent_id=safe_id(_name(data, "agent_id")),
        agent_type=safe_id(_name(data, "agent_type")),
        cwd=_path(data, "cwd"),
        transcript_path=_path(data, "transcript_path"),
        source=_name(data, "source"),
        permission_mode=_name(data, "permission_mode"),
        prompt=_text(data, "prompt"),
        tool_name=_name(data, "tool_name"),
        tool_input=tool_input if isinstance(tool_input, dict) else {},
        tool_response=data.get("tool_response"),
        tool_use_id=safe_id(_name(data, "tool_use_id")),
        error=_text(data, "error"),
        is_interrupt=data.get("is_interrupt") is True,
        last_message=message,
        stop_hook_active=data.get("stop_hook_active") is True,
        reason=_name(data, "reason"),
        duration_ms=duration if type(duration) is int and 0 < duration < 10**9 else 0,
    )


def context(
    event: str,
    text: str,
    notices: Sequence[str] = (),
    *,
    watched: Sequence[str] = (),
    reloads_skills: bool = False,
) -> str:
    """Return a text for the model, and at a start the paths that the client is to watch."""
    answer = {"hookEventName": event} | ({"additionalContext": text} if text else {})
    more = f',"watchPaths":[{",".join(map(quoted, watched))}]' if watched else ""
    more += ',"reloadSkills":true' if reloads_skills else ""
    return _answer(answer, notices, more) if text or more else notice(*notices)


def notice(*lines: str) -> str:
    return _object({"systemMessage": _marked(lines)}) if lines else ""


def deny(reason: str, notices: Sequence[str] = ()) -> str:
    """Deny a tool call, in the form that every version of the client understands."""
    denial = {
        "hookEventName": "PreToolUse",
        "permissionDecision": "deny",
        "permissionDecisionReason": reason,
    }
    return _answer(denial, notices)


def ask(reason: str) -> str:
    """Let the client ask the person about a tool call; without one before it, it is refused."""
    asked = {
        "hookEventName": "PreToolUse",
        "permissionDecision": "ask",
        "permissionDecisionReason": reason,
    }
    return _answer(asked, ())


def block(text: str) -> str:
    """Answer a prompt with a text for the person; the prompt does not reach the model."""
    hidden = '{"hookEventName":"UserPromptSubmit","suppressOriginalPrompt":true}'
    reason = quoted(_marked([text]))
    return f'{{"decision":"block","reason":{reason},"hookSpecificOutput":{hidden}}}'


def keep_going(reason: str) -> str:
    return _object({"decision": "block", "reason": reason})


def units(text: str) -> int:
    # `str.encode` would import a module for the encoding.
    return len(codecs.utf_16_le_encode(text, "surrogatepass")[0]) // 2


def reads_agents(environment: Mapping[str, str]) -> bool:
    """Tell whether the client of a hook or a shell puts AGENTS.md before its model.

    It names itself `claude-code_2-1-332_…`; one that names no version is taken for a newer one.
    """
    found = version(environment)
    return not found or found > WITHOUT_AGENTS


def version(environment: Mapping[str, str]) -> tuple[int, ...]:
    """Return the version that the client names itself; empty if it names none."""
    numbers = environment.get("AI_AGENT", "").removeprefix("claude-code_").partition("_")[0]
    parts = numbers.split("-")
    return tuple(map(int, parts)) if all(part.isdecimal() for part in parts) else ()


def config_dir(environment: Mapping[str, str]) -> str:
    return environment.get("CLAUDE_CONFIG_DIR") or os.path.join(
        environment.get("HOME", "/"), ".claude"
    )


def session_of(environment: Mapping[str, str]) -> str:
    ids = filter(None, map(environment.get, SESSIONS))
    return safe_id(next(ids, ""))


def is_unattended(environment: Mapping[str, str]) -> bool:
    """Tell whether a program started the client, and nobody sits before it."""
    return is_run_by_program(environment) or bool(environment.get("CI"))


def is_run_by_program(environment: Mapping[str, str]) -> bool:
    """Tell whether the client says itself that a program runs it."""
    entry = environment.get("CLAUDE_CODE_ENTRYPOINT", "")
    return entry.startswith("sdk") or environment.get("CLAUDE_CODE_SESSION_ATTENDED") == "0"


def mission_of(environment: Mapping[str, str]) -> str | None:
    return environment.get(MISSION, "").strip() or None


def safe_id(id: str) -> str:
    """Return the id, or a digest of it if it contains a secret."""
    is_uuid = len(id) == 36 and id.count("-") == 4
    is_call = id.startswith("toolu_") and len(id) <= 32 and id[6:].isalnum()
    if len(id) < SECRET_CHARS or _DIGITS.isdisjoint(id) or is_uuid or is_call:
        return id
    from ademem.core.redaction import redact

    if not redact(id).found:
        return id
    from ademem.core.text import sha256_hex

    return f"redacted-{sha256_hex(id)[:16]}"


def _answer(output: dict[str, str], notices: Sequence[str], more: str = "") -> str:
    shown = f'"systemMessage":{quoted(_marked(notices))},' if notices else ""
    return f'{{{shown}"hookSpecificOutput":{_object(output)[:-1]}{more}}}}}'


def _marked(lines: Sequence[str]) -> str:
    return f"{MARK} " + "\n".join(lines)


def _object(texts: dict[str, str]) -> str:
    return "{" + ",".join(f"{quoted(key)}:{quoted(text)}" for key, text in texts.items()) + "}"


def _name(data: dict[str, Any], key: str) -> str:
    text = _text(data, key)
    return text if len(text.encode()) <= NAME_BYTES else ""


def _path(data: dict[str, Any], key: str) -> str:
    text = _text(data, key)
    return text if len(text) <= PATH_CHARS else ""


def _text(data: dict[str, Any], key: str) -> str:
    value = data.get(key)
    if not isinstance(value, str):
        return ""
    return value.replace("\x00", "").encode("utf-8", "replace").decode()
