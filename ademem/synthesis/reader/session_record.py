"""Build the record of a session for the reader: numbered messages, redacted and bounded."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence

from ademem.capture.errors import is_refusal
from ademem.capture.transcript import Call, Event, MachineText, Message, Prompt, Result
from ademem.core import client
from ademem.core.redaction import redact
from ademem.core.text import preview, truncate
from ademem.core.typed_text import split_pasted
from ademem.core.value import StrEnum, Value, replace
from ademem.guard.policy import SHELL_TOOLS
from ademem.synthesis.conversation import action_of, changed_files, relative

Roots = tuple[str, ...]

CHARS = 24_000
"""Longest record, with the known memories."""
PROMPT_CHARS = 1_500
CLAUDE_HEAD, CLAUDE_TAIL = 250, 700
"""Characters from the beginning and the end of a text of Claude that are kept."""
FAILURE_HEAD, FAILURE_TAIL = 100, 300
CALL_CHARS, MACHINE_CHARS = 200, 200
COMMAND_CHARS = 1_000
MOST_KNOWN, KNOWN_CHARS = 30, 160
MOST_NAMED = 2_000
"""Most files and most commands that are noted."""
COLLECTED_CHARS = 4 * CHARS
"""Size to which messages are cut while a transcript is read, so that any length is bounded."""
CUT = " … "


class Speaker(StrEnum):
    PERSON = "person"
    PASTED = "pasted"
    """What a person's prompt quotes or has in a fence."""
    MACHINE = "machine"
    """What an agent, a channel or a program put where a person types."""
    CLAUDE = "claude"
    TOOL = "tool"


DROPPED = (
    frozenset({Speaker.TOOL, Speaker.MACHINE}),
    frozenset({Speaker.CLAUDE}),
    frozenset({Speaker.PASTED, Speaker.PERSON}),
)
"""Speakers whose messages are left out first, second and last, each time the oldest first."""


class Spoken(Value):
    """A message of the record."""

    number: int
    speaker: Speaker
    text: str

    @property
    def id(self) -> str:
        return f"m{self.number}"

    @property
    def line(self) -> str:
        return f"{self.id} {self.speaker.value}: {self.text}"


class Known(Value):
    """A memory that the project has."""

    id: str
    label: str
    text: str

    @property
    def line(self) -> str:
        return f"({self.id}) {self.label}: {self.text}"


class Record(Value):
    messages: tuple[Spoken, ...]
    known: tuple[Known, ...] = ()
    files: frozenset[str] = frozenset()
    """Paths that calls of the session named, relative to the project."""
    commands: tuple[str, ...] = ()
    """Commands that the session ran."""

    @property
    def text(self) -> str:
        known = [KNOWN_TITLE, *(each.line for each in self.known), ""] if self.known else []
        return "\n".join([*known, MESSAGES_TITLE, *(each.line for each in self.messages), ""])

    def find(self, id: str) -> Spoken | None:
        return next((each for each in self.messages if each.id == id), None)


KNOWN_TITLE = "Known memories of the project:"
MESSAGES_TITLE = "Messages of the session:"


def build_record(
    events: Iterable[Event],
    known: Sequence[Known] = (),
    roots: Roots = (),
    is_typed: Callable[[str], bool] = lambda _prompt_id: True,
) -> Record:
    """Return the record of a transcript's *events*, at most CHARS long.

    *is_typed* tells by its id whether a person typed a prompt; others are a machine's.
    """
    collected = _Collected(roots, is_typed)
    for event in events:
        collected.add(event)
    shown = [
        replace(each, text=preview(redact(each.text).text, KNOWN_CHARS))
        for each in known[:MOST_KNOWN]
    ]
    empty = Record(messages=(), known=tuple(shown))
    return replace(
        empty,
        messages=fit(collected.messages.values(), CHARS - len(empty.text)),
        files=frozenset(collected.files),
        commands=tuple(collected.commands),
    )


def fit(messages: Iterable[Spoken], chars: int) -> tuple[Spoken, ...]:
    """Leave messages out in the order of DROPPED until the lines of the others have *chars*."""
    kept = {each.number: each for each in messages}
    size = _size(kept.values())
    for speakers in DROPPED:
        for each in list(kept.values()):
            if size <= chars:
                return tuple(kept.values())
            if each.speaker in speakers:
                size -= _size([kept.pop(each.number)])
    return tuple(kept.values())


