"""Sets of numbers as ascending arrays; numpy's own functions for them load a package first."""

from __future__ import annotations

import numpy as np

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from numpy.typing import NDArray

    Numbers = NDArray[Any]


def distinct(values: Numbers) -> Numbers:
    """All values, each once."""
    ordered = np.sort(values, axis=None)
    new = np.ones(len(ordered), bool)
    new[1:] = ordered[1:] != ordered[:-1]
    return ordered[new]


def member(values: Numbers, of: Numbers) -> NDArray[np.bool_]:
    """Which of the values are in a set."""
    if not len(of):
        return np.zeros(values.shape, bool)
    places = np.minimum(np.searchsorted(of, values), len(of) - 1)
    found: NDArray[np.bool_] = of[places] == values
    return found


def without(values: Numbers, of: Numbers) -> Numbers:
    """The values of a set that are not in another one."""
    return values[~member(values, of)]
