"""A store's own view of its vectors.

All texts of one store are alike in what they are about, and a cosine sees little else. The lens
takes away what they have in common and turns up what tells them apart.
"""

from __future__ import annotations

import struct

import numpy as np

from ademem import files
from ademem.value import Value, replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

SOFTNESS = 0.5
"""Each axis is divided by its spread to this power: 0 leaves it alone, 1 makes all axes equal."""
FEW = 100
"""With so many vectors the lens believes half of what they show; with none it changes nothing."""
SAMPLE = 20_000
"""Vectors that are enough to learn from."""
_HEAD = struct.Struct("<8sII")
_FORMAT = b"lens0001"


class Lens(Value):
    mean: Floats
    axes: Floats
    """One column an axis, divided by its softened spread."""
    learned_from: int
    """How many vectors there were."""


def learn(vectors: Floats) -> Lens:
    """The lens of unit rows, n x dimensions; any n will do."""
    count, dimensions = vectors.shape
    trust = count / (count + FEW)
    shown = vectors.astype(np.float64)
    mean = trust * (shown.mean(axis=0) if count else np.zeros(dimensions))
    centred = shown - mean
    spread = np.eye(dimensions) * ((1 - trust) / dimensions)
    if count:
        spread += centred.T @ centred * (trust / count)
    variances, axes = np.linalg.eigh(spread)
    scale = np.maximum(variances, 1e-9) ** (-SOFTNESS / 2)
    return Lens(
        mean=mean.astype(np.float32),
        axes=(axes * scale).astype(np.float32),
        learned_from=count,
    )


def counted(lens: Lens, vectors: int) -> Lens:
    """The lens, learned from a sample, of so many vectors."""
    return replace(lens, learned_from=vectors)


def seen(lens: Lens, vectors: Floats) -> Floats:
    """Unit rows as they look through the lens."""
    turned = (vectors - lens.mean) @ lens.axes
    lengths = np.linalg.norm(turned, axis=-1, keepdims=True)
    return np.asarray(turned / np.maximum(lengths, 1e-9), np.float32)


def save(lens: Lens, path: str) -> None:
    head = _HEAD.pack(_FORMAT, len(lens.mean), lens.learned_from)
    files.write_bytes(
        path, head + lens.mean.astype("<f4").tobytes() + lens.axes.astype("<f4").tobytes()
    )


def load(path: str, dimensions: int) -> Lens | None:
    """None when there is no lens for vectors of so many dimensions, or a damaged one."""
    try:
        with open(path, "rb") as file:
            data = file.read()
    except OSError:
        return None
    size = _HEAD.size + 4 * dimensions * (dimensions + 1)
    if len(data) != size or _HEAD.unpack_from(data)[:2] != (_FORMAT, dimensions):
        return None
    numbers = np.frombuffer(data, "<f4", offset=_HEAD.size)
    if not np.isfinite(numbers).all():
        return None
    return Lens(
        mean=numbers[:dimensions],
        axes=numbers[dimensions:].reshape(dimensions, dimensions),
        learned_from=_HEAD.unpack_from(data)[2],
    )
