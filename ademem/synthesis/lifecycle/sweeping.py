"""One sweep: look at all that is live, decide, and write what moves in short transactions."""

from __future__ import annotations

import os
import sqlite3
from collections import Counter

from ademem.core.failure_log import in_words
from ademem.core.locks import locked
from ademem.core.memory import Importance, Status, Tier
from ademem.core.value import Value, replace
from ademem.guard.injection import order_in
from ademem.store import ageing, jobs, memories, memory_queries, relations, unreadable
from ademem.store.ageing import ADEMEM
from ademem.store.memories import Change
from ademem.synthesis.lifecycle.entry import ARCHIVE, DEMOTE, PROMOTE, REVIVE, Entry
from ademem.synthesis.lifecycle.passes import PASSES, score

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence
    from datetime import datetime
    from typing import Any, TypeVar

    from ademem.core.settings import LifecycleSettings
    from ademem.store import Store
    from ademem.store.runtime import Runtime

    T = TypeVar("T")

CHUNK = 250
"""Memories that one transaction changes: others who write wait for no more than that."""
SAME = 1e-9
"""Scores that differ by less are not written."""
NOUNS = {PROMOTE: "promoted", REVIVE: "promoted", DEMOTE: "demoted", ARCHIVE: "archived"}
"""Under which name the log counts an act."""


class Move(Value):
    """What a sweep does to one memory, and why."""

    id: str
    act: str
    """promote | revive | demote | archive."""
    scope: str
    owner: str | None
    category: str
    before: str
    """Status and tier, such as `promoted 2`."""
    after: str
    score: float
    idle_days: float
    why: str


class Swept(Value):
    id: str
    """The event that `ademem undo` takes back; empty: nothing was to be moved, or a dry run."""
    decayed: int
    demoted: int
    promoted: int
    archived: int
    orphaned: int
    """Of the archived, those of a mission that is over."""
    moves: tuple[Move, ...]


def planned(store: Store, settings: LifecycleSettings, now: datetime) -> Swept:
    """What a sweep at this moment would do; nothing is written."""
    before, after = _passed(store, settings, now)
    moves = [_move(old, new, settings) for old, new in zip(before, after, strict=True) if new.act]
    decayed = sum(_has_decayed(*pair) for pair in zip(before, after, strict=True))
    return _swept("", decayed, [entry for entry in after if entry.act], moves)


def sweep_alone(runtime: Runtime, now: datetime, *, trigger: str = "manual") -> Swept:
    """Sweep the project when no other process does; one that is at it is waited for."""
    project = runtime.project
    with locked(os.path.join(project.home, "run", "lifecycle.lock"), root=project.home_root):
        return sweep(runtime.store, runtime.settings.lifecycle, now, trigger=trigger)


def sweep(
    store: Store, settings: LifecycleSettings, now: datetime, *, trigger: str = "manual"
) -> Swept:
    """Age the store and log how it went; one that was killed before goes on under its own id."""
    id = ageing.begin(store, memories.new_event(), trigger, now)
    try:
        swept = _carried_out(id, store, settings, now)
    except Exception as error:
        told = in_words(error)
        ageing.end(store, id, "failed", told[: jobs.ERROR_CHARS], now)
        raise
    ageing.end(store, id, "ok", None, now)
    return swept


def _carried_out(id: str, store: Store, settings: LifecycleSettings, now: datetime) -> Swept:
    before, after = _passed(store, settings, now)
    scores = [
        (new.access_score, new.seq, new.last_accessed_at)
        for old, new in zip(before, after, strict=True)
        if _has_decayed(old, new)
    ]
    for chunk in _chunks(scores):
        with store.transaction():
            ageing.decay(store, chunk)
            ageing.count(store, id, {"decayed": len(chunk)})
    done: list[tuple[Entry, Entry]] = []
    for pairs in _chunks([pair for pair in zip(before, after, strict=True) if pair[1].act]):
        with store.transaction():
            moved = [pair for pair in pairs if _written(*pair, id, store, now)]
            ageing.count(store, id, _counts([entry for _, entry in moved]))
            if moved:
                jobs.follow(store, now)
        done += moved
    moves = [_move(old, new, settings) for old, new in done]
    return _swept(id if done else "", len(scores), [new for _, new in done], moves)


