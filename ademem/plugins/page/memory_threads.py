"""Open memories of the page's projects: for each one thread that reads and one that acts."""

from __future__ import annotations

import asyncio
import json
import sqlite3
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from threading import Lock, Thread
from typing import Any, TypeVar

from ademem import operations
from ademem.core import clock, confined, process, trust
from ademem.core.actor import NOT_ASKED, Who
from ademem.core.client import SESSION
from ademem.core.errors import AdememError, UnusableStore
from ademem.core.value import Value
from ademem.doors.undoable import Done
from ademem.operations import reports
from ademem.operations.doctor import Finding
from ademem.store import schema_version
from ademem.store.ledger import file_state
from ademem.store.runtime import Runtime, program
from ademem.store.statistics import Change, Position

Now = Callable[[], datetime]


class Check:
    def __init__(
        self, root: str, environment: Mapping[str, str], now: Now, announce: Callable[[str], None]
    ) -> None:
        self._root, self._environment, self._now, self._announce = root, environment, now, announce
        self._lock, self._is_wanted = Lock(), False
        self.findings: list[Finding] = []
        self.at: datetime | None = None
        self.failure = ""
        self.is_running = False

    def start(self) -> None:
        """Start a check; one that runs already is followed by another."""
        with self._lock:
            self._is_wanted = True
            if self.is_running:
                return
            self.is_running = True
        Thread(target=self._run, daemon=True).start()

    def _take_order(self) -> bool:
        with self._lock:
            self.is_running, self._is_wanted = self._is_wanted, False
            return self.is_running

    def _run(self) -> None:
        while self._take_order():
            command = [program(self._environment), "doctor", "--json", "--project", self._root]
            try:
                ran = process.run(command, timeout_s=900, environment=self._environment)
                found = json.loads(ran.output or b"null")
            except (OSError, ValueError) as error:
                found, self.failure = None, str(error)
            else:
                self.failure = "" if found else ran.last_error
            if found:
                self.findings = [Finding(**each) for each in found["findings"]]
                self.at = self._now()
        self._announce("check")


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
        self._announced: list[Change] = []
        self._windows = 0
        self._poll: asyncio.Task[None] | None = None
        self._looked = asyncio.Event()

    def look(self, memories: Runtime) -> int:
        """Add what was written since the last look; return the id of the last event.

        The reading thread calls it: a page has all that its id covers.
        """
        self._position, changes = reports.find_changes(memories, self._position)
        changes += [self._announced.pop(0) for _ in [*self._announced]]
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
        self._announced.append(Change(kind=kind, count=0, sessions={}))

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
        return SELDOM_S if memories.is_read_only else 0.25

    async def _look_often(self) -> None:
        while self._windows:
            try:
                pause_s = await self.reads.call(self._look_once)
            except (sqlite3.Error, AdememError, OSError):  # the next page tells it
                pause_s = SELDOM_S
            looked, self._looked = self._looked, asyncio.Event()
            looked.set()
            await asyncio.sleep(pause_s)


Result = TypeVar("Result")


class MemoryThread:
    """The only thread that uses its open memory, as SQLite wants it."""

    def __init__(
        self,
        root: str,
        environment: Mapping[str, str],
        *,
        writes: bool,
        now: Now = clock.now,
        by: Who = NOT_ASKED,
    ) -> None:
        self._by = by
        self._root, self._environment, self._writes, self._now = root, environment, writes, now
        self._pool = ThreadPoolExecutor(max_workers=1)
        self._memories: Runtime | None = None
        self._opened: tuple[object, ...] = ()

    async def call(self, function: Callable[[Runtime], Result]) -> Result:
        """Run the function with the open memory; not at all if the caller is cancelled before."""
        return await asyncio.wrap_future(self._pool.submit(self._run, function))

    async def call_until(
        self, end: Coroutine[Any, Any, None], function: Callable[[Runtime], Result]
    ) -> Result | None:
        """Run the function; at the *end*, give up what has not begun, and return None."""
        working, ending = asyncio.ensure_future(self.call(function)), asyncio.ensure_future(end)
        await asyncio.wait((working, ending), return_when=asyncio.FIRST_COMPLETED)
        ending.cancel()
        if working.done():
            return working.result()
        working.cancel()
        return None

    def open(self) -> None:
        """Open the memory in its thread, which imports what waits; raises as opening does."""
        self._pool.submit(self._run, lambda _: None).result()

    def _run(self, function: Callable[[Runtime], Result]) -> Result:
        try:
            memories = self._open()
            memories.now = memories.clock()
            result = function(memories)
            if self._writes:
                operations.start_worker(memories)
            return result
        except (sqlite3.Error, UnusableStore, OSError):
            self._close()  # the next call sees the files as they are then
            raise
        finally:
            if self._memories and self._memories.is_read_only:
                self._close()  # a copy, of which the next call may need a newer one

    def close(self) -> None:
        self._pool.submit(self._close)
        self._pool.shutdown()

    def _open(self) -> Runtime:
        if self._memories and self._opened != _identify(self._memories):
            self._close()
        if self._memories is None:
            self._memories = operations.open_memories(
                self._root,
                environment=self._environment,
                now=self._now,
                catch_up=self._writes,
                with_personal=False,
                by=self._by,
            )
            if not self._writes:
                self._memories.before_close = None
            self._opened = _identify(self._memories)
        return self._memories

    def _close(self) -> None:
        if self._memories:
            self._memories.close()
        self._memories = None


class OpenProject:
    def __init__(
        self,
        root: str,
        environment: Mapping[str, str],
        now: Now = clock.now,
        by: Who = NOT_ASKED,
    ) -> None:
        found = operations.find_project(root, environment=environment)
        assert found  # as it was named
        self.root, self.name = found.root, found.name
        outside = {key: value for key, value in environment.items() if key != SESSION}
        self.reads = MemoryThread(found.root, outside, writes=False, now=now, by=by)
        self.acts = MemoryThread(found.root, environment, writes=True, now=now, by=by)
        self.live = Live(self.reads)
        self.check = Check(found.root, outside, now, self.live.announce)
        self.repairs: list[str] = []
        """Lines of the last fix."""
        self.done: list[Done] = []
        self.undone: list[Done] = []

    def close(self) -> None:
        self.reads.close()
        self.acts.close()


def _identify(memories: Runtime) -> tuple[object, ...]:
    """Return what tells database and settings from others in their places."""
    project = memories.project
    files = (project.config, project.local_config, trust.config_path(memories.environment))
    settings = tuple(map(file_state, files))
    there = confined.status(memories.project.home_root, memories.project.database)
    place = (there.st_dev, there.st_ino) if there else ()
    return *place, schema_version(memories.store), settings
