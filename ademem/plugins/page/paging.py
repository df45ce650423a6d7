"""The rows of a list that one page shows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    Listed = dict[str, Any]

PAGE = 50


def cut(rows: Sequence[Listed], key: str, after: str) -> tuple[list[Listed], str]:
    """Return the page of rows behind that key, and the key of its last row if there are more."""
    keys = [str(row[key]) for row in rows]
    start = keys.index(after) + 1 if after in keys else 0
    shown = list(rows[start : start + PAGE])
    return shown, str(shown[-1][key]) if start + PAGE < len(rows) else ""
