"""What an entry is worth to a reader, and which entries a budget is spent on."""

from __future__ import annotations

from ademem.core.clock import days_between
from ademem.core.value import Value
from ademem.store.impressions import PATIENCE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from datetime import datetime

    from ademem.core.memory import Memory

HALF_LIFE_DAYS = 30.0
"""Age at which half of what a memory's freshness adds is gone."""
FRESH = 0.5
"""Part of the worth that is freshness; the rest does not age."""


class Entry(Value):
    """A line that is told whole or not at all."""

    text: str
    chars: int
    """UTF-16 units of the line and its end."""
    worth: float = 1.0
    memory: Memory | None = None


def worth(memory: Memory, now: datetime, unused: int, patience: int = PATIENCE) -> float:
    """Importance times confidence, the new above the old, and less for what nobody uses."""
    age_days = max(0.0, days_between(memory.updated_at, now))
    freshness = 1 - FRESH + FRESH * 2 ** (-age_days / HALF_LIFE_DAYS)
    return memory.importance.weight * memory.confidence * freshness * sunk(unused, patience)


def sunk(unused: int, patience: int = PATIENCE) -> float:
    """What is left of the worth of a memory shown so often since it was last used."""
    return 1.0 if unused <= patience else patience / unused


def chosen(entries: Sequence[Entry], most: int, room: int) -> list[Entry]:
    """At most so many entries that fit whole, in their order.

    Taken by worth, or by worth per character, whichever comes to more.
    """
    ways: tuple[Callable[[Entry], float], ...] = (_worth, _density)
    filled = [_filled(sorted(entries, key=way, reverse=True), most, room) for way in ways]
    best = max(filled, key=_total)
    return [entry for entry in entries if entry in best]


def _filled(entries: Iterable[Entry], most: int, room: int) -> list[Entry]:
    taken: list[Entry] = []
    for entry in entries:
        if entry.chars <= room and len(taken) < most:
            taken.append(entry)
            room -= entry.chars
    return taken


def _worth(entry: Entry) -> float:
    return entry.worth


def _density(entry: Entry) -> float:
    return entry.worth / entry.chars


def _total(entries: Iterable[Entry]) -> float:
    return sum(entry.worth for entry in entries)
