"""Parse the client's transcript of a conversation line by line into events.

The file may be truncated, may grow meanwhile, and may hold lines of any size and of unknown kinds.
Text that the client or a hook gave to the model is left out.
"""

from __future__ import annotations

import heapq
import os
import re

from ademem.core.json_text import loads
from ademem.core.transcript_lines import read_lines
from ademem.core.typed_text import MACHINES, is_machine_text
from ademem.core.untrusted import without_recalled
from ademem.core.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

TEXT_CHARS = 20_000
"""Characters that are kept of one text: its beginning, and of a result also its end."""

_CLIENT_COMMANDS = frozenset(
    """
    add-dir agents bashes bug clear compact config context copy cost doctor exit export fast
    feedback help hooks ide install-github-app keybindings login logout mcp memory model
    output-style permissions plugin privacy-settings quit release-notes rename resume rewind
    sandbox skills stats status statusline tasks terminal-setup theme todos upgrade usage vim
    """.split()
)
"""Slash commands that the client handles itself; no hook of a prompt sees them."""

MATTERS = re.compile(rb'"type"\s*:\s*"(?:user|assistant|queued_command)"')
"""Pattern of the lines that are parsed; the others may be whole API requests."""

_REMINDER = re.compile(r"<system-reminder>.*?(?:</system-reminder>|\Z)", re.S)
_COMMAND = re.compile(r"<command-name>\s*/?(?P<name>[^<]*?)\s*</command-name>")
_ARGUMENTS = re.compile(r"<command-args>(?P<text>.*?)</command-args>", re.S)
_INTERRUPTED = re.compile(r"\s*\[Request interrupted by user")


class Prompt(Value):
    text: str
    at: str
    queued: bool = False
    prompt_id: str = ""


class MachineText(Value):
    """What an agent, a channel or the client put where a person types."""

    text: str
    at: str


class Interruption(Value):
    at: str


class Message(Value):
    """A text of the model to the person."""

    text: str
    at: str


class Call(Value):
    id: str
    tool: str
    input: dict[str, Any]
    at: str
    folder: str = ""

    def text(self, argument: str) -> str:
        return _text(self.input, argument)


class Result(Value):
    call_id: str
    text: str
    failed: bool
    at: str


Event = Prompt | MachineText | Interruption | Message | Call | Result


def events(path: str, *, since: str = "", tail: int = 0) -> Iterator[Event]:
    """Yield the events in the order of the file; raises OSError.

    *since* leaves out rows before a timestamp: a fork of a conversation begins with a copy of it.
    *tail* limits reading to the last bytes.
    """
    for line in lines(path, tail=tail):
        try:
            row = loads(line.decode("utf-8", "replace"))
        except (ValueError, RecursionError):
            continue
        if isinstance(row, dict) and not (since and _text(row, "timestamp") < since):
            yield from row_events(row)


def all_events(path: str, *, since: str = "") -> Iterator[Event]:
    parts = [events(each, since=since) for each in (path, *subagent_transcripts(path))]
    return heapq.merge(*parts, key=lambda event: event.at)


def lines(path: str, *, tail: int = 0) -> Iterator[bytes]:
    """Yield complete lines that may hold events, one at a time."""
    return (line for line in read_lines(path, tail=tail) if MATTERS.search(line))


def subagent_transcripts(path: str) -> list[str]:
    folder = os.path.join(path.removesuffix(".jsonl"), "subagents")
    try:
        names = sorted(os.listdir(folder))
    except OSError:
        return []
    return [os.path.join(folder, name) for name in names if name.endswith(".jsonl")]


def row_events(row: dict[str, Any]) -> Iterator[Event]:
    """Yield the events of one row; none of a row of another kind."""
    kind, at = _text(row, "type"), _text(row, "timestamp")
    message = row.get("message")
    if kind == "attachment":
        yield from _queued_events(row.get("attachment"), at)
    elif not isinstance(message, dict) or row.get("isApiErrorMessage"):
        return
    elif kind == "assistant" and message.get("model") != "<synthetic>":
        for block in _blocks(message.get("content")):
            yield from _agent_events(block, row, at)
    elif kind == "user":
        yield from _user_events(message.get("content"), row, at)


