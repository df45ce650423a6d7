"""Runs of the golden questions on this machine: means by system, and the ranks of the last run."""

from __future__ import annotations

import json
from typing import Any

from ademem.core.json_text import loads
from ademem.store import Store
from ademem.store.database import set_value, value

MOST = 200
"""Runs that are kept; older ones go."""


def add(store: Store, run: dict[str, Any], ranks: dict[str, Any]) -> None:
    """Add a run with its *ranks*, which replace those of the run before."""
    with store.transaction() as db:
        set_value(db, "eval/runs", json.dumps([*list_runs(store), run][-MOST:]))
        set_value(db, "eval/ranks", json.dumps(ranks))


def list_runs(store: Store) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = loads(value(store.db, "eval/runs") or "[]")
    return found


def last_ranks(store: Store) -> dict[str, Any]:
    found: dict[str, Any] = loads(value(store.db, "eval/ranks") or "{}")
    return found
