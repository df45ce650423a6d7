"""Events of a project for its open windows: what sessions, commands and other windows wrote."""

from __future__ import annotations

import asyncio
import json
import sqlite3
import time
from collections.abc import AsyncIterator, Callable
from typing import TYPE_CHECKING

from ademem import api
from ademem.core.errors import AdememError
from ademem.core.value import Value
from ademem.store.statistics import Change

if TYPE_CHECKING:
    from ademem.doors.web.memory_threads import MemoryThread
    from ademem.store.runtime import Runtime
    from ademem.store.statistics import Position

POLL_S = 0.25
SELDOM_S = 10.0
"""Seconds between two looks where a look is dear, as at a copy, or failed."""
MOST = 1000
"""Events that are kept for windows that come back."""


class Event(Value):
    id: int
    kind: str
    text: str
    """JSON: number of new rows, and of these by session."""

    def __str__(self) -> str:
        return f"id: {self.id}\nevent: {self.kind}\ndata: {self.text}\n\n"


class Live:
    """The events of one project; while a window is open one poll looks for all of them."""

    def __init__(self, reads: MemoryThread) -> None:
        self.reads = reads
        self.last = int(time.time() * 1000)  # greater than all of an earlier process
        self.events: tuple[Event, ...] = ()
        self._oldest = self.last
        """The id after which no event was dropped."""
        self._position: Position | None = None
        self._announced: list[str] = []
        self._windows = 0
        self._poll: asyncio.Task[None] | None = None
        self._looked = asyncio.Event()

    def look(self, memories: Runtime) -> int:
        """Add what was written since the last look; return the id of the last event.

        The reading thread calls it: a page has all that its id covers.
        """
        self._position, changes = api.find_changes(memories, self._position)
        changes += [
            Change(kind=self._announced.pop(0), count=0, sessions={}) for _ in [*self._announced]
        ]
        for change in changes:
            self.last += 1
            text = json.dumps({"count": change.count, "sessions": change.sessions})
            self.events += (Event(id=self.last, kind=change.kind, text=text),)
        if len(self.events) > MOST:
            self._oldest = self.events[-MOST - 1].id
            self.events = self.events[-MOST:]
        return self.last

    def announce(self, kind: str) -> None:
        """Have the next look tell windows of what no log has; from any thread."""
        self._announced.append(kind)

    async def stream(self, after: int | None, is_ending: Callable[[], bool]) -> AsyncIterator[str]:
        """Yield the events after an id, or `reload` where some of them are not known."""
        self._windows += 1
        try:
            if self._poll is None or self._poll.done():
                self._poll = asyncio.create_task(self._look_often())
                await self._looked.wait()
            at = self.last if after is None else after
            yield ": open\n\n"
            while not is_ending():
                looked = self._looked
                if not self._oldest <= at <= self.last:
                    at = self.last
                    yield str(Event(id=at, kind="reload", text="{}"))
                for event in self.events:
                    if event.id > at:
                        at = event.id
                        yield str(event)
                await looked.wait()
        finally:
            self._windows -= 1

    def _look_once(self, memories: Runtime) -> float:
        self.look(memories)
        return SELDOM_S if memories.is_read_only else POLL_S

    async def _look_often(self) -> None:
        """Look until the last window is closed; each look lets all windows go on."""
        while self._windows:
            try:
                pause_s = await self.reads.call(self._look_once)
            except (sqlite3.Error, AdememError, OSError):  # the next page tells it
                pause_s = SELDOM_S
            looked, self._looked = self._looked, asyncio.Event()
            looked.set()
            await asyncio.sleep(pause_s)