def _queued_events(attached: Any, at: str) -> Iterator[Event]:
    if isinstance(attached, dict) and attached.get("type") == "queued_command":
        origin = _origin(attached) or _text(attached, "commandMode")
        yield from _prompt_events(attached.get("prompt"), origin, at, queued=True)


def _user_events(content: Any, row: dict[str, Any], at: str) -> Iterator[Event]:
    for block in _blocks(content):
        if block.get("type") == "tool_result":
            yield _read_result(block, at)
    if not any(row.get(name) for name in _NOT_OF_A_PERSON):
        yield from _prompt_events(content, _origin(row), at, prompt_id=_text(row, "promptId"))


def _agent_events(block: dict[str, Any], row: dict[str, Any], at: str) -> Iterator[Event]:
    text = without_recalled(_text(block, "text")).strip()
    given = block.get("input")
    if block.get("type") == "tool_use":
        yield Call(
            id=_text(block, "id"),
            tool=_text(block, "name"),
            input=given if isinstance(given, dict) else {},
            at=at,
            folder=_text(row, "cwd"),
        )
    elif block.get("type") == "text" and text and row.get("isSidechain") is not True:
        yield Message(text=text[:TEXT_CHARS], at=at)


def _read_result(block: dict[str, Any], at: str) -> Result:
    text = without_recalled(_join_texts(block.get("content")))
    half = TEXT_CHARS // 2
    return Result(
        call_id=_text(block, "tool_use_id"),
        text=(text if len(text) <= TEXT_CHARS else f"{text[:half]}\n…\n{text[-half:]}"),
        failed=block.get("is_error") is True,
        at=at,
    )


_NOT_OF_A_PERSON = ("isMeta", "isSidechain", "isCompactSummary", "isVisibleInTranscriptOnly")


def _origin(row: dict[str, Any]) -> str:
    origin = row.get("origin")
    return _text(origin, "kind") if isinstance(origin, dict) else ""


def _prompt_events(
    content: Any, origin: str, at: str, *, queued: bool = False, prompt_id: str = ""
) -> Iterator[Event]:
    """Yield what a person typed; of a command, its name and its arguments.

    Beside the typed block there may be others of the client, as for the file that is open.
    """
    text = _join_texts(content)
    if _INTERRUPTED.match(text):
        yield Interruption(at=at)
        return
    is_command = text.lstrip().startswith("<command-") and origin not in MACHINES
    if is_command and (command := _COMMAND.search(text)):
        text = _typed_command(command["name"], text)
    else:
        typed, of_machines = _split_texts(content, origin)
        for one in of_machines:
            if shown := without_recalled(one).strip():
                yield MachineText(text=shown[:TEXT_CHARS], at=at)
        text = "\n".join(filter(None, typed))
    text = without_recalled(_REMINDER.sub("", text)).strip()
    if text:
        yield Prompt(text=text[:TEXT_CHARS], at=at, queued=queued, prompt_id=prompt_id)


def _split_texts(content: Any, origin: str) -> tuple[list[str], list[str]]:
    """Return the texts that a person may have typed and those of machines, without reminders."""
    parts: tuple[list[str], list[str]] = ([], [])
    for block in _blocks(content):
        text = _REMINDER.sub("", _text(block, "text"))
        parts[is_machine_text(text, origin)].append(text)
    return parts


def _typed_command(name: str, text: str) -> str:
    """Return a command as it was typed; nothing for one of the client."""
    arguments = _ARGUMENTS.search(text)
    typed = f"/{name} {arguments['text'] if arguments else ''}"
    return "" if name in _CLIENT_COMMANDS else typed


def _join_texts(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(filter(None, (_text(block, "text") for block in _blocks(content))))


def _blocks(content: Any) -> list[dict[str, Any]]:
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    blocks = content if isinstance(content, list) else ()
    return [block for block in blocks if isinstance(block, dict)]


def _text(data: dict[str, Any], key: str) -> str:
    value = data.get(key)
    return value.encode("utf-8", "replace").decode() if isinstance(value, str) else ""
