"""Tables that mean the same in both schemas, copied row by row."""

from __future__ import annotations

from ademem.core.json_text import array, flat
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
    "memory_procedure_history",
    "memory_skill_index",
    "memory_capture_ledger",
    "cto_core_memory_state",
    "agent_identities",
)

COUNTS = {
    "memory_sweep_log": {
        f"entries_{name}": name
        for name in ("decayed", "demoted", "promoted", "archived", "orphaned")
    },
    "memory_consolidation_log": {
        "clusters_found": "found",
        "entries_merged": "merged",
        "entries_created": "created",
    },
}
"""Columns of ADE's logs that are counts of ours, with their names there."""

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
    for row in rows:
        new = _fitted(row, columns, project, now)
        marks = ", ".join("?" * len(new))
        db.execute(
            f"insert or ignore into {table} ({', '.join(new)}) values ({marks})",
            tuple(new.values()),
        )
    for orphan in db.execute(f"pragma foreign_key_check({table})").fetchall():
        db.execute(f"delete from {table} where rowid = ?", (orphan["rowid"],))


def logged(table: str, kind: str, row: Row) -> Row:
    """A row of `maintenance_log`, by the columns of ADE's code or of its documents."""
    counts = {ours: whole(row.get(name), 0) for name, ours in COUNTS[table].items()}
    return row | {
        "id": row.get(f"{kind}_id", row.get("id")),
        "kind": kind,
        "trigger_reason": row.get("trigger_reason", row.get("trigger")),
        "completed_at": row.get("completed_at", row.get("ended_at")),
        "counts": flat(counts),
    }


def with_sources(details: Iterable[Row], sources: Iterable[Row]) -> list[Row]:
    """Rows of `memory_procedure_details` with the ids of the episodes they were learned from."""
    found: dict[object, list[str]] = {}
    for source in sorted(sources, key=lambda row: moment(row.get("created_at")) or ""):
        if episode := text(source.get("episode_memory_id")):
            found.setdefault(source.get("procedure_memory_id"), []).append(episode)
    return [row | {"episode_ids": array(found.get(row.get("memory_id"), []))} for row in details]


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