def _size(messages: Iterable[Spoken]) -> int:
    return sum(len(each.line) + 1 for each in messages)


class _Collected:
    def __init__(self, roots: Roots, is_typed: Callable[[str], bool]) -> None:
        self._roots = roots
        self._is_typed = is_typed
        self._pending: dict[str, int] = {}
        self._count = self._size = 0
        self.messages: dict[int, Spoken] = {}
        self.files: dict[str, None] = {}
        self.commands: dict[str, None] = {}

    def add(self, event: Event) -> None:
        match event:
            case Prompt():
                for speaker, text in self._split(event):
                    self._say(speaker, text)
            case MachineText():
                self._say(Speaker.MACHINE, truncate(_line(event.text), MACHINE_CHARS))
            case Message():
                self._say(Speaker.CLAUDE, outline(_line(event.text), CLAUDE_HEAD, CLAUDE_TAIL))
            case Call():
                self._add_call(event)
            case Result() if event.failed and not is_refusal(event.text):
                self._add_failure(event)

    def _say(self, speaker: Speaker, text: str) -> None:
        if not text:
            return
        self._count += 1
        self._put(Spoken(number=self._count, speaker=speaker, text=text))

    def _put(self, message: Spoken) -> None:
        before = self.messages.get(message.number)
        self.messages[message.number] = message
        self._size += _size([message]) - (_size([before]) if before else 0)
        if self._size > 2 * COLLECTED_CHARS:
            fitting = fit(self.messages.values(), COLLECTED_CHARS)
            self.messages = {each.number: each for each in fitting}
            self._size = _size(fitting)

    def _split(self, prompt: Prompt) -> Iterator[tuple[Speaker, str]]:
        if prompt.text.startswith(client.SLASH):
            return
        if prompt.prompt_id and not self._is_typed(prompt.prompt_id):
            yield Speaker.MACHINE, truncate(_line(prompt.text), MACHINE_CHARS)
            return
        parts = [(pasted, _line(text)) for pasted, text in split_pasted(redact(prompt.text).text)]
        lengths = [0] * len(parts)
        left = PROMPT_CHARS
        for wanted in (False, True):  # what was typed before what was pasted
            for at, (is_pasted, text) in enumerate(parts):
                if is_pasted is wanted:
                    lengths[at] = min(left, len(text))
                    left -= lengths[at]
        for (is_pasted, text), length in zip(parts, lengths, strict=True):
            yield Speaker.PASTED if is_pasted else Speaker.PERSON, truncate(text, length)

    def _add_call(self, call: Call) -> None:
        action = action_of(call, self._roots)
        if action is None:
            return
        named = [call.text("file_path"), call.text("notebook_path")]
        paths = [relative(path, self._roots) for path in named if path]
        for path in (*paths, *changed_files(call, self._roots)):
            _note(self.files, path)
        if call.tool in SHELL_TOOLS:
            _note(self.commands, truncate(_line(call.text("command")), COMMAND_CHARS))
        self._say(Speaker.TOOL, preview(f"{call.tool}: {action.target}", CALL_CHARS))
        if len(self._pending) >= MOST_NAMED:
            self._pending.clear()
        self._pending[call.id] = self._count

    def _add_failure(self, result: Result) -> None:
        message = self.messages.get(self._pending.pop(result.call_id, 0))
        if message:
            output = outline(_line(result.text), FAILURE_HEAD, FAILURE_TAIL)
            self._put(replace(message, text=f"{message.text} failed: {output}"))


def outline(text: str, head: int, tail: int) -> str:
    """Return the beginning and the end of a text, with a mark where something is left out."""
    if len(text) <= head + tail + len(CUT):
        return text
    return f"{text[:head].rstrip()}{CUT}{text[-tail:].lstrip()}"


_BLANKS = re.compile(r"\s+")


def _line(text: str) -> str:
    """Return the text without secrets on one line, which cannot look like another message."""
    return _BLANKS.sub(" ", redact(text).text).strip()


def _note(noted: dict[str, None], text: str) -> None:
    if text and len(noted) < MOST_NAMED:
        noted.setdefault(text)
