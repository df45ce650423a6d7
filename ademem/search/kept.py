"""The vectors as they were read last, for a process that is asked again."""

from __future__ import annotations

import os

from ademem.store import vectors
from ademem.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    from numpy.typing import NDArray

    from ademem.store import Store

    Floats = NDArray[np.float32]

MOST = 50_000
"""Vectors beyond which a process keeps none: it would hold 150 MB, and the index serves better."""


class Vectors(Value):
    """Row numbers, and n x dimensions of the vectors as stored and as seen through the lens."""

    rows: list[int]
    plain: Floats
    through: Floats


class _Kept(Value):
    state: tuple[object, ...]
    vectors: Vectors


_last: list[_Kept] = []


def current(
    store: Store, model: str, lens_path: str, read: Callable[[], Vectors], *, most: int = MOST
) -> Vectors:
    """What *read* gives, or gave when the vectors and their lens were the same as now."""
    state = (*vectors.state(store, model), model, lens_path, _stamp(lens_path))
    for kept in _last:
        if kept.state == state:
            return kept.vectors
    found = read()
    _last[:] = [_Kept(state=state, vectors=found)] if len(found.rows) <= most else []
    return found


def _stamp(path: str) -> tuple[int, int]:
    try:
        found = os.stat(path)
    except OSError:
        return 0, 0
    return found.st_ino, found.st_mtime_ns
