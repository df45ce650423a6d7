"""Choose the memories that may stand in tracked files, and rank them."""

from __future__ import annotations

from ademem.capture.gate.rows import id_of
from ademem.core.clock import parse
from ademem.core.memory import Memory, Scope, Status
from ademem.files import conflicts, knowledge
from ademem.files.topics import TOPICS
from ademem.store import imports, memories, memory_queries, revisions

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from ademem.files.branches import Place
    from ademem.files.knowledge import Record
    from ademem.store import Store

UNEDITED = 2
"""Revisions of a memory that was created and archived without an edit."""


def renders(memory: Memory) -> bool:
    """Return True for a promoted memory that everyone may read."""
    return memory.shareable and memory.status is Status.PROMOTED


def is_line(memory: Memory) -> bool:
    """Return True for a memory in knowledge.jsonl: rendered, or LEARNED and not yet confirmed."""
    return renders(memory) or (memory.shareable and memory.knowledge_key is not None)


class Lines:
    """`lines_of` as an iterable that reads the store anew each time."""

    def __init__(self, store: Store, place: Place | None = None) -> None:
        self._store, self._place = store, place

    def __iter__(self) -> Iterator[Memory]:
        place = self._place
        for memory in memory_queries.each_line(self._store):
            shown = place.shows(memory) if place else memory.source_branch is None
            if shown and is_line(memory):
                yield memory


def lines_of(store: Store, place: Place | None = None) -> list[Memory]:
    """Return all that `is_line`, oldest first, without what waits on another branch."""
    return list(Lines(store, place))


def is_offered(memory: Memory) -> bool:
    """Return True for a candidate that the review sheet may offer."""
    return (
        memory.shareable
        and memory.status is Status.CANDIDATE
        and memory.category in {topic.category for topic in TOPICS}
    )


def list_offered(store: Store, place: Place) -> list[Memory]:
    """Return all that `is_offered`, oldest first, without what waits on another branch."""
    return list(each_offered(store, place))


def each_offered(store: Store, place: Place) -> Iterator[Memory]:
    """Yield `list_offered` one by one."""
    found = memory_queries.each_project_candidate(store)
    return (memory for memory in found if is_offered(memory) and place.shows(memory))


def tombstones_of(store: Store, place: Place, carried: Sequence[Record] = ()) -> Iterator[Record]:
    """Yield tombstones of memories that may have had a line.

    The *carried* ones are of the files: of memories that were never here, or that went elsewhere.
    """
    ours = memory_queries.update_stamps(store, [record["id"] for record in carried])
    for record in carried:
        if ours.get(record["id"], record["updated_at"]) == record["updated_at"]:
            yield record
    for row in memory_queries.removed_lines(store):
        id, sync_id, at, category, learned_at, content, deleted_at, revision, branch, heir = row
        never = deleted_at and revisions.operation_of(store, id, revision) == (
            "undo",
            deleted_at,
        )
        won = conflicts.is_losing_text(heir, id, content)  # its memory says it by now
        if not never and not won and branch in (None, place.branch):
            texts = (content,) if heir else _texts(store, id, content, revision)
            yield knowledge.tombstone(id, sync_id, parse(at), category, parse(learned_at), texts)
    yield from _hard_deleted(store)


def _texts(store: Store, id: str, content: str, revision: int) -> list[str]:
    """Return all texts of the memory, the last first."""
    if revision <= UNEDITED:
        return [content]
    rows = memories.revisions(store, id)
    return [content, *(row["snapshot"]["content"] for row in reversed(rows))]


def _hard_deleted(store: Store) -> Iterator[Record]:
    for sync_id, at in imports.tombstones(store):
        id = id_of(sync_id)
        left = [revision["snapshot"] for revision in memories.revisions(store, id)[-1:]]
        for it in (it for it in left if it["scope"] == Scope.PROJECT and it["promoted_at"]):
            yield knowledge.tombstone(
                id, sync_id, parse(at), it["category"], parse(it["created_at"]), ()
            )


def rank_memories(given: Iterable[Memory]) -> list[Memory]:
    """Sort by tier, importance, confidence, then newest first; equal on every machine."""
    newest_first = sorted(given, key=lambda memory: (memory.created_at, memory.id), reverse=True)
    return sorted(
        newest_first,
        key=lambda memory: (memory.tier, -memory.importance.weight, -memory.confidence),
    )
