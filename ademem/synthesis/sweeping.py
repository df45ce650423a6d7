"""Age the store: demote, revive and archive live memories, in short transactions.

Nothing here confirms a memory, and nothing archives what a person said or confirmed.
"""

from __future__ import annotations

import os
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from typing import Any, NamedTuple, TypeVar

from ademem.core.clock import days_between, parse
from ademem.core.failure_log import describe
from ademem.core.memory import (
    STAGE_DAYS,
    STATEMENTS,
    Category,
    Importance,
    Stage,
    Status,
    Tier,
    decayed,
)
from ademem.core.settings import LifecycleSettings
from ademem.core.shared_files import locked
from ademem.core.value import Value, replace
from ademem.store import (
    Store,
    database,
    injections,
    jobs,
    maintenance,
    memories,
    memory_queries,
    transitions,
)
from ademem.store.maintenance import ADEMEM
from ademem.store.memories import Change
from ademem.store.runtime import Runtime

T = TypeVar("T")

CHUNK = 250
"""Memories that one transaction changes, so that other writers wait no longer than that."""
DEMOTE_SCORE = 0.05
"""Score below which an active memory fades, however recently it was used."""
ARCHIVE_SCORE = 0.005
"""Score below which a fading memory or a candidate is archived."""
WEAK_CONFIDENCE = 0.3
WEAK_DAYS = 30.0
"""A candidate with less confidence is archived after so many days without access."""
SCORE_TOLERANCE = 1e-9
EVERGREEN = (Category.PREFERENCE, Category.CONVENTION)

REVIVE, DEMOTE, ARCHIVE = "revive", "demote", "archive"
"""Transitions of a sweep, by the names that revisions have."""
COUNTED_AS = {REVIVE: "promoted", DEMOTE: "demoted", ARCHIVE: "archived"}
"""Column of the log of sweeps for each transition."""


class AgingMemory(NamedTuple):
    """A live memory in a sweep, as far as the passes changed it; small, as a million may be."""

    id: str
    scope: str
    owner: str | None
    category: str
    status: str
    tier: int
    pinned: bool
    quarantined: bool
    weight: float
    confidence: float
    base: float
    """Access score at the last access."""
    access_score: float
    access_count: int
    stage: str
    of_agent: bool
    """Agents of this person wrote it; no import and no file of others brought it."""
    has_file: bool
    """A file of the client has it; while that lives it has no age."""
    of_person: bool
    """A person said it, or marked it to stop calls."""
    idle_days: float
    unchanged_days: float
    """Days since the last change, or the last piece of evidence."""
    is_used: bool
    """It answered a question, or a session did something with it."""
    used_since_faded: bool
    in_live_mission: bool
    of_ended_mission: bool
    revision: int
    created_at: str
    last_accessed_at: str
    transition: str = ""
    why: str = ""

    @property
    def is_exempt(self) -> bool:
        return self.pinned or self.tier == Tier.PINNED or self.in_live_mission

    @property
    def ages(self) -> bool:
        is_evergreen = self.category in EVERGREEN and self.status == Status.PROMOTED
        return not (self.is_exempt or is_evergreen)

    @property
    def stays(self) -> bool:
        """True for what no age and no limit archives, wherever the settings come from."""
        return self.is_exempt or self.of_person or self.status == Status.PROMOTED

    @property
    def waits_for_evidence(self) -> bool:
        is_open = self.status == Status.CANDIDATE and not (self.quarantined or self.has_file)
        is_idle = is_open and not self.is_used
        return is_idle and self.of_agent and self.category in STATEMENTS

    @property
    def is_archived(self) -> bool:
        return self.status == Status.ARCHIVED

    def moved(
        self, transition: str, why: str, tier: Tier, status: Status | None = None
    ) -> AgingMemory:
        return self._replace(
            transition=transition,
            why=f"{self.why}; then {why}" if self.why else why,
            tier=int(tier),
            status=status.value if status else self.status,
        )

    def archived(self, why: str) -> AgingMemory:
        return self.moved(ARCHIVE, why, Tier.FADING, Status.ARCHIVED)

    def has(self, status: Status, tier: Tier) -> bool:
        return self.status == status and self.tier == tier and not self.is_exempt


def revive(memory: AgingMemory, settings: LifecycleSettings) -> AgingMemory:
    if memory.used_since_faded and memory.has(Status.PROMOTED, Tier.FADING):
        return memory.moved(REVIVE, "recalled since it faded", Tier.ACTIVE)
    return memory


