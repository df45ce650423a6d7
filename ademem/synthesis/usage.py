"""Find the memories that a session used, from its tool calls after they were shown.

Only an id counts, or a name of a file or identifier that appeared in the memory first; similar
words do not.
"""

from __future__ import annotations

import re
from contextlib import suppress

from ademem.capture.transcript import Call, Prompt, all_events
from ademem.core.text import said
from ademem.guard.mutation import judge
from ademem.guard.policy import SHELL_TOOLS, WRITING_TOOLS
from ademem.store import logs, memory_queries, sessions

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from datetime import datetime

    from ademem.capture.transcript import Event
    from ademem.core.settings import GuardSettings
    from ademem.store.runtime import Runtime

    Rule = Callable[["Clue", Call, "Doing"], bool]

ID_DIGITS = 4
"""Shortest prefix of an id that `ademem get` accepts."""
NAME_CHARS = 5
"""Shortest name that counts; shorter ones stand in too many texts."""
SHARED = 2
"""Most shown memories that may share a name that counts."""
_OPENING = re.compile(r"\bademem\s+(?:get|history|edit|promote|pin)\s+([0-9a-f]{4,64})\b")
_NAME = re.compile(
    r"`[^`\n]{1,80}`"  # marked as code
    r"|(?:[\w.-]+/)+[\w.-]+"  # a path
    r"|\b\w[\w-]*\.[a-z]\w{0,4}\b"  # a file with an ending
    r"|\b[a-zA-Z]\w*_\w+\b"  # snake_case
    r"|\b[a-z]+[A-Z]\w*\b|\b(?:[A-Z][a-z0-9]+){2,}\b"  # camelCase, CamelCase
    r"|(?<!\S)--[a-z][\w-]+"  # an option
)
_WRITTEN = ("file_path", "notebook_path", "content", "new_string", "new_source")
"""Inputs of writing tools with the new text; the old text does not count."""


class Clue:
    """A memory that was shown, with the names that prove its use."""

    def __init__(self, id: str, shown_at: str, names: Iterable[str]) -> None:
        self.id = id
        self.shown_at = shown_at
        self.names = set(names)


class Doing:
    """The texts of a call, read once for all clues."""

    def __init__(self, call: Call, settings: GuardSettings) -> None:
        command = str(call.input.get("command", "")) if call.tool in SHELL_TOOLS else ""
        self.all = "\n".join(_texts(call.input))
        self.opened = set(_OPENING.findall(command))
        if (
            call.tool not in SHELL_TOOLS
            and len(given := str(call.input.get("id", ""))) >= ID_DIGITS
        ):
            self.opened.add(given)
        self.change = ""
        if call.tool in WRITING_TOOLS:
            self.change = "\n".join(_texts({name: call.input.get(name) for name in _WRITTEN}))
            edits = call.input.get("edits")
            for edit in edits if isinstance(edits, list) else ():
                if isinstance(edit, dict):
                    self.change += f"\n{edit.get('new_string', '')}"
        elif command and (_keeps(command) or judge(command, settings).mutates):
            self.change = command


def opened(clue: Clue, _call: Call, doing: Doing) -> bool:
    """A command opened or changed the memory."""
    return any(clue.id.startswith(id) for id in doing.opened)


def quoted(clue: Clue, _call: Call, doing: Doing) -> bool:
    """Its id stands in the input of a tool, such as the message of a commit."""
    return clue.id in doing.all


def followed(clue: Clue, _call: Call, doing: Doing) -> bool:
    """A change, or a saved text, contains a name that appeared in the memory first."""
    return any(holds(doing.change, name) for name in clue.names)


RULES: tuple[Rule, ...] = (opened, quoted, followed)


def used(events: Iterable[Event], clues: Iterable[Clue], settings: GuardSettings) -> list[str]:
    """Return the ids of the memories that were used after they were shown."""
    waiting, found = list(clues), []
    for event in events:
        if isinstance(event, Prompt):
            _forget(waiting, event.text)
        elif isinstance(event, Call):
            doing = Doing(event, settings)
            _forget([clue for clue in waiting if event.at <= clue.shown_at], doing.all)
            for clue in [each for each in waiting if event.at > each.shown_at]:
                if any(rule(clue, event, doing) for rule in RULES):
                    waiting.remove(clue)
                    found.append(clue.id)
    return found


def names(text: str) -> set[str]:
    """Return the files, identifiers, options and quoted code in a text."""
    found = {match.strip("`.") for match in _NAME.findall(text)}
    return {name for name in found if len(name) >= NAME_CHARS}


def holds(text: str, name: str) -> bool:
    """Tell whether the name stands in the text, and not as part of a longer one."""
    at = text.find(name)
    while at >= 0:
        before, after = text[at - 1 : at] if at else "", text[at + len(name) :][:1]
        if not (_is_word(before) and _is_word(name[0])) and not _is_word(after):
            return True
        at = text.find(name, at + 1)
    return False


def count(session_id: str, runtime: Runtime, now: datetime) -> int:
    """Store the memories that a session used; return how many are new."""
    store = runtime.store
    session = sessions.get(store, session_id)
    if session is None or not session.transcript:
        return 0
    clues = _clues(runtime, logs.first_shown(store, session_id))
    found: list[str] = []
    with suppress(OSError):  # the client removed it
        events = all_events(session.transcript, since=session.own_since)
        found = used(events, clues, runtime.settings.guard)
    return logs.used(store, session_id, found, now)


def _clues(runtime: Runtime, shown: dict[str, str]) -> list[Clue]:
    rows = memory_queries.by_ids(runtime.store, shown)
    named = {row.id: names(said(row.title, row.content)) for row in rows}
    counts: dict[str, int] = {}
    for name in (name for each in named.values() for name in each):
        counts[name] = counts.get(name, 0) + 1
    return [
        Clue(id, shown[id], (name for name in each if counts[name] <= SHARED))
        for id, each in named.items()
    ]


def _forget(clues: Iterable[Clue], text: str) -> None:
    """Drop names that appeared before the memory was shown, or in a prompt."""
    for clue in clues:
        clue.names -= {name for name in clue.names if holds(text, name)}


def _keeps(command: str) -> bool:
    """Tell whether the command saves a memory."""
    return "ademem add" in command or "ademem learn" in command or "bd comment" in command


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for each in value.values():
            yield from _texts(each)
    elif isinstance(value, list):
        for each in value:
            yield from _texts(each)


def _is_word(char: str) -> bool:
    return char.isalnum() or char == "_"
