"""Decide about memories: review, confirm, edit, archive, delete."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any

from ademem.capture import provenance
from ademem.core import client
from ademem.core.memory import Memory, Trust
from ademem.core.text import fold
from ademem.core.value import Value, replace
from ademem.files import project_brief
from ademem.store import briefs, memories, memory_queries, relations, transitions
from ademem.store.relations import Conflict
from ademem.store.runtime import Runtime
from ademem.store.transitions import Act
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


class Selection(Value):
    """Conditions of a review; a memory has to meet all."""

    category: str | None = None
    type: str | None = None
    """A category or a tag."""
    before: datetime | None = None
    words: str = ""
    """Each is in the text, the title or the tags."""

    def matches(self, memory: Memory) -> bool:
        text = fold(" ".join((memory.title or "", memory.content, *memory.tags)))
        return (
            self.category in (None, memory.category)
            and self.type in (None, memory.category, *memory.tags)
            and (self.before is None or memory.created_at < self.before)
            and all(word in text for word in fold(self.words).split())
        )


EVERYTHING = Selection()


def review(
    runtime: Runtime, limit: int | None = 100, selection: Selection = EVERYTHING
) -> list[Memory]:
    """List memories that wait for review: quarantined ones, then candidates, oldest first."""
    return list(filter(selection.matches, memory_queries.in_review(runtime.store, None)))[:limit]


def review_imported(
    runtime: Runtime, limit: int | None = 100, selection: Selection = EVERYTHING
) -> list[Memory]:
    """List unaccepted memories of the files, quarantined ones first."""
    return list(filter(selection.matches, memory_queries.claimed(runtime.store)))[:limit]


def continue_review(runtime: Runtime, found: Sequence[Memory]) -> list[Memory]:
    """Put the memories first that the last review did not get to."""
    position = memory_queries.read_review_position(runtime.store)
    order = memory_queries.review_order
    rest = [memory for memory in found if position and order(memory) >= position]
    return [*rest, *(memory for memory in found if memory not in rest)]


def stop_review(runtime: Runtime, at: Memory | None) -> None:
    """Record the memory at which a review stopped; None for its end."""
    order = memory_queries.review_order(at) if at else None
    memory_queries.record_review_position(runtime.store, order)


def decide_all(
    runtime: Runtime, found: Sequence[Memory], *, accept: bool
) -> tuple[str, list[Memory]]:
    """Confirm or refuse memories in one act; return its event and the memories that changed.

    Quarantined ones are only refused: each is read before it is approved.
    """
    decide = transitions.promote if accept else transitions.refuse
    decided = [memory for memory in found if not (accept and memory.quarantine_reason)]
    done = replace(act(runtime), event_id=memories.new_event())
    with runtime.store.transaction():
        return done.event_id, [decide(memory.id, done) for memory in decided]


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


def refuse(runtime: Runtime, id: str) -> Memory:
    """Reject a candidate, or archive a confirmed memory."""
    return _decide(runtime, transitions.refuse, id)


def supersede(runtime: Runtime, id: str, by: str) -> Memory:
    """Archive a memory in favour of another; return it."""
    return _decide(runtime, transitions.supersede, id, by)


def merge(runtime: Runtime, id: str, into: str, content: str) -> Memory:
    """Make one confirmed memory with this text of two; `undo` takes it back whole."""
    done, settings = replace(act(runtime), event_id=memories.new_event()), runtime.settings.gate
    with runtime.store.transaction():
        return transitions.merge(id, done, into, content, settings)


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
    if changes.keys() & {"anchors", "content", "title"}:
        from ademem.synthesis import anchor_verification

        memory = replace(memories.get(runtime.store, id), **changes)
        root, text = runtime.project.root, anchor_verification.text_of(memory)
        if "anchors" in changes:
            changes["anchors"] = anchor_verification.resolve_anchors(
                memory.anchors, root, os.getcwd(), text
            )
        elif memory.anchors:
            changes["anchors"] = anchor_verification.renew_values(memory.anchors, root, text)
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


def reopen_conflict(runtime: Runtime, id: str, other: str) -> bool:
    """Take `settle_conflict` back; return False where nothing was settled."""
    store = runtime.store
    left, right = memories.get(store, id), memories.get(store, other)
    return relations.reopen(store, left, right, get_speaker(runtime), runtime.clock())
