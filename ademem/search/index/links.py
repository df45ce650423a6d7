"""Rows that follow each other in a session."""

from __future__ import annotations

import numpy as np

from ademem.core.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    Rows = NDArray[np.int64]

NONE = -1


class Links(Value):
    """For each row the row before and after it in its session, or NONE."""

    before: NDArray[np.int32]
    after: NDArray[np.int32]

    def around(self, rows: Rows, reach: int) -> Rows:
        """One line a row: who is at distance -1, 1, -2, 2, … up to *reach*, or NONE."""
        found = np.full((len(rows), 2 * reach), NONE, np.int64)
        for side, steps in enumerate((self.before, self.after)):
            at = rows
            for distance in range(reach):
                at = np.where(at == NONE, NONE, steps[at])
                found[:, 2 * distance + side] = at
        return found


def of_sessions(sessions: Iterable[str | None], rows: int) -> Links:
    """Link the rows, given in their order, that name the same session."""
    before = np.full(rows, NONE, np.int32)
    after = np.full(rows, NONE, np.int32)
    last: dict[str, int] = {}
    for row, session in enumerate(sessions):
        if session is not None:
            previous = last.get(session, NONE)
            if previous != NONE:
                before[row], after[previous] = previous, row
            last[session] = row
    return Links(before=before, after=after)


def relinked(links: Links, rows: int, gone: Rows, born: Rows) -> Links:
    """The links of *rows* rows after some are gone and others have come.

    *born* has a line for each new row: who is before it now, itself, who is after it.
    """
    grown = np.full(rows - len(links.before), NONE, np.int32)
    before = np.concatenate((links.before, grown))
    after = np.concatenate((links.after, grown))
    for row in gone:
        left, right = before[row], after[row]
        if left != NONE:
            after[left] = right
        if right != NONE:
            before[right] = left
        before[row] = after[row] = NONE
    _join(before, after, born[:, 0], born[:, 1])
    _join(before, after, born[:, 1], born[:, 2])
    return Links(before=before, after=after)


def _join(before: NDArray[np.int32], after: NDArray[np.int32], left: Rows, right: Rows) -> None:
    both = (left != NONE) & (right != NONE)
    after[left[both]] = right[both]
    before[right[both]] = left[both]
