"""Merge memories that say the same in the same words.

Nearly the same words may say the opposite: those are for a person to merge. A merge says
what one of its members says, which a person confirmed: no new wording is made here.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import chain
from typing import Any

from ademem.capture.gate.rows import free_sync_id, id_of, least_trusted
from ademem.core.anchor import merge_anchors
from ademem.core.clock import stamp
from ademem.core.failure_log import describe
from ademem.core.memory import Memory
from ademem.core.settings import Settings
from ademem.core.shared_files import locked
from ademem.core.text import dedupe_key, have_same_words, unique
from ademem.core.value import Value, replace
from ademem.store import (
    Store,
    embeddings,
    jobs,
    judged_texts,
    maintenance,
    memories,
    memory_queries,
    transitions,
)
from ademem.store.maintenance import ADEMEM, UNAVAILABLE, LoggedRun
from ademem.store.memories import Change
from ademem.store.runtime import Runtime

SOURCE = "consolidation"


class Merged(Value):
    id: str
    """Id of the new memory; empty for a dry run."""
    content: str
    members: tuple[str, ...]


class Consolidated(Value):
    id: str = ""
    """The event for `ademem undo`; empty for a dry run and when nothing was merged."""
    outcome: str = "ok"
    """ok | embeddings-unavailable | failed."""
    clusters: int = 0
    """Groups of two or more that mean nearly the same."""
    merged: int = 0
    created: int = 0
    merges: tuple[Merged, ...] = ()


class ConsolidationRun(Value):
    store: Store
    settings: Settings
    model: str
    trigger: str = "manual"


def consolidate_locked(
    runtime: Runtime, run: ConsolidationRun, now: Callable[[], datetime]
) -> Consolidated:
    """Consolidate after any other process that sweeps or consolidates has finished."""
    project = runtime.project
    with locked(os.path.join(project.home, "run", "lifecycle.lock"), root=project.home_root):
        return consolidate(run, now)


def preview(run: ConsolidationRun) -> Consolidated:
    """Return the result of a consolidation; nothing is written."""
    plan = _plan(run)
    if plan is None:
        return Consolidated(outcome=UNAVAILABLE)
    merges = [
        Merged(id="", content=members[0].content, members=tuple(each.id for each in members))
        for members in (merge.members for merge in plan.merges)
    ]
    return _result("", plan, merges)


def consolidate(run: ConsolidationRun, now: Callable[[], datetime]) -> Consolidated:
    """Merge, and log the run."""
    id, started, error = memories.new_event(), now(), None
    done = Consolidated(outcome="failed")
    try:
        plan = _plan(run)
        if plan is None:
            done = Consolidated(outcome=UNAVAILABLE)
        else:
            at = now()
            with run.store.transaction():
                tried = (merge(planned, id, run.store, at) for planned in plan.merges)
                merges = [made for made in tried if made]
                if merges:
                    jobs.follow(run.store, at)
            done = _result(id if merges else "", plan, merges)
    except Exception as failure:
        error = describe(failure)[: jobs.ERROR_CHARS]
        raise
    finally:
        log = LoggedRun(
            id=id,
            trigger_reason=run.trigger,
            started_at=stamp(started),
            completed_at=stamp(now()),
            outcome=done.outcome,
            error=error,
            counts={"found": done.clusters, "merged": done.merged, "created": done.created},
        )
        maintenance.log_consolidation(run.store, log)
    return done


def _result(id: str, plan: Plan, merges: Sequence[Merged]) -> Consolidated:
    return Consolidated(
        id=id,
        clusters=plan.clusters,
        merged=sum(len(merge.members) for merge in merges),
        created=len(merges),
        merges=tuple(merges),
    )


def merge(planned: PlannedMerge, run: str, store: Store, now: datetime) -> Merged | None:
    """Replace the members by a new memory with the first one's text; None when one changed."""
    members = planned.members
    for memory in members:
        today = memory_queries.by_id(store, memory.id)
        if today is None or today.pinned or today.revision_count != memory.revision_count:
            return None
        if judged_texts.find_instruction_in(store, memory):
            return None
    row = _row(members, run, store, now)
    change = Change(operation="supersede", actor=ADEMEM, at=now, event_id=run)
    for memory in members:
        superseded = replace(
            memory,
            **transitions.archived(superseded_by=row.id),
            last_accessed_at=memory.last_accessed_at,
        )
        memories.update(store, superseded, replace(change, reason=f"merged into {row.id}"))
    reason = f"merged from {' '.join(memory.id for memory in members)}"
    row = memories.insert(store, row, replace(change, operation="insert", reason=reason))
    return Merged(id=row.id, content=row.content, members=tuple(each.id for each in members))


