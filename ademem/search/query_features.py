"""What a question asks for beside its words: who said it, when it was, an answer."""

from __future__ import annotations

from ademem.core.memory import PROCEDURE
from ademem.core.text import words
from ademem.core.value import Value
from ademem.search import query as query_

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from ademem.core.memory import Entry
    from ademem.core.settings import SearchSettings

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
_PERIODS = ("year", "month", "week", "day", "date")
_BEFORE_MAY = frozenset({"in", "of", "since", "until", "before", "after", "last"})
_EDGES = ".,;:!?\"'()"


class Cues(Value):
    """What else to look for."""

    words: frozenset[str]
    when: bool
    """It asks for a time."""
    months: frozenset[int]
    years: frozenset[int]
    asks: bool
    """It is a question."""

    @property
    def is_timed(self) -> bool:
        """It asks for a time, or names one."""
        return bool(self.when or self.months or self.years)


def read(query: str) -> Cues:
    """No pattern is compiled for it: a prompt waits."""
    said = [word.strip(_EDGES) for word in query.lower().split()]
    return Cues(
        words=words(query),
        when=_asks_when(said),
        months=frozenset(_months(said)),
        years=frozenset(int(word) for word in said if _is_year(word)),
        asks=query_.asks(query),
    )


def _asks_when(said: Sequence[str]) -> bool:
    first, second = (*said, "", "")[:2]
    return (
        first == "when"
        or (first, second) in (("since", "when"), ("how", "long"))
        or (first in ("what", "which") and second in _PERIODS)
    )


def _months(said: Sequence[str]) -> Iterator[int]:
    for before, word, after in zip(("", *said), said, (*said[1:], ""), strict=False):
        if word in MONTHS and (word != "may" or before in _BEFORE_MAY or _is_day(before, after)):
            yield MONTHS.index(word) + 1


def _is_day(before: str, after: str) -> bool:
    """A number beside `may`, which is a verb else."""
    return after.isdigit() or before.removesuffix("th").isdigit()


def _is_year(word: str) -> bool:
    return len(word) == 4 and word.isdecimal() and word.isascii() and word[:2] in ("19", "20")


def speaker(cues: Cues, memory: Entry) -> bool:
    """A turn of somebody who is named."""
    return bool(memory.speaker) and words(memory.speaker or "") <= cues.words


def time(cues: Cues, memory: Entry) -> bool:
    """It says a time, and that is what is asked for."""
    return cues.when and not _TIME_WORDS.isdisjoint(words(memory.content))


def date(cues: Cues, memory: Entry) -> bool:
    """It was learned in the month, the year, or the month of the year that is named."""
    at = memory.created_at
    return (
        bool(cues.months or cues.years)
        and (not cues.months or at.month in cues.months)
        and (not cues.years or at.year in cues.years)
    )


def asks(cues: Cues, memory: Entry) -> bool:
    """It is a question itself."""
    return memory.content.endswith("?")


def steps(cues: Cues, memory: Entry) -> bool:
    """It is what sessions did, and the question is how things are."""
    return cues.asks and memory.source_type == PROCEDURE


CUES: tuple[Callable[[Cues, Entry], bool], ...] = (speaker, time, date, asks, steps)


def bonus(cues: Cues, memory: Entry, settings: SearchSettings) -> dict[str, float]:
    """What each cue that holds adds to the relevance."""
    return {cue.__name__: getattr(settings, cue.__name__) for cue in CUES if cue(cues, memory)}
