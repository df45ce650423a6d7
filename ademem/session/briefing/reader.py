"""For whom a briefing is made, and what of the store this reader may see."""

from __future__ import annotations

from ademem.core import untrusted
from ademem.core.client import units
from ademem.core.settings import LEVELS
from ademem.core.value import Value
from ademem.session.briefing.selection import Entry, worth
from ademem.store import briefing_queries, impressions, relations
from ademem.store.mission_binding import mission_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from ademem.core.client import Payload
    from ademem.core.memory import Memory
    from ademem.core.settings import BriefingSettings
    from ademem.store import Store
    from ademem.store.runtime import Runtime

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
        unused = impressions.unused(self.store, [memory.id for memory in rows])
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
