"""What the page and the terminal read through several functions of `api`."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

from ademem import api
from ademem.core.memory import Memory
from ademem.doors.views import memories as memory_view
from ademem.doors.views import overview as overview_view
from ademem.doors.views import review as review_view
from ademem.doors.views import session as session_view
from ademem.search.engine import UNARCHIVED, Filters
from ademem.store.runtime import Runtime

BEST = 10
"""Memories of the week that the overview shows."""
PROMPTS, DECISIONS = 500, 500
"""Most rows of each that are read of a session."""


def read_queue(memories: Runtime) -> list[review_view.Item]:
    """Return what waits for review, in its order, but for what is skipped till tomorrow.

    `count_queue` counts the same without reading it.
    """
    pairs = [
        (api.get(memories, pair.right), api.get(memories, pair.left), pair.reason)
        for pair in api.list_conflicts(memories)
    ]
    return review_view.to_queue(api.review(memories, None), pairs, api.list_skipped(memories))


def count_queue(memories: Runtime) -> dict[str, int]:
    """Count what waits for review, by reason."""
    skipped = set(api.list_skipped(memories))
    paired = [pair.right for pair in api.list_conflicts(memories) if pair.right not in skipped]
    alone = api.count_waiting(memories, but={*skipped, *paired})
    return ({"contradictory": len(paired)} if paired else {}) | alone


def read_card(memories: Runtime, item: review_view.Item) -> dict[str, Any]:
    """Return a memory as a card of the review, with what is like it while it waits."""
    waits = item.memory.status == "candidate" and not item.other
    similar = api.find_similar(memories, item.memory) if waits else []
    card: dict[str, Any] = review_view.to_page([item], item, similar)["card"]
    return card


def read_related(memories: Runtime, id: str) -> dict[str, list[Memory]]:
    found = api.find_related(memories, id)
    return {name: [api.get(memories, each) for each in ids] for name, ids in found.items()}


def read_memory(
    memories: Runtime, memory: Memory, *, can_show_digits: bool = False
) -> dict[str, Any]:
    return memory_view.to_page(
        memory,
        revisions=api.list_revisions(memories, memory.id),
        related=read_related(memories, memory.id),
        astray=api.find_astray(memories, [memory]),
        can_show_digits=can_show_digits,
    )


def read_overview(memories: Runtime) -> dict[str, Any]:
    week = memories.now - timedelta(days=7)
    learned = Filters(since=week, statuses=UNARCHIVED, order="believed")
    return overview_view.to_page(
        api.get_status(memories),
        waiting=count_queue(memories),
        learned=api.count_memories(memories, learned),
        best=api.list_memories(memories, learned, BEST),
        sessions=api.list_sessions(memories, 1),
    )


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
