"""Count what today's memories would have met in one past session, by what its transcript proves.

A memory comes up at a call; it is a mistake met only with a proof: the person refused the call, it
was taken back, or the next prompt names what the memory says. All else is listed, not counted.
"""

from __future__ import annotations

import os

from ademem.capture.transcript import Call, Message, Prompt
from ademem.core.redaction import redact
from ademem.core.text import in_one_line, preview
from ademem.core.value import Value
from ademem.guard.policy import SHELL_TOOLS
from ademem.plugins.replay.naming import contains

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Protocol

    class Guard(Protocol):
        """What today's memories say, of calls and prompts of the past."""

        def meet(self, done: Done, seen: set[Key], announced: set[str]) -> list[Met]:
            """Return what comes up at a call for the first time in its session."""

        def effects(self, done: Done, watched: set[str]) -> Effects:
            """Return what a call did to files, at least to those that are *watched*."""

        def announce(self, prompt: Prompt) -> set[str]:
            """Return ids of the memories that are said with a prompt."""

        def answer(self, prompt: Prompt, answer: str, calls: list[Done]) -> str:
            """Return the id of the best memory on a prompt, if its turn has a name of it.

            The last text of the turn, or its first call that changes something. Empty for none.
            """


REACH = 20
"""Calls within which one is taken back."""
QUOTE_CHARS = 120
"""Longest text of a transcript that a result holds, redacted."""

REJECTED, TAKEN_BACK, SAID = "rejected", "taken back", "said"
"""What proves that a call was a mistake."""

Key = tuple[str, str]
"""A memory and the place of its binding."""


class Change(Value):
    """An edit, as the client noted it."""

    path: str
    before: str | None
    """The file's text before; None where there was no file, or it is not known."""
    after: str | None

    @property
    def lines(self) -> frozenset[str] | None:
        """The lines that the file has since; None where its text is not known."""
        return None if self.after is None else frozenset(self.after.splitlines())

    @property
    def added(self) -> frozenset[str]:
        """Those of them that it had not before."""
        return (self.lines or frozenset()).difference((self.before or "").splitlines())


class Done(Value):
    """A call that was carried out, or that the person refused."""

    call: Call
    at: str = ""
    """When its result came."""
    is_rejected: bool = False
    has_failed: bool = False
    """It was carried out, and its command failed or was interrupted."""
    change: Change | None = None
    creates: bool = False


class Met(Value):
    """A memory that comes up at a call."""

    memory_id: str
    place: str
    """Of its binding."""
    stops: bool
    is_first: bool = True
    """Of the memories that the call meets; a proof without words is about this one."""
    names: frozenset[str] = frozenset()
    """Names of things in the memory's text, in small letters."""
    forbidden: frozenset[str] = frozenset()
    """Those and words that it forbids: an edit that adds one was not right."""

    @property
    def key(self) -> Key:
        return self.memory_id, self.place


class Effects(Value):
    writes: tuple[str, ...] = ()
    """Files and folders, by their absolute paths."""
    restores: tuple[str, ...] = ()
    """Of these, what it sets back to a commit."""
    discards: bool = False
    """It may set back any file."""

    @property
    def set_back(self) -> bool:
        return bool(self.restores) or self.discards

    def touches(self, path: str) -> bool:
        return self.discards or _holds(self.writes, path)


class Finding(Value):
    """A memory at a call of a past session, and what came of it."""

    memory_id: str
    place: str
    at: str
    number: int
    """Of the call in its session, from 1."""
    call_id: str
    call: str
    """The command, or the tool and its file, redacted."""
    stops: bool
    proof: str = ""
    """rejected | taken back | said; empty without."""
    detail: str = ""
    """What was said, or how many calls later it was taken back."""
    was_right: bool = False
    """It would have been stopped, and was what the person asked for, or was run again."""


class SessionCount(Value):
    calls: int = 0
    prompts: int = 0
    findings: tuple[Finding, ...] = ()
    answered: tuple[tuple[str, Prompt], ...] = ()
    """Memories with the first prompt of the session that each answers."""


def count(steps: Iterable[Prompt | Message | Done], guard: Guard) -> SessionCount:
    """Count one session, its steps in the order in which they happened."""
    session = _Session(guard)
    for step in steps:
        session.add(step)
    return session.close()


