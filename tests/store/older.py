"""Databases of earlier versions, with a row in every table."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

from ademem.store import database, memories

SCHEMA = sorted(Path(database.MIGRATIONS).glob("*.sql"))
SHADOWS = ("unified_memories_fts", "unified_memories_trigram", "prompts_fts")

VALID: dict[str | tuple[str, str], Any] = {
    **{
        name: f"2026-01-{day:02}T12:00:00.000Z"
        for day, name in enumerate(
            "created_at updated_at last_accessed_at promoted_at rejected_at review_after"
            " last_used_at exported_at recorded_at last_modified_at archived_at started_at"
            " completed_at last_started_at ended_at own_since compacting_at searched_at due_at"
            " parked_at seen_at told_at at".split(),
            start=1,
        )
    },
    "scope": "agent",
    "said_in": "[]",
    "kept_of": None,
    "tier": 3,
    "category": "gotcha",
    "importance": "high",
    "status": "promoted",
    "trust": "tool",
    "anchors": '["src/parse.py:1-2"]',
    "operation": "supersede",
    "actor": "tool",
    "pinned": 1,
    "outcome": "failed",
    "trigger_reason": "manual",
    "payload_json": '{"notes": []}',
    "claimed": '{"texts": []}',
    "snapshot": json.dumps(
        dict.fromkeys(memories.KEPT)
        | {"id": "the id", "sync_id": "s", "project_id": "atlas", "content": "x", "title": None}
        | {"scope": "project", "tier": 2, "category": "fact", "importance": "low", "tags": ""}
        | {"status": "promoted", "trust": "user", "source_type": "user", "anchors": "[]"}
        | {"confidence": 1.0, "observation_count": 1, "revision_count": 1, "pinned": 0}
        | dict.fromkeys(("created_at", "updated_at"), "2026-01-01T12:00:00.000Z")
        | {"dedupe_key": "d"}
    ),
    "class": "soft",
    "decision": "deny",
    "place": "recall",
    "used": 1,
    "pending": 1,
    **dict.fromkeys(("stamps", "registers", "record", "foreign_fields"), "{}"),
    "relation": "related",
    "judgment_status": "judged",
    "entity": "relation",
    "op": "delete",
    "lifecycle": "idle",
    "apply_status": "dead",
    "provider": "openai",
    "actions": "[]",
    "tests": "[]",
    "files": '["src/parse.py"]',
    "errors": "[]",
    "decisions": "[]",
    "corrections": "[]",
    "commits": "[]",
    "counts": "{}",
    "episode_ids": "[]",
    "state": "moved",
    ("tombstones", "deleted_at"): "2026-01-31T12:00:00.000Z",
    ("memory_procedure_history", "outcome"): "failure",
    ("unified_memory_embeddings", "embedding_blob"): bytes(4 * 7),
    ("bad_rows", "outcome"): "removed",
    ("maintenance_log", "kind"): "sweep",
    ("decision_log", "part"): "guard",
    ("memory_exposure", "used"): 7,
    ("memory_missions", "status"): "running",
    ("memory_skill_index", "kind"): "command",
    ("memory_skill_index", "source"): "exported",
    ("memory_sites", "kind"): "anchor",
    ("memory_bindings", "kind"): "anchor",
    ("memory_bindings", "op"): "edit",
    ("memory_bindings", "strength"): "given",
    ("memory_bindings", "source"): "flag",
    ("memory_exposure", "prevented"): 7,
    ("memory_exposure", "answered"): 7,
    ("sync_mutations", "source"): "remote",
    ("sync_chunks", "is_covered"): 1,
    ("injections", "event"): "stop",
    ("injections", "id"): 7,
    ("injection_memories", "used"): 1,
    ("injection_memories", "left_out"): "room",
}
"""Values of columns that hold no other."""


def build(path: Path, version: int, *, journal: str = "wal") -> Path:
    """What a release with this schema left behind."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with closing(sqlite3.connect(path)) as db, db:
        db.execute(f"pragma journal_mode = {journal}")
        for file in SCHEMA[: version - database.FIRST_VERSION + 1]:
            db.executescript(file.read_text(encoding="utf-8"))
        for table in tables(db):
            insert_one(db, table)
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


def insert_one(db: sqlite3.Connection, table: str, known: dict[str, Any] | None = None) -> None:
    """Every column says its own name, so that columns that change places are noticed."""
    samples = {"text": "the {}", "integer": 7, "real": 0.5, "blob": b"\x00\x01", "": b"\x00"}
    words = {"project_id": "atlas", "memory_id": "the id", "procedure_memory_id": "the id"}
    row = {}
    for _, name, kind, needed, *_ in db.execute(f"pragma table_info({table})"):
        if name != "deleted_at" or needed:
            sample = samples[kind.lower()]
            plain = sample.format(name) if isinstance(sample, str) else sample
            row[name] = VALID.get((table, name), VALID.get(name, plain))
    words |= known or {}
    row |= {name: word for name, word in words.items() if name in row}
    if table == "projects":
        row["id"] = "atlas"
    marks = ", ".join("?" * len(row))
    db.execute(f"insert into {table} ({', '.join(row)}) values ({marks})", tuple(row.values()))
