"""Anchors of a memory: a place in a file, `path:first-last@hash`, or a command, `$ words`.

What was chosen as the place of a memory stands there, too: `@ KEY` by a person, `@read KEY` by an
agent, `@not KEY` where what the text suggests is wrong, and `@ none` for nowhere. For keys see
`search/binding_keys.py`. So do its occasions: `@when WORDS`, what somebody does, asks or sees when
the memory is wanted.

In the store, the values that a memory depends on follow the hash, as a JSON list of texts. Files
and output have them apart, below the place, so that every version reads the same anchors.
"""

from __future__ import annotations

from itertools import islice

from ademem.core import regex
from ademem.core.json_text import array, loads
from ademem.core.text import clean, in_one_line
from ademem.core.value import Value, replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

COMMAND = "$ "
GIVEN, READ = "@ ", "@read "
NOWHERE = "@ none"
NOT = "@not "
WHEN = "@when "
MOST_OCCASIONS = 4
MOST_READ = 8
"""Occasions of two people, whose copies of a memory are joined."""
OCCASION_CHARS = 120
_PLACE = r"(?s)(.+?)(?::(\d{1,9})(?:-(\d{1,9}))?)?(?:@([0-9a-f]{8,40})( \[.*\])?)?"


class Place(Value):
    """A file, or some of its lines, counted from 1; 0 means all of them."""

    path: str
    first: int = 0
    last: int = 0
    hash: str = ""
    """First digits of the git blob id of the text when the anchor was made; empty for unknown."""
    values: tuple[str, ...] = ()
    """Names of the text, and what they were set to, on which the memory depends."""

    @property
    def where(self) -> str:
        if not self.first:
            return self.path
        lines = f"{self.first}-{self.last}" if self.last != self.first else str(self.first)
        return f"{self.path}:{lines}"

    @property
    def plain(self) -> str:
        return f"{self.where}@{self.hash}" if self.hash else self.where

    @property
    def text(self) -> str:
        return f"{self.plain} {array(self.values)}" if self.hash and self.values else self.plain


def of_command(words: str) -> str:
    return COMMAND + " ".join(words.split())


def command(anchor: str) -> str:
    return anchor.removeprefix(COMMAND) if anchor.startswith(COMMAND) else ""


def of_key(key: str, *, by_person: bool) -> str:
    return (GIVEN if by_person else READ) + " ".join(key.split())


def of_occasion(words: str) -> str:
    return WHEN + " ".join(words.split())


def occasions(anchors: Iterable[str]) -> tuple[str, ...]:
    """Return the words of the occasions on which a memory is wanted.

    What files bring beyond MOST_READ, or too long, is none; nor is it in the word index: see
    `indexed_memories` in `store/schema.sql`.
    """
    told = (text.removeprefix(WHEN) for text in anchors if text.startswith(WHEN))
    return tuple(islice((words for words in told if len(words) <= OCCASION_CHARS), MOST_READ))


def describe_occasions(anchors: Iterable[str]) -> list[str]:
    return [f"when: {words}" for words in occasions(anchors)]


def describe(anchors: Iterable[str]) -> list[str]:
    """Return a line for each anchor, places in the code without their hash, and occasions last."""
    anchors = tuple(anchors)
    others = (text for text in anchors if not text.startswith(WHEN))
    named = (found.where if (found := place(text)) else text for text in others)
    return [*(f"anchor: {text}" for text in named), *describe_occasions(anchors)]


def is_choice(anchor: str) -> bool:
    """Return True for a text that is stored as a chosen place or an occasion."""
    return in_one_line(clean(anchor)).startswith((GIVEN, READ, NOT, WHEN))


def kind_of(anchor: str) -> str:
    """Return "when" for an occasion, "place" for a chosen place, "anchor" for any other."""
    if anchor.startswith(WHEN):
        return "when"
    return "place" if is_choice(anchor) else "anchor"


def at(anchor: str) -> tuple[str, str] | None:
    """Return the key of a chosen place and its strength; None for any other anchor."""
    for start, strength in ((READ, "read"), (GIVEN, "given")):
        if anchor.startswith(start) and anchor != NOWHERE:
            return anchor.removeprefix(start), strength
    return None


def place(anchor: str) -> Place | None:
    if anchor.startswith((COMMAND, GIVEN, READ, NOT, WHEN)):
        return None
    found = regex.fullmatch(_PLACE, anchor)
    if found is None:
        return None
    try:
        values = tuple(loads(found[5])) if found[5] else ()
    except (ValueError, RecursionError):
        return Place(path=anchor)
    if not all(isinstance(text, str) for text in values):
        return Place(path=anchor)
    first = int(found[2] or 0)
    last = int(found[3] or first)
    return Place(path=found[1], first=first, last=last, hash=found[4] or "", values=values)


def normal(anchor: str) -> str:
    return found.text if (found := place(anchor)) else anchor


def plain(anchors: Iterable[str]) -> tuple[str, ...]:
    return tuple(found.plain if (found := place(text)) else text for text in anchors)


def values(anchors: Iterable[str]) -> dict[str, list[str]]:
    places = filter(None, map(place, anchors))
    return {found.where: list(found.values) for found in places if found.values}


def with_values(anchors: Iterable[str], values: Mapping[str, Iterable[str]]) -> tuple[str, ...]:
    return tuple(
        replace(found, values=tuple(values[found.where])).text
        if (found := place(text)) and found.hash and values.get(found.where)
        else text
        for text in anchors
    )


def keep_values(anchors: Iterable[str], stored: Iterable[str]) -> tuple[str, ...]:
    """Add the values of the stored anchors of the same text to anchors without values."""
    by_text = {found.plain: text for text in stored if (found := place(text))}
    return tuple(by_text.get(text, text) for text in anchors)


def replace_parts(
    anchors: tuple[str, ...], places: Iterable[str] | None, commands: Iterable[str] | None
) -> tuple[str, ...]:
    if places is None:
        places = [text for text in anchors if place(text)]
    chosen = [text for text in anchors if not place(text) and not command(text)]
    if commands is None:
        commands = [words for text in anchors if (words := command(text))]
    return merge_anchors([*places, *chosen], map(of_command, commands))


def merge_anchors(ours: Iterable[str], theirs: Iterable[str]) -> tuple[str, ...]:
    """Join both without duplicates; of one place, the last anchor wins that lacks nothing."""
    by_place: dict[str, str] = {}
    for anchor in (*ours, *theirs):
        named = place(anchor)
        where = named.where if named else anchor
        lacks_values = anchor == next(iter(plain([by_place.get(where, "")])))
        if where not in by_place or (named and named.hash and not lacks_values):
            by_place[where] = anchor
    return tuple(by_place.values())
