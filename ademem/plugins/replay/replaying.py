"""Run today's memories over the past sessions of a project; the store is only read."""

from __future__ import annotations

import json
import os
from collections import Counter

from ademem.core import confined
from ademem.core.clock import now as clock_now
from ademem.core.clock import parse, stamp
from ademem.core.errors import AdememError
from ademem.core.value import Value, as_dict, replace
from ademem.plugins.replay import transcripts
from ademem.plugins.replay.counting import Finding, SessionCount, count, quote
from ademem.plugins.replay.guarding import Rule, TodaysGuard, list_rules
from ademem.plugins.replay.repeating import Repeated, Repeats
from ademem.store import effects

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any, TypeVar

    from ademem.plugins.replay.transcripts import Reader, Step, Transcript
    from ademem.store.runtime import Runtime

    V = TypeVar("V", bound=Value)

FEWEST_SESSIONS = 20
"""Sessions below which it says nothing that a rule met none of them."""
MOST_ROWS = 10_000
"""Rows of one kind that the file holds."""
FILE = "replay.json"
FILE_BYTES = 20_000_000


class Row(Value):
    """A memory at a call or a prompt of a past session."""

    memory: str = ""
    """Its id."""
    text: str = ""
    """Its text, one line."""
    what: str = ""
    """The call or the prompt, redacted."""
    session: str = ""
    transcript: str = ""
    """Path of the file."""
    at: str = ""
    bound: str = ""
    call: str = ""
    """Its id in the transcript; empty for a prompt."""
    number: int = 0
    """Of the call in its session."""
    stops: bool = False
    proof: str = ""
    detail: str = ""


class Later(Value):
    """A memory that was first said after the last session; from now on it meets such calls."""

    memory: str = ""
    text: str = ""
    calls: int = 0


class Idle(Value):
    """A memory that came up nowhere."""

    memory: str = ""
    text: str = ""


class Replay(Value):
    made: str = ""
    """When, as a stamp."""
    sessions: int = 0
    first: str = ""
    last: str = ""
    """Times of the first and the last step that was read."""
    calls: int = 0
    prompts: int = 0
    left_out: int = 0
    """Sessions that programs started."""
    skipped_lines: int = 0
    skipped_files: int = 0
    is_partial: bool = False
    """It was interrupted."""
    mistakes: tuple[Row, ...] = ()
    answered: tuple[Row, ...] = ()
    repeated: tuple[Repeated, ...] = ()
    in_the_way: tuple[Row, ...] = ()
    unproven: tuple[Row, ...] = ()
    rules: int = 0
    """Confirmed memories with a place."""
    met_nothing: tuple[Idle, ...] = ()
    """Those that came up nowhere; with few sessions it says nothing."""
    from_now_on: tuple[Later, ...] = ()
    live: dict[str, int] = {}
    """What memory did in sessions in which it ran, beside the figures: sessions, and effects."""

    @property
    def has_few(self) -> bool:
        """There are too few sessions to say that a rule met nothing."""
        return self.sessions < FEWEST_SESSIONS

    @property
    def to_add(self) -> tuple[Repeated, ...]:
        """What was said again and is not in memory."""
        return tuple(each for each in self.repeated if not each.memory_id)

    @property
    def figures(self) -> dict[str, int]:
        return {
            "mistakes": len(self.mistakes),
            "answered": len(self.answered),
            "repeated": len(self.repeated),
            "in_the_way": len(self.in_the_way),
        }


def replay(
    runtime: Runtime,
    *,
    since: str = "",
    all: bool = False,
    on_session: Callable[[int, int], None] | None = None,
) -> Replay:
    """Count what today's memories would have met *since* a stamp, without one in all there is.

    Sessions that programs started count where *all* is set. *on_session* gets how many of how many
    are read. An interrupt ends the reading, and what was read is returned.
    """
    found = transcripts.find(runtime, since)
    chosen = [each for each in found if all or not each.is_unattended]
    run = _Run(runtime, transcripts.Reader(since))
    is_partial = False
    try:
        for number, each in enumerate(chosen, 1):
            run.add(each)
            if on_session:
                on_session(number, len(chosen))
    except KeyboardInterrupt:
        is_partial = True
    return run.close(left_out=len(found) - len(chosen), is_partial=is_partial)


