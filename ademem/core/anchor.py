"""What a memory is tied to: a place in a file, `path:first-last@hash`, or a command, `$ words`."""

from __future__ import annotations

import re

from ademem.core.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

COMMAND = "$ "
_PLACE = r"(?s)(.+?)(?::(\d+)(?:-(\d+))?)?(?:@([0-9a-f]{8,40}))?"


class Place(Value):
    """A file, or some of its lines; the lines count from 1, and 0 means all of them."""

    path: str
    first: int = 0
    last: int = 0
    hash: str = ""
    """First digits of the git blob id of the text there when it was noted; empty: never noted."""

    @property
    def where(self) -> str:
        """The anchor as people write it."""
        if not self.first:
            return self.path
        lines = f"{self.first}-{self.last}" if self.last != self.first else str(self.first)
        return f"{self.path}:{lines}"

    @property
    def text(self) -> str:
        """The anchor as it is stored."""
        return f"{self.where}@{self.hash}" if self.hash else self.where


def of_command(words: str) -> str:
    """The anchor of a command."""
    return COMMAND + " ".join(words.split())


def command(anchor: str) -> str:
    """The command an anchor names; empty when it names a place."""
    return anchor.removeprefix(COMMAND) if anchor.startswith(COMMAND) else ""


def place(anchor: str) -> Place | None:
    """The place an anchor names; None when it names a command, or nothing."""
    found = re.fullmatch(_PLACE, anchor)
    if found is None or anchor.startswith(COMMAND):
        return None
    first = int(found[2] or 0)
    return Place(path=found[1], first=first, last=int(found[3] or first), hash=found[4] or "")


def replaced(
    anchors: tuple[str, ...], places: Iterable[str] | None, commands: Iterable[str] | None
) -> tuple[str, ...]:
    """The anchors with other places, or other commands; None leaves those there are."""
    if places is None:
        places = [text for text in anchors if not command(text)]
    if commands is None:
        commands = [words for text in anchors if (words := command(text))]
    return joined(places, map(of_command, commands))


def joined(ours: Iterable[str], theirs: Iterable[str]) -> tuple[str, ...]:
    """Both without repetition; of one place noted twice, what was noted last."""
    by_place = {}
    for anchor in (*ours, *theirs):
        named = place(anchor)
        where = named.where if named else anchor
        if where not in by_place or (named and named.hash):
            by_place[where] = anchor
    return tuple(by_place.values())
