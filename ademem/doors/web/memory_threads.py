"""Open memories of the page's projects: for each one thread that reads and one that acts."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable, Coroutine, Mapping
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from typing import Any, TypeVar

from ademem import api
from ademem.core import clock, confined, trust
from ademem.core.client import SESSION
from ademem.core.errors import UnusableStore
from ademem.doors.web.check import Check
from ademem.doors.web.live import Live
from ademem.store import schema_version
from ademem.store.ledger import file_state
from ademem.store.runtime import Runtime

Result = TypeVar("Result")


class MemoryThread:
    """The only thread that uses its open memory, as SQLite wants it."""

    def __init__(
        self,
        root: str,
        environment: Mapping[str, str],
        *,
        writes: bool,
        now: Callable[[], datetime] = clock.now,
    ) -> None:
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
            return function(memories)
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
            self._memories = api.open_memories(
                self._root,
                environment=self._environment,
                now=self._now,
                catch_up=self._writes,
                with_personal=False,
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
    """A project of the page."""

    def __init__(
        self,
        root: str,
        environment: Mapping[str, str],
        now: Callable[[], datetime] = clock.now,
    ) -> None:
        found = api.find_project(root, environment=environment)
        assert found  # as it was named
        self.root, self.name = found.root, found.name
        outside = {key: value for key, value in environment.items() if key != SESSION}
        self.reads = MemoryThread(found.root, outside, writes=False, now=now)
        self.acts = MemoryThread(found.root, environment, writes=True, now=now)
        self.live = Live(self.reads)
        self.check = Check(found.root, outside, now, self.live.announce)
        self.repairs: list[str] = []
        """Lines of the last fix."""

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
