"""The queue of a review: quarantined texts, contradictions, then what is believed most."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ademem.core.value import Value
from ademem.doors.views.memories import diff_words, to_row
from ademem.store.transitions import waits_for

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ademem.core.memory import Memory

QUEUE_ROWS = 100
"""Rows of the list beside the card."""


class Item(Value):
    """A memory to decide about, with the other one of a contradiction."""

    memory: Memory
    other: Memory | None = None
    conflict: str = ""

    @property
    def key(self) -> str:
        """The id of the memory, and the other one's: a memory may be in several pairs."""
        return f"{self.memory.id}~{self.other.id}" if self.other else self.memory.id


def to_queue(
    waiting: Iterable[Memory],
    conflicts: Iterable[tuple[Memory, Memory, str]],
    skipped: Iterable[str] = (),
) -> list[Item]:
    """Return each contradicting pair, and each waiting memory of none, in the order of a review."""
    left_out = set(skipped)
    pairs = [Item(memory=memory, other=other, conflict=why) for memory, other, why in conflicts]
    paired = {item.memory.id for item in pairs}
    alone = [Item(memory=memory) for memory in waiting if memory.id not in paired]
    return sorted(
        (item for item in (*pairs, *alone) if item.memory.id not in left_out),
        key=lambda item: (
            item.memory.quarantine_reason is None,
            item.other is None,
            -item.memory.confidence,
            item.memory.created_at,
            item.memory.seq,
        ),
    )


def choose(queue: Sequence[Item], key: str) -> Item | None:
    """Return the item with that key, or of the memory with that id, else the first one."""
    same = (item for item in queue if item.key == key)
    of_memory = (item for item in queue if item.memory.id == key.partition("~")[0])
    return next(same, next(of_memory, queue[0] if queue else None))


def to_page(queue: Sequence[Item], item: Item | None, similar: Sequence[Memory]) -> dict[str, Any]:
    """Return one card with its neighbours in the queue, and the queue as a list."""
    at = queue.index(item) if item else 0
    start = max(0, at - QUEUE_ROWS // 2)
    return {
        "count": len(queue),
        "at": at + 1,
        "card": _to_card(item, similar) if item else None,
        "next_key": queue[(at + 1) % len(queue)].key if queue else "",
        "previous_key": queue[at - 1].key if queue else "",
        "queue": [
            to_row(each.memory)
            | {"key": each.key, "waits": bool(waits_for(each.memory)), "is_current": each is item}
            for each in queue[start : start + QUEUE_ROWS]
        ],
    }


def _to_card(item: Item, similar: Sequence[Memory]) -> dict[str, Any]:
    memory = item.memory
    others = [item.other] if item.other else similar
    return {
        "key": item.key,
        "memory": memory,
        "waits": bool(waits_for(memory)),
        "row": to_row(memory),
        "why": f"contradictory: {item.conflict}" if item.other else waits_for(memory),
        "other": to_row(item.other) | {"text": item.other.content} if item.other else None,
        "similar": [
            to_row(each) | {"diff": list(diff_words(each.content, memory.content))}
            for each in others
            if not each.quarantine_reason
        ],
        "merged": f"{others[0].content}\n{memory.content}" if others else "",
    }
