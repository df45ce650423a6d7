"""Compute the nearest neighbour of each memory; needs numpy, so only the worker imports it.

Memories that changed are compared with all, a batch in one product of matrices. Others are looked
at again where their neighbour changed, or where one that changed is nearer.
"""

from __future__ import annotations

import numpy as np

from ademem.search import dense
from ademem.store import Store, embeddings, neighbours, relations
from ademem.store.neighbours import Nearest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

BATCH = 128
"""Memories that are compared with all at once."""
_NONE = -1.0
"""Cosine of a memory that has no other to be compared with."""


def catch_up(
    store: Store, model: str, now: datetime, pause: Callable[[], None] | None = None
) -> int:
    """Compare what changed, or got a vector of the *model*, since the last call; count it.

    All memories are compared where the whitening has changed since.
    """
    last = relations.last_change(store)
    size = embeddings.dimensions(store, model) if model else 0
    learned = embeddings.whitening(store, model).get("vectors", 0) if size else 0
    changed = set(relations.list_changed(store, model))
    if size and (changed or relations.read_learned(store) != learned):
        everything = relations.read_learned(store) != learned
        _compare(store, model, size, changed, everything, pause)
    relations.save_cursor(store, last, now, learned)
    return len(changed)


def _compare(
    store: Store,
    model: str,
    size: int,
    changed: set[str],
    everything: bool,
    pause: Callable[[], None] | None,
) -> None:
    vectors = dense.load_vectors(store, model, size)
    places = {each.seq: each for each in neighbours.list_places(store)}
    kept = np.array([at for at, row in enumerate(vectors.rows.tolist()) if row in places], int)
    compared = [places[row] for row in vectors.rows[kept].tolist()]
    plain, unit = np.asarray(vectors.matrix[kept]), _whiten(vectors, kept)
    homes = {home: number for number, home in enumerate({each.home for each in compared})}
    home = np.array([homes[each.home] for each in compared], int)
    positions = {each.id: at for at, each in enumerate(compared)}

    nearest = np.full(len(compared), -1)
    best = np.full(len(compared), _NONE, np.float32)
    second = best.copy()
    stale = set(changed)
    for each in neighbours.list_all(store):
        at, other = positions.get(each.id), positions.get(each.neighbour)
        if at is None or other is None or each.neighbour in changed:
            stale.add(each.id)
        else:
            nearest[at], best[at], second[at] = other, each.cosine, each.second
    again = [at for id, at in positions.items() if everything or id in stale]
    is_again = np.zeros(len(compared), bool)
    is_again[again] = True
    touched = set(again)
    for start in range(0, len(again), BATCH):
        part = np.array(again[start : start + BATCH])
        cosines = unit[part] @ unit.T
        cosines[home[part][:, None] != home[None, :]] = _NONE
        cosines[np.arange(len(part)), part] = _NONE
        closer = _take_closer(cosines, part, ~is_again, nearest, best, second)
        touched.update(closer.tolist())
        first = cosines.argmax(axis=1)
        nearest[part], best[part] = first, cosines[np.arange(len(part)), first]
        cosines[np.arange(len(part)), first] = _NONE
        second[part] = cosines.max(axis=1)
        if pause:
            pause()
    found = [
        Nearest(
            id=compared[at].id,
            neighbour=compared[nearest[at]].id,
            cosine=float(best[at]),
            plain=float(plain[at] @ plain[nearest[at]]),
            second=float(second[at]),
        )
        for at in sorted(touched)
        if best[at] > _NONE
    ]
    neighbours.save(store, stale, found)


def _take_closer(
    cosines: Floats,
    part: NDArray[np.int64],
    others: NDArray[np.bool_],
    nearest: NDArray[np.int64],
    best: Floats,
    second: Floats,
) -> NDArray[np.int64]:
    """Note for *others* which of *part* is nearer than what they had; return their positions."""
    first = cosines.argmax(axis=0)
    value = cosines[first, np.arange(cosines.shape[1])]
    closer = others & (value > best)
    beside = others & ~closer & (value > second)
    second[closer], best[closer], nearest[closer] = best[closer], value[closer], part[first[closer]]
    second[beside] = value[beside]
    found: NDArray[np.int64] = np.flatnonzero(closer | beside)
    return found


def _whiten(vectors: dense.Vectors, kept: NDArray[np.int64]) -> Floats:
    """Return the whitened unit rows of the vectors at these places."""
    if vectors.whitening is None:
        return np.asarray(vectors.matrix[kept])
    rows = (vectors.matrix[kept] - vectors.whitening.mean) @ vectors.whitening.axes
    rows /= vectors.lengths[kept][:, None]
    return np.asarray(rows, np.float32)
