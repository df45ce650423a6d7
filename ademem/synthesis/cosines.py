"""Compare stored vectors with numpy."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

CHUNK = 512
"""Vectors that are compared with all others at once."""


def find_neighbours(vectors: Sequence[bytes], threshold: float) -> list[dict[int, float]]:
    """Return for each unit vector the positions of others at or above a cosine, with the cosine."""
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


def pairwise_cosines(blobs: Mapping[str, bytes]) -> Callable[[str, str], float | None]:
    """Return a function for the cosine of two ids, None where one has no vector."""
    places = {id: place for place, id in enumerate(blobs)}
    rows = np.array([np.frombuffer(blob, dtype="<f4") for blob in blobs.values()])
    table = rows @ rows.T

    def cosine(one: str, other: str) -> float | None:
        if one not in places or other not in places:
            return None
        return float(table[places[one], places[other]])

    return cosine
