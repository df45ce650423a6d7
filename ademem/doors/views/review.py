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


def to_queue(
    waiting: Iterable[Memory],
    conflicts: Iterable[tuple[Memory, Memory, str]],
    skipped: Iterable[str] = (),
) -> list[Item]:
    """Return what waits, each memory once, in the order of a review."""
    found = {memory.id: Item(memory=memory) for memory in waiting}
    for memory, other, reason in conflicts:
        found[memory.id] = Item(memory=memory, other=other, conflict=reason)
    left_out = set(skipped)
    return sorted(
        (item for id, item in found.items() if id not in left_out),
        key=lambda item: (
            item.memory.quarantine_reason is None,
            item.other is None,
            -item.memory.confidence,
            item.memory.created_at,
            item.memory.seq,
        ),
    )


def choose(queue: Sequence[Item], id: str) -> Item | None:
    """Return the item of that memory, else the first one."""
    same = (item for item in queue if item.memory.id == id)
    return next(same, queue[0] if queue else None)


def to_page(queue: Sequence[Item], item: Item | None, similar: Sequence[Memory]) -> dict[str, Any]:
    """Return one card with its neighbours in the queue, and the queue as a list."""
    at = queue.index(item) if item else 0
    start = max(0, at - QUEUE_ROWS // 2)
    return {
        "count": len(queue),
        "at": at + 1,
        "card": _to_card(item, similar) if item else None,
        "next_id": queue[(at + 1) % len(queue)].memory.id if queue else "",
        "previous_id": queue[at - 1].memory.id if queue else "",
        "queue": [
            to_row(each.memory) | {"is_current": each is item}
            for each in queue[start : start + QUEUE_ROWS]
        ],
    }


def _to_card(item: Item, similar: Sequence[Memory]) -> dict[str, Any]:
    memory = item.memory
    others = [item.other] if item.other else similar
    return {
        "memory": memory,
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
