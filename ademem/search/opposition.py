"""Opposition of two texts: one negates, rejects or reverses what the other says."""

from __future__ import annotations

import re

from ademem.core import text as text_
from ademem.core.text import fold, word_set, words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

NEGATING = word_set("""
    no not nor t never none nothing neither cannot nobody
    disable disables disabled deny denies denied forbid forbids forbidden
    refuse refuses refused reject rejects rejected
    nicht kein keine keinen nie ne pas jamais nunca não nem non mai
    не нет ни никогда ない せん
""")
"""Words that negate; "t" is what tokenizing leaves of "don't"."""
REVERSING = NEGATING | word_set("""
    without except unless always only before after above below true false must may minimum maximum
    min max enable enables enabled allow allows allowed increase increases decrease decreases
    ohne sans sin sem senza без
""")
_REVERSING_SIGNS = frozenset("不没沒無无未非勿莫안않못없")

_OPPOSITES = [
    pair.split("/")
    for pair in "before/after above/below true/false minimum/maximum min/max increase/decrease"
    " increases/decreases".split()
]

_REJECTING = NEGATING | {"instead", "rather", "statt", "lieu", "vez"}
_COMMON = word_set("""
    a an the to of in on for with by at and or than from into as it we you this that here any ever
    use uses using used run call write take import put keep make do does be is are prefer directly
    always only must should project repository repo code codebase
    der die das den ein eine und oder hier wir verwende nutze benutze benutzen verwenden nimm
    le la les un une des et ou ici on utilise au el los las una y aquí usa usamos uses de en
""")
"""Words that say nothing about the subject of a rule."""
OPPOSED_SHARE = 2 / 3
"""Share of what one text rejects, from which another that asserts it is opposed."""

STEM = 5
"""Number of first letters by which two forms of a word are equal."""
MIN_STEM_WORD = 4
"""Shortest word that counts for the subject of a text."""

_CLAUSE = r"[,;:.!?]\s"
_COMPOUND = r"(?i)\b(no|non|not)-(?=\w)"
"""A syllable that negates a part of one name, and no statement."""


def contradicts(left: str, right: str) -> bool:
    """True if one text negates, or names other numbers, versions, identifiers or paths."""
    if any(
        word in REVERSING or not _REVERSING_SIGNS.isdisjoint(word)
        for word in words(left) ^ words(right)
    ):
        return True
    if split_rejected(left)[1] != split_rejected(right)[1]:
        return True  # "pnpm, not npm" has the words of "npm, not pnpm"
    mine, theirs = named_tokens(left, right)
    return mine != theirs  # in order: "from 14 to 15" is not "from 15 to 14"


def opposes(left: str, right: str) -> bool:
    """True if one text asserts what the other rejects, and not also what that asserts."""
    one, other = split_rejected(left), split_rejected(right)
    for (asserted, rejected), (theirs, _) in ((one, other), (other, one)):
        share = len(rejected & theirs) / len(rejected) if rejected else 0.0
        if share >= OPPOSED_SHARE and not (asserted and asserted <= theirs):
            return True
    return False


def split_rejected(text: str) -> tuple[frozenset[str], frozenset[str]]:
    """Return the words that a text asserts, and those behind a negation, up to 5 letters each."""
    found: dict[bool, set[str]] = {False: set(), True: set()}
    for clause in re.split(_CLAUSE, text):
        rejects = False
        for token in (fold(raw.strip(text_.EDGE)) for raw in clause.split()):
            if not words(token).isdisjoint(_REJECTING):
                rejects = True
            elif token and token not in _COMMON:
                found[rejects].add(token[:STEM] if token.isalpha() else token)
    return frozenset(found[False]), frozenset(found[True])


def find_opposition(left: str, right: str) -> str | None:
    """Explain the opposition of two texts: one negates, or has the opposite word; else None.

    "Never by hand" opposes no text without "hand"; a name such as `--no-color` negates nothing.
    """
    left, right = (re.sub(_COMPOUND, r"\1", text) for text in (left, right))
    mine, theirs = words(left), words(right)
    if _negates(mine) != _negates(theirs):
        no, yes = (left, right) if _negates(mine) else (right, left)
        return "one says no" if _overlap(_stems_after(NEGATING, no), stems(yes)) else None
    for pair in (*_OPPOSITES, *(each[::-1] for each in _OPPOSITES)):
        if pair[0] in mine - theirs and pair[1] in theirs - mine:
            one, other = _stems_after({pair[0]}, left), _stems_after({pair[1]}, right)
            return " against ".join(sorted(pair)) if _overlap(one, other) else None
    return None


def stems(text: str) -> frozenset[str]:
    return frozenset(
        token if is_name else token[:STEM]
        for token, is_name in _tokens(text)
        if is_name or len(token) >= MIN_STEM_WORD
    )


def named_tokens(left: str, right: str) -> tuple[list[str], list[str]]:
    """Return, for each text in order, the tokens that are names in one of the two."""
    mine, theirs = list(_tokens(left)), list(_tokens(right))
    named = {token for token, is_name in (*mine, *theirs) if is_name}
    return (
        [token for token, _ in mine if token in named],
        [token for token, _ in theirs if token in named],
    )


def tokenize(text: str) -> list[str]:
    return [token for token, _ in _tokens(text)]


def _overlap(left: frozenset[str], right: frozenset[str]) -> bool:
    return not left or not right or not left.isdisjoint(right)


def _stems_after(turning: Collection[str], text: str) -> frozenset[str]:
    """Return the stems behind a word of *turning*, up to the end of its clause."""
    found: frozenset[str] = frozenset()
    for clause in re.split(_CLAUSE, text):
        tokens = clause.split()
        at = [place for place, word in enumerate(tokens) if not words(word).isdisjoint(turning)]
        if at:
            found |= stems(" ".join(tokens[at[0] + 1 :]))
    return found


def _negates(found: frozenset[str]) -> bool:
    return not NEGATING.isdisjoint(found) or any(
        not _REVERSING_SIGNS.isdisjoint(word) for word in found
    )


def _tokens(text: str) -> Iterator[tuple[str, bool]]:
    """Yield folded tokens, each with True if it is a name."""
    starts_sentence = True
    for raw in text.split():
        token = raw.strip(text_.EDGE)
        if token.isalpha():
            has_capital = token[0].isupper() and not starts_sentence
            yield fold(token), has_capital or token[1:] != token[1:].lower()
        elif token:
            is_flag = token.startswith("-") and len(token) > 1
            is_code = any(char.isdigit() or char in "/\\._@#=:+" for char in token)
            yield fold(token), is_flag or is_code
        starts_sentence = raw[-1] in ".!?:"
