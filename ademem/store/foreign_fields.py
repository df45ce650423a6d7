"""Fields that only an imported format knows, as JSON beside the row that they came with."""

from __future__ import annotations

import json
from typing import Any

from ademem.store import Store

MEMORY, SESSION, PROMPT = "unified_memories.id", "sessions.id", "user_prompts.sync_id"
"""Tables, each with the column that names a row."""


def get_all(store: Store, kind: str) -> dict[str, dict[str, Any]]:
    table, _, name = kind.partition(".")
    rows = store.db.execute(
        f"select {name}, foreign_fields from {table}"
        " where project_id = ? and foreign_fields is not null",
        (store.project_id,),
    )
    return {row[0]: json.loads(row[1]) for row in rows}


def put(store: Store, kind: str, key: str, fields: dict[str, Any]) -> None:
    table, _, name = kind.partition(".")
    query = f"update {table} set foreign_fields = ? where {name} = ?"
    store.db.execute(query, (json.dumps(fields, ensure_ascii=False, sort_keys=True), key))


def mark(store: Store, kind: str, key: str, field: str, value: str) -> None:
    """Set one field, beside those that are there."""
    table, _, name = kind.partition(".")
    store.db.execute(
        f"update {table} set foreign_fields ="
        f" json_set(ifnull(foreign_fields, '{{}}'), '$.{field}', ?) where {name} = ?",
        (value, key),
    )
