"""A store's own view of its vectors.

All texts of one store are alike in what they are about, and a cosine sees little else. The lens
takes away what they have in common and turns up what tells them apart.
"""

from __future__ import annotations

import numpy as np

from ademem.core.value import Value, replace

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
