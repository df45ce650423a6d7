"""One consolidation: look, ask for texts, write all of it in one transaction, log how it went."""

from __future__ import annotations

import os

from ademem.core.clock import stamp
from ademem.core.failure_log import in_words
from ademem.core.locks import locked
from ademem.core.value import Value
from ademem.store import consolidating, embeddings, jobs, memories, relations
from ademem.store.ageing import ADEMEM
from ademem.store.consolidating import UNAVAILABLE, Consolidation
from ademem.synthesis.lifecycle.consolidation import merging
from ademem.synthesis.lifecycle.consolidation.plan import Merge, planned

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime

    from ademem.core.memory import Memory
    from ademem.core.settings import Settings
    from ademem.store import Store
    from ademem.store.runtime import Runtime
    from ademem.synthesis.lifecycle.consolidation.plan import Contradiction, Plan

    Write = Callable[[Sequence[Memory]], str | None]
    """One text for several memories; None: nobody is there to write one."""


class Merged(Value):
    id: str
    """Of the new memory; empty while it is only planned."""
    content: str
    members: tuple[str, ...]


class Conflicting(Value):
    left: str
    right: str
    why: str


class Consolidated(Value):
    id: str
    """The event that `ademem undo` takes back; empty: nothing was merged, or a dry run."""
    outcome: str
    """ok | embeddings-unavailable."""
    clusters: int
    """Groups of two or more that mean nearly the same."""
    merged: int
    created: int
    merges: tuple[Merged, ...]
    conflicts: tuple[Conflicting, ...]
    """Those that nobody knew of."""


class Run(Value):
    """Where, by which model's vectors, and who writes the texts."""

    store: Store
    settings: Settings
    model: str
    write: Write | None = None
    trigger: str = "manual"


def consolidate_alone(runtime: Runtime, run: Run, now: Callable[[], datetime]) -> Consolidated:
    """Consolidate when no other process ages or merges; one that is at it is waited for."""
    project = runtime.project
    with locked(os.path.join(project.home, "run", "lifecycle.lock"), root=project.home_root):
        return consolidate(run, now)


def preview(run: Run) -> Consolidated:
    """What a consolidation would do without asking for texts; nothing is written."""
    plan = _plan(run)
    if plan is None:
        return _nothing(UNAVAILABLE)
    merges = [_merged("", merge.members[0].content, merge.members) for merge in plan.merges]
    becomes = {each.id: merge.members[0] for merge in plan.merges for each in merge.members}
    pairs = {
        frozenset((found.left, found.right)): found
        for found in (_conflicting(each, becomes) for each in plan.contradictions)
        if found.left != found.right
    }
    return Consolidated(
        id="",
        outcome="ok",
        clusters=plan.clusters,
        merged=sum(len(merge.members) for merge in merges),
        created=len(merges),
        merges=tuple(merges),
        conflicts=tuple(pairs.values()),
    )


def consolidate(run: Run, now: Callable[[], datetime]) -> Consolidated:
    """Merge what means the same, relate what contradicts; whatever happens is logged."""
    id, started = memories.new_event(), now()
    try:
        plan = _plan(run)
        if plan is None:
            done = _nothing(UNAVAILABLE)
        else:
            texts = [_text(merge, run) for merge in plan.merges]
            done = _carried_out(id, plan, texts, run, now())
    except Exception as error:
        told = in_words(error)
        failed = _logged(id, _nothing("failed"), run, now(), told[: jobs.ERROR_CHARS])
        consolidating.note(run.store, failed, started, now())
        raise
    consolidating.note(run.store, _logged(id, done, run, now()), started, now())
    return done


def _plan(run: Run) -> Plan | None:
    """None when there is something to compare and no vector to do it by."""
    store = run.store
    if not embeddings.has_any(store, run.model) and consolidating.any_comparable(store):
        return None
    known = consolidating.known(store, run.model)
    return planned(known, run.settings.lifecycle, rewritten=run.write is not None)


def _text(merge: Merge, run: Run) -> str | None:
    if run.write is None:
        return None
    members = (*merge.members, *merge.lesser)
    return merging.written(run.write(members), members, run.settings.gate)


def _carried_out(
    id: str, plan: Plan, texts: Sequence[str | None], run: Run, now: datetime
) -> Consolidated:
    store, least = run.store, run.settings.lifecycle.merge_least
    merges: list[Merged] = []
    became: dict[str, Memory] = {}
    with store.transaction():
        for merge, text in zip(plan.merges, texts, strict=True):
            if text is None and len(merge.members) < least:
                continue
            made = merging.merge(merge, text, id, store, now)
            if made:
                row, members = made
                merges.append(_merged(row.id, row.content, members))
                became |= {member.id: row for member in members}
        conflicts = [
            _conflicting(each, became)
            for each in plan.contradictions
            if _is_new(each, became, store, now)
        ]
        if merges:
            jobs.follow(store, now)
    return Consolidated(
        id=id if merges else "",
        outcome="ok",
        clusters=plan.clusters,
        merged=sum(len(merge.members) for merge in merges),
        created=len(merges),
        merges=tuple(merges),
        conflicts=tuple(conflicts),
    )


def _is_new(found: Contradiction, became: dict[str, Memory], store: Store, now: datetime) -> bool:
    left = became.get(found.left.id, found.left)
    right = became.get(found.right.id, found.right)
    return left.id != right.id and relations.conflict(store, left, right, found.why, ADEMEM, now)


def _conflicting(found: Contradiction, became: dict[str, Memory]) -> Conflicting:
    left = became.get(found.left.id, found.left)
    right = became.get(found.right.id, found.right)
    return Conflicting(left=left.id, right=right.id, why=found.why)


def _merged(id: str, content: str, members: Sequence[Memory]) -> Merged:
    return Merged(id=id, content=content, members=tuple(member.id for member in members))


def _nothing(outcome: str) -> Consolidated:
    return Consolidated(
        id="", outcome=outcome, clusters=0, merged=0, created=0, merges=(), conflicts=()
    )


def _logged(
    id: str, done: Consolidated, run: Run, now: datetime, error: str | None = None
) -> Consolidation:

    return Consolidation(
        id=id,
        trigger=run.trigger,
        completed_at=stamp(now),
        outcome=done.outcome,
        error=error,
        found=done.clusters,
        merged=done.merged,
        created=done.created,
    )
