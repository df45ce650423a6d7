"""Which of many vectors are worth comparing: bits that differ as far as the vectors do.

A sketch says of some random planes on which side of each a vector lies. Two vectors differ in a bit
with the probability of the angle between them over pi (Charikar 2002, "Similarity estimation
techniques from rounding algorithms"), so a row costs 96 bytes to pass over instead of 1,536.
"""

from __future__ import annotations

import numpy as np

TYPE_CHECKING = False
if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ademem.search.index.file import Arrays
    from ademem.search.whitening import Lens

    Floats = NDArray[np.float32]
    Words = NDArray[np.uint64]
    Rows = NDArray[np.int64]
    Marks = NDArray[np.bool_]

WORDS = 12
"""Of 64 bits, in one sketch."""
WORTH = 10_000
"""Rows from which sketches are worth their bytes; fewer are compared as fast themselves."""
LEAST = 400
PART = 0.01
"""Rows that are compared in full: so many, or so great a part of all if that is more."""
SURE = 120
"""Of so many nearest 96 in a hundred and more are among these."""
ARRAYS = ("planes", "sketches")
_BLOCK = 1 << 16
_FAR = np.iinfo(np.uint16).max


def planes(lens: Lens, seed: int = 0) -> Floats:
    """One column a plane; which side a vector less the mean lies on, its product with it tells.

    Seen through the lens they are orthogonal in groups, each as many as a vector has dimensions.
    """
    dimensions = len(lens.mean)
    drawn = np.random.default_rng(seed)
    groups = -(-64 * WORDS // dimensions)
    turned = [
        np.linalg.qr(drawn.standard_normal((dimensions, dimensions)))[0] for _ in range(groups)
    ]
    across: Floats = (lens.axes @ np.hstack(turned)[:, : 64 * WORDS]).astype(np.float32)
    return across


def of(vectors: Floats, lens: Lens, across: Floats) -> Words:
    """The sketches of vectors, one column each."""
    sides = (vectors - lens.mean) @ across > 0
    return np.ascontiguousarray(np.packbits(sides, axis=1).view(np.uint64).T)


class Sketches:
    """Of many rows."""

    def __init__(self, across: Floats, columns: Words) -> None:
        self.planes = across
        self.columns = columns

    def __len__(self) -> int:
        return int(self.columns.shape[1])

    def near(self, vector: Floats, lens: Lens, embedded: Marks | None = None) -> Rows:
        """The rows, ascending, whose sketches differ least from that of a vector.

        Where not all are *embedded*, those that are not say nothing and take no place.
        """
        wanted = max(LEAST, int(PART * len(self)))
        if wanted >= len(self):
            return np.arange(len(self))
        apart = self._apart(of(vector[None], lens, self.planes)[:, 0])
        if embedded is not None:
            apart[~embedded] = _FAR
        return np.flatnonzero(apart <= np.partition(apart, wanted)[wanted])

    def _apart(self, sketch: Words) -> NDArray[np.uint16]:
        """In how many bits each row differs."""
        apart = np.zeros(len(self), np.uint16)
        for start in range(0, len(self), _BLOCK):
            mine = slice(start, start + _BLOCK)
            for word, column in zip(sketch, self.columns, strict=True):
                apart[mine] += np.bitwise_count(column[mine] ^ word)
        return apart


def read(arrays: Arrays) -> Sketches | None:
    """Those of a file, if it has some."""
    if not all(name in arrays for name in ARRAYS):
        return None
    return Sketches(*(arrays[name] for name in ARRAYS))
