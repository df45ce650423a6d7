"""Match phrases with gaps between their words, without compiling patterns."""

from __future__ import annotations

import re

from ademem.core.untrusted import as_latin

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    Words = frozenset[str]
    Phrase = tuple[Words, ...]
    Forms = tuple[str, ...]
    """One word of a text, as written first, and the forms by which it is looked up."""

GAP = 5
"""Largest number of other words between two of a phrase."""

NEGATIONS = frozenset("never not t nie niemals nicht jamais nunca no n\u00e3o".split())
"""Words that negate the next one; `t` is what tokenizing leaves of "don't"."""

_ASCII_SENTENCE_END = r"[.!?;\n](?=\s|$)|\n"
_SENTENCE_END = r"[.!?;\n\u3002](?=\s|$)|\n"
"""A set of signs with one beyond Latin costs more to compile than all the rest."""
_WORD = re.compile(r"[\w@$]+")
_LEET = str.maketrans("013457@$", "oieastas")


def phrases(*lines: str) -> tuple[Phrase, ...]:
    """Parse `say|tell ... user`: one word of each group, in this order, in one sentence."""
    return tuple(
        [tuple([frozenset(group.split("|")) for group in line.split(" ... ")]) for line in lines]
    )


def with_latin_letters(known: Sequence[Phrase]) -> list[Phrase]:
    """Replace letters that look like Latin ones, as in folded texts that are not ASCII."""
    return [tuple([frozenset(map(as_latin, group)) for group in phrase]) for phrase in known]


def first_match(text: str, known: Sequence[Phrase]) -> int | None:
    """Return the position of the first phrase that a sentence of the folded text matches."""
    words = frozenset([form for word in _WORD.findall(text) for form in forms(word)])
    started = [(at, phrase) for at, phrase in enumerate(known) if not phrase[0].isdisjoint(words)]
    near = [(at, phrase) for at, phrase in started if not any(map(words.isdisjoint, phrase))]
    if not near:
        return None
    sentences = [
        [forms(word) for word in _WORD.findall(part)]
        for part in re.split(_ASCII_SENTENCE_END if text.isascii() else _SENTENCE_END, text)
    ]
    return next(
        (at for at, phrase in near if any(matches(words, phrase) for words in sentences)), None
    )


def spelled(text: str) -> bool:
    """True if the text spells words letter by letter."""
    run = 0
    for word in text.split():
        run = run + 1 if len(word) == 1 and word.isalpha() else 0
        if run >= 8:
            return True
    return False


def matches(words: Sequence[Forms], phrase: Phrase) -> bool:
    """True if the words of a sentence hold the phrase."""
    return any(_follow(words, phrase, None))


def _follow(words: Sequence[Forms], phrase: Phrase, at: int | None) -> Iterator[bool]:
    """Yield True for every match of the rest of the phrase behind position *at*."""
    if not phrase:
        yield True
        return
    start, end = (0, len(words)) if at is None else (at + 1, at + 2 + GAP)
    for place in range(start, min(end, len(words))):
        if phrase[0].isdisjoint(words[place]):
            continue
        is_negated = (  # "never ignore", but not "mind", and no phrase that begins with a negation
            at is None
            and place
            and not NEGATIONS.isdisjoint(words[place - 1])
            and "mind" not in words[place]
            and NEGATIONS.isdisjoint(phrase[0])
        )
        if not is_negated:
            yield from _follow(words, phrase[1:], place)


def forms(word: str) -> Forms:
    """Return the word, without the s of a plural or third person, and with letters for digits."""
    plain = word
    if not word.isalpha() and not word.isdigit() and any(map(str.isalpha, word)):
        letters = word.translate(_LEET)  # of words that mix letters and digits
        plain = letters if letters.isalpha() else word
    found = (word,) if plain == word else (word, plain)
    if plain[-1:] == "s" and len(plain) > 3:
        return (*found, plain[:-1])
    return found
