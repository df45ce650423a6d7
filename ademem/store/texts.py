"""Redaction of every text in a database."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterable
from datetime import datetime
from typing import Any

from ademem.core.errors import UnusableStore
from ademem.core.redaction import redact
from ademem.core.text import bytes_hex, dedupe_key, fold, sha256_hex
from ademem.store import Store, database, full_text, replication
from ademem.store.revisions import forget_acts

Change = Callable[[str], str]

JSON = frozenset(
    "anchors stamps registers record snapshot metadata_json payload_json claimed profile_json"
    " persona_json tool_policy_json user_preferences_json heartbeat_json actions files tests errors"
    " decisions corrections commits original globs excluded".split()
)
"""Columns with texts inside of JSON, in any table."""
SAFE = frozenset(
    "id sync_id chunk_id project_id memory_id episode_memory_id procedure_memory_id episode_ids"
    " event_id dedupe_key text_hash content_hash sha256 superseded_by superseded_by_memory_id"
    " superseded_by_relation_id taken_back_by target_id sha lost_sha latest_sha"
    " created_at updated_at last_opened_at last_accessed_at promoted_at rejected_at review_after"
    " deleted_at last_used_at exported_at recorded_at last_modified_at archived_at started_at"
    " completed_at last_started_at ended_at searched_at superseded_at due_at parked_at at own_since"
    " committed_at seen_at told_at compacting_at found_at".split()
)
"""Columns with ids, digests and moments, in any table; redaction visits all others of text."""


class InUse(UnusableStore):
    hint = "end the sessions of this project, then run `ademem scrub` again"

    def __init__(self) -> None:
        super().__init__("ade.db is in use, so that its free pages could not be cleaned")


def scrub(store: Store, now: datetime, *, dry_run: bool) -> dict[str, int]:
    """Redact every text, in memories as a write like any other; raises InUse."""

    def change(text: str) -> str:
        return redact(text).text

    store.db.execute("pragma secure_delete = on")
    try:
        with store.transaction():
            has_stamps = "stamps" in _columns(store.db, "unified_memories")
            records = replication.scrub(store, change, now) if has_stamps else {}
            rows = rewrite(store, change)
            if _columns(store.db, "store_values"):
                forget_acts(store)
            if rows:
                _renew_digests(store)
            replication.put_scrubbed(store, records, now)
            if dry_run:
                raise database.DryRun
    except database.DryRun:
        return rows
    clean_pages(store, full_text.present(store.db))
    return rows


def clean_pages(store: Store, indexes: Iterable[str]) -> None:
    """Build the *indexes* anew, and leave nothing of deleted rows in the file; raises InUse."""
    try:
        for index in indexes:
            full_text.rebuild(store, index)
        store.vacuum()
        busy, *_ = store.db.execute("pragma wal_checkpoint(truncate)").fetchone()
    except sqlite3.OperationalError as error:
        raise InUse from error
    if busy:
        raise InUse


def _renew_digests(store: Store) -> None:
    db = store.db
    rows = db.execute("select seq, content, topic_key, dedupe_key from unified_memories")
    for row in rows.fetchall():
        key = dedupe_key(row["content"], row["topic_key"])
        if key == row["dedupe_key"]:
            continue
        change = "update main.unified_memories set dedupe_key = :key where seq = :seq"
        values = {"key": key, "seq": row["seq"]}
        try:
            db.execute(change, values)
        except sqlite3.IntegrityError:
            archive = change.replace(" where", ", status = 'archived', pinned = 0 where")
            db.execute(archive, values)
    if "text_hash" in _columns(db, "decision_log"):
        query = "select id, subject from decision_log where subject like '%[redacted:%'"
        for id, text in db.execute(f"{query} and text_hash is not null").fetchall():
            update = "update decision_log set text_hash = ? where id = ?"
            db.execute(update, (sha256_hex(fold(text)), id))
    if "text" in _columns(db, "injections"):
        redacted = "select id, text from injections where text like '%[redacted:%'"
        for id, text in db.execute(redacted).fetchall():
            update = "update injections set sha256 = ? where id = ?"
            db.execute(update, (bytes_hex(text.encode()), id))


def rewrite(store: Store, change: Change) -> dict[str, int]:
    indexes = tuple(full_text.present(store.db))
    tables = store.db.execute(
        "select name from main.sqlite_master where type = 'table'"
        " and sql not like '%without rowid%' and name not like 'sqlite_%'"
    )
    counts: dict[str, int] = {}
    for (table,) in tables.fetchall():
        for name in () if table.startswith(indexes) else sorted(_columns(store.db, table) - SAFE):
            if changed := _rewrite_column(store.db, table, name, change):
                counts[f"{table}.{name}"] = changed
    return counts


def _rewrite_column(db: sqlite3.Connection, table: str, name: str, change: Change) -> int:
    """Change the texts of a column and return their number; a row that may not have one goes."""
    rows = db.execute(
        f"select rowid, {name} from main.{table} where typeof({name}) = 'text' and {name} <> ''"
    )
    changed = [
        (rowid, cleaned)
        for rowid, text in rows
        if (cleaned := _in_json(text, change) if name in JSON else change(text)) != text
    ]
    update = f"update main.{table} set {name} = ? where rowid = ?"
    for rowid, cleaned in changed:
        try:
            db.execute(update, (cleaned, rowid))
        except sqlite3.IntegrityError:
            if table == "unified_memories":
                db.execute(update, (None, rowid))
            else:
                db.execute(f"delete from main.{table} where rowid = ?", (rowid,))
    return len(changed)


def _columns(db: sqlite3.Connection, table: str) -> set[str]:
    """Return columns of text; none where an older copy of the database lacks the table."""
    rows = db.execute(f"pragma main.table_info({table})")
    return {row["name"] for row in rows if row["type"].lower() == "text"}


def _in_json(text: str, change: Change) -> str:
    try:
        value = json.loads(text)
    except ValueError:
        return change(text)
    cleaned = _inside(value, change)
    return text if cleaned == value else json.dumps(cleaned, ensure_ascii=False)


def _inside(value: Any, change: Change) -> Any:
    if isinstance(value, str):
        return change(value)
    if isinstance(value, list):
        return [_inside(item, change) for item in value]
    if isinstance(value, dict):
        return {change(name): _inside(item, change) for name, item in value.items()}
    return value
