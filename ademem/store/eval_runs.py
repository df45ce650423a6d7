"""Runs of the golden questions on this machine: means by system, and the ranks of the last run."""

from __future__ import annotations

import json

from ademem.core.json_text import loads

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ademem.store import Store

MOST = 200
"""Runs that are kept; older ones go."""
_NAMES = {"runs": "eval/runs", "ranks": "eval/ranks"}


def add(store: Store, run: dict[str, Any], ranks: dict[str, Any]) -> None:
    """Add a run with its *ranks*, which replace those of the run before."""
    with store.transaction() as db:
        kept = [*list_runs(store), run][-MOST:]
        db.executemany(
            "insert or replace into store_values values (?, ?)",
            [(_NAMES["runs"], json.dumps(kept)), (_NAMES["ranks"], json.dumps(ranks))],
        )


def list_runs(store: Store) -> list[dict[str, Any]]:
    """Return the runs, the oldest first."""
    found: list[dict[str, Any]] = _read(store, "runs") or []
    return found


def last_ranks(store: Store) -> dict[str, Any]:
    found: dict[str, Any] = _read(store, "ranks") or {}
    return found


def _read(store: Store, name: str) -> Any:
    row = store.db.execute(
        "select value from store_values where name = ?", (_NAMES[name],)
    ).fetchone()
    return loads(row[0]) if row else None