class _Run:
    def __init__(self, runtime: Runtime, reader: Reader) -> None:
        self.runtime, self.reader = runtime, reader
        rules = list_rules(runtime)
        self.guard = TodaysGuard(runtime, rules, transcripts.list_roots(runtime))
        self.repeats = Repeats()
        self.sessions = self.calls = self.prompts = 0
        self.first = self.last = ""
        self.rows: dict[str, list[Row]] = {
            name: [] for name in ("mistakes", "answered", "in_the_way", "unproven")
        }

    def add(self, found: Transcript) -> None:
        counted = count(self._watched(found), self.guard)
        if not (counted.calls or counted.prompts):
            return
        self.sessions += 1
        self.calls += counted.calls
        self.prompts += counted.prompts
        self._add_rows(counted, found)

    def _watched(self, found: Transcript) -> Iterator[Step]:
        from ademem.capture.transcript import Prompt

        for step in self.reader.read(found):
            if step.at:
                self.first = min(self.first or step.at, step.at)
                self.last = max(self.last, step.at)
            if isinstance(step, Prompt):
                self.repeats.add(step, found)
            yield step

    def _add_rows(self, counted: SessionCount, found: Transcript) -> None:
        for each in counted.findings:
            kind = "mistakes" if each.proof else "in_the_way" if each.was_right else "unproven"
            self.rows[kind].append(self._row(each, found))
        for id, prompt in counted.answered:
            self.rows["answered"].append(
                Row(
                    memory=id,
                    text=self._text(id),
                    what=quote(prompt.text),
                    session=found.session,
                    transcript=found.path,
                    at=prompt.at,
                )
            )

    def _row(self, each: Finding, found: Transcript) -> Row:
        return Row(
            memory=each.memory_id,
            text=self._text(each.memory_id),
            what=each.call,
            session=found.session,
            transcript=found.path,
            at=each.at,
            bound=each.place,
            call=each.call_id,
            number=each.number,
            stops=each.stops,
            proof=each.proof,
            detail=each.detail,
        )

    def _text(self, id: str) -> str:
        return quote(self.guard.rules[id].text)

    def close(self, *, left_out: int, is_partial: bool) -> Replay:
        rules = [rule for rule in self.guard.rules.values() if rule.is_bound]
        early = self.guard.early
        later = [rule for rule in rules if rule.first_said > self.last and rule.id in early]
        known = [(rule.id, rule.text) for rule in self.guard.rules.values()]
        return Replay(
            made=stamp(clock_now()),
            sessions=self.sessions,
            first=self.first,
            last=self.last,
            calls=self.calls,
            prompts=self.prompts,
            left_out=left_out,
            skipped_lines=self.reader.skipped_lines,
            skipped_files=self.reader.skipped_files,
            is_partial=is_partial,
            repeated=tuple(self.repeats.list_repeated(known)),
            rules=len(rules),
            met_nothing=self._find_idle(rules),
            from_now_on=tuple(
                Later(
                    memory=rule.id,
                    text=self._text(rule.id),
                    calls=early[rule.id],
                )
                for rule in later
            ),
            live=self._count_live(),
            **{name: tuple(rows[:MOST_ROWS]) for name, rows in self.rows.items()},
        )

    def _find_idle(self, rules: Iterable[Rule]) -> tuple[Idle, ...]:
        met = self.guard.came_up | self.guard.early.keys()
        idle = (rule for rule in rules if rule.id not in met)
        return tuple(Idle(memory=rule.id, text=self._text(rule.id)) for rule in idle)

    def _count_live(self) -> dict[str, int]:
        ran = self.reader.with_ademem
        kinds = Counter(
            row.kind
            for row in effects.collect(self.runtime, all=True).rows
            if row.session_id in ran
        )
        return {"sessions": len(ran), **{kind: kinds[kind] for kind in effects.KINDS}}


def path_of(runtime: Runtime) -> str:
    return os.path.join(runtime.project.run, FILE)


def to_json(found: Replay) -> dict[str, Any]:
    """Return what may be stored and printed; of what was said again, the quotes alone."""
    repeated = [as_dict(each) | {"sentence": ""} for each in found.repeated]
    idle = None if found.has_few else found.met_nothing
    return {
        "figures": found.figures,
        **as_dict(found),
        "repeated": repeated,
        "met_nothing": idle,
    }


def save(found: Replay, runtime: Runtime) -> None:
    """Write what the page shows; raises OSError."""
    text = json.dumps(to_json(found), ensure_ascii=False, default=as_dict)
    confined.write_text(runtime.project.root, path_of(runtime), text, mode=0o600)


def mark_added(found: Replay, index: int, id: str) -> Replay:
    """Return a result in which what was said again is in memory now."""
    rows = list(found.repeated)
    rows[index] = replace(rows[index], memory_id=id)
    return replace(found, repeated=tuple(rows))


_PLAIN = (
    *("made", "sessions", "first", "last", "calls", "prompts", "left_out", "skipped_lines"),
    *("skipped_files", "is_partial", "rules"),
)
_ROWS: dict[str, type[Value]] = {
    **dict.fromkeys(("mistakes", "answered", "in_the_way", "unproven"), Row),
    "repeated": Repeated,
    "met_nothing": Idle,
    "from_now_on": Later,
}


def load(runtime: Runtime) -> Replay | None:
    """Return the last result; None without one, or where it is not readable."""
    try:
        text = confined.read_text(runtime.project.root, path_of(runtime), FILE_BYTES)
        data = json.loads(text or "null")
    except (OSError, ValueError, RecursionError, AdememError):
        return None
    if not isinstance(data, dict):
        return None
    rows = {
        name: tuple(_as_value(cls, each) for each in data.get(name) or () if isinstance(each, dict))
        for name, cls in _ROWS.items()
        if isinstance(data.get(name), list)
    }
    live = data.get("live")
    counts = live.items() if isinstance(live, dict) else ()
    whole = {name: count for name, count in counts if type(count) is int}
    plain = _as_value(Replay, {name: data.get(name) for name in _PLAIN})
    try:
        parse(plain.made)
    except ValueError:
        return None
    return replace(plain, live=whole, **rows)


def _as_value(cls: type[V], given: dict[str, Any]) -> V:
    """Return a value of what has the right types, and of defaults for the rest."""
    blank = cls()
    fitting = (name for name in cls._fields if type(given.get(name)) is type(getattr(blank, name)))
    return cls(**{name: given[name] for name in fitting})
