"""All that speaks for rows, as columns: the arithmetic of `search.fuse` and `search.window`.

Where a signal is missing, its column has NaN.
"""

from __future__ import annotations

import numpy as np

from ademem.core.value import Value
from ademem.search import fuse, neighbours

TYPE_CHECKING = False
if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ademem.core.settings import SearchSettings

    Numbers = NDArray[np.float64]
    Marks = NDArray[np.bool_]
    Columns = dict[str, Numbers]


def words(share: Numbers, bm25: Numbers) -> Numbers:
    """As `fuse.words`, against the best of these rows."""
    best = bm25.max(initial=0.0)
    how_well = bm25 / best if best else np.ones_like(bm25)
    mixed: Numbers = fuse.SHARE_WEIGHT * share + (1 - fuse.SHARE_WEIGHT) * how_well
    return mixed


def meaning(cosines: Numbers, words: Numbers) -> Numbers:
    """As `fuse`: against the best; rows without a vector as the least that has as many words."""
    best = np.nanmax(cosines, initial=0.0)
    if best <= 0:
        return np.full(len(cosines), np.nan)
    found = np.maximum(0.0, cosines) / best
    for row in np.flatnonzero(np.isnan(found)):
        others = found[(words >= words[row]) & ~np.isnan(cosines)]
        found[row] = min(others.min(initial=1.0), words[row])
    return found


def near_share(held: NDArray[np.float64], parts: Numbers) -> Numbers:
    """As `window.words`; *held* is rows x (self and neighbours) x terms."""
    weight = np.einsum("rnt,n->rt", held, sides(held.shape[1]))
    enough = (weight / (weight + neighbours.SATURATION)) @ parts
    said: Numbers = (1 + neighbours.SATURATION) * enough
    return said


def near_meaning(cosines: Numbers) -> Numbers:
    """As `window.meaning`; *cosines* is rows x (self and neighbours)."""
    known = ~np.isnan(cosines)
    parts = known @ sides(known.shape[1])
    total = np.where(known, cosines, 0.0) @ sides(known.shape[1])
    mean: Numbers = np.divide(total, parts, out=np.full(len(total), np.nan), where=parts > 0)
    return mean


def sides(columns: int) -> Numbers:
    """What the row counts, and its neighbours in the order in which `Links.around` names them."""
    return np.array([1.0, *(decay for decay in neighbours.DECAY for _ in range(2))][:columns])


def against_best(values: Numbers) -> Numbers:
    best = np.nanmax(values, initial=0.0)
    return values / best if best > 0 else np.where(np.isnan(values), np.nan, 0.0)


def relevance(columns: Columns, settings: SearchSettings, turns: Marks) -> Numbers:
    """As `fuse.relevance`."""
    total = np.zeros(len(turns))
    weights = np.zeros(len(turns))
    near_notes = np.where(turns, 1.0, settings.near_notes)
    for name in fuse.WEIGHED:
        if name in columns:
            known = ~np.isnan(columns[name])
            weight = getattr(settings, name) * known
            if name.startswith("near_"):
                weight *= near_notes
            total += weight * np.where(known, columns[name], 0.0)
            weights += weight
    return np.divide(total, weights, out=total, where=weights > 0)


class Told(Value):
    """What is known of some rows: a line a row, and where asked for a column for each neighbour."""

    exact: Marks
    whole: Marks
    held: NDArray[np.bool_]
    """Rows x (self and neighbours) x terms."""
    parts: Numbers
    """What each term tells, as part of a full answer."""
    bm25: Numbers
    through: Numbers
    """Cosines through the lens: rows x (self and neighbours)."""
    cosine: Numbers
    turns: Marks
    neighbours: bool
    """Some row has one."""


def columns(told: Told) -> Columns:
    """The signals by name."""
    share = np.minimum(1.0, told.held[:, 0] @ told.parts)
    share[told.exact] = 1.0
    found = told.held[:, 0].any(axis=1) | told.exact
    made = {
        "exact": told.exact.astype(float),
        "whole": (told.whole | told.exact).astype(float),
        "share": share,
        "bm25": told.bm25,
        "words": np.where(found, words(share, told.bm25), 0.0),
    }
    means = meaning(told.through[:, 0], made["words"])
    asked = not np.isnan(told.through).all()
    if not np.isnan(means).all():
        made |= {"cosine": told.cosine, "meaning": means}
    if told.neighbours:
        shares = near_share(told.held.astype(float), told.parts)
        made |= {"near_words": against_best(shares), "near_share": shares}
        if asked:
            made["near_meaning"] = _near_meaning(told, means)
    return made


def _near_meaning(told: Told, means: Numbers) -> Numbers:
    """A row without a vector is not lifted by its neighbours above what it means itself."""
    found = against_best(np.maximum(0.0, near_meaning(told.through)))
    bare = np.isnan(told.through[:, 0]) & ~np.isnan(means)
    found[bare] = np.fmin(found[bare], means[bare])
    return found


def above_floor(columns: Columns, turns: Marks, typed: bool, settings: SearchSettings) -> Marks:
    """As `pipeline.answers`: no row when not even the best is an answer."""
    share, exact = columns["share"], columns["exact"] > 0
    unknown = np.full(len(share), np.nan)
    cosine = columns.get("cosine", unknown)
    enough = settings.floor if typed else settings.answer_share
    needed = np.where(np.isnan(cosine), settings.floor, enough)
    if not (exact | (share >= needed) | (cosine >= settings.answer_cosine)).any():
        return np.zeros(len(share), bool)
    near = turns & (columns.get("near_share", unknown) >= settings.floor)
    kept: Marks = exact | (share >= settings.floor) | (cosine >= settings.cosine_floor) | near
    return kept
