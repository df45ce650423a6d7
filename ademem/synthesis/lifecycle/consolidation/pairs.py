"""What two texts that mean nearly the same are to each other."""

from __future__ import annotations

from difflib import SequenceMatcher
from enum import StrEnum

from ademem.capture.gate import distinctions
from ademem.core.text import unique, words

SLOT = 2
"""Words in a row that are exchanged when one sentence speaks of two things."""
ABOUT = 0.75
"""Share of the telling words of the shorter of two texts about one matter that the other has."""
FRAME = 0.5
"""Share of the words that stay in their places around them."""

_LIMITS = frozenset("only except unless until without ohne sans sin senza без".split())
"""Words without which a sentence claims more."""


class Kinship(StrEnum):
    SAME = "same"
    """The second adds nothing: it names what the first names, or less."""
    MORE = "more"
    """The second names something more."""
    APART = "apart"
    CONFLICT = "conflict"


def kinship(left: str, right: str) -> Kinship:
    """How the second text stands to the first; both are known to be near in meaning."""
    if conflict(left, right):
        return Kinship.CONFLICT
    if _LIMITS & (words(left) ^ words(right)) or _is_of_another(left, right):
        return Kinship.APART
    mine, theirs = distinctions.names(left, right)
    if set(theirs) - set(mine):
        return Kinship.APART if set(mine) - set(theirs) else Kinship.MORE
    in_order = [name for name in unique(mine) if name in theirs] == list(unique(theirs))
    return Kinship.SAME if in_order else Kinship.APART


def conflict(left: str, right: str) -> str | None:
    """Why both cannot be true, if so; the same for both orders."""
    if turn := distinctions.turned(left, right):
        return turn
    ours, others = _own_names(left, right)
    if ours and others and (is_renumbered(left, right) or _is_of_another(left, right)):
        return " against ".join(sorted((" ".join(ours), " ".join(others))))
    return None


def is_renumbered(left: str, right: str) -> bool:
    """Whether each has a number, or a version, in the place of the other's."""
    return all(map(_has_number, _own_names(left, right)))


def is_about_one(left: str, right: str) -> bool:
    """Whether they have most of their telling words in common, names left out.

    One sentence with one of these words exchanged is about another matter.
    """
    named = {name for names in distinctions.names(left, right) for name in names}
    mine, theirs = distinctions.stems(left) - named, distinctions.stems(right) - named
    if _is_of_another(left, right) and mine - theirs and theirs - mine:
        return False
    return len(mine & theirs) >= ABOUT * min(len(mine), len(theirs))


def _own_names(left: str, right: str) -> tuple[list[str], list[str]]:
    """What each names that the other does not."""
    mine, theirs = (sorted(set(named)) for named in distinctions.names(left, right))
    return [name for name in mine if name not in theirs], [
        name for name in theirs if name not in mine
    ]


def _has_number(names: list[str]) -> bool:
    return any(char.isdigit() for name in names for char in name)


def _is_of_another(left: str, right: str) -> bool:
    """Whether they are one sentence about two things: a word or two exchanged in their place."""
    mine, theirs = distinctions.plain(left), distinctions.plain(right)
    steps = SequenceMatcher(None, mine, theirs, autojunk=False).get_opcodes()
    changed = [step for step in steps if step[0] != "equal"]
    kept = sum(step[2] - step[1] for step in steps if step[0] == "equal")
    return (
        bool(changed)
        and kept >= FRAME * max(len(mine), len(theirs))
        and all(
            tag == "replace" and end - start <= SLOT and to - since <= SLOT
            for tag, start, end, since, to in changed
        )
    )
