"""How many examples a run tries: an eighth of them, or all with ADEMEM_EXAMPLES=full."""

import os
from collections.abc import Iterable
from typing import TypeVar

Row = TypeVar("Row")

FULL = os.environ.get("ADEMEM_EXAMPLES") == "full"


def examples(count: int, share: int = 8) -> int:
    """Return *count* in a full run, else one *share*-th of it."""
    return count if FULL else max(1, count // share)


def some(rows: Iterable[Row], share: int = 3) -> list[Row]:
    """Return all rows in a full run, else the first of each *share*."""
    return list(rows) if FULL else list(rows)[::share]
