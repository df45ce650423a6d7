"""Databases of earlier versions, with a row in every table."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

from ademem.store import database

SCHEMA = sorted(Path(database.SCHEMA).glob("*.sql"))
SHADOWS = ("unified_memories_fts", "unified_memories_trigram", "prompts_fts")


def build(path: Path, version: int, *, journal: str = "wal") -> Path:
    """What a release with this many schema files left behind."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with closing(sqlite3.connect(path)) as db, db:
        db.execute(f"pragma journal_mode = {journal}")
        for file in SCHEMA[:version]:
            db.executescript(file.read_text(encoding="utf-8"))
        for table in tables(db):
            _insert_one(db, table)
        db.execute(f"pragma user_version = {version}")
    return path


def tables(db: sqlite3.Connection) -> list[str]:
    rows = db.execute("select name from sqlite_master where type = 'table' order by rowid")
    return [row[0] for row in rows if not row[0].startswith(SHADOWS)]


def rows(path: Path) -> dict[str, list[dict[str, Any]]]:
    with closing(sqlite3.connect(path)) as db:
        db.row_factory = sqlite3.Row
        return {
            table: [dict(row) for row in db.execute(f"select * from {table}")]
            for table in tables(db)
        }


def columns_of(old: list[dict[str, Any]], new: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The new rows without the columns that the old ones had not yet."""
    return [{name: row[name] for name in old[0]} for row in new]


def schema(path: Path) -> list[tuple[str, ...]]:
    with closing(sqlite3.connect(path)) as db:
        query = "select type, name, tbl_name, sql from sqlite_master order by type, name"
        return db.execute(query).fetchall()


def _insert_one(db: sqlite3.Connection, table: str) -> None:
    """Every column says its own name, so that columns that change places are noticed."""
    samples = {"text": "the {}", "integer": 7, "real": 0.5, "blob": b"\x00\x01"}
    words = {"project_id": "atlas", "memory_id": "the id", "procedure_memory_id": "the id"}
    row = {}
    for _, name, kind, needed, *_ in db.execute(f"pragma table_info({table})"):
        if name != "deleted_at" or needed:
            sample = samples[kind.lower()]
            row[name] = sample.format(name) if isinstance(sample, str) else sample
    row |= {name: word for name, word in words.items() if name in row}
    if table == "projects":
        row["id"] = "atlas"
    marks = ", ".join("?" * len(row))
    db.execute(f"insert into {table} ({', '.join(row)}) values ({marks})", tuple(row.values()))
