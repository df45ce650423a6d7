"""Cosines of the vectors in the database; needs numpy, so only who has a model imports it."""

from __future__ import annotations

import os

import numpy as np

from ademem import files
from ademem.search import kept
from ademem.search import lens as lens_
from ademem.search.query import readable
from ademem.store import embeddings, vectors

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from numpy.typing import NDArray

    from ademem.embed import Embedder
    from ademem.search.lens import Lens
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


def cosines(query: str, store: Store, embedder: Embedder) -> Cosines | None:
    """Embed the question and compare it with every vector of the embedder's model, if any."""
    if not embeddings.has_any(store, embedder.model_id):
        return None
    question = embedder.embed([readable(query)])[0]
    model, dimensions = embedder.model_id, len(question)
    known = kept.current(store, model, path(store, model), lambda: _read(store, model, dimensions))
    plain = known.plain @ question
    lens = load(store, model, dimensions)
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
    return lens_.load(path(store, model), dimensions)


def path(store: Store, model: str) -> str:
    """Where the lens of a store's vectors is: with what else is made from its database."""
    name = "".join(char if char.isalnum() else "-" for char in model)
    return os.path.join(vectors.folder(store), "run", "index", f"{name}.lens")


def grind(store: Store, model: str, dimensions: int) -> bool:
    """Learn the lens from the vectors of today, if there are enough new ones; tells whether."""
    known = load(store, model, dimensions)
    count = vectors.count(store, model)
    if not count or (known and known.learned_from / GROWN <= count <= known.learned_from * GROWN):
        return False
    _, matrix = stored(store, model, dimensions)
    step = max(1, len(matrix) // lens_.SAMPLE)
    lens = lens_.learn(matrix[::step])
    ours = path(store, model)
    lens_.save(lens_.counted(lens, count), ours)
    for name in os.listdir(os.path.dirname(ours)):
        if name.endswith(".lens") and name != os.path.basename(ours):
            files.remove(os.path.join(os.path.dirname(ours), name))
    return True


def _read(store: Store, model: str, dimensions: int) -> kept.Vectors:
    rows, matrix = stored(store, model, dimensions)
    lens = load(store, model, dimensions)
    if lens is None or not rows:
        return kept.Vectors(rows=rows, plain=matrix, through=matrix)
    starts = range(0, len(matrix), CHUNK)
    parts = [lens_.seen(lens, matrix[start : start + CHUNK]) for start in starts]
    return kept.Vectors(rows=rows, plain=matrix, through=np.concatenate(parts))