class _Open:
    """A memory that came up, while its session goes on."""

    def __init__(self, met: Met, done: Done, number: int, turn: int, said: str) -> None:
        self.met, self.done, self.number = met, done, number
        self.proof = REJECTED if done.is_rejected and met.is_first else ""
        self.detail = ""
        self.turn = turn
        self.kept = done.change is not None and not done.is_rejected
        self.was_repeated = self.was_discussed = False
        self.was_undone = False
        """Something was set back since; of a command it is not known what it changed."""
        self.lines = done.change.added if done.change and met.stops else frozenset()
        self.was_asked = done.change is not None and (
            _names_file(said, done.change.path) or any(contains(said, name) for name in met.names)
        )

    @property
    def was_right(self) -> bool:
        """The call would have been stopped, and nothing speaks against it but the memory."""
        if self.proof or self.was_discussed or not self.met.stops:
            return False
        return self.was_repeated or (self.was_asked and self.kept and not self._breaks())

    def _breaks(self) -> bool:
        added = "\n".join(self.lines).lower()
        return any(contains(added, name) for name in self.met.forbidden)

    def read(self, prompt: Prompt, earlier: Iterable[str]) -> None:
        """Look if the next prompt is the first to name what the memory says, or speaks of it."""
        text = prompt.text.lower()
        named = [name for name in self.met.names if contains(text, name)]
        before = "\n".join((*earlier, typed_text(self.done.call).lower()))
        if any(not contains(before, name) for name in named):
            self.proof, self.detail = SAID, quote(prompt.text)
        path = self.done.change.path.lower() if self.done.change else ""
        self.was_discussed = bool(named) or (bool(path) and contains(text, os.path.basename(path)))

    def allow(self, done: Done) -> None:
        """Take a refusal back if the next call is the same one, which was let pass."""
        if self.done.is_rejected and self.done.call.input == done.call.input:
            self.proof = ""

    def take_back(self, later: int) -> None:
        """Note that what the call did was set back so many calls later."""
        if self.met.is_first and not self.proof:
            self.proof, self.detail = TAKEN_BACK, f"{later} call{'s' * (later > 1)} later"

    def is_changed_by(self, done: Done, effects: Effects) -> bool:
        return self.done.change is not None and _changes(done, effects, self.done.change.path)

    def is_repeated_by(self, done: Done) -> bool:
        return self.done.change is None and _is_same_success(self.done, done)

    def follow(self, lines: frozenset[str] | None) -> None:
        """Look if the file still has what the call added; None: it was changed unseen."""
        self.kept &= lines is not None and self.lines <= lines

    def finding(self) -> Finding:
        return Finding(
            memory_id=self.met.memory_id,
            place=self.met.place,
            at=self.done.call.at,
            number=self.number,
            call_id=self.done.call.id,
            call=describe(self.done.call),
            stops=self.met.stops,
            proof=self.proof,
            detail=self.detail,
            was_right=self.was_right,
        )


class _Changed:
    """A file that a call changed, as long as nothing else changes it."""

    def __init__(self, path: str, number: int, change: Change | None, met: list[_Open]) -> None:
        self.path, self.number, self.met = path, number, met
        self.before = change.before if change else None

    def is_restored_by(self, done: Done, effects: Effects) -> bool:
        if _holds(effects.restores, self.path):
            return True
        change = done.change
        return change is not None and self.before is not None and change.after == self.before