def decay(memory: AgingMemory, settings: LifecycleSettings) -> AgingMemory:
    if memory.in_live_mission:
        return memory
    return memory._replace(access_score=_decay(memory.base, memory, settings))


def demote(memory: AgingMemory, settings: LifecycleSettings) -> AgingMemory:
    if memory.ages and memory.has(Status.PROMOTED, Tier.ACTIVE):
        if memory.idle_days >= settings.demote_days:
            return memory.moved(DEMOTE, _idle(memory), Tier.FADING)
        if (left := score(memory, settings)) < DEMOTE_SCORE:
            return memory.moved(DEMOTE, f"a score of {left:.3f}", Tier.FADING)
    return memory


def archive(memory: AgingMemory, settings: LifecycleSettings) -> AgingMemory:
    if memory.stays or memory.is_archived:
        return memory
    if memory.waits_for_evidence and memory.unchanged_days >= STAGE_DAYS[Stage(memory.stage)]:
        return memory.archived(f"{memory.stage}, no evidence in {memory.unchanged_days:.0f} days")
    if memory.confidence < WEAK_CONFIDENCE and memory.idle_days >= WEAK_DAYS:
        return memory.archived(f"a confidence of {memory.confidence:.2f}, {_idle(memory)}")
    if memory.idle_days >= settings.archive_days:
        return memory.archived(_idle(memory))
    if (left := score(memory, settings)) < ARCHIVE_SCORE:
        return memory.archived(f"a score of {left:.4f}")
    return memory


PASSES: tuple[Callable[[AgingMemory, LifecycleSettings], AgingMemory], ...] = (
    revive,
    decay,
    demote,
    archive,
)
"""In this order a sweep after a long pause ends where daily ones would have."""


def enforce_limits(found: list[AgingMemory], settings: LifecycleSettings) -> list[AgingMemory]:
    by_owner: dict[tuple[str, str | None], list[AgingMemory]] = {}
    for memory in found:
        if not memory.is_archived and not memory.in_live_mission:
            by_owner.setdefault((memory.scope, memory.owner), []).append(memory)
    archived: dict[str, AgingMemory] = {}
    for (scope, _), held in by_owner.items():
        limit = settings.limit_of(scope)
        if limit and len(held) > limit:
            why = f"{len(held):,} memories where {limit:,} may be"
            lowest = _sort_lowest_first(held, settings)[: len(held) - limit]
            archived |= {memory.id: memory.archived(why) for memory in lowest}
    return [archived.get(memory.id, memory) for memory in found]


def _sort_lowest_first(
    held: Iterable[AgingMemory], settings: LifecycleSettings
) -> list[AgingMemory]:
    return sorted(
        (memory for memory in held if not memory.stays),
        key=lambda memory: (
            -memory.tier,
            score(memory, settings),
            memory.access_score,
            memory.last_accessed_at,
            memory.created_at,
            memory.id,
        ),
    )


def score(memory: AgingMemory, settings: LifecycleSettings) -> float:
    return _decay(max(memory.base, memory.weight, memory.confidence), memory, settings)


def _decay(value: float, memory: AgingMemory, settings: LifecycleSettings) -> float:
    if not memory.ages:
        return value
    return decayed(value, idle_days=memory.idle_days, half_life_days=settings.half_life_days)


def _idle(memory: AgingMemory) -> str:
    return f"not asked for in {memory.idle_days:.0f} days"


class Move(Value):
    id: str
    act: str
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
    """The event for `ademem undo`; empty for a dry run and when nothing moved."""
    decayed: int
    demoted: int
    promoted: int
    archived: int
    orphaned: int
    """Archived memories of ended missions."""
    moves: tuple[Move, ...]


Pair = tuple[AgingMemory, AgingMemory]
"""A memory before and after the passes."""


def preview_sweep(store: Store, settings: LifecycleSettings, now: datetime) -> Swept:
    rescored, moving = _run_passes(store, settings, now)
    return _summarize("", len(rescored), moving, settings)


def sweep_locked(runtime: Runtime, now: datetime, *, trigger: str = "manual") -> Swept:
    """Sweep, and prune texts for models, after other sweeps and consolidations have finished."""
    project = runtime.project
    with locked(os.path.join(project.home, "run", "lifecycle.lock"), root=project.home_root):
        injections.prune(runtime.store, runtime.settings.capture, now)
        return sweep(runtime.store, runtime.settings.lifecycle, now, trigger=trigger)


