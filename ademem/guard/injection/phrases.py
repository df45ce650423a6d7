"""Match phrases with gaps between their words, without compiling patterns."""

from __future__ import annotations

import re

from ademem.core.confusables import as_latin

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    Words = frozenset[str]
    Phrase = tuple[Words, ...]
    Index = dict[str, list[tuple[int, Phrase]]]

GAP = 5
"""Largest number of other words between two of a phrase."""

NEGATIONS = frozenset("never not t nie niemals nicht jamais nunca no n\u00e3o".split())
"""Words that negate the next one; `t` is what tokenizing leaves of "don't"."""

_ASCII_SENTENCE_END = r"[.!?;\n](?=\s|$)|\n"
_SENTENCE_END = r"[.!?;\n\u3002](?=\s|$)|\n"
"""A set of signs with one beyond Latin costs more to compile than all the rest."""
_WORD = re.compile(r"[\w@$]+")
_LEET = str.maketrans("013457@$", "oieastas")
_MAYBE_LEET = re.compile(r"[013457@$]")


def phrases(*lines: str) -> tuple[Phrase, ...]:
    """Parse `say|tell ... user`: one word of each group, in this order, in one sentence.

    Letters that look like Latin ones are replaced, as in the texts.
    """
    return tuple(
        tuple(frozenset(map(_stem, group.split("|"))) for group in as_latin(line).split(" ... "))
        for line in lines
    )


def sentences(text: str) -> list[list[str]]:
    """Return the stemmed words of each sentence of a folded text; `1gn0r3` is `ignore`."""
    found: list[list[str]] = []
    end = _ASCII_SENTENCE_END if text.isascii() else _SENTENCE_END
    for part in re.split(end, text):
        words = _WORD.findall(part)
        found.append([_stem(word) for word in words])
        plain = [_without_leet(word) for word in words] if _MAYBE_LEET.search(part) else words
        if plain != words:
            found.append([_stem(word) for word in plain])
    return found


def spelled(text: str) -> bool:
    """True if the text spells words letter by letter."""
    run = 0
    for word in text.split():
        run = run + 1 if len(word) == 1 and word.isalpha() else 0
        if run >= 8:
            return True
    return False


def index(known: Iterable[Phrase]) -> Index:
    """Index phrases and their positions by each word of their group with the longest words.

    A sentence without a word of that group cannot match.
    """
    found: Index = {}
    for place, phrase in enumerate(known):
        for word in max(phrase, key=lambda group: min(map(len, group))):
            found.setdefault(word, []).append((place, phrase))
    return found


def beginnings(known: Index) -> frozenset[str]:
    """Return the words of the index, and their forms before `_stem`."""
    return frozenset(known) | {f"{word}s" for word in known}


def may_say(text: str, known: Index, beginnings: frozenset[str]) -> bool:
    """False if no sentence of a folded text can match a phrase."""
    words = set(_WORD.findall(text))
    if not words.isdisjoint(beginnings):
        return True
    mixed = [word for word in words if not (word.isalpha() or word.isdigit())]
    return any(_stem(_without_leet(word)) in known for word in mixed)


def first(words: list[str], known: Index) -> int | None:
    """Return the position of the first phrase that a sentence matches."""
    said = known.keys() & set(words)
    places = [place for word in said for place, phrase in known[word] if says(words, phrase)]
    return min(places, default=None)


def says(words: list[str], phrase: Phrase) -> bool:
    known = frozenset(words)
    return not any(map(known.isdisjoint, phrase)) and any(_follow(words, phrase, None))


def _follow(words: list[str], phrase: Phrase, at: int | None) -> Iterator[bool]:
    """Yield True for every match of the rest of the phrase behind position *at*."""
    if not phrase:
        yield True
        return
    start, end = (0, len(words)) if at is None else (at + 1, at + 2 + GAP)
    for place in range(start, min(end, len(words))):
        if words[place] not in phrase[0]:
            continue
        if (
            at is not None
            or not place
            or not _is_forbidden(words[place - 1 : place + 1], phrase[0])
        ):
            yield from _follow(words, phrase[1:], place)


def _is_forbidden(words: list[str], beginning: Words) -> bool:
    """True if the first word negates the second, which begins a phrase."""
    before, word = words
    return before in NEGATIONS and word != "mind" and NEGATIONS.isdisjoint(beginning)


def _stem(word: str) -> str:
    """Remove the s of a plural or third person."""
    return word[:-1] if word[-1:] == "s" and len(word) > 3 else word


def _without_leet(word: str) -> str:
    """Replace digits by the letters they resemble, in words that mix both."""
    if word.isalpha() or word.isdigit() or not any(map(str.isalpha, word)):
        return word
    plain = word.translate(_LEET)
    return plain if plain.isalpha() else word
