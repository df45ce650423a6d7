"""Tables that mean the same in both schemas, copied row by row."""

from __future__ import annotations

from ademem.core.redaction import redact
from ademem.core.text import sha256_hex
from ademem.store.ade.values import PROSE, moment, number, text, whole

TYPE_CHECKING = False
if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable

    from ademem.store.ade.values import Row

COPIED = (
    "memory_procedure_details",
    "memory_procedure_sources",
    "memory_procedure_history",
    "memory_skill_index",
    "memory_capture_ledger",
    "memory_sweep_log",
    "memory_consolidation_log",
    "cto_core_memory_state",
    "agent_identities",
)

RENAMED = {
    "memory_sweep_log": {
        "id": "sweep_id",
        "trigger": "trigger_reason",
        "ended_at": "completed_at",
    },
    "memory_consolidation_log": {
        "id": "consolidation_id",
        "trigger": "trigger_reason",
        "ended_at": "completed_at",
    },
}
"""Columns that ADE's documents name otherwise than its code does."""

BLANK = {"text": "", "blob": b"", "integer": 0, "real": 0}


def best_first(rows: Iterable[Row], project: str) -> list[Row]:
    """Sort rows of which one can stay: this project's before others', newest first."""
    return sorted(
        rows,
        key=lambda row: (
            row.get("project_id") == project,
            max((moment(row[name]) or "" for name in row if name.endswith("_at")), default=""),
        ),
        reverse=True,
    )


def copy(db: sqlite3.Connection, table: str, rows: list[Row], project: str, now: str) -> None:
    """Insert the rows, the best first, as far as they find a place."""
    columns = db.execute("select * from pragma_table_info(?)", (table,)).fetchall()
    renamed = RENAMED.get(table, {})
    for row in rows:
        old = {renamed.get(name, name): value for name, value in row.items()}
        new = _fitted(old, columns, project, now)
        marks = ", ".join("?" * len(new))
        db.execute(
            f"insert or ignore into {table} ({', '.join(new)}) values ({marks})",
            tuple(new.values()),
        )
    for orphan in db.execute(f"pragma foreign_key_check({table})").fetchall():
        db.execute(f"delete from {table} where rowid = ?", (orphan["rowid"],))


def _fitted(old: Row, columns: list[sqlite3.Row], project: str, now: str) -> Row:
    """The row as our columns can take it; a column left out takes its default."""
    new: Row = {}
    for column in columns:
        name, kind = column["name"], column["type"].lower()
        needed = column["notnull"] or column["pk"]
        value = project if name == "project_id" else _read(name, kind, old.get(name))
        if value is None and needed and column["dflt_value"] is None:
            if name == "id":
                value = sha256_hex(*map(repr, old.values()))[:32]
            else:
                value = now if name.endswith("_at") else BLANK[kind]
        if value is not None:
            new[name] = value
    return new


def _read(name: str, kind: str, value: object) -> object:
    if name.endswith("_at"):
        return moment(value)
    if kind == "text":
        return redact(text(value) or "").text or None if name in PROSE else text(value)
    if value is None or kind == "blob":
        return value
    return whole(value, 0) if kind == "integer" else number(value, 0)
