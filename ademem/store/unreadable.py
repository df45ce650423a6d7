"""The tolerant reader of rows: rows with invalid values are left out and noted."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any, TypeVar

    Row = TypeVar("Row")
    V = TypeVar("V")

noted: dict[str, str] = {}
"""Table and key of each row that this process left out, with the reason."""

MISREAD = (ValueError, TypeError, AttributeError, KeyError, OverflowError, RecursionError)
"""Exceptions of readers for an invalid value."""


def note(table: str, key: object, error: Exception) -> None:
    noted[f"{table} {key}"] = f"{type(error).__name__}: {error}"


def read_rows(
    rows: Iterable[Row], read: Callable[[Row], V], table: str, key: Callable[[Row], object]
) -> list[V]:
    """Read each row; leave out and note what cannot be read."""
    found = []
    for row in rows:
        try:
            found.append(read(row))
        except MISREAD as error:
            note(table, key(row), error)
    return found


def read_row(row: Any, read: Callable[[Any], V], table: str, key: object) -> V | None:
    """Read a row; None for a missing one, and for one that cannot be read."""
    if row is None:
        return None
    try:
        return read(row)
    except MISREAD as error:
        note(table, key, error)
        return None
