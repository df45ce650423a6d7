"""Whether two texts can be one memory: what sets them apart although the words are the same."""

from __future__ import annotations

import re

from ademem.core import text as text_
from ademem.core.memory import Category
from ademem.core.text import fold, words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from ademem.core.memory import Draft, Memory

KIN = (
    (Category.FACT, Category.PATTERN, Category.GOTCHA),
    (Category.DECISION, Category.CONVENTION, Category.PREFERENCE),
)
"""Categories in which one statement may be filed: how things are, and how we want them.
The others are records: two of them are two events, however alike they read."""

_TURNING = """
    not no nor t never none nothing neither without cannot nobody except unless
    always only before after above below true false must may minimum maximum min max
    enable enables enabled disable disables disabled allow allows allowed deny denies denied
    forbid forbids forbidden increase increases decrease decreases
    nicht kein keine keinen nie ohne ne pas jamais sans sin nunca não nem non senza mai
    не нет ни без никогда ない せん
"""
TURNING = frozenset(_TURNING.split())
"""Words that turn a sentence around; "t" is what word borders leave of "don't"."""
_TURNING_SIGNS = frozenset("不没沒無无未非勿莫안않못없")

_NEGATING = frozenset(
    """
    no not nor t never none nothing neither cannot nobody
    disable disables disabled deny denies denied forbid forbids forbidden
    refuse refuses refused reject rejects rejected
    nicht kein keine keinen nie ne pas jamais nunca não nem non mai
    не нет ни никогда ない せん
    """.split()
)
"""Those that say no."""
_OPPOSITES = (
    ("before", "after"),
    ("above", "below"),
    ("true", "false"),
    ("minimum", "maximum"),
    ("min", "max"),
    ("increase", "decrease"),
    ("increases", "decreases"),
)

STEM = 5
"""Letters by which two forms of a word are one."""
TELLING = 4
"""Letters below which a word tells nothing of what a text is about."""

_CLAUSE = r"[,;:.!?]\s"


def said(text: Draft | Memory) -> str:
    """Title and content, which are compared as one."""
    return text_.said(text.title, text.content)


def kin(left: Category, right: Category) -> bool:
    return any(left in family and right in family for family in KIN)


def contradicts(left: str, right: str) -> bool:
    """Whether one text negates, or names other numbers, versions, identifiers or paths."""
    return any(map(_turns, words(left) ^ words(right))) or not _same_names(left, right)


def turned(left: str, right: str) -> str | None:
    """Why one says the opposite, if it does: it alone says no, or has the opposite word.

    "Never by hand" says nothing against a text that has no hand in it.
    """
    mine, theirs = words(left), words(right)
    if _says_no(mine) != _says_no(theirs):
        no, yes = (left, right) if _says_no(mine) else (right, left)
        return "one says no" if _are_one(_after(_NEGATING, no), stems(yes)) else None
    for pair in (*_OPPOSITES, *(each[::-1] for each in _OPPOSITES)):
        if pair[0] in mine - theirs and pair[1] in theirs - mine:
            one, other = _after({pair[0]}, left), _after({pair[1]}, right)
            return " against ".join(sorted(pair)) if _are_one(one, other) else None
    return None


def stems(text: str) -> frozenset[str]:
    """How its telling words begin, which is alike in their forms; names stay whole."""
    return frozenset(
        token if is_name else token[:STEM]
        for token, is_name in _tokens(text)
        if is_name or len(token) >= TELLING
    )


def names(left: str, right: str) -> tuple[list[str], list[str]]:
    """What each text has, in order, of the things that one of the two names as certain things."""
    mine, theirs = list(_tokens(left)), list(_tokens(right))
    named = {token for token, is_name in (*mine, *theirs) if is_name}
    return (
        [token for token, _ in mine if token in named],
        [token for token, _ in theirs if token in named],
    )


def plain(text: str) -> list[str]:
    """Its words as they are compared, in order."""
    return [token for token, _ in _tokens(text)]


def _are_one(left: frozenset[str], right: frozenset[str]) -> bool:
    """Whether they have something in common, or one of them is nothing that could tell."""
    return not left or not right or not left.isdisjoint(right)


def _after(turning: Collection[str], text: str) -> frozenset[str]:
    """What stands behind such a word, up to the end of its clause."""
    found: frozenset[str] = frozenset()
    for clause in re.split(_CLAUSE, text):
        said = clause.split()
        at = [place for place, word in enumerate(said) if not words(word).isdisjoint(turning)]
        if at:
            found |= stems(" ".join(said[at[0] + 1 :]))
    return found


def _says_no(found: frozenset[str]) -> bool:
    return not _NEGATING.isdisjoint(found) or any(
        not _TURNING_SIGNS.isdisjoint(word) for word in found
    )


def _turns(word: str) -> bool:
    return word in TURNING or not _TURNING_SIGNS.isdisjoint(word)


def _same_names(left: str, right: str) -> bool:
    """The same ones, in the same order: "from 14 to 15" is not "from 15 to 14"."""
    mine, theirs = names(left, right)
    return mine == theirs


def _tokens(text: str) -> Iterator[tuple[str, bool]]:
    """Folded tokens, and whether each names one certain thing."""
    starts_sentence = True
    for raw in text.split():
        token = raw.strip(text_.EDGE)
        if token:
            yield fold(token), _is_name(token, starts_sentence)
        starts_sentence = raw[-1] in ".!?:"


def _is_name(token: str, starts_sentence: bool) -> bool:
    if not token.isalpha():
        is_flag = token.startswith("-") and len(token) > 1
        return is_flag or any(char.isdigit() or char in "/\\._@#=:+" for char in token)
    return token[1:] != token[1:].lower() or (token[0].isupper() and not starts_sentence)
