"""Databases with a row in every table, of today and from before the first release."""

from __future__ import annotations

import json
import os
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING, Any

from ademem.core import trust
from ademem.store import counts, database, memories

if TYPE_CHECKING:
    from pathlib import Path

FILLED_BY_TRIGGERS = (
    *("unified_memories_fts", "unified_memories_trigram", "prompts_fts", "adopted_fts"),
    *counts.TABLES,
)

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
    "stage": "confirmed",
    "tainted": 1,
    **dict.fromkeys(("globs", "excluded"), "[]"),
    **dict.fromkeys(("like_gitignore", "is_scope", "merged", "live", "stop", "ignored"), 1),
    "author_time": "2026-01-31T12:00:00.000Z",
    ("adopted", "kind"): "gotcha",
    ("adopted", "load"): "none",
    ("adopted_bindings", "kind"): "suffix",
    ("evidence", "kind"): "said",
    ("client_file", "kind"): "feedback",
    ("client_file", "link"): "copy",
    ("tombstones", "deleted_at"): "2026-01-31T12:00:00.000Z",
    ("memory_procedure_history", "outcome"): "failure",
    ("unified_memory_embeddings", "embedding_blob"): bytes(4 * 7),
    ("bad_rows", "outcome"): "removed",
    ("maintenance_log", "kind"): "sweep",
    ("decision_log", "part"): "guard",
    ("memory_exposure", "used"): 7,
    ("sessions", "is_unattended"): 1,
    ("recall_log", "outcome"): "prevented",
    ("memory_missions", "status"): "running",
    ("memory_skill_index", "kind"): "command",
    ("memory_skill_index", "source"): "exported",
    ("memory_sites", "kind"): "anchor",
    ("memory_bindings", "kind"): "anchor",
    ("memory_bindings", "op"): "edit",
    ("memory_bindings", "holds"): "a word",
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


EARLIER = """
drop trigger recall_log_bd;
alter table recall_log drop column evidence;
alter table sessions drop column foreign_fields;
drop index idx_unified_memories_heir;
drop view memory_sweep_log;
create view memory_sweep_log as select id as sweep_id from maintenance_log;
create trigger outlived after delete on turns begin delete from gone; end;
create table gone (id integer primary key, text text);
pragma application_id = 0;
"""
"""What a schema from before the first release has in another way; not all of it at once."""


def build(path: Path, *, journal: str = "wal", earlier: int = 0) -> Path:
    """A database of today, made elsewhere, or one with this version from before the release."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute(f"pragma journal_mode = {journal}")
        database.run_schema(db)
        if earlier:
            db.executescript(EARLIER)
            if earlier < database.FIRST_VERSION:  # those that were marked
                db.execute(f"pragma application_id = {database.APPLICATION_ID}")
            db.execute(f"pragma user_version = {earlier}")
        for table in tables(db):
            insert_one(db, table)
    return path


def build_own(path: Path, *, journal: str = "wal", earlier: int = database.EARLIER[-1]) -> Path:
    """One from before the release that this person's data folder knows."""
    build(path, journal=journal, earlier=earlier)
    secret = bytes(range(database.SECRET_BYTES))
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("insert into store_values values ('secret', ?)", (secret,))
    trust.register_store(secret.hex(), os.environ)
    return path


def tables(db: sqlite3.Connection) -> list[str]:
    rows = db.execute("select name from sqlite_master where type = 'table' order by rowid")
    return [row[0] for row in rows if not row[0].startswith(FILLED_BY_TRIGGERS)]


def rows(path: Path) -> dict[str, list[dict[str, Any]]]:
    with closing(sqlite3.connect(path)) as db:
        db.row_factory = sqlite3.Row
        return {
            table: [dict(row) for row in db.execute(f"select * from {table}")]
            for table in tables(db)
        }


def without(rows: list[dict[str, Any]], *names: str) -> list[dict[str, Any]]:
    return [{name: value for name, value in row.items() if name not in names} for row in rows]


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
