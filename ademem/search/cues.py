"""What a question asks for beside its words: who said it, when it was, an answer."""

from __future__ import annotations

import re

from ademem.text import words
from ademem.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from ademem.model import Memory
    from ademem.settings import SearchSettings

MONTHS = (
    *("january", "february", "march", "april", "may", "june", "july"),
    *("august", "september", "october", "november", "december"),
)
_TIME_WORDS = frozenset(
    """
    yesterday today tonight tomorrow last next ago recently since week weeks weekend month months
    year years monday tuesday wednesday thursday friday saturday sunday
    """.split()
).union(MONTHS)
_WHEN = re.compile(r"\s*(?:when|since when|how long|(?:what|which) (?:year|month|week|day|date))\b")
_MONTH = re.compile(rf"\b({'|'.join(month for month in MONTHS if month != 'may')})\b")
_MAY = re.compile(
    r"\b(?:in|of|since|until|before|after|last) may\b|\bmay,? \d|\b\d{1,2}(?:th)? may\b"
)
_YEAR = re.compile(r"\b((?:19|20)\d\d)\b")


class Cues(Value):
    """What else to look for."""

    words: frozenset[str]
    when: bool
    """It asks for a time."""
    months: frozenset[int]
    years: frozenset[int]


def read(query: str) -> Cues:
    text = query.lower()
    months = {MONTHS.index(name) + 1 for name in _MONTH.findall(text)}
    if _MAY.search(text):
        months.add(MONTHS.index("may") + 1)
    return Cues(
        words=words(query),
        when=_WHEN.match(text) is not None,
        months=frozenset(months),
        years=frozenset(map(int, _YEAR.findall(text))),
    )


def speaker(cues: Cues, memory: Memory) -> bool:
    """A turn of somebody who is named."""
    return bool(memory.speaker) and words(memory.speaker or "") <= cues.words


def time(cues: Cues, memory: Memory) -> bool:
    """It says a time, and that is what is asked for."""
    return cues.when and not _TIME_WORDS.isdisjoint(words(memory.content))


def date(cues: Cues, memory: Memory) -> bool:
    """It was learned in the month, the year, or the month of the year that is named."""
    at = memory.created_at
    return (
        bool(cues.months or cues.years)
        and (not cues.months or at.month in cues.months)
        and (not cues.years or at.year in cues.years)
    )


def asks(cues: Cues, memory: Memory) -> bool:
    """It is a question itself."""
    return memory.content.endswith("?")


CUES: tuple[Callable[[Cues, Memory], bool], ...] = (speaker, time, date, asks)


def bonus(cues: Cues, memory: Memory, settings: SearchSettings) -> dict[str, float]:
    """What each cue that holds adds to the relevance."""
    return {cue.__name__: getattr(settings, cue.__name__) for cue in CUES if cue(cues, memory)}
