"""Pages: each reads through `api`, and returns the values of its template."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from enum import StrEnum
from typing import Any

from ademem import api
from ademem.core.errors import UsageError
from ademem.core.memory import Category, Scope, Status
from ademem.core.value import Value
from ademem.doors.views import memories as views
from ademem.doors.views import overview as overview_view
from ademem.doors.views import review as review_view
from ademem.doors.web.asked import Asked
from ademem.search.engine import UNARCHIVED, Filters
from ademem.store.runtime import Runtime

PAGE = 50
"""Rows of one page of a list."""
LONGEST = 36_500
"""Days of the longest time to look back."""


class Page(Value):
    path: str
    template: str
    read: Callable[[Runtime, Asked], dict[str, Any]]
    part: str = ""
    """Template of the part that a request of the page's own script gets."""
    name: str = ""
    """Name in the navigation; empty where it stands in none."""


def head_of(memories: Runtime) -> dict[str, Any]:
    """Return what each page shows of the project."""
    return {
        "project": memories.project.name,
        "branch": memories.branch or "",
        "mode": api.get_search_mode(memories),
        "notice": memories.copy_notice,
    }


def _overview(memories: Runtime, asked: Asked) -> dict[str, Any]:
    week = memories.now - timedelta(days=7)
    learned = api.list_memories(memories, Filters(since=week, statuses=UNARCHIVED), None)
    return overview_view.to_page(
        api.get_status(memories),
        waiting=api.review(memories, None),
        learned=learned,
    )


def _filters(asked: Asked, memories: Runtime) -> Filters:
    query = asked.query

    def choice(name: str, known: type[StrEnum]) -> tuple[str, ...]:
        value = query.get(name, "")
        if value and value not in list(known):
            raise UsageError(f"no {name} {value!r}", ", ".join(known))
        return (value,) if value else ()

    days = query.get("days", "")
    return Filters(
        statuses=choice("status", Status) or UNARCHIVED,
        categories=choice("category", Category),
        scopes=choice("scope", Scope),
        owner=query.get("owner") or None,
        tags=tuple(query.get("tag", "").split()),
        path=query.get("path") or None,
        branch=query.get("branch") or None,
        since=memories.now - timedelta(days=min(int(days), LONGEST)) if days.isdecimal() else None,
        after=query.get("after") or None,
    )


FILTERS = ("status", "category", "scope", "owner", "tag", "path", "branch", "days")


def _memories(memories: Runtime, asked: Asked) -> dict[str, Any]:
    words, filters = asked.query.get("q", "").strip(), _filters(asked, memories)
    if words:
        chosen = any(asked.query.get(name) for name in FILTERS)
        found = api.search(memories, words, filters if chosen else None, PAGE)
        astray = api.find_astray(memories, [hit.memory for hit in found.hits])
        listed = views.to_hits(found, astray)
    else:
        listed = views.to_rows(api.list_memories(memories, filters, PAGE + 1), PAGE)
    return {
        **listed,
        "words": words,
        "filters": {name: asked.query.get(name, "") for name in FILTERS},
        "choices": {"status": list(Status), "category": list(Category), "scope": list(Scope)},
        "explain": bool(asked.query.get("explain")),
    }


def _memory(memories: Runtime, asked: Asked) -> dict[str, Any]:
    memory = api.get(memories, asked.path["id"])
    related = api.find_related(memories, memory.id)
    return views.to_page(
        memory,
        revisions=api.list_revisions(memories, memory.id),
        related={name: [api.get(memories, id) for id in ids] for name, ids in related.items()},
        astray=api.find_astray(memories, [memory]),
        can_show_digits=asked.site.show_digits is not None,
    )


def _review(memories: Runtime, asked: Asked) -> dict[str, Any]:
    today = memories.now.astimezone().date().isoformat()
    skipped = {id for id, day in asked.site.skipped.items() if day == today}
    queue = review_view.to_queue(
        api.review(memories, None),
        [
            (api.get(memories, pair.right), api.get(memories, pair.left), pair.reason)
            for pair in api.list_conflicts(memories)
        ],
        skipped,
    )
    item = review_view.choose(queue, asked.query.get("id", ""))
    similar = api.find_similar(memories, item.memory) if item else []
    return review_view.to_page(queue, item, similar) | {
        "can_show_digits": asked.site.show_digits is not None,
    }


PAGES = (
    Page(path="/", name="Overview", template="overview.html", read=_overview),
    Page(
        path="/memories",
        name="Memories",
        template="memories.html",
        read=_memories,
        part="rows.html",
    ),
    Page(
        path="/review", name="Review", template="review.html", read=_review, part="review_card.html"
    ),
    Page(path="/memory/{id}", template="memory.html", read=_memory),
)
