"""Cosines through the lens of a store without a second matrix.

The cosine of a question q and a row x, both through the lens, is (x · z - c) / scale of x, where
z and c depend on q alone: the rows stay as they are stored, and each adds one number.
"""

from __future__ import annotations

import numpy as np

from ademem.core.value import Value
from ademem.search.whitening import Lens
from ademem.store.search_files import Seen

TYPE_CHECKING = False
if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

_LEAST = 1e-9
_FLOAT = 4


class Aim(Value):
    """A question as it meets rows: its unit vector, and what depends on it alone."""

    question: Floats
    z: Floats
    c: float


def scales(lens: Lens, rows: Floats) -> Floats:
    """The length of each row as it looks through the lens."""
    lengths: Floats = np.linalg.norm((rows - lens.mean) @ lens.axes, axis=1)
    return np.maximum(lengths, np.float32(_LEAST))


def aimed(lens: Lens, question: Floats) -> Aim:
    turned = (question - lens.mean) @ lens.axes
    z = lens.axes @ (turned / max(_LEAST, float(np.linalg.norm(turned))))
    return Aim(question=question, z=z.astype(np.float32), c=float(z @ lens.mean))


def through(rows: Floats, scales: Floats, aim: Aim) -> Floats:
    """The cosines through the lens of stored rows, whose lengths are *scales*, to the question."""
    products: Floats = rows @ aim.z
    products -= np.float32(aim.c)
    products /= scales
    return products


def packed(lens: Lens) -> Seen:
    return Seen(
        mean=lens.mean.astype("<f4").tobytes(),
        axes=lens.axes.astype("<f4").tobytes(),
        learned_from=lens.learned_from,
    )


def unpacked(seen: Seen, dimensions: int) -> Lens | None:
    """None when it is not a lens for vectors of so many dimensions."""
    wanted = (dimensions * _FLOAT, dimensions * dimensions * _FLOAT)
    if (len(seen.mean), len(seen.axes)) != wanted:
        return None
    mean = np.frombuffer(seen.mean, "<f4").astype(np.float32)
    axes = np.frombuffer(seen.axes, "<f4").astype(np.float32).reshape(dimensions, dimensions)
    if not (np.isfinite(mean).all() and np.isfinite(axes).all()):
        return None
    return Lens(mean=mean, axes=axes, learned_from=seen.learned_from)
