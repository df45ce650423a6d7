"""The vectors as they were read last, for a process that is asked again."""

from __future__ import annotations

from ademem.core.value import Value
from ademem.store import vectors

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    from numpy.typing import NDArray

    from ademem.store import Store
    from ademem.store.search_files import Seen

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
    store: Store, model: str, lens: Seen | None, read: Callable[[], Vectors], *, most: int = MOST
) -> Vectors:
    """What *read* gives, or gave when the vectors and their lens were the same as now."""
    state = (*vectors.state(store, model), model, lens)
    for kept in _last:
        if kept.state == state:
            return kept.vectors
    found = read()
    _last[:] = [_Kept(state=state, vectors=found)] if len(found.rows) <= most else []
    return found
