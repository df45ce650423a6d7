"""Taking over the database of an ADE installation: its rows, our schema."""

from __future__ import annotations

import json
from collections import Counter

from ademem.core.clock import parse
from ademem.store import Store, memories
from ademem.store.ade.copying import COPIED, best_first, copy, logged, with_sources
from ademem.store.ade.memory import adopted, from_legacy, once, quarantined, unite
from ademem.store.ade.values import PROSE, lost, text
from ademem.store.inspection import plain_tables, read_rows
from ademem.store.memories import Change

TYPE_CHECKING = False
if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable

    from ademem.store.ade.values import Row

__all__ = ["adopt"]

ORDERS = "cto_core_memory_state"
"""The table of briefs, which are put before every session."""


def adopt(
    source: sqlite3.Connection,
    db: sqlite3.Connection,
    now_stamp: str,
    find_order: Callable[[str], str | None],
) -> None:
    """Copy every row that has a place in our schema into *db*, which has nothing but that.

    What *find_order* finds to be an order to a model is quarantined, or left out where there is no
    quarantine. Belongs in a transaction, with foreign keys off. Raises sqlite3.Error or TooMuch.
    """
    tables = plain_tables(source)

    def rows(table: str) -> list[Row]:
        columns = tables.get(table, [])
        names = [column.lower() for column in columns]
        found = read_rows(source, table, columns) if columns else ()
        return [dict(zip(names, row, strict=True)) for row in found]

    known = once([*rows("unified_memories"), *map(from_legacy, rows("memories"))])
    projects = _ranked(rows("projects"), known)
    project = str(projects[0]["id"])
    copy(db, "projects", projects, project, now_stamp)
    steps = {table: rows(table) for table in COPIED}
    orders = _orders_in_steps(steps, find_order)
    unchanged = _adopt_memories(db, known, project, now_stamp, orders, find_order)
    vectors = [
        row
        for row in rows("unified_memory_embeddings")
        if row.get("memory_id") in unchanged and row.get("embedding_blob")
    ]
    copy(db, "unified_memory_embeddings", best_first(vectors, project), project, now_stamp)
    steps[ORDERS] = [row for row in steps[ORDERS] if not find_order(_prose(row))]
    steps["memory_procedure_details"] = with_sources(
        steps["memory_procedure_details"], rows("memory_procedure_sources")
    )
    for table, kind in (
        ("memory_sweep_log", "sweep"),
        ("memory_consolidation_log", "consolidation"),
    ):
        runs = [logged(table, kind, row) for row in rows(table)]
        copy(db, "maintenance_log", best_first(runs, project), project, now_stamp)
    for table, found in steps.items():
        copy(db, table, best_first(found, project), project, now_stamp)


def _orders_in_steps(
    tables: dict[str, list[Row]], find_order: Callable[[str], str | None]
) -> dict[str, str]:
    """Why procedures are to be quarantined, by the id of their memory."""
    found = {
        str(row.get("memory_id")): find_order(_prose(row))
        for row in tables["memory_procedure_details"]
    }
    return {id: order for id, order in found.items() if order}


def _prose(row: Row) -> str:
    """All that somebody wrote in the row; texts inside of JSON as they read."""
    said = []
    for name in PROSE:
        written = text(row.get(name)) or ""
        try:
            said.append(_texts(json.loads(written)))
        except (ValueError, RecursionError):
            said.append(written)
    return "\n".join(filter(None, said))


def _texts(value: object) -> str:
    if isinstance(value, dict):
        return "\n".join(map(_texts, (*value.keys(), *value.values())))
    if isinstance(value, list):
        return "\n".join(map(_texts, value))
    return str(value)


def _ranked(given: list[Row], known: list[Row]) -> list[Row]:
    """The projects ADE knew, first the one these memories are of; there is always one."""
    counts = Counter(text(row.get("project_id")) for row in known)
    rows = {text(row.get("id")): row for row in given}
    ids = [id for id in rows or counts if id] or ["project"]
    ids.sort(key=lambda id: -counts[id])
    return [rows.get(id, {"id": id, "display_name": id}) for id in ids]


def _adopt_memories(
    db: sqlite3.Connection,
    known: list[Row],
    project: str,
    now: str,
    orders: dict[str, str],
    find_order: Callable[[str], str | None],
) -> set[str]:
    """Insert them by age, each with a revision that keeps what was changed in it.

    Hands back the ids of those whose text is what it was.
    """
    pairs = [(old, adopted(old, project, now)) for old in known]
    pairs.sort(key=lambda pair: (pair[1]["created_at"], pair[1]["id"]))
    for _, new in pairs:
        if order := find_order(new["content"]) or orders.get(new["id"]):
            new |= quarantined(order, new["status"])
    unite(new for _, new in pairs)
    event = memories.new_event()
    for old, new in pairs:
        gone = lost(old, new)
        change = Change(
            operation="adopt",
            actor="system",
            at=parse(now),
            reason=f"ADE had {json.dumps(gone, default=repr)}" if gone else None,
            event_id=event,
        )
        memories.insert(Store(db, project), memories.from_values(new), change)
    return {new["id"] for old, new in pairs if new["content"] == old.get("content")}
