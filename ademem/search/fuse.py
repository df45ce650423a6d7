"""One relevance from all that speaks for a row: arithmetic that can be checked on paper."""

from __future__ import annotations

from ademem.search import neighbours

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from ademem.core.settings import SearchSettings
    from ademem.search.candidates import Found

    Signals = dict[str, float]

SHARE_WEIGHT = 0.3
"""Part of the words' signal that tells how much was matched; the rest, by BM25, how well."""

WEIGHED = ("words", "meaning", "near_words", "near_meaning")


def words(share: float, bm25: float, best_bm25: float) -> float:
    """1 for the best match of a search that matched all it asked."""
    how_well = bm25 / best_bm25 if best_bm25 else 1.0
    return SHARE_WEIGHT * share + (1 - SHARE_WEIGHT) * how_well


def signals(found: Found, rows: Collection[int]) -> dict[int, Signals]:
    """What speaks for each row, 0 to 1; what was not asked for, or is unknown, is not there.

    A row without a vector is taken to mean what the least of the rows does that have as many of
    the words: an equal row that has one is never behind it.
    """
    made: dict[int, Signals] = {}
    best_bm25 = max((found.bm25.get(seq, 0.0) for seq in rows), default=0.0)
    for seq in rows:
        share, bm25 = found.share.get(seq, 0.0), found.bm25.get(seq, 0.0)
        made[seq] = {
            "exact": float(seq in found.exact),
            "whole": float(seq in found.whole),
            "share": share,
            "bm25": bm25,
            "words": words(share, bm25, best_bm25) if seq in found.share else 0.0,
        }
    if found.meaning:
        _add_meaning(made, found)
    if found.around:
        _add_near(made, found)
    return made


def relevance(signals: Mapping[str, float], settings: SearchSettings, *, turn: bool) -> float:
    """Mean of the signals there are, by their weights.

    Turns of a dialogue live from what was said around them, other rows less so.
    """
    total = weights = 0.0
    for name in WEIGHED:
        if name in signals:
            weight = getattr(settings, name)
            if name.startswith("near_") and not turn:
                weight *= settings.near_notes
            total += weight * signals[name]
            weights += weight
    return total / weights if weights else 0.0


def _add_meaning(made: dict[int, Signals], found: Found) -> None:
    best = max((found.meaning.get(seq, 0.0) for seq in made), default=0.0)
    if best <= 0:
        return
    least = 1.0
    for _, group in _by_words(made):
        known = [max(0.0, found.meaning[seq]) / best for seq in group if seq in found.meaning]
        least = min(least, *known) if known else least
        for seq in group:
            mine = made[seq]
            if seq in found.meaning:
                mine["cosine"] = found.cosine[seq]
                mine["meaning"] = max(0.0, found.meaning[seq]) / best
            else:
                mine["meaning"] = min(least, mine["words"])


def _by_words(made: Mapping[int, Signals]) -> list[tuple[float, list[int]]]:
    """The rows by their words, most first; equal ones together."""
    groups: dict[float, list[int]] = {}
    for seq in made:
        groups.setdefault(made[seq]["words"], []).append(seq)
    return sorted(groups.items(), reverse=True)


def _add_near(made: dict[int, Signals], found: Found) -> None:
    shares = {
        seq: neighbours.words(seq, found.around.get(seq, ()), found.held, found.tells)
        for seq in made
    }
    _add("near_words", shares, made)
    for seq, share in shares.items():
        made[seq]["near_share"] = share
    if found.meaning:
        means = {
            seq: neighbours.meaning(seq, found.around.get(seq, ()), found.meaning) for seq in made
        }
        _add("near_meaning", {s: max(0.0, m) for s, m in means.items() if m is not None}, made)
        for seq, mine in made.items():
            if seq not in found.meaning and "meaning" in mine:
                mine["near_meaning"] = min(mine.get("near_meaning", 1.0), mine["meaning"])


def _add(name: str, values: Mapping[int, float], made: dict[int, Signals]) -> None:
    """Each value against the best one."""
    best = max(values.values(), default=0.0)
    for seq, value in values.items():
        made[seq][name] = value / best if best > 0 else 0.0
