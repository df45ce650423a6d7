"""A page and an act: what an address shows or does, and the way back from it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ademem import api
from ademem.core.value import Value
from ademem.doors.web.asked import Asked
from ademem.store.runtime import Runtime


class Page(Value):
    path: str
    template: str
    read: Callable[[Runtime, Asked], dict[str, Any]]
    part: str = ""
    """Template of the part that a request of the page's own script gets."""
    name: str = ""
    """Name in the navigation; empty where it stands in none."""


class Done(Value):
    """An act, and the way back from it, which is an act as well."""

    label: str
    back: Callable[[Runtime], Done]


class Act(Value):
    path: str
    do: Callable[[Runtime, Asked], Done | None]


def by_event(label: str, event: str) -> Done:
    """Return the act that `undo` of the event takes back, and `undo` of that brings again."""

    def back(memories: Runtime) -> Done:
        restored = api.undo(memories, event)
        return by_event(label, last_event(memories, restored[0].id))

    return Done(label=label, back=back)


def last_event(memories: Runtime, id: str) -> str:
    return str(api.list_revisions(memories, id)[-1]["event_id"])


def in_order(label: str, *done: Done) -> Done:
    """Return several acts as one, which is taken back from its end."""

    def back(memories: Runtime) -> Done:
        return in_order(label, *[each.back(memories) for each in done[::-1]])

    return Done(label=label, back=back)
