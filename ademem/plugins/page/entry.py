"""Parts of the page: requests as values, what an address shows or does, codes and cookies."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ademem.core.errors import UsageError
from ademem.core.value import Value
from ademem.doors.undoable import Done
from ademem.operations import memory_operations
from ademem.operations.signatures import operation_of
from ademem.plugins.page.forms import read_form
from ademem.store.runtime import Runtime

if TYPE_CHECKING:
    from starlette.responses import Response

    from ademem.plugins.page.memory_threads import OpenProject
    from ademem.plugins.page.server import Site

CODE_S = 60
MOST_WRONG = 5
"""Wrong codes after which no code is accepted until the next start."""
DIGITS_S = 300


class Entry:
    """Codes, cookies and digits that let a person in; the end of the process voids them."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._codes: dict[str, float] = {}
        """Time of issue of each code; 0 once it was used."""
        self._tokens: dict[str, str] = {}
        """Token of the pages by cookie."""
        self._digits: dict[str, tuple[str, float]] = {}
        self._wrong = 0

    @property
    def is_closed(self) -> bool:
        return self._wrong >= MOST_WRONG

    def new_code(self) -> str:
        """Return a code of 128 bits, good once and for CODE_S seconds."""
        code = secrets.token_urlsafe(16)
        self._codes[code] = self._clock()
        return code

    def redeem(self, code: str) -> str:
        """Return a new cookie for a good code, else an empty text."""
        if self.is_closed:
            return ""
        if code not in self._codes:
            self._wrong += 1
            return ""
        issued, self._codes[code] = self._codes[code], 0
        if not issued or self._clock() - issued > CODE_S:
            return ""
        cookie = secrets.token_urlsafe(32)
        self._tokens[cookie] = secrets.token_urlsafe(32)
        return cookie

    def token_of(self, cookie: str) -> str:
        return self._tokens.get(cookie, "")

    def new_digits(self, id: str) -> str:
        digits = f"{secrets.randbelow(1_000_000):06}"
        self._digits[id] = digits, self._clock()
        return digits

    def check_digits(self, id: str, digits: str) -> bool:
        """Tell whether these are the digits; whatever the answer, they are used up."""
        expected, issued = self._digits.pop(id, ("", 0.0))
        is_fresh = bool(expected) and self._clock() - issued <= DIGITS_S
        return is_fresh and secrets.compare_digest(expected.encode(), digits.strip().encode())


@dataclass(frozen=True)
class Page:
    path: str
    template: str
    read: Callable[[Runtime, PageRequest], dict[str, Any]]
    name: str = ""
    """Name in the navigation; empty where it stands in none."""
    part: str = ""
    """Template of the part that a request of the page's own script gets."""
    live: str = ""
    """Kinds of events after which there is more to show, separated by one blank."""


@dataclass(frozen=True)
class Act:
    path: str
    do: Callable[[Runtime, PageRequest], Done | Response | dict[str, Any] | None]
    decides: bool = True
    """It changes something, so a read-only page refuses it."""
    template: str = ""


PATTERN = "file_scope_pattern"
EMPTIED: dict[str, Any] = {"content": "", "tags": ()}
EMPTIED |= dict.fromkeys(("title", "topic_key", "path", "category", "importance"))
"""Fields of a memory that a form changes, with what an emptied one is."""


def row_number(text: str) -> int | None:
    """Return the number of a row, at most that of SQLite's last one; None for any other text."""
    return min(int(text), 2**63 - 1) if text.isdecimal() and len(text) <= 19 else None


def revision_of(given: str) -> int | None:
    number = row_number(given)
    if number is None and given:
        raise UsageError("the revision is not a number", "load the page again")
    return number


class PageRequest(Value):
    path: dict[str, str]
    """Parts of the address."""
    query: dict[str, str]
    form: dict[str, str]
    lists: dict[str, list[str]] = {}
    """All values of each field of the form."""
    site: Site
    project: OpenProject

    @property
    def revision(self) -> int | None:
        return revision_of(self.form.get("revision", ""))

    @property
    def changes(self) -> dict[str, Any]:
        """Return what the form of a memory changes, by fields of it."""
        form = {name: text for name, text in self.form.items() if name in EMPTIED}
        empty = {name: EMPTIED[name] for name, text in form.items() if not text.strip()}
        fields = operation_of(memory_operations.update).parameters_of("people")
        changes = empty | read_form((each for each in fields if each.name in form), form)
        return {PATTERN if name == "path" else name: value for name, value in changes.items()}

    @property
    def occasions(self) -> tuple[str, ...] | None:
        """Return one for each line of the form; None where it has no field for them."""
        lines = self.form["when"].splitlines() if "when" in self.form else None
        return None if lines is None else tuple(filter(None, (" ".join(x.split()) for x in lines)))
