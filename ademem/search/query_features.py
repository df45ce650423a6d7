"""Features of a question beside its words: a speaker, a time, being a question."""

from __future__ import annotations

from ademem.core.memory import PROCEDURE
from ademem.core.text import words
from ademem.core.value import Value
from ademem.search import query as query_

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from ademem.core.memory import Entry
    from ademem.search.parameters import Parameters

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


class Features(Value):
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


def read(query: str) -> Features:
    """Read the features without compiling a pattern, as a prompt waits."""
    tokens = [word.strip(_EDGES) for word in query.lower().split()]
    return Features(
        words=words(query),
        when=_asks_when(tokens),
        months=frozenset(_months(tokens)),
        years=frozenset(int(word) for word in tokens if _is_year(word)),
        asks=query_.asks(query),
    )


def _asks_when(tokens: Sequence[str]) -> bool:
    first, second = (*tokens, "", "")[:2]
    return (
        first == "when"
        or (first, second) in (("since", "when"), ("how", "long"))
        or (first in ("what", "which") and second in _PERIODS)
    )


def _months(tokens: Sequence[str]) -> Iterator[int]:
    for before, word, after in zip(("", *tokens), tokens, (*tokens[1:], ""), strict=False):
        if word in MONTHS and (word != "may" or before in _BEFORE_MAY or _is_day(before, after)):
            yield MONTHS.index(word) + 1


def _is_day(before: str, after: str) -> bool:
    """A number beside `may`, which is otherwise a verb."""
    return after.isdigit() or before.removesuffix("th").isdigit()


def _is_year(word: str) -> bool:
    return len(word) == 4 and word.isdecimal() and word.isascii() and word[:2] in ("19", "20")


def speaker(features: Features, memory: Entry) -> bool:
    """The memory is a turn of a speaker that the question names."""
    return bool(memory.speaker) and words(memory.speaker or "") <= features.words


def time(features: Features, memory: Entry) -> bool:
    """The question asks for a time, and the memory mentions one."""
    return features.when and not _TIME_WORDS.isdisjoint(words(memory.content))


def date(features: Features, memory: Entry) -> bool:
    """The memory was learned in the month, year, or month of a year that the question names."""
    at = memory.created_at
    return (
        bool(features.months or features.years)
        and (not features.months or at.month in features.months)
        and (not features.years or at.year in features.years)
    )


def asks(features: Features, memory: Entry) -> bool:
    """The memory is itself a question."""
    return memory.content.endswith("?")


def steps(features: Features, memory: Entry) -> bool:
    """The memory is a procedure, and the question asks how things are."""
    return features.asks and memory.source_type == PROCEDURE


FEATURES: tuple[Callable[[Features, Entry], bool], ...] = (speaker, time, date, asks, steps)


def bonus(features: Features, memory: Entry, parameters: Parameters) -> dict[str, float]:
    """The addition to the relevance for each feature that holds."""
    return {
        feature.__name__: getattr(parameters, feature.__name__)
        for feature in FEATURES
        if feature(features, memory)
    }
