"""Turns of a dialogue: what their neighbours and the speaker and time of a question add.

On notes none of it helps, so a search without a turn among its candidates does not load this.
"""

from __future__ import annotations

from ademem.core.text import MONTHS, words
from ademem.core.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from ademem.core.memory import Entry
    from ademem.search.lexical import Matches
    from ademem.search.ranking import Parameters

    Neighbours = tuple[tuple[int, ...], ...]
    """Rows of the same session: those next to a row, those one further on, and so forth."""

DECAY = (1.0, 0.6)
"""Weights of the neighbours at distance 1 and 2, where the row itself has 1."""
REACH = len(DECAY)
SATURATION = 0.3
"""Saturation of a word: the smaller, the less a row that has it gains from neighbours with it."""

_TIME_WORDS = frozenset(
    """
    yesterday today tonight tomorrow last next ago recently since week weeks weekend month months
    year years monday tuesday wednesday thursday friday saturday sunday
    """.split()
).union(MONTHS)
_PERIODS = ("year", "month", "week", "day", "date")
_BEFORE_MAY = frozenset({"in", "of", "since", "until", "before", "after", "last"})
_EDGES = ".,;:!?\"'()"


def add_neighbours(
    signals: dict[int, dict[str, float]],
    turns: Mapping[int, Neighbours],
    matches: Matches,
    whitened: Mapping[int, float],
) -> None:
    """Add what each turn and its neighbours together have of the words and the meaning."""
    shares = {
        seq: neighbour_words(seq, near, matches.terms, matches.weights)
        for seq, near in turns.items()
    }
    _add_scaled("near_words", shares, signals)
    for seq, share in shares.items():
        signals[seq]["near_share"] = share
    if not whitened:
        return
    means = {seq: neighbour_meaning(seq, near, whitened) for seq, near in turns.items()}
    known = {seq: max(0.0, mean) for seq, mean in means.items() if mean is not None}
    _add_scaled("near_meaning", known, signals)
    for seq in turns:
        mine = signals[seq]
        if seq not in whitened and "meaning" in mine:
            mine["near_meaning"] = min(mine.get("near_meaning", 1.0), mine["meaning"])


def _add_scaled(
    name: str, values: Mapping[int, float], signals: dict[int, dict[str, float]]
) -> None:
    best = max(values.values(), default=0.0)
    for seq, value in values.items():
        signals[seq][name] = value / best if best > 0 else 0.0


def neighbour_words(
    seq: int,
    near: Neighbours,
    terms: Mapping[int, Sequence[int]],
    weights: Sequence[float],
) -> float:
    """Part of a full answer in the words of the row and its neighbours; may exceed 1."""
    held = dict.fromkeys(terms.get(seq, ()), 1.0)
    for decay, rows in zip(DECAY, near, strict=False):
        for row in rows:
            for term in terms.get(row, ()):
                held[term] = held.get(term, 0.0) + decay
    enough = sum(weights[term] * w / (w + SATURATION) for term, w in held.items())
    return (1 + SATURATION) * enough


def neighbour_meaning(seq: int, near: Neighbours, cosines: Mapping[int, float]) -> float | None:
    """Weighted mean of the cosines of the row and its neighbours, as far as there are any."""
    total = parts = 0.0
    for decay, rows in zip((1.0, *DECAY), ((seq,), *near), strict=False):
        for row in rows:
            if row in cosines:
                total += decay * cosines[row]
                parts += decay
    return total / parts if parts else None


class Features(Value):
    words: frozenset[str]
    when: bool
    months: frozenset[int]
    years: frozenset[int]


def read_features(query: str) -> Features:
    tokens = [word.strip(_EDGES) for word in query.lower().split()]
    return Features(
        words=words(query),
        when=_asks_when(tokens),
        months=frozenset(_months(tokens)),
        years=frozenset(int(word) for word in tokens if _is_year(word)),
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
        is_verb = word == "may" and not (
            before in _BEFORE_MAY or after.isdigit() or before.removesuffix("th").isdigit()
        )
        if word in MONTHS and not is_verb:
            yield MONTHS.index(word) + 1


def _is_year(word: str) -> bool:
    return len(word) == 4 and word.isdecimal() and word.isascii() and word[:2] in ("19", "20")


def speaker(features: Features, memory: Entry) -> bool:
    """The memory is a turn of a speaker that the question names."""
    return bool(memory.speaker) and words(memory.speaker or "") <= features.words


def time(features: Features, memory: Entry) -> bool:
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
    return memory.content.endswith("?")


FEATURES: tuple[Callable[[Features, Entry], bool], ...] = (speaker, time, date, asks)


def bonus(features: Features, memory: Entry, parameters: Parameters) -> dict[str, float]:
    return {
        feature.__name__: getattr(parameters, feature.__name__)
        for feature in FEATURES
        if feature(features, memory)
    }
