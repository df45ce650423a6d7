"""A page and an act: what an address shows or does."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ademem.core.value import Value
from ademem.doors.undoable import Done
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
    live: str = ""
    """Kinds of events after which there is more to show, separated by one blank."""


class File(Value):
    """A file that the browser saves."""

    name: str
    content: str


class Shown(Value):
    """A page that answers a form and changes nothing."""

    template: str
    values: dict[str, Any]


class Act(Value):
    path: str
    do: Callable[[Runtime, Asked], Done | File | Shown | None]
    decides: bool = True
    """It changes something, so a read-only page refuses it."""
