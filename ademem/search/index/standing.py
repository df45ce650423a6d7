"""Which rows may be seen: what the index knows of each, and the database where that depends."""

from __future__ import annotations

import numpy as np

from ademem.core.memory import Status
from ademem.search.filters import may_be_seen
from ademem.store.search_files import Standing

TYPE_CHECKING = False
if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ademem.search.filters import Filters
    from ademem.search.index.reading import Index
    from ademem.store import Store

    Rows = NDArray[np.int64]

CLOSED, OPEN, UNKNOWN = 0, 1, 2
_NOTHING = np.full(len(Standing), UNKNOWN, np.int8)


def open_to(
    rows: Rows, index: Index, store: Store, filters: Filters, statuses: tuple[str, ...]
) -> Rows:
    """Those of the rows that the filters let through, in their order."""
    told = _known(statuses) if filters.usual else _NOTHING
    known = told[index.standing(rows)]
    unknown = np.flatnonzero(known == UNKNOWN)
    if len(unknown):
        seqs = index.seqs(rows[unknown]).tolist()
        seen = may_be_seen(seqs, store, filters, statuses, len(seqs))
        known[unknown] = [OPEN if seq in seen else CLOSED for seq in seqs]
    found: Rows = rows[known == OPEN]
    return found


def _known(statuses: tuple[str, ...]) -> NDArray[np.int8]:
    """What each standing tells a search for these statuses."""
    known = np.full(len(Standing), CLOSED, np.int8)
    known[Standing.ASKED] = UNKNOWN
    known[Standing.PROMOTED] = OPEN if Status.PROMOTED in statuses else CLOSED
    known[Standing.CANDIDATE] = OPEN if Status.CANDIDATE in statuses else CLOSED
    known[Standing.ARCHIVED] = UNKNOWN if Status.ARCHIVED in statuses else CLOSED
    return known
