"""Who is near whom in meaning; needs numpy, so only a consolidation imports it."""

from __future__ import annotations

import numpy as np

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

CHUNK = 512
"""Vectors compared with all others at once."""


def neighbours(vectors: Sequence[bytes], threshold: float) -> list[dict[int, float]]:
    """For each unit vector the places of the others with at least this cosine, and the cosine."""
    if not vectors:
        return []
    matrix = np.frombuffer(b"".join(vectors), "<f4").reshape(len(vectors), -1)
    found: list[dict[int, float]] = []
    for start in range(0, len(matrix), CHUNK):
        cosines = matrix[start : start + CHUNK] @ matrix.T
        for row, values in enumerate(cosines, start):
            near = np.flatnonzero(values >= threshold)
            found.append({int(at): float(values[at]) for at in near if at != row})
    return found
