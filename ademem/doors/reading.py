"""What the page and the terminal read through several functions of `api`, and its shape."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from datetime import timedelta
from typing import Any

from ademem import api
from ademem.api.curation import Waiting
from ademem.core.errors import NoSuchMemory
from ademem.core.memory import Memory, Tier
from ademem.core.text import counted
from ademem.core.value import replace
from ademem.doors import views as memory_view
from ademem.doors.views import session as session_view
from ademem.search.engine import UNARCHIVED, Filters
from ademem.store.runtime import Runtime
from ademem.store.transitions import waits_for

BEST = 10
"""Memories of the week that the overview shows."""
COUNTED = 1000
"""Memories of the week that are counted."""
NEARLY_FULL = 0.8
"""Share of a scope's limit from which it is marked."""
PROMPTS, DECISIONS = 500, 500
"""Most rows of each that are read of a session."""


def read_review(memories: Runtime, key: str) -> dict[str, Any]:
    """Return the card of a key, else the first one, and the part of the queue around it."""
    queue = api.list_queue(memories)
    at = memory_view.find_place(queue, key)
    items = read_items(memories, memory_view.around(queue, at))
    current = [item for item in items if item.key == queue[at].key]
    card = read_card(memories, current[0]) if current else None
    return memory_view.to_queue(queue, at, items, card)


def read_items(memories: Runtime, waiting: Iterable[Waiting]) -> list[memory_view.Item]:
    """Return what waits with its texts, without what was deleted since it was listed."""
    items = []
    for each in waiting:
        with suppress(NoSuchMemory):
            other = api.get(memories, each.other) if each.other else None
            memory = api.get(memories, each.id)
            items.append(
                memory_view.Item(key=each.key, memory=memory, other=other, conflict=each.conflict)
            )
    return items


def read_card(memories: Runtime, item: memory_view.Item) -> dict[str, Any]:
    """Return a memory as a card of the review, with what is like it while it waits."""
    waits = waits_for(item.memory) and not item.other
    similar = api.find_similar(memories, item.memory) if waits else []
    return memory_view.to_card(item, similar)


def find_memory(memories: Runtime, id: str) -> Memory | None:
    try:
        return api.get(memories, id)
    except NoSuchMemory:
        return None


def read_related(memories: Runtime, id: str) -> dict[str, list[Memory]]:
    found = api.find_related(memories, id)
    return {name: [api.get(memories, each) for each in ids] for name, ids in found.items()}


def read_overview(memories: Runtime) -> dict[str, Any]:
    week = memories.now - timedelta(days=7)
    learned = Filters(since=week, statuses=UNARCHIVED, order="believed")
    pinned = api.list_memories(memories, replace(learned, tiers=(Tier.PINNED,)), BEST)
    best = (each for each in api.list_memories(memories, learned, BEST) if each not in pinned)
    count = api.count_memories(memories, learned, COUNTED + 1)
    status = api.get_status(memories)
    scopes = [
        {
            "name": name,
            "count": scope["count"],
            "limit": scope["limit"],
            "nearly_full": bool(scope["limit"])
            and scope["fullest_owner"] >= NEARLY_FULL * scope["limit"],
        }
        for name, scope in status["scopes"].items()
    ]
    return {
        "status": status,
        "health": health(status),
        "waiting": sum(status["review"].values()),
        "learned": f"{min(count, COUNTED):,}{'+' * (count > COUNTED)}",
        "best": [memory_view.to_row(memory) for memory in [*pinned, *best][:BEST]],
        "scopes": scopes,
        "last_session": next(iter(api.list_sessions(memories, 1)), None),
    }


def health(status: Mapping[str, Any]) -> dict[str, str]:
    """Return one sentence on the state, how grave it is, and the next step."""
    jobs, vectors = status["jobs"], status["embeddings"]
    if jobs["parked"]:
        stopped = counted(len(jobs["parked"]), "job")
        return {"level": "bad", "text": f"{stopped} stopped after failing", "next": "ademem doctor"}
    if status["overfull"]:
        return {"level": "warn", "text": status["overfull"], "next": "ademem sweep --dry-run"}
    if status["lifecycle"]["conflicts"]:
        pairs = counted(status["lifecycle"]["conflicts"], "pair")
        return {
            "level": "warn",
            "text": f"{pairs} of memories contradict each other",
            "next": "ademem review",
        }
    if waiting := sum(status["review"].values()):
        held = f"{counted(waiting, 'memory')} wait{'s' if waiting == 1 else ''} for your review"
        return {"level": "good", "text": f"All is well; {held}", "next": "ademem review"}
    if not vectors["installed"]:
        return {
            "level": "good",
            "text": "All is well; search compares words, as no model is installed",
            "next": "ademem model install",
        }
    return {"level": "good", "text": "All is well, and nothing waits for you", "next": ""}


def read_session(
    memories: Runtime, id: str, is_withheld: Callable[[Memory], bool]
) -> dict[str, Any]:
    session = api.get_session(memories, id)
    decisions = api.list_decisions(memories, DECISIONS, id)
    return session_view.to_page(
        session,
        api.list_sent(memories, id)[1],
        api.search_prompts(memories, "", id, PROMPTS),
        api.list_session_memories(memories, id),
        [row for row in decisions if row["decision"] in ("deny", "warn")],
        is_withheld,
    )
