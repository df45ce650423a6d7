"""Find the memories that a session used, from its tool calls after they were shown.

A memory is used that was shown with a prompt whose turn works where it applies, or with a failure
whose command then succeeds. Elsewhere only an id counts, or a file, identifier or number that
appeared in the memory first: in a call, or in the last text of a turn; similar words do not, nor
does what the memory forbids. What came of a denial its turn has told (`store/outcomes`).
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from datetime import datetime

from ademem.capture.transcript import Call, Event, Message, Prompt, Result, all_events
from ademem.core.clock import parse
from ademem.core.memory import Memory
from ademem.core.settings import GuardSettings
from ademem.core.text import with_title
from ademem.core.value import Value
from ademem.guard.policy import SHELL_TOOLS, ToolCall
from ademem.guard.touch import Touch, touch
from ademem.search import meeting, mentions
from ademem.store import logs, memory_queries, sessions
from ademem.store.runtime import Runtime

ID_DIGITS = 4
"""Shortest prefix of an id that `ademem get` accepts."""
NAME_CHARS = 5
"""Shortest name that counts; shorter ones stand in too many texts."""
SHARED = 2
"""Most shown memories that may share a name that counts."""
_OPENING = re.compile(
    r"\bademem\s+(?:get|history|edit|promote|pin)(?:\s+-\S+)*\s+([0-9a-f]{4,64})\b"
)
_SAVING = ("ademem add", "ademem learn", "bd comment")
_NAME = re.compile(
    r"`[^`\n]{1,80}`"  # marked as code
    r"|(?:[\w.-]+/)+[\w.-]+"  # a path
    r"|\b\w[\w-]*\.[a-z]\w{0,4}\b"  # a file with an ending
    r"|\b[a-zA-Z]\w*_\w+\b"  # snake_case
    r"|\b[a-z]+[A-Z]\w*\b|\b(?:[A-Z][a-z0-9]+){2,}\b"  # camelCase, CamelCase
    r"|(?<!\S)--[a-z][\w-]+"  # an option
)
_VALUE = re.compile(r"(?<![\w:.,/-])(?!(?:19|20)\d\d\b)\d[\w:-]{2,}\w(?![\w/-])", re.ASCII)
"""A number, a time or a measure of four characters or more: `9001`, `03:30`, `40ms`; no year."""


class Clue:
    """A memory that was shown, with the names that prove its use."""

    def __init__(self, id: str, shown_at: str, names: Iterable[str]) -> None:
        self.id = id
        self.shown_at = shown_at
        self.names = set(names)
        self.unread = set(self.names)
        """Those that stood nowhere in the session yet: in no prompt, call, result or answer."""

    def drop_names_in(self, text: str) -> None:
        self.names -= {name for name in self.names if contains_name(text, name)}
        self.read(text)

    def read(self, text: str) -> None:
        self.unread -= {name for name in self.unread if contains_name(text, name)}


def count(session_id: str, runtime: Runtime, now: datetime) -> int:
    """Store the memories that a session used; return how many are new."""
    store = runtime.store
    session = sessions.get(store, session_id)
    if session is None or not session.transcript:
        return 0
    shown = logs.list_first_shown(store, session_id)
    rows = memory_queries.by_ids(store, shown)
    clues = _make_clues(rows, shown)
    moments = [Moment(**dict(row)) for row in logs.list_moments(store, session_id)]
    found: dict[str, str] = {}
    with suppress(OSError):  # the client removed it
        events = [*all_events(session.transcript, since=session.own_since)]
        used = find_used(events, clues, runtime.settings.guard)
        by_id = {row.id: row for row in rows}
        # The call that overruled a memory has its names, too.
        overruled = logs.list_overruled(store, session_id)
        found = {id: why for id, why in used.items() if id not in overruled}
        found |= find_effects(events, moments, by_id, _Places(runtime))
    return logs.log_use(store, session_id, found, now)


def _make_clues(rows: Iterable[Memory], shown: Mapping[str, str]) -> list[Clue]:
    """Return for each memory the names in it that few of the others have, and that it allows."""
    texts = {row.id: with_title(row.title, row.content) for row in rows}
    named = {id: find_names(text) - find_forbidden(text) for id, text in texts.items()}
    counts = Counter(name for names in named.values() for name in names)
    return [
        Clue(id, shown[id], (name for name in names if counts[name] <= SHARED))
        for id, names in named.items()
    ]


class Moment(Value):
    """A memory that was shown with a prompt or a failure."""

    memory_id: str
    place: str
    created_at: str


class _Turn:
    def __init__(self, at: str) -> None:
        self.at = at
        self.calls: list[Call] = []

    def after(self, moment: str) -> list[Call]:
        return [call for call in self.calls if call.at > moment]


class _Places:
    """What the calls of a session met, each looked up once."""

    def __init__(self, runtime: Runtime) -> None:
        self.store, self.root = runtime.store, runtime.project.root
        self.settings = runtime.settings.guard
        self._met: dict[str, set[str]] = {}

    def touch(self, call: Call) -> Touch:
        return touch(call.tool, call.input, call.folder or self.root, self.settings)

    def adds(self, call: Call, names: Iterable[str]) -> bool:
        """Tell whether a call writes one of the names where it was not before."""
        done = self.touch(call)
        written = "\n".join((call.text("command"), done.text))
        return any(contains_name(written, n) and not contains_name(done.removed, n) for n in names)

    def meets(self, call: Call, memory_id: str) -> bool:
        if call.id not in self._met:
            met = meeting.meet(self.touch(call), self.root, self.store)
            self._met[call.id] = {each.memory.id for each in met}
        return memory_id in self._met[call.id]


def find_effects(
    events: Iterable[Event], moments: Iterable[Moment], by_id: dict[str, Memory], places: _Places
) -> dict[str, str]:
    """Return by id what shows that a memory was an answer."""
    turns, failed = [_Turn("")], dict[str, bool]()
    for event in events:
        if isinstance(event, Prompt) and not event.queued:
            turns.append(_Turn(event.at))
        elif isinstance(event, Call):
            turns[-1].calls.append(event)
        elif isinstance(event, Result):
            failed[event.call_id] = event.failed
    found: dict[str, str] = {}
    for moment in moments:
        if memory := by_id.get(moment.memory_id):
            turn = _turn_of(moment, turns)
            if why := _judge_moment(moment, memory, turn, failed, places):
                found.setdefault(memory.id, why)
    return found


def _judge_moment(
    moment: Moment, memory: Memory, turn: _Turn, failed: dict[str, bool], places: _Places
) -> str:
    later = turn.after(moment.created_at)
    if moment.place == "prompt":
        forbidden = find_forbidden(memory.whole_text)
        met = next((call for call in later if places.meets(call, memory.id)), None)
        if met is None or any(places.adds(call, forbidden) for call in later):
            return ""
        return f"answered a prompt before {_target(met)}"
    return _judge_failure(turn, later, failed, places)


def _judge_failure(turn: _Turn, later: list[Call], failed: dict[str, bool], places: _Places) -> str:
    broken = [call for call in turn.calls if call not in later and failed.get(call.id)]
    done = [call for call in later if failed.get(call.id) is False]
    if broken and any(_runs_same(broken[-1], call, places) for call in done):
        return f"answered the failure of {_target(broken[-1])}"
    return ""


def _turn_of(moment: Moment, turns: list[_Turn]) -> _Turn:
    """Return the turn; the client writes a prompt down about when its hook runs, not before."""
    if moment.place != "prompt":
        return [turn for turn in turns if turn.at <= moment.created_at][-1]
    at = parse(moment.created_at)
    typed = [turn for turn in turns if turn.at] or turns
    return min(typed, key=lambda turn: abs(parse(turn.at) - at) if turn.at else at - at)


def _target(call: Call) -> str:
    path = str(call.input.get("file_path") or call.input.get("notebook_path") or "")
    command = str(call.input.get("command", "")) if call.tool in SHELL_TOOLS else ""
    return ToolCall(tool=call.tool, path=path, command=command).target


def _runs_same(one: Call, other: Call, places: _Places) -> bool:
    """Compare the programs of two commands with their first arguments: `npm ci`."""
    first, second = ({argv[:2] for argv in places.touch(call).argvs} for call in (one, other))
    return bool(first & second)


def find_used(
    events: Iterable[Event], clues: Iterable[Clue], settings: GuardSettings
) -> dict[str, str]:
    """Return by id what proves that a memory was used: its name or id in a call or an answer."""
    reading = _Reading(clues, settings)
    for event in events:
        reading.read(event)
    reading.end_turn()
    return reading.used


class _Reading:
    """The events of a session so far: memories that were used, and clues that wait for a proof."""

    def __init__(self, clues: Iterable[Clue], settings: GuardSettings) -> None:
        self.waiting = list(clues)
        self.settings = settings
        self.used: dict[str, str] = {}
        self._answer: Message | None = None
        """The last text so far: an answer, if its turn ends with it."""

    def read(self, event: Event) -> None:
        match event:
            case Prompt():
                self.end_turn()
                for clue in self.waiting:
                    clue.drop_names_in(event.text)
            case Call():
                self._prove(_find_used_in(event, self.waiting, self.settings))
                self._pass_answer()
                _let_read(self.waiting, "\n".join(_texts(event.input)))
            case Result():
                _let_read(self.waiting, event.text)
            case Message():
                self._pass_answer()
                self._answer = event
            case _:
                self._pass_answer()

    def end_turn(self) -> None:
        if self._answer:
            self._prove(_find_named(self._answer, self.waiting))
        self._pass_answer()

    def _prove(self, used: Mapping[str, str]) -> None:
        self.waiting = [clue for clue in self.waiting if clue.id not in used]
        self.used |= used

    def _pass_answer(self) -> None:
        """Read the last text as one that the session has, so that its names prove nothing more."""
        if self._answer:
            _let_read(self.waiting, self._answer.text)
        self._answer = None


def _let_read(clues: Iterable[Clue], text: str) -> None:
    for clue in clues:
        clue.read(text)


def _find_named(answer: Message, clues: Iterable[Clue]) -> dict[str, str]:
    """Return what the last text of a turn names first in the session, by id."""
    found = {}
    for clue in clues:
        names = sorted(clue.unread) if answer.at > clue.shown_at else []
        if name := next((name for name in names if contains_name(answer.text, name)), ""):
            found[clue.id] = f"{name} in an answer"
    return found


def _find_used_in(call: Call, clues: Iterable[Clue], settings: GuardSettings) -> dict[str, str]:
    """Return what of a call proves a use, by id; before a memory was shown, its names are lost."""
    command = str(call.input.get("command", "")) if call.tool in SHELL_TOOLS else ""
    whole = "\n".join(_texts(call.input))
    opened = _OPENING.findall(command)
    if not command and len(id := str(call.input.get("id", ""))) >= ID_DIGITS:
        opened.append(id)
    written = _written_text(call, command, settings)
    found: dict[str, str] = {}
    for clue in clues:
        if call.at <= clue.shown_at:
            clue.drop_names_in(whole)
        elif clue.id.startswith(tuple(opened)) or clue.id in whole:
            found[clue.id] = f"its id in a call of {call.tool}"
        elif name := next((n for n in sorted(clue.names) if contains_name(written, n)), ""):
            found[clue.id] = f"{name} in a call of {call.tool}"
    return found


def _written_text(call: Call, command: str, settings: GuardSettings) -> str:
    """Return what a call writes; the old text of an edit does not count."""
    touched = touch(call.tool, call.input, call.folder or os.sep, settings)
    if touched.changes:
        return command or "\n".join((*touched.writes, touched.text))
    return command if any(saving in command for saving in _SAVING) else ""


def find_names(text: str) -> set[str]:
    found = {match.strip("`.") for match in _NAME.findall(text)}
    return {name for name in found if len(name) >= NAME_CHARS}.union(_VALUE.findall(text))


def find_forbidden(text: str) -> set[str]:
    """Return the names of things that a text forbids; a session that has one used it in no way."""
    found = mentions.find_mentions(text)
    forbidden = (each for each in found if each.stance == mentions.FORBIDDEN)
    return {each.text for each in forbidden if each.kind != mentions.WORD}


def contains_name(text: str, name: str) -> bool:
    """Tell whether the name stands in the text, and not as part of a longer one."""
    before = r"(?<!\w)" if re.match(r"\w", name) else ""
    return name in text and bool(re.search(rf"{before}{re.escape(name)}(?!\w)", text))


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for each in value.values() if isinstance(value, dict) else value:
            yield from _texts(each)
