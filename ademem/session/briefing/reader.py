"""For whom a briefing is made, and what of the store this reader may see."""

from __future__ import annotations

from ademem.core import untrusted
from ademem.core.client import units
from ademem.core.clock import days_between
from ademem.core.settings import LEVELS
from ademem.core.value import Value
from ademem.store import briefing_queries, logs, relations
from ademem.store.logs import PATIENCE
from ademem.store.missions import mission_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from datetime import datetime

    from ademem.core.client import Payload
    from ademem.core.memory import Memory
    from ademem.core.settings import BriefingSettings
    from ademem.store import Store
    from ademem.store.runtime import Runtime


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


ENTRY_CHARS = 400
"""Of a longer memory its first sentences are told; `get` shows it whole."""
MISSION_MEMORIES = 200
"""Most of a mission that are compared; it may have as many."""


class Reader(Value):
    """For whom, when, and with what budget a briefing is made."""

    store: Store
    settings: BriefingSettings
    now: datetime
    agent: str | None = None
    session: str = ""
    """The id of the session that is about to hear it."""
    root: str = ""
    """The worktree that the session is in."""
    mission: str | None = None
    """The one that the session works for; its memories are the reader's, too."""
    branch: str | None = None
    """Where it works; what waits on another branch is not told."""
    seen: frozenset[str] = frozenset()
    """Ids the reader still has before its eyes."""

    @property
    def level(self) -> int:
        """Entries of a kind that is chosen from."""
        return LEVELS[self.settings.level]

    @property
    def visible(self) -> briefing_queries.VisibleMemories:
        """Memories of the project and the reader's own."""
        return briefing_queries.VisibleMemories(self.store, self.agent, self.branch)

    def of_mission(self) -> list[Memory]:
        """The newest memories of the mission, confirmed or not."""
        return self.visible.of_mission(self.mission, MISSION_MEMORIES)

    def by_worth(self, found: Iterable[Memory], chars: int = ENTRY_CHARS) -> list[Entry]:
        """Entries of those that no later one contradicts, the worthiest first."""
        rows = list(found)
        unused = logs.count_unused(self.store, [memory.id for memory in rows])
        outdated = relations.outdated(self.store, [memory.seq for memory in rows])
        entries = [
            told(memory, chars, worth(memory, self.now, unused.get(memory.id, 0)))
            for memory in rows
            if memory.seq not in outdated
        ]
        return sorted(entries, key=lambda entry: -entry.worth)


def session_reader(
    payload: Payload, runtime: Runtime, branch: str | None, seen: Iterable[str] = ()
) -> Reader:
    """The main thread of a session; *seen* are ids that its context still has."""
    return Reader(
        store=runtime.store,
        settings=runtime.settings.briefing,
        now=runtime.now,
        session=payload.session_id,
        root=runtime.project.root,
        mission=mission_of(runtime.environment),
        branch=branch,
        seen=frozenset(seen),
    )


def told(memory: Memory, chars: int = ENTRY_CHARS, value: float = 1.0) -> Entry:
    """The line of a memory."""
    text = untrusted.entry(memory, chars)
    return Entry(text=text, chars=units(text) + 1, worth=value, memory=memory)


def line(text: str) -> Entry:
    """A line that is no memory, from text that somebody wrote."""
    text = untrusted.escaped(text)
    return Entry(text=text, chars=units(text) + 1)
