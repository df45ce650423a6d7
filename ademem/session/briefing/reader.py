"""The reader of a briefing, entries ranked for it, and their selection within a budget."""

from __future__ import annotations

from ademem.core import trust, untrusted
from ademem.core.client import mission_of, units
from ademem.core.clock import days_between
from ademem.core.settings import LEVELS
from ademem.core.value import Value
from ademem.store import briefing_queries, logs, relations
from ademem.store.logs import PATIENCE, discount

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
ENTRY_CHARS = 400
"""Length of an entry; `get` shows a longer memory whole."""
MISSION_MEMORIES = 200
"""Most memories of a mission that are compared."""


class Entry(Value):
    """A line that is shown whole or not at all."""

    text: str
    chars: int
    """UTF-16 units of the line and its end."""
    worth: float = 1.0
    memory: Memory | None = None
    quoted: tuple[Memory, ...] = ()
    """Memories of which a line has a part."""


def memory_entry(memory: Memory, chars: int = ENTRY_CHARS, worth: float = 1.0) -> Entry:
    text = untrusted.entry(memory, chars)
    return Entry(text=text, chars=units(text) + 1, worth=worth, memory=memory)


def line(text: str, quoted: tuple[Memory, ...] = ()) -> Entry:
    """Return an entry of escaped text that is no memory, though it may quote some."""
    text = untrusted.escaped(text)
    return Entry(text=text, chars=units(text) + 1, quoted=quoted)


def worth(memory: Memory, now: datetime, unused: int, patience: int = PATIENCE) -> float:
    """Multiply importance, confidence, freshness, and the discount of unused memories."""
    age_days = max(0.0, days_between(memory.updated_at, now))
    freshness = 1 - FRESH + FRESH * 2 ** (-age_days / HALF_LIFE_DAYS)
    return memory.importance.weight * memory.confidence * freshness * discount(unused, patience)


def select_entries(entries: Sequence[Entry], most: int, room: int) -> list[Entry]:
    """Return at most so many entries that fit whole, in their order.

    Of a greedy choice by worth and one by worth per character, the one with more worth wins.
    """
    best: list[Entry] = []
    orders: tuple[Callable[[Entry], float], ...] = (
        lambda entry: entry.worth,
        lambda entry: entry.worth / entry.chars,
    )
    for order in orders:
        left = room
        found: list[Entry] = []
        for entry in sorted(entries, key=order, reverse=True):
            if entry.chars <= left and len(found) < most:
                found.append(entry)
                left -= entry.chars
        if not best or sum(entry.worth for entry in found) > sum(entry.worth for entry in best):
            best = found
    return [entry for entry in entries if entry in best]


class Reader(Value):
    """The session or agent that a briefing is for, with its budget."""

    store: Store
    settings: BriefingSettings
    now: datetime
    agent: str | None = None
    session: str = ""
    root: str = ""
    """Worktree of the session."""
    mission: str | None = None
    """Mission that the session works for, whose memories it sees."""
    branch: str | None = None
    """Current branch; memories of other unmerged branches are not shown."""
    seen: frozenset[str] = frozenset()
    """Ids of memories that the session's context has."""
    own: tuple[Memory, ...] = ()
    """The person's own memories: pinned ones, and the newest."""

    @property
    def level(self) -> int:
        """Number of entries of a ranked section."""
        return LEVELS[self.settings.level]

    @property
    def visible(self) -> briefing_queries.VisibleMemories:
        """Memories of the project and the reader's own."""
        return briefing_queries.VisibleMemories(self.store, self.agent, self.branch)

    def of_mission(self) -> list[Memory]:
        """Return the newest memories of the mission, confirmed or not."""
        return self.visible.of_mission(self.mission, MISSION_MEMORIES)

    def by_worth(self, found: Iterable[Memory], chars: int = ENTRY_CHARS) -> list[Entry]:
        """Return entries by worth, without memories that a later one replaced."""
        rows = list(found)
        unused = logs.count_unused(self.store, [memory.id for memory in rows])
        worths = {one.id: worth(one, self.now, unused.get(one.id, 0)) for one in rows}
        ranked = self.current(sorted(rows, key=lambda memory: -worths[memory.id]))
        entries: list[Entry] = []
        least = 0.0  # a later memory is worth no less than the one that it says otherwise
        for memory in reversed(ranked):
            least = max(least, worths[memory.id])
            entries.append(memory_entry(memory, chars, least))
        return entries[::-1]

    def current(self, found: Sequence[Memory]) -> list[Memory]:
        """Return the later one of a pair first, and none that a later one replaced."""
        later = relations.find_later(self.store, [memory.seq for memory in found])
        kept = (one for one in found if one.seq not in later or not later[one.seq].replaces)
        return relations.put_later_first(kept, later)


def make_reader(
    payload: Payload,
    runtime: Runtime,
    branch: str | None,
    *,
    agent: str | None = None,
    seen: Iterable[str] = (),
) -> Reader:
    """Describe the main thread of a session, or its subagent of the type *agent*."""
    return Reader(
        store=runtime.store,
        settings=runtime.settings.briefing,
        now=runtime.now,
        agent=agent,
        session=payload.session_id,
        root=runtime.project.root,
        mission=mission_of(runtime.environment),
        branch=branch,
        seen=frozenset(seen),
        own=_read_personal(runtime) if agent is None else (),
    )


def _read_personal(runtime: Runtime) -> tuple[Memory, ...]:
    """Return what the person's own memories add to the briefing of a main thread."""
    if not trust.has_personal(runtime.environment):
        return ()
    own = runtime.open_personal()
    if own is None:
        return ()
    visible = briefing_queries.VisibleMemories(own.store, None, None)
    found = [*visible.pinned(), *visible.newest(runtime.settings.briefing.recent)]
    return tuple({memory.id: memory for memory in found}.values())
