"""Cosines of what sessions were about, from the vectors that are stored anyway."""

from __future__ import annotations

import numpy as np

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


def cosine_of(blobs: Mapping[str, bytes]) -> Callable[[str, str], float | None]:
    """From little-endian float32 unit vectors by id: the cosine of two ids, None without both."""
    places = {id: place for place, id in enumerate(blobs)}
    rows = np.array([np.frombuffer(blob, dtype="<f4") for blob in blobs.values()])
    table = rows @ rows.T

    def cosine(one: str, other: str) -> float | None:
        if one not in places or other not in places:
            return None
        return float(table[places[one], places[other]])

    return cosine
