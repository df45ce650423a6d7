"""Acts that changed no memory, and earlier briefs: what it takes to bring back what was before.

A hard deletion and a scrub forget them, as they have texts that nothing else finds.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from ademem.core.json_text import loads
from ademem.store.database import delete_values, set_value, value

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ademem.store import Store

ACTS, BRIEFS = "acts/", "brief/"
"""Beginnings of the names in `store_values`, which go on with the project."""
MOST_ACTS, MOST_BRIEFS = 50, 20


def list_acts(store: Store) -> list[dict[str, Any]]:
    """Return the acts, oldest first."""
    return _read(store, f"{ACTS}{store.project_id}")


def put_acts(store: Store, acts: Sequence[dict[str, Any]]) -> None:
    """Replace the acts; the last MOST_ACTS stay."""
    _write(store, f"{ACTS}{store.project_id}", acts[-MOST_ACTS:])


def list_briefs(store: Store, agent: str = "") -> list[dict[str, Any]]:
    """Return the briefs before the present one, oldest first."""
    return _read(store, f"{BRIEFS}{store.project_id}/{agent}")


def add_brief(store: Store, agent: str, row: dict[str, Any]) -> None:
    """Add a brief that is replaced; the last MOST_BRIEFS stay."""
    rows = [*list_briefs(store, agent), row]
    _write(store, f"{BRIEFS}{store.project_id}/{agent}", rows[-MOST_BRIEFS:])


def forget(store: Store) -> None:
    for prefix in (ACTS, BRIEFS):
        delete_values(store.db, prefix)


def _read(store: Store, name: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = loads(value(store.db, name) or "[]")
    return found


def _write(store: Store, name: str, rows: Sequence[dict[str, Any]]) -> None:
    set_value(store.db, name, json.dumps(rows, ensure_ascii=False))
