"""`onMemoryUpserted`: a notification for each change of a memory, while a program subscribes."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from threading import Event, Thread
from typing import Any

from ademem.core import confined
from ademem.core.errors import AdememError
from ademem.core.project import Project
from ademem.plugins.ade import views
from ademem.store import memory_queries, revisions
from ademem.store.revisions import Revision
from ademem.store.runtime import Runtime

EVENT = "onMemoryUpserted"
SUBSCRIBE, UNSUBSCRIBE = "rpc.subscribe", "rpc.unsubscribe"
LOOK_S = 0.25
"""Between two looks at the files of the database."""
MOST = 500
"""Changes of one look; the next one tells the rest."""
CREATING = ("insert", "import", "adopt")

PARAMETERS = {
    "type": "object",
    "properties": {"event": {"enum": [EVENT]}},
    "required": ["event"],
    "additionalProperties": False,
}
SUMMARIES = {
    SUBSCRIBE: "Send a notification for each change of a memory from now on.",
    UNSUBSCRIBE: "Send none any more.",
}

Open = Callable[[], AbstractContextManager[Runtime]]
Notify = Callable[[str, dict[str, Any]], None]


class Subscription:
    """Tells one program of changes, from the one after its start until it is closed.

    Nothing is held open: what other processes commit shows at the files of the database.
    """

    def __init__(self, project: Project, open: Open, notify: Notify) -> None:
        self._project = project
        self._open, self._notify = open, notify
        self._ends = Event()
        self._thread: Thread | None = None

    def start(self) -> int:
        """Return the number of the last change that is not told; a second start changes nothing."""
        with self._open() as runtime:
            last = revisions.last_number(runtime.store)
        if self._thread is None:
            self._ends.clear()
            self._thread = Thread(target=self._follow, args=(last,), daemon=True)
            self._thread.start()
        return last

    def close(self) -> None:
        self._ends.set()
        if self._thread:
            self._thread.join()
        self._thread = None

    def _follow(self, last: int) -> None:
        seen: object = None
        while not self._ends.wait(LOOK_S):
            with suppress(AdememError, OSError):
                state = _state_of(self._project)
                if state == seen:
                    continue
                told = self._tell(last)
                seen, last = (state if told == last else None), told

    def _tell(self, last: int) -> int:
        """Tell changes after the one with this number; return that of the last one told."""
        with self._open() as runtime:
            end, changes = revisions.read_after(runtime.store, last, MOST)
            for change in changes:
                self._notify(EVENT, describe(runtime, change))
        return end


def describe(runtime: Runtime, change: Revision) -> dict[str, Any]:
    """Return a change with the memory as it is now, without it where no program may read it."""
    now = memory_queries.by_id(runtime.store, change.memory_id)
    before = revisions.before(runtime.store, change)
    contents = [each.snapshot.get("content") for each in (change, before) if each]
    told = {
        "id": change.memory_id,
        "change": change.operation,
        "created": before is None and change.operation in CREATING,
        "deduped": change.operation == "merge",
        "contentChanged": len(set(contents)) == len(contents),
        "origin": {"actor": change.actor, "sessionId": change.session_id},
        "at": change.created_at,
    }
    entry = views.entry(runtime, now) if now and not now.is_personal else None
    return told | ({"memory": entry} if entry else {})


def _state_of(project: Project) -> list[tuple[int, int] | None]:
    """Return time and size of the files that a commit writes."""
    names = (project.database, f"{project.database}-wal")
    found = [confined.status(project.root, name) for name in names]
    return [each and (each.st_mtime_ns, each.st_size) for each in found]