def sweep(
    store: Store,
    settings: LifecycleSettings,
    now: datetime,
    *,
    trigger: str = "manual",
) -> Swept:
    """Age the store and log the outcome; a sweep that was killed is continued under its id."""
    id = maintenance.begin_sweep(store, memories.new_event(), trigger, now)
    try:
        rescored, moving = _run_passes(store, settings, now)
        for chunk in _chunks(rescored):
            scores = [(each.access_score, each.id, each.last_accessed_at) for each in chunk]
            with store.transaction():
                maintenance.decay(store, scores)
                maintenance.count(store, id, {"decayed": len(scores)})
        done: list[Pair] = []
        for pairs in _chunks(moving):
            with store.transaction():
                moved = [pair for pair in pairs if _write(*pair, id, store, now)]
                maintenance.count(store, id, _count(moved))
                if moved:
                    jobs.follow(store, now)
            done += moved
    except Exception as error:
        maintenance.end_sweep(store, id, "failed", describe(error)[: jobs.ERROR_CHARS], now)
        raise
    maintenance.end_sweep(store, id, "ok", None, now)
    return _summarize(id if done else "", len(rescored), done, settings)


def _run_passes(
    store: Store, settings: LifecycleSettings, now: datetime
) -> tuple[list[AgingMemory], list[Pair]]:
    before = database.read_rows(maintenance.aging_rows(store), lambda row: _from_row(row, now))
    after = []
    for memory in before:
        for step in PASSES:
            memory = step(memory, settings)
        after.append(memory)
    pairs = list(zip(before, enforce_limits(after, settings), strict=True))
    rescored = [
        new for old, new in pairs if abs(old.access_score - new.access_score) > SCORE_TOLERANCE
    ]
    return rescored, [pair for pair in pairs if pair[1].transition]


def _write(old: AgingMemory, new: AgingMemory, id: str, store: Store, now: datetime) -> bool:
    """Return False for a memory that changed since it was read; the next sweep sees it again."""
    memory = memory_queries.by_id(store, new.id)
    if (
        memory is None
        or memory.revision_count != old.revision
        or memory.access_count != old.access_count
        or memory.pinned
    ):
        return False
    change = Change(operation=new.transition, actor=ADEMEM, at=now, reason=new.why, event_id=id)
    after = replace(memory, **transitions.aged(memory, Status(new.status), Tier(new.tier), now))
    if new.status == old.status:
        memories.put_back(store, after, change)  # keeps its author and time
    else:
        memories.update(store, after, change)
    return True


def _from_row(row: sqlite3.Row, now: datetime) -> AgingMemory:
    """Raises ValueError or TypeError for invalid values."""
    row["confidence"] + row["access_score"] + row["access_count"] + row["base"]
    return AgingMemory(
        **{name: row[name] for name in row.keys() if name in AgingMemory._fields},  # noqa: SIM118
        weight=Importance(row["importance"]).weight,
        idle_days=maintenance.idle_days(row, now),
        unchanged_days=max(0.0, days_between(parse(_last_sign(row)), now)),
    )


def _last_sign(row: sqlite3.Row) -> str:
    changed, evidence_at = str(row["updated_at"]), row["evidence_at"]
    return max(changed, str(evidence_at)) if evidence_at else changed


def _count(pairs: Sequence[Pair]) -> dict[str, int]:
    moved = [new for _, new in pairs]
    orphaned = sum(each.transition == ARCHIVE and each.of_ended_mission for each in moved)
    return Counter(COUNTED_AS[each.transition] for each in moved) | {"orphaned": orphaned}


def _summarize(id: str, decayed: int, pairs: Sequence[Pair], settings: LifecycleSettings) -> Swept:
    counts: dict[str, Any] = dict.fromkeys(COUNTED_AS.values(), 0) | _count(pairs)
    moves = [
        Move(
            id=new.id,
            act=new.transition,
            scope=new.scope,
            owner=new.owner,
            category=new.category,
            before=f"{old.status} {old.tier}",
            after=f"{new.status} {new.tier}",
            score=round(score(old, settings), 4),
            idle_days=round(old.idle_days, 1),
            why=new.why,
        )
        for old, new in pairs
    ]
    return Swept(id=id, decayed=decayed, **counts, moves=tuple(moves))


def _chunks(items: Sequence[T]) -> Iterator[Sequence[T]]:
    return (items[at : at + CHUNK] for at in range(0, len(items), CHUNK))
