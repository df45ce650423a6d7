"""The page: the request of a browser as values, and what an address shows or does."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ademem.core.errors import UsageError
from ademem.core.value import Value
from ademem.doors.undoable import Done
from ademem.store.runtime import Runtime

if TYPE_CHECKING:
    from ademem.doors.web.application import Site


class Page(Value):
    path: str
    template: str
    read: Callable[[Runtime, PageRequest], dict[str, Any]]
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
    do: Callable[[Runtime, PageRequest], Done | File | Shown | None]
    decides: bool = True
    """It changes something, so a read-only page refuses it."""


PATTERN = "file_scope_pattern"


LARGEST = 2**63 - 1
"""The largest number of a row in SQLite."""
DIGITS = len(str(LARGEST))


def row_number(text: str) -> int | None:
    """Return the number of a row; None for any other text."""
    return min(int(text), LARGEST) if text.isdecimal() and len(text) <= DIGITS else None


def revision_of(given: str) -> int | None:
    """Return the revision that a form names; None where it names none."""
    number = row_number(given)
    if number is None and given:
        raise UsageError("the revision is no number", "load the page again")
    return number


class PageRequest(Value):
    path: dict[str, str]
    """Parts of the address."""
    query: dict[str, str]
    form: dict[str, str]
    lists: dict[str, list[str]] = {}
    """All values of each field of the form."""
    site: Site
    project: str

    @property
    def revision(self) -> int | None:
        """The revision that the browser saw."""
        return revision_of(self.form.get("revision", ""))

    @property
    def changes(self) -> dict[str, Any]:
        """The changes of a memory that the form asks for."""
        form = self.form
        changes: dict[str, Any] = {
            name: form[name] for name in ("category", "importance") if name in form
        }
        if "content" in form:
            changes["content"] = form["content"].replace("\r\n", "\n")
        for name, field in (("title", "title"), ("topic_key", "topic_key"), ("path", PATTERN)):
            if name in form:
                changes[field] = form[name].strip() or None
        if "tags" in form:
            changes["tags"] = tuple(form["tags"].replace(",", " ").split())
        return changes