class _Session:
    def __init__(self, guard: Guard) -> None:
        self.guard = guard
        self.calls = self.prompts = 0
        self.found: list[_Open] = []
        self.changed: list[_Changed] = []
        self.unanswered: list[_Open] = []
        """What came up since the last prompt, without proof."""
        self.texts: list[str] = []
        """The prompts so far, in small letters."""
        self.announced: set[str] = set()
        self.question: Prompt | None = None
        self.answer = ""
        self.turn: list[Done] = []
        """Calls since the last prompt."""
        self.answered: dict[str, Prompt] = {}

    def add(self, step: Prompt | Message | Done) -> None:
        match step:
            case Prompt():
                self._add_prompt(step)
            case Message():
                self.answer = step.text
            case Done():
                self._add_call(step)

    def close(self) -> SessionCount:
        self._end_turn()
        return SessionCount(
            calls=self.calls,
            prompts=self.prompts,
            findings=tuple(each.finding() for each in self.found),
            answered=tuple(self.answered.items()),
        )

    def _add_prompt(self, prompt: Prompt) -> None:
        self.prompts += 1
        for each in self.unanswered:
            if not each.proof:
                each.read(prompt, self.texts)
        self.unanswered = []
        self._end_turn()
        self.question = prompt
        self.texts.append(prompt.text.lower())
        self.announced |= self.guard.announce(prompt)

    def _end_turn(self) -> None:
        if self.question and (id := self.guard.answer(self.question, self.answer, self.turn)):
            self.answered.setdefault(id, self.question)
        self.question, self.answer, self.turn = None, "", []

    def _add_call(self, done: Done) -> None:
        self.calls += 1
        effects = Effects()
        if not done.is_rejected:
            self.turn.append(done)
            effects = self.guard.effects(done, self._watched())
        takes_back = self._take_back(done, effects)
        self._follow(done, effects)
        met = [] if takes_back else self._meet(done)
        if not done.is_rejected and not takes_back:
            paths = (done.change.path,) if done.change else effects.writes
            self.changed += [_Changed(path, self.calls, done.change, met) for path in paths]

    def _watched(self) -> set[str]:
        """Files that calls changed, and folders of commands that met a memory: any in them."""
        found = (each.done for each in self.found)
        changed = {each.change.path if each.change else each.call.folder for each in found}
        return changed.union(each.path for each in self.changed)

    def _meet(self, done: Done) -> list[_Open]:
        seen = {each.met.key for each in self.found}
        found = self.guard.meet(done, seen, self.announced)
        said = "\n".join(self.texts) if found else ""
        met = [_Open(each, done, self.calls, self.prompts, said) for each in found]
        self.found += met
        self.unanswered += [each for each in met if not each.proof]
        return met

    def _take_back(self, done: Done, effects: Effects) -> bool:
        """Tell whether a call sets a file back to what it was before one of the last calls.

        Another change of that file between them leaves open which of the two was the mistake.
        """
        self.changed = [each for each in self.changed if self.calls - each.number <= REACH]
        if done.is_rejected or done.has_failed:
            return False
        now = [each for each in self.changed if _changes(done, effects, each.path)]
        self.changed = [each for each in self.changed if each not in now]
        restored = [each for each in now if each.is_restored_by(done, effects)]
        for each in restored:
            for met in each.met:
                met.take_back(self.calls - each.number)
        return bool(restored)

    def _follow(self, done: Done, effects: Effects) -> None:
        """Look at what became of the calls that would have been stopped."""
        if done.is_rejected:
            return
        for each in self.found:
            if each.number == self.calls - 1:
                each.allow(done)
        stopped = [each for each in self.found if each.met.stops]
        changed = [each for each in stopped if each.is_changed_by(done, effects)]
        lines = done.change.lines if changed and done.change else None
        for each in changed:
            each.follow(lines)
        for each in stopped:
            each.was_undone |= effects.set_back
            if each.turn < self.prompts and not each.was_undone:
                each.was_repeated |= each.is_repeated_by(done)


def _names_file(prompts: str, path: str) -> bool:
    """Tell whether prompts, in small letters, have the name of a file, with its ending or not."""
    stem = os.path.splitext(os.path.basename(path))[0].lower()
    return bool(stem) and contains(prompts, stem)


def _changes(done: Done, effects: Effects, path: str) -> bool:
    return done.change.path == path if done.change else effects.touches(path)


def _is_same_success(one: Done, other: Done) -> bool:
    if one.has_failed or other.has_failed or one.is_rejected:
        return False
    command = one.call.text("command").split()
    return bool(command) and command == other.call.text("command").split()


def _holds(places: Iterable[str], path: str) -> bool:
    return any(path == each or path.startswith(f"{each}/") for each in places)


def describe(call: Call) -> str:
    """Return a command as it is, another call with its tool and file: `Edit src/a.py`."""
    if call.tool in SHELL_TOOLS:
        return quote(call.text("command"))
    path = call.text("file_path") or call.text("notebook_path") or call.text("path")
    folder = call.folder.rstrip("/") + "/"
    return quote(f"{call.tool} {path.removeprefix(folder)}")


def quote(text: str) -> str:
    """Return one line of a text that may be shown, redacted before it is cut."""
    return preview(in_one_line(redact(text).text), QUOTE_CHARS)


def typed_text(call: Call) -> str:
    """Return all texts in the arguments of a call, a line each."""
    return "\n".join(_texts(call.input))


def _texts(value: object) -> Iterable[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for each in value.values() if isinstance(value, dict) else value:
            yield from _texts(each)