def _passed(
    store: Store, settings: LifecycleSettings, now: datetime
) -> tuple[list[Entry], list[Entry]]:
    """The live memories as they are and as all passes leave them, in the same order."""
    outdated = relations.all_outdated(store)
    before = unreadable.read_rows(
        ageing.rows(store),
        lambda row: _entry(row, outdated, now),
        memories.TABLE,
        lambda row: row["id"],
    )
    after = before
    for step in PASSES:
        after = step(after, settings)
    return before, after


def _written(old: Entry, new: Entry, id: str, store: Store, now: datetime) -> bool:
    """Whether it was still as it was looked at; if not, the next sweep looks again."""
    memory = memory_queries.by_seq(store, new.seq)
    if (
        memory is None
        or memory.revision_count != old.revision
        or memory.access_count != old.access_count
        or memory.pinned
    ):
        return False
    if new.status == Status.PROMOTED != old.status and (order := order_in(memory)):
        why = f"quarantined, as it {order}"
        change = Change(operation="edit", actor=ADEMEM, at=now, reason=why, event_id=id)
        memories.update(store, replace(memory, quarantine_reason=order), change)
        return False
    change = Change(operation=new.act, actor=ADEMEM, at=now, reason=new.why, event_id=id)
    status = Status(new.status)
    promoted_at = memory.promoted_at or (now if status is Status.PROMOTED else None)
    after = replace(memory, status=status, tier=Tier(new.tier), promoted_at=promoted_at)
    if new.status == old.status:
        memories.put_back(store, after, change)  # who said it, and when, is as it was
    else:
        memories.update(store, after, change)
    return True


def _entry(row: sqlite3.Row, outdated: Collection[int], now: datetime) -> Entry:
    """Raises ValueError or TypeError for what no memory can hold."""
    row["confidence"] + row["access_score"] + row["access_count"] + (row["base_score"] or 0)
    return Entry(
        seq=row["seq"],
        id=row["id"],
        scope=row["scope"],
        owner=row["scope_owner_id"],
        category=row["category"],
        status=row["status"],
        tier=row["tier"],
        pinned=bool(row["pinned"]),
        quarantined=row["quarantine_reason"] is not None,
        weight=Importance(row["importance"]).weight,
        confidence=row["confidence"],
        base=row["access_score"] if row["base_score"] is None else row["base_score"],
        access_score=row["access_score"],
        access_count=row["access_count"],
        origins=row["origins"],
        witnesses=row["witnesses"],
        idle_days=ageing.idle_days(row, now),
        contradicted=row["seq"] in outdated,
        used_since_faded=bool(row["used_since_faded"]),
        in_live_mission=bool(row["in_live_mission"]),
        of_ended_mission=bool(row["of_ended_mission"]),
        revision=row["revision_count"],
        created_at=row["created_at"],
        last_accessed_at=row["last_accessed_at"],
    )


def _has_decayed(old: Entry, new: Entry) -> bool:
    return abs(old.access_score - new.access_score) > SAME


def _move(old: Entry, new: Entry, settings: LifecycleSettings) -> Move:
    return Move(
        id=new.id,
        act=new.act,
        scope=new.scope,
        owner=new.owner,
        category=new.category,
        before=f"{old.status} {old.tier}",
        after=f"{new.status} {new.tier}",
        score=round(score(old, settings), 4),
        idle_days=round(old.idle_days, 1),
        why=new.why,
    )


def _counts(entries: Sequence[Entry]) -> dict[str, int]:
    orphaned = sum(entry.act == ARCHIVE and entry.of_ended_mission for entry in entries)
    return Counter(NOUNS[entry.act] for entry in entries) | {"orphaned": orphaned}


def _swept(id: str, decayed: int, entries: Sequence[Entry], moves: Sequence[Move]) -> Swept:
    counts: dict[str, Any] = dict.fromkeys(NOUNS.values(), 0) | _counts(entries)
    return Swept(id=id, decayed=decayed, **counts, moves=tuple(moves))


def _chunks(items: Sequence[T]) -> Iterator[Sequence[T]]:
    return (items[at : at + CHUNK] for at in range(0, len(items), CHUNK))
