"""Which memories may stand in a tracked file, and which of them come first."""

from __future__ import annotations

from ademem.mirror.topics import TOPICS
from ademem.model import Memory, Status
from ademem.store import memories

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from ademem.mirror.staging import Place
    from ademem.store import Store


def renders(memory: Memory) -> bool:
    """Whether it is knowledge everybody may read."""
    return memory.shareable and memory.status is Status.PROMOTED


def is_line(memory: Memory) -> bool:
    """Whether knowledge.jsonl has it: what renders, and what was LEARNED but not yet confirmed."""
    return renders(memory) or (memory.shareable and memory.knowledge_key is not None)


def lines_of(store: Store, place: Place | None = None) -> list[Memory]:
    """All that `is_line`, oldest first, but for what waits on a branch other than the place's."""
    found = memories.find(
        store,
        "scope = 'project' and (status = 'promoted' or knowledge_key is not null)",
        "order by created_at, id",
    )
    return [
        memory
        for memory in found
        if is_line(memory) and (place.shows(memory) if place else memory.source_branch is None)
    ]


def is_offered(memory: Memory) -> bool:
    """Whether it may be offered for review in a file, to be confirmed into one of the topics."""
    return (
        memory.shareable
        and memory.status is Status.CANDIDATE
        and memory.category in {topic.category for topic in TOPICS}
    )


def offered(store: Store, place: Place) -> list[Memory]:
    """All that `is_offered`, oldest first, but for what waits on another branch."""
    found = memories.find(
        store, "scope = 'project' and status = 'candidate'", "order by created_at, id"
    )
    return [memory for memory in found if is_offered(memory) and place.shows(memory)]


def best_first(given: Iterable[Memory]) -> list[Memory]:
    """By tier, importance and belief; among equals the newest leads, on every machine the same."""
    newest_first = sorted(given, key=lambda memory: (memory.created_at, memory.id), reverse=True)
    return sorted(
        newest_first,
        key=lambda memory: (memory.tier, -memory.importance.weight, -memory.confidence),
    )
