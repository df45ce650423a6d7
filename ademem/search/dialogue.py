"""Turns of a dialogue: what their neighbours and the speaker and time of a question add.

On notes none of it helps, so a search without a turn among its candidates does not load this.
"""

from __future__ import annotations

import re

from ademem.core.text import MONTHS, word_set, words
from ademem.core.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ademem.core.memory import Memory
    from ademem.search.lexical import Matches
    from ademem.search.ranking import Parameters

    Neighbours = tuple[tuple[int, ...], ...]
    """Rows of the same session: those next to a row, those one further on, and so forth."""

DECAY = (1.0, 0.6)
"""Weights of the neighbours at distance 1 and 2, where the row itself has 1."""
REACH = len(DECAY)
SATURATION = 0.3
"""Saturation of a word: the smaller, the less a row that has it gains from neighbours with it."""

_TIME_WORDS = word_set("""
    yesterday today tonight tomorrow last next ago recently since week weeks weekend month months
    year years monday tuesday wednesday thursday friday saturday sunday
""").union(MONTHS)
_PERIODS = ("year", "month", "week", "day", "date")
_BEFORE_MAY = frozenset({"in", "of", "since", "until", "before", "after", "last"})
_EDGES = ".,;:!?\"'()"


def add_neighbours(
    signals: dict[int, dict[str, float]],
    turns: Mapping[int, Neighbours],
    matches: Matches,
    whitened: Mapping[int, float],
) -> None:
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
    first, second = (*tokens, "", "")[:2]
    return Features(
        words=words(query),
        when=first == "when"
        or (first, second) in (("since", "when"), ("how", "long"))
        or (first in ("what", "which") and second in _PERIODS),
        months=frozenset(_find_months(tokens)),
        years=frozenset(int(word) for word in tokens if re.fullmatch(r"(?a)(?:19|20)\d\d", word)),
    )


def _find_months(tokens: Sequence[str]) -> Iterator[int]:
    for before, word, after in zip(("", *tokens), tokens, (*tokens[1:], ""), strict=False):
        is_verb = word == "may" and not (
            before in _BEFORE_MAY or after.isdigit() or before.removesuffix("th").isdigit()
        )
        if word in MONTHS and not is_verb:
            yield MONTHS.index(word) + 1


def bonus(features: Features, memory: Memory, parameters: Parameters) -> dict[str, float]:
    """Return the addition to the relevance of a turn for each feature that holds."""
    months, years, at = features.months, features.years, memory.created_at
    holds = {
        "speaker": bool(memory.speaker) and words(memory.speaker or "") <= features.words,
        "time": features.when and not _TIME_WORDS.isdisjoint(words(memory.content)),
        "date": bool(months or years)
        and (not months or at.month in months)
        and (not years or at.year in years),
        "asks": memory.content.endswith("?"),
    }
    return {name: getattr(parameters, name) for name, does in holds.items() if does}
