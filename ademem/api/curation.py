"""Decide about memories: review, confirm, edit, archive, delete."""

from __future__ import annotations

import os

from ademem.capture import provenance
from ademem.core import client
from ademem.core.value import replace
from ademem.files import project_brief
from ademem.store import briefs, memories, memory_queries, relations, transitions
from ademem.store.transitions import Act

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from ademem.core.memory import Memory, Trust
    from ademem.store.relations import Conflict
    from ademem.store.runtime import Runtime
    from ademem.sync.proposal import Proposal


def act(runtime: Runtime) -> Act:
    """Describe the actor: the person, or the session in whose shell this process runs."""
    return Act(
        store=runtime.store,
        now=runtime.clock(),
        actor=get_speaker(runtime),
        session_id=client.session_of(runtime.environment) or None,
        branch=runtime.branch,
    )


def get_speaker(runtime: Runtime) -> Trust:
    return provenance.trust_of_caller(runtime.environment, runtime.store)


def review(runtime: Runtime, limit: int | None = 100) -> list[Memory]:
    """List memories that wait for review: quarantined ones, then candidates, oldest first."""
    return memory_queries.in_review(runtime.store, limit)


def review_imported(runtime: Runtime, limit: int | None = 100) -> list[Memory]:
    """List unaccepted memories of the files, quarantined ones first."""
    return memory_queries.claimed(runtime.store, limit)


def accept_files(runtime: Runtime) -> int:
    """Accept memories and briefs of the files, except quarantined texts; return the number."""
    with runtime.store.transaction():
        briefs.accept(runtime.store)
        return transitions.accept_all(replace(act(runtime), event_id=memories.new_event()))


def list_claimed_briefs(runtime: Runtime) -> tuple[str, ...]:
    """Return unaccepted texts of briefs."""
    store = runtime.store
    documents = (
        project_brief.load(store, name) for name in ("", *sorted(briefs.list_folders(store)))
    )
    return tuple(text for document in documents if document for text in document.claimed)


def promote(runtime: Runtime, id: str, *, pinned: bool = False) -> Memory:
    return _decide(runtime, transitions.promote, id, pinned=pinned)


def reject(runtime: Runtime, id: str) -> Memory:
    return _decide(runtime, transitions.reject, id)


def archive(runtime: Runtime, id: str) -> Memory:
    return _decide(runtime, transitions.archive, id)


def restore(runtime: Runtime, id: str) -> Memory:
    return _decide(runtime, transitions.restore, id)


def delete(runtime: Runtime, id: str, *, hard: bool = False) -> Memory:
    return transitions.delete(id, act(runtime), hard=hard)


def pin(runtime: Runtime, id: str, *, pinned: bool = True) -> Memory:
    return _decide(runtime, transitions.pin, id, pinned=pinned)


def edit(runtime: Runtime, id: str, **changes: Any) -> Memory:
    """Change content, title, category, importance, tags, file_scope_pattern or anchors."""
    if "anchors" in changes:
        from ademem.synthesis import anchor_verification

        changes["anchors"] = anchor_verification.resolve_anchors(
            changes["anchors"], runtime.project.root, os.getcwd()
        )
    return _decide(runtime, transitions.edit, id, runtime.settings.gate, **changes)


def _decide(
    runtime: Runtime, decide: Callable[..., Memory], id: str, *arguments: Any, **options: Any
) -> Memory:
    """Read and write in one transaction, so that concurrent edits do not undo each other."""
    with runtime.store.transaction():
        return decide(id, act(runtime), *arguments, **options)


def propose(runtime: Runtime, branch: str | None = None, *, dry_run: bool = False) -> Proposal:
    """Commit the sheet of candidates to a new branch; raises CannotPropose."""
    from ademem.sync import proposal

    return proposal.propose(
        runtime.project,
        runtime.store,
        runtime.settings.mirror,
        branch or proposal.BRANCH,
        dry_run=dry_run,
    )


def list_conflicts(runtime: Runtime) -> list[Conflict]:
    """List unsettled pairs of live memories that contradict each other."""
    return relations.list_conflicts(runtime.store)


def settle_conflict(runtime: Runtime, id: str, other: str) -> bool:
    """Record that both memories are true; return False where no conflict was known."""
    store = runtime.store
    left, right = memories.get(store, id), memories.get(store, other)
    return relations.resolve(store, left, right, get_speaker(runtime), runtime.clock())
