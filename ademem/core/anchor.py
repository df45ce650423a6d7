"""Anchors of a memory: a place in a file, `path:first-last@hash`, or a command, `$ words`."""

from __future__ import annotations

import re

from ademem.core.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

COMMAND = "$ "
_PLACE = r"(?s)(.+?)(?::(\d+)(?:-(\d+))?)?(?:@([0-9a-f]{8,40}))?"


class Place(Value):
    """A file, or some of its lines, counted from 1; 0 means all of them."""

    path: str
    first: int = 0
    last: int = 0
    hash: str = ""
    """First digits of the git blob id of the text when the anchor was made; empty for unknown."""

    @property
    def where(self) -> str:
        """Written form of the anchor."""
        if not self.first:
            return self.path
        lines = f"{self.first}-{self.last}" if self.last != self.first else str(self.first)
        return f"{self.path}:{lines}"

    @property
    def text(self) -> str:
        """Stored form of the anchor."""
        return f"{self.where}@{self.hash}" if self.hash else self.where


def of_command(words: str) -> str:
    return COMMAND + " ".join(words.split())


def command(anchor: str) -> str:
    """Return the command of an anchor; empty for a place."""
    return anchor.removeprefix(COMMAND) if anchor.startswith(COMMAND) else ""


def place(anchor: str) -> Place | None:
    """Return the place of an anchor; None for a command."""
    found = re.fullmatch(_PLACE, anchor)
    if found is None or anchor.startswith(COMMAND):
        return None
    first = int(found[2] or 0)
    return Place(path=found[1], first=first, last=int(found[3] or first), hash=found[4] or "")


def replaced(
    anchors: tuple[str, ...], places: Iterable[str] | None, commands: Iterable[str] | None
) -> tuple[str, ...]:
    """Replace the places or the commands among the anchors; None leaves them."""
    if places is None:
        places = [text for text in anchors if not command(text)]
    if commands is None:
        commands = [words for text in anchors if (words := command(text))]
    return joined(places, map(of_command, commands))


def joined(ours: Iterable[str], theirs: Iterable[str]) -> tuple[str, ...]:
    """Join both without duplicates; the last anchor of a place wins."""
    by_place = {}
    for anchor in (*ours, *theirs):
        named = place(anchor)
        where = named.where if named else anchor
        if where not in by_place or (named and named.hash):
            by_place[where] = anchor
    return tuple(by_place.values())
