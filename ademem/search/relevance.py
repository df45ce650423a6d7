"""One relevance from words, meaning and neighbours: arithmetic that can be checked on paper."""

from __future__ import annotations

from ademem.core.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from ademem.search.lexical import Matches
    from ademem.search.parameters import Parameters

    Signals = dict[str, float]
    Neighbours = tuple[tuple[int, ...], ...]
    """Rows of the same session: those next to a row, those one further on, and so forth."""

SHARE_WEIGHT = 0.3
"""Part of the words' signal by the share that was matched; the rest is BM25."""
DECAY = (1.0, 0.6)
"""Weights of the neighbours at distance 1 and 2, where the row itself has 1."""
REACH = len(DECAY)
SATURATION = 0.3
"""How soon a word counts in full: a row that has it gains little from neighbours that do too."""


class Evidence(Value):
    """Everything that is known about the candidates of one search."""

    matches: Matches
    whitened: Mapping[int, float] = {}
    """Whitened cosines, -1 to 1; rows without a vector are not in it."""
    plain: Mapping[int, float] = {}
    """Plain cosines: small for what has nothing to do with each other."""
    neighbours: Mapping[int, Neighbours] = {}


def compute_signals(evidence: Evidence, rows: Collection[int]) -> dict[int, Signals]:
    """The signals of each row, 0 to 1; what was not asked for, or is unknown, is not there.

    A row without a vector gets the least meaning of the rows that match the words as well: an
    equal row that has one is never behind it.
    """
    made: dict[int, Signals] = {}
    matches = evidence.matches
    best_bm25 = max((matches.bm25.get(seq, 0.0) for seq in rows), default=0.0)
    for seq in rows:
        share, bm25 = matches.share.get(seq, 0.0), matches.bm25.get(seq, 0.0)
        made[seq] = {
            "exact": float(seq in matches.exact),
            "whole": float(seq in matches.whole),
            "share": share,
            "bm25": bm25,
            "words": words_signal(share, bm25, best_bm25) if seq in matches.share else 0.0,
        }
    if evidence.whitened:
        _add_meaning(made, evidence)
    if evidence.neighbours:
        _add_neighbours(made, evidence)
    return made


def words_signal(share: float, bm25: float, best_bm25: float) -> float:
    """1 for the best match of a search that matched all it asked."""
    how_well = bm25 / best_bm25 if best_bm25 else 1.0
    return SHARE_WEIGHT * share + (1 - SHARE_WEIGHT) * how_well


def signal_weights(parameters: Parameters, *, turn: bool) -> dict[str, float]:
    """Weights of the signals; neighbours count in full for turns of a dialogue alone."""
    near = 1.0 if turn else parameters.near_notes
    return {
        "words": parameters.words,
        "meaning": parameters.meaning,
        "near_words": near * parameters.near_words,
        "near_meaning": near * parameters.near_meaning,
    }


def _add_meaning(made: dict[int, Signals], evidence: Evidence) -> None:
    whitened = evidence.whitened
    best = max((whitened.get(seq, 0.0) for seq in made), default=0.0)
    if best <= 0:
        return
    groups: dict[float, list[int]] = {}
    for seq in made:
        groups.setdefault(made[seq]["words"], []).append(seq)
    least = 1.0
    for _, group in sorted(groups.items(), reverse=True):
        known = [max(0.0, whitened[seq]) / best for seq in group if seq in whitened]
        least = min(least, *known) if known else least
        for seq in group:
            mine = made[seq]
            if seq in whitened:
                mine["cosine"] = evidence.plain[seq]
                mine["meaning"] = max(0.0, whitened[seq]) / best
            else:
                mine["meaning"] = min(least, mine["words"])


def _add_neighbours(made: dict[int, Signals], evidence: Evidence) -> None:
    near, matches = evidence.neighbours, evidence.matches
    shares = {
        seq: neighbour_words(seq, near.get(seq, ()), matches.terms, matches.weights) for seq in made
    }
    _add_scaled("near_words", shares, made)
    for seq, share in shares.items():
        made[seq]["near_share"] = share
    if not evidence.whitened:
        return
    means = {seq: neighbour_meaning(seq, near.get(seq, ()), evidence.whitened) for seq in made}
    known = {seq: max(0.0, mean) for seq, mean in means.items() if mean is not None}
    _add_scaled("near_meaning", known, made)
    for seq, mine in made.items():
        if seq not in evidence.whitened and "meaning" in mine:
            mine["near_meaning"] = min(mine.get("near_meaning", 1.0), mine["meaning"])


def _add_scaled(name: str, values: Mapping[int, float], made: dict[int, Signals]) -> None:
    """Add each value divided by the best one."""
    best = max(values.values(), default=0.0)
    for seq, value in values.items():
        made[seq][name] = value / best if best > 0 else 0.0


def neighbour_words(
    seq: int,
    near: Neighbours,
    terms: Mapping[int, tuple[int, ...]],
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
