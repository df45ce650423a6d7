"""Acts on memories: revisions, the log, the memories of a moment, and undo."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import datetime
from itertools import groupby
from typing import Any

from ademem.api.curation import act
from ademem.core.clock import parse, stamp
from ademem.core.errors import FORBIDDEN, NoSuchMemory, NotFound
from ademem.core.memory import Memory, Trust
from ademem.core.value import Value, replace
from ademem.store import Store, jobs, memories, procedures, revisions
from ademem.store.memories import Change
from ademem.store.revisions import Revision
from ademem.store.runtime import Runtime
from ademem.store.transitions import BY_PERSON, Act, CannotDo


class NoSuchEvent(NotFound):
    hint = "`ademem log` shows the events"

    def __init__(self, id: str) -> None:
        super().__init__(f"no event has the id {id!r}")


class Event(Value):
    """One act and all the changes it made."""

    id: str
    at: datetime
    actor: str
    session_id: str | None
    operations: dict[str, int]
    """How many memories it inserted, merged, archived, …"""
    memories: tuple[str, ...]
    """Their ids, in the order they were changed."""
    text: str
    """Content of the first one after the act; empty when it was deleted for good."""


QUARANTINED = "(in quarantine; `ademem review` shows it)"
"""Text of a quarantined memory in the log."""


def list_revisions(runtime: Runtime, id: str) -> list[dict[str, Any]]:
    """Return all revisions of a memory, oldest first; of a hard-deleted one the end remains."""
    try:
        id = memories.get(runtime.store, id).id
    except NoSuchMemory:
        if not memories.revisions(runtime.store, id):
            raise
    return memories.revisions(runtime.store, id)


def list_events(runtime: Runtime, limit: int = 20) -> list[Event]:
    """Return the acts on memories, newest first."""
    newest = revisions.of_events(runtime.store, revisions.newest_events(runtime.store, limit))
    events = [_event(list(rows)) for _, rows in groupby(newest, key=lambda row: row.event_id)]
    return events[::-1]


def list_at(runtime: Runtime, moment: datetime) -> list[Memory]:
    """Return the live memories of that moment, newest first, but no quarantined ones."""
    then = (each.memory() for each in revisions.list_latest(runtime.store, stamp(moment)))
    shown = (memory for memory in then if not memory.hidden)
    live = [memory for memory in shown if memory.live and not memory.quarantine_reason]
    return sorted(live, key=lambda memory: (memory.created_at, memory.seq), reverse=True)


def undo(runtime: Runtime, event: str, *, dry_run: bool = False) -> list[Memory]:
    """Undo a whole act, even an undo."""
    return undo_event(event, act(runtime), dry_run=dry_run)


def undo_event(event: str, act: Act, *, dry_run: bool = False) -> list[Memory]:
    """Restore every memory that the event changed to its state before, last change first.

    Raises NoSuchEvent, or CannotDo when one of them was changed since or is deleted for good.
    """
    from ademem.synthesis.procedures.records import undo_details

    change = Change(
        operation="undo",
        actor=act.actor,
        at=act.now,
        session_id=act.session_id,
        reason=f"takes back {event}",
        event_id=memories.new_event(),
    )
    with act.store.transaction():
        changed = revisions.of_events(act.store, [event])
        if not changed:
            raise NoSuchEvent(event)
        _check_untouched(changed, act.store)
        if dry_run:
            return [memories.get(act.store, id) for id in _ids(changed)]
        try:
            restored = [_put_back(revision, change, act.store) for revision in reversed(changed)]
        except sqlite3.IntegrityError as error:
            if str(error) in FORBIDDEN:
                raise
            raise CannotDo(
                "another live memory says the same by now", "`ademem recall` finds it"
            ) from error
        procedures.undo_outcomes(act.store, event, change.event_id)
        undo_details(act.store, restored)
        jobs.follow(act.store, act.now)
    return restored


def _event(rows: Sequence[Revision]) -> Event:
    first = rows[0]
    return Event(
        id=first.event_id,
        at=parse(first.created_at),
        actor=first.actor,
        session_id=first.session_id,
        operations=dict(Counter(row.operation for row in rows)),
        memories=_ids(rows),
        text=QUARANTINED if first.snapshot["quarantine_reason"] else str(first.snapshot["content"]),
    )


def _ids(rows: Iterable[Revision]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(row.memory_id for row in rows))


def _check_untouched(changed: Sequence[Revision], store: Store) -> None:
    """Raise CannotDo unless each memory is as the event left it, or is so again."""
    for left in {revision.memory_id: revision for revision in changed}.values():
        if left.operation == "delete" and not left.snapshot["content"]:
            raise CannotDo(f"{left.memory_id} was deleted for good", "nothing of it is left")
        now = revisions.last(store, left.memory_id)
        if now.compared != left.compared:
            raise CannotDo(
                f"{left.memory_id} was changed since ({now.operation})",
                f"`ademem undo {now.event_id}` takes that back first",
            )


def _put_back(revision: Revision, change: Change, store: Store) -> Memory:
    """Restore a memory to its state before the revision; one inserted by it is deleted."""
    memory = memories.get(store, revision.memory_id)
    before = revisions.before(store, revision)
    if before is None:
        earlier = replace(memory, deleted_at=change.at, pinned=False)
    else:
        earlier = replace(memory, **before.fields(), last_accessed_at=change.at)
        _check_orders(earlier, change)
    return memories.put_back(store, earlier, change)


def _check_orders(memory: Memory, change: Change) -> None:
    """Raise CannotDo where an agent would restore a confirmed text that reads as an order."""
    if change.actor == Trust.USER or not memory.live or memory.quarantine_reason:
        return
    from ademem.guard.injection import order_of

    reason = order_of(memory.title, memory.content)
    if reason:
        raise CannotDo(f"{memory.id} needs a person, as its earlier text {reason}", BY_PERSON)