def _row(members: Sequence[Memory], run: str, store: Store, now: datetime) -> Memory:
    """Take the best value of each field, but the trust of the least trusted."""
    first = members[0]
    key = (SOURCE, first.content, *sorted(memory.sync_id for memory in members))
    sync_id = free_sync_id(store, *key)

    def values(name: str) -> list[Any]:
        """Return a field of all members."""
        return [getattr(memory, name) for memory in members]

    return replace(
        first,
        seq=0,
        id=id_of(sync_id),
        sync_id=sync_id,
        dedupe_key=dedupe_key(first.content),
        tier=min(values("tier")),
        importance=max(values("importance"), key=lambda each: each.weight),
        confidence=max(values("confidence")),
        observation_count=sum(values("observation_count")),
        trust=least_trusted(values("trust")),
        claimed_author=max(
            (author for author in values("claimed_author") if author is not None),
            default=None,
        ),
        source_type=SOURCE,
        source_id=run,
        source_session_id=None,
        source_run_id=None,
        anchors=merge_anchors((), list(chain.from_iterable(values("anchors")))),
        tags=unique(chain.from_iterable(values("tags"))),
        revision_count=1,
        access_score=max(values("used")),
        base_score=None,
        access_count=sum(values("access_count")),
        last_accessed_at=max(values("last_accessed_at")),
        created_at=min(values("created_at")),
        updated_at=now,
        promoted_at=min(promoted_at or now for promoted_at in values("promoted_at")),
    )


COMPARED = 20_000
"""Most memories of one group that are compared with each other: the newest."""
MERGE_COSINE = 0.85
MERGED = 3
"""Memories with the same meaning that are merged."""


class PlannedMerge(Value):
    """Memories that become one; the first has the best text for all of them."""

    members: tuple[Memory, ...]


class Plan(Value):
    clusters: int
    merges: tuple[PlannedMerge, ...]


def _plan(run: ConsolidationRun) -> Plan | None:
    """Compare promoted memories of the same scope, owner, category, branch and files.

    None when there are memories to compare but no vectors.
    """
    store = run.store
    if not embeddings.has_any(store, run.model) and maintenance.any_comparable(store):
        return None
    from ademem.search.dense import find_neighbours

    clusters = 0
    merges: list[PlannedMerge] = []
    for group in _group_comparable(run):
        near = find_neighbours([vector for _, vector in group], MERGE_COSINE)
        clusters += _count_clusters(near)
        merges += _merges([one for one, _ in group], near)
    return Plan(clusters=clusters, merges=tuple(merges))


def _group_comparable(run: ConsolidationRun) -> Iterator[list[tuple[Memory, bytes]]]:
    groups: dict[tuple[str | None, ...], list[tuple[Memory, bytes]]] = {}
    for memory, vector in maintenance.comparable(run.store, run.model):
        place = (memory.source_branch, memory.file_scope_pattern)
        home = (memory.scope, memory.scope_owner_id, memory.category, *place)
        groups.setdefault(home, []).append((memory, vector))
    for whole in groups.values():
        yield whole[-COMPARED:]


def _count_clusters(near: Sequence[Mapping[int, float]]) -> int:
    """Count memories with their neighbours, the largest group first, each in one group."""
    count, left = 0, {at for at, others in enumerate(near) if others}
    for at in sorted(left, key=lambda at: (-len(near[at]), at)):
        if at in left and left & near[at].keys():
            count += 1
            left -= {at, *near[at]}
    return count


def _merges(group: Sequence[Memory], near: Sequence[Mapping[int, float]]) -> Iterator[PlannedMerge]:
    """Yield the largest merge first, each around the memory that covers what its members say.

    *near* has by position the positions of near memories, with the cosine.
    """
    free = set(range(len(group)))
    same = {
        at: [
            other
            for other in near[at]
            if have_same_words(group[at].whole_text, group[other].whole_text)
        ]
        for at in free
    }

    def fitness(at: int) -> tuple[float, ...]:
        others = [other for other in same[at] if other in free]
        likeness = sum(near[at][other] for other in others)
        return len(others), likeness, group[at].confidence, -at

    while free:
        centre = max(free, key=fitness)
        members = [centre, *(other for other in same[centre] if other in free)]
        if len(members) < MERGED:
            break
        yield PlannedMerge(members=tuple(group[at] for at in members))
        free -= set(members)
