"""The queue of a review: quarantined texts, contradictions, then what is believed most."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ademem.core.value import Value
from ademem.doors.views.memories import diff_words, to_row
from ademem.store.transitions import waits_for

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ademem.api.curation import Waiting
    from ademem.core.memory import Memory

QUEUE_ROWS = 100
"""Rows of the list beside the card."""


class Item(Value):
    """A memory to decide about, with the other one of a contradiction."""

    key: str
    """The key in the queue."""
    memory: Memory
    other: Memory | None = None
    conflict: str = ""


def find_place(queue: Sequence[Waiting], key: str) -> int:
    """Return the index of the place with that key, or of the memory with that id, else 0."""
    same = (at for at, each in enumerate(queue) if each.key == key)
    of_memory = (at for at, each in enumerate(queue) if each.id == key.partition("~")[0])
    return next(same, next(of_memory, 0))


def around(queue: Sequence[Waiting], at: int) -> Sequence[Waiting]:
    """Return the part of the queue that is listed beside the card at a place."""
    start = max(0, at - QUEUE_ROWS // 2)
    return queue[start : start + QUEUE_ROWS]


def to_page(
    queue: Sequence[Waiting], at: int, items: Sequence[Item], card: dict[str, Any] | None
) -> dict[str, Any]:
    """Return the card at a place with the keys of its neighbours, and the items around it."""
    key = queue[at].key if queue else ""
    return {
        "count": len(queue),
        "at": at + 1,
        "card": card,
        "next_key": queue[(at + 1) % len(queue)].key if queue else "",
        "previous_key": queue[at - 1].key if queue else "",
        "queue": [
            to_row(each.memory)
            | {
                "key": each.key,
                "waits": bool(waits_for(each.memory)),
                "is_current": each.key == key,
            }
            for each in items
        ],
    }


def to_card(item: Item, similar: Sequence[Memory]) -> dict[str, Any]:
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
