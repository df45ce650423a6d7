"""Cosines of the vectors in the database; needs numpy, so only who has a model imports it."""

from __future__ import annotations

import numpy as np

from ademem.search import matrix_cache
from ademem.search import whitening as lens_
from ademem.search.index import aim
from ademem.store import search_files, vectors

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from numpy.typing import NDArray

    from ademem.search.whitening import Lens
    from ademem.store import Store

    Floats = NDArray[np.float32]

CHUNK = 4096
"""Vectors that are turned at once."""
GROWN = 1.25
"""The lens is ground anew when there are so many times the vectors it has learned from."""


class Cosines:
    """All rows that have a vector, and how near each is to one question."""

    def __init__(self, rows: Sequence[int], through: Floats, plain: Floats) -> None:
        self._rows = np.asarray(rows, np.int64)
        self._through = through
        self._plain = plain
        self._places = {seq: place for place, seq in enumerate(rows)}

    def nearest(self, limit: int) -> list[int]:
        order = np.lexsort((-self._rows, -self._through))[:limit]
        return [int(seq) for seq in self._rows[order]]

    def of(self, rows: Collection[int]) -> tuple[dict[int, float], dict[int, float]]:
        places = {seq: self._places[seq] for seq in rows if seq in self._places}
        return (
            {seq: float(self._through[place]) for seq, place in places.items()},
            {seq: float(self._plain[place]) for seq, place in places.items()},
        )


def cosines(question: Floats, store: Store, model: str) -> Cosines:
    """Compare the question with every vector of the model."""
    seen = search_files.lens(store, model)
    lens = aim.unpacked(seen, len(question)) if seen else None
    known = matrix_cache.current(
        store, model, seen, lambda: _read(store, model, len(question), lens)
    )
    plain = known.plain @ question
    through = plain if lens is None else known.through @ lens_.seen(lens, question)
    return Cosines(known.rows, through, plain)


def stored(store: Store, model: str, dimensions: int) -> tuple[list[int], Floats]:
    """Rows and their vectors, n x dimensions; vectors of another size are left out."""
    found = [
        (seq, blob)
        for seq, blob in vectors.stored(store, model)
        if len(blob) == dimensions * np.dtype("<f4").itemsize
    ]
    joined = b"".join(blob for _, blob in found)
    matrix = np.frombuffer(joined, "<f4").reshape(len(found), dimensions)
    return [seq for seq, _ in found], matrix


def load(store: Store, model: str, dimensions: int) -> Lens | None:
    """None when there is no lens for vectors of so many dimensions, or a damaged one."""
    seen = search_files.lens(store, model)
    return aim.unpacked(seen, dimensions) if seen else None


def grind(store: Store, model: str, dimensions: int) -> bool:
    """Learn the lens from the vectors of today, if there are enough new ones; tells whether.

    Files of the search index bring their own lens with them.
    """
    known = search_files.lens(store, model)
    count = vectors.count(store, model)
    enough = count and not (
        known and known.learned_from / GROWN <= count <= known.learned_from * GROWN
    )
    if not enough or search_files.listed(store, model):
        return False
    _, matrix = stored(store, model, dimensions)
    lens = lens_.learn(matrix[:: max(1, len(matrix) // lens_.SAMPLE)])
    search_files.keep_lens(store, model, aim.packed(lens_.counted(lens, count)))
    return True


def _read(store: Store, model: str, dimensions: int, lens: Lens | None) -> matrix_cache.Vectors:
    rows, matrix = stored(store, model, dimensions)
    if lens is None or not rows:
        return matrix_cache.Vectors(rows=rows, plain=matrix, through=matrix)
    starts = range(0, len(matrix), CHUNK)
    parts = [lens_.seen(lens, matrix[start : start + CHUNK]) for start in starts]
    return matrix_cache.Vectors(rows=rows, plain=matrix, through=np.concatenate(parts))
