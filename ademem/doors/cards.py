"""Memories and lines of instruction files as people read them: text first, numbers on demand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ademem.core import anchor
from ademem.core.clock import tell_time
from ademem.core.errors import UsageError, suppress
from ademem.core.memory import RULES, Memory
from ademem.core.text import counted
from ademem.core.value import Value
from ademem.doors.views import NOTHING, to_row
from ademem.operations import searching
from ademem.search.binding import tell_place
from ademem.search.binding_keys import parse_at
from ademem.session.denials import describe_owner
from ademem.store import adopted, effects
from ademem.store.transitions import waits_for

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import datetime

    from ademem.store.bindings import Binding
    from ademem.store.effects import Sum
    from ademem.store.relations import Later
    from ademem.store.runtime import Runtime

MOST_PLACES = 6
"""Places of a card; the page of the memory has all."""


class Mark(Value):
    """What a person should know before the text counts: in words, and how bad it is."""

    text: str
    level: str
    """good | warn | bad."""


class Card(Value):
    memory: Memory
    row: dict[str, Any]
    places: tuple[str, ...]
    more_places: int
    owner: str
    marks: tuple[Mark, ...]
    effect: str
    """The kind of the last effect and its number; empty before the first."""
    when: str
    shown: int
    """Sessions in which it was shown unasked."""
    hit: Any = None
    """The hit of a search that found it."""

    @property
    def id(self) -> str:
        return self.memory.id

    @property
    def address(self) -> str:
        """Its page."""
        return f"/memory/{self.id}"

    @property
    def kind(self) -> str:
        is_rule = self.memory.category in RULES
        return f"rule, {self.memory.category}" if is_rule else str(self.memory.category)

    @property
    def occasions(self) -> tuple[str, ...]:
        return anchor.occasions(self.memory.anchors)

    @property
    def state(self) -> str:
        return waits_for(self.memory) or f"{self.memory.status}, {self.owner}"


class Line(Value):
    """A line of an instruction file that was adopted."""

    id: str
    text: str
    path: str
    first: int
    last: int
    head: str
    keys: tuple[str, ...]
    """Its places as they are typed; `places` has them in words."""
    places: tuple[str, ...]
    marks: tuple[Mark, ...]
    effect: str
    when: str
    stops: bool
    is_ignored: bool
    has_mark: bool
    """A person decided something about it."""
    more_places: int = 0

    @property
    def owner(self) -> str:
        return f"from {self.path}, line {self.first}"

    @property
    def address(self) -> str:
        return f"/line/{self.id}"

    @property
    def where(self) -> str:
        return f"{self.path}:{self.first}"


def read_cards(
    memories: Runtime,
    found: Sequence[Memory],
    drifted: Mapping[str, str] = NOTHING,
    hits: Mapping[str, Any] = NOTHING,
) -> list[Card]:
    """Return the cards of memories in their order; *hits* are those of a search by id."""
    places = searching.map_places(memories, found)
    later = searching.find_later(memories, found)
    ids = [each.id for each in found]
    sums, shown = effects.sum_up(memories.store, ids), effects.count_shown(memories.store, ids)
    now = memories.clock()
    return [
        _card(
            each,
            places.get(each.id, []),
            sums.get(each.id, []),
            shown.get(each.id, 0),
            drifted,
            later.get(each.id),
            now,
            hits.get(each.id),
        )
        for each in found
    ]


def _card(
    memory: Memory,
    places: Sequence[Binding],
    sums: Sequence[Sum],
    shown: int,
    drifted: Mapping[str, str],
    later: Later | None,
    now: datetime,
    hit: Any,
) -> Card:
    at = list(dict.fromkeys(map(tell_place, places)))
    effect, when = describe_effect(sums, now)
    return Card(
        memory=memory,
        row=to_row(memory, drifted, later.flag if later else ""),
        places=tuple(at[:MOST_PLACES]),
        more_places=max(0, len(at) - MOST_PLACES),
        owner=describe_owner(memory, now),
        marks=tuple(_marks(memory, drifted, later)),
        effect=effect,
        when=when or _before_effect(memory, shown, now),
        shown=shown,
        hit=hit,
    )


def describe_effect(sums: Sequence[Sum], now: datetime) -> tuple[str, str]:
    """Return “prevented 7” and “last today 10:42”; two empty texts before the first effect."""
    if not sums:
        return "", ""
    return f"{sums[0].kind} {sums[0].count:,}", f"last {tell_time(sums[0].at, now)}"


def _before_effect(memory: Memory, shown: int, now: datetime) -> str:
    if shown:
        return f"shown in {counted(shown, 'session')}"
    return f"learned {tell_time(memory.created_at, now)}"


def _marks(memory: Memory, drifted: Mapping[str, str], later: Later | None) -> Iterable[Mark]:
    if memory.quarantine_reason:
        yield Mark(text="held back", level="bad")
    elif not memory.live:
        yield Mark(text="archived" if not memory.deleted_at else "deleted", level="warn")
    elif waits_for(memory):
        yield Mark(text="not confirmed", level="warn")
    if later and not later.is_near:
        yield Mark(text="replaced" if later.replaces else "contradicted", level="warn")
    if drifted.get(memory.id) in ("changed", "gone"):
        yield Mark(text="out of date", level="warn")
    if memory.is_pinned:
        yield Mark(text="pinned", level="good")


def list_lines(memories: Runtime) -> list[Line]:
    """Return the adopted lines of this worktree, file by file."""
    return read_lines(memories, adopted.list_items(memories.store, memories.project.root))


def find_line(memories: Runtime, id: str) -> Line | None:
    row = adopted.get(memories.store, memories.project.root, id)
    return read_lines(memories, [row])[0] if row else None


def read_lines(memories: Runtime, rows: Sequence[sqlite3.Row]) -> list[Line]:
    sums = effects.sum_up(memories.store, [row["id"] for row in rows])
    decided = {mark.id: mark for mark in adopted.list_marks(memories.store)}
    now = memories.clock()
    return [_line(row, sums.get(row["id"], []), decided.get(row["id"]), now) for row in rows]


def _line(row: sqlite3.Row, sums: Sequence[Sum], mark: adopted.Mark | None, now: datetime) -> Line:
    heads = row["heads"].splitlines()
    effect, when = describe_effect(sums, now)
    marks = {
        "stops each call": ("good", mark is not None and mark.stop),
        "ignored": ("warn", mark is not None and mark.ignored),
        "not on the default branch": ("warn", not row["merged"]),
        "replaced": ("warn", not row["live"]),
        "out of date": ("warn", bool(row["missing"])),
    }
    keys = mark.bound if mark and mark.bound else tuple(row["places"].splitlines())
    return Line(
        id=row["id"],
        text=adopted.in_context(row),
        path=row["path"],
        first=row["first"],
        last=row["last"],
        head=heads[-1] if heads else "",
        keys=keys,
        places=tuple(map(_tell_key, keys)),
        marks=tuple(
            Mark(text=text, level=level) for text, (level, is_so) in marks.items() if is_so
        ),
        effect=effect,
        when=when,
        stops=bool(mark and mark.stop),
        is_ignored=bool(mark and mark.ignored),
        has_mark=mark is not None,
    )


def _tell_key(key: str) -> str:
    with suppress(UsageError):
        return tell_place(parse_at(key))
    return key
