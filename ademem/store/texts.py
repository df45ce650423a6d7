"""Every column of text: those that may hold what somebody wrote, and those that cannot."""

from __future__ import annotations

import json
import sqlite3

from ademem.core.text import dedupe_key, fold, sha256_hex
from ademem.core.value import Value
from ademem.store import full_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from ademem.store import Store

    Change = Callable[[str], str]


class Column(Value):
    table: str
    name: str
    is_json: bool = False


def _columns(table: str, names: str, json_names: str = "") -> tuple[Column, ...]:
    plain = (Column(table=table, name=name) for name in names.split())
    return (*plain, *(Column(table=table, name=name, is_json=True) for name in json_names.split()))


WRITTEN = (
    *_columns("projects", "root_path display_name"),
    *_columns(
        "unified_memories",
        "scope_owner_id title content source_type source_id source_session_id source_pack_key"
        " source_run_id source_branch file_scope_pattern agent_id tags topic_key knowledge_key bead"
        " write_gate_reason quarantine_reason claimed_author",
        "anchors",
    ),
    *_columns("memory_revisions", "session_id reason", "snapshot"),
    *_columns("gate_log", "reason category preview source_type session_id"),
    *_columns("memory_procedure_details", "trigger procedure_markdown exported_skill_path"),
    *_columns("memory_procedure_history", "reason"),
    *_columns("memory_skill_index", "path"),
    *_columns("memory_capture_ledger", "source_key", "metadata_json"),
    *_columns("memory_sweep_log", "error"),
    *_columns("memory_consolidation_log", "error"),
    *_columns("cto_core_memory_state", "", "payload_json claimed"),
    *_columns("agent_core_memory_state", "", "payload_json claimed"),
    *_columns(
        "agent_identities",
        "name model_preference",
        "profile_json persona_json tool_policy_json user_preferences_json heartbeat_json",
    ),
    *_columns("sessions", "directory branch last_source end_reason summary transcript_path"),
    *_columns(
        "episodes",
        "task summarised_by mission_id",
        "actions files tests errors decisions corrections",
    ),
    *_columns("user_prompts", "content"),
    *_columns("turns", "why hint"),
    *_columns("guard_log", "tool target reason"),
    *_columns("recall_log", "query"),
    *_columns("memory_relations", "reason evidence marked_by_actor marked_by_kind marked_by_model"),
    *_columns("jobs", "key last_error"),
    *_columns("head_cursors", "root branch"),
    *_columns("people_commits", "root branch author subject", "files"),
    *_columns("worktree_commits", "root", "commits files"),
    *_columns("ai_calls", "model error"),
    *_columns("memory_missions", "goal reason"),
    *_columns("bad_rows", "row_key", "original"),
)
"""Columns that redaction visits, one by one."""

SAFE = {
    "ids and digests, which we make": (
        "id sync_id project_id memory_id episode_memory_id procedure_memory_id event_id dedupe_key"
        " text_hash content_hash superseded_by superseded_by_memory_id superseded_by_relation_id"
        " taken_back_by source_id target_id sweep_id consolidation_id entity_key chunk_id"
        " target_key sha lost_sha"
    ),
    "ids of the client, which name files and are bounded": (
        "session_id told_session_id agent_id prompt_id tool_use_id denied"
    ),
    "words of a closed set, and names of tables and columns": (
        "scope category importance status trust operation actor rule kind class decision place"
        " source source_type trigger_reason outcome relation judgment_status entity op lifecycle"
        " apply_status embedding_model purpose provider event table_name bad_columns"
    ),
    "made from other columns or by us, and made again when those change": "key pattern state name",
    "moments": (
        "created_at updated_at last_opened_at last_accessed_at promoted_at rejected_at review_after"
        " deleted_at last_used_at exported_at recorded_at last_modified_at archived_at started_at"
        " completed_at last_started_at ended_at searched_at superseded_at occurred_at acked_at"
        " backoff_until lease_expires_at imported_at last_attempted_at first_seen_at due_at"
        " parked_at at day own_since committed_at seen_at told_at"
        " compacting_at found_at"
    ),
}
"""Why the other columns hold nothing that somebody wrote, by their names in any table."""


class InUse(Exception):
    """Another connection keeps the free pages from being cleaned."""


class _DryRun(Exception):
    """Takes the transaction back."""


def scrub(store: Store, change: Change, *, dry_run: bool) -> dict[str, int]:
    """Do *change* to every text in one transaction, then rewrite the file; raises InUse."""
    store.db.execute("pragma secure_delete = on")
    try:
        with store.transaction():
            rows = rewrite(store, change)
            if rows:
                _renew_digests(store)
            if dry_run:
                raise _DryRun
    except _DryRun:
        return rows
    _shake(store)
    return rows


def _renew_digests(store: Store) -> None:
    """A digest tells whether a text was just that; of two that are one now, one is archived."""
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
            gone = change.replace(" where", ", status = 'archived', pinned = 0 where")
            db.execute(gone, values)
    rows = db.execute("select id, preview from gate_log where preview like '%[redacted:%'")
    for row in rows.fetchall():
        digest = sha256_hex(fold(row["preview"]))
        db.execute("update gate_log set text_hash = ? where id = ?", (digest, row["id"]))


def _shake(store: Store) -> None:
    """Leave nothing in the word indexes, the free pages and the log of the database."""
    try:
        for index in full_text.present(store.db):
            full_text.rebuild(store, index)
        store.db.execute("vacuum")
        busy, *_ = store.db.execute("pragma wal_checkpoint(truncate)").fetchone()
    except sqlite3.OperationalError as error:
        raise InUse from error
    if busy:
        raise InUse


def rewrite(store: Store, change: Change) -> dict[str, int]:
    """Do *change* to every text; how many rows of which column it changed."""
    counts: dict[str, int] = {}
    for column in WRITTEN:
        changed = _rewrite(column, store, change)
        if changed:
            counts[f"{column.table}.{column.name}"] = changed
    return counts


def _rewrite(column: Column, store: Store, change: Change) -> int:
    """An older copy of the database may lack the column."""
    table, name = column.table, column.name
    if name not in {row["name"] for row in store.db.execute(f"pragma table_info({table})")}:
        return 0
    rows = store.db.execute(
        f"select rowid, {name} from main.{table} where typeof({name}) = 'text' and {name} <> ''"
    )
    texts = ((row[0], row[1]) for row in rows)
    changed = [
        (rowid, cleaned)
        for rowid, text in texts
        if (cleaned := _in_json(text, change) if column.is_json else change(text)) != text
    ]
    for rowid, cleaned in changed:
        _put(column, rowid, cleaned, store)
    return len(changed)


def _put(column: Column, rowid: int, text: str, store: Store) -> None:
    """Two rows may differ in their secrets only: then the second gives up its name, or goes."""
    table, name = column.table, column.name
    try:
        store.db.execute(f"update main.{table} set {name} = ? where rowid = ?", (text, rowid))
    except sqlite3.IntegrityError:
        if table == "unified_memories":
            store.db.execute(f"update main.{table} set {name} = null where rowid = ?", (rowid,))
        else:
            store.db.execute(f"delete from main.{table} where rowid = ?", (rowid,))


def _in_json(text: str, change: Change) -> str:
    """Every text inside; what is no JSON is a text itself, and what needs no change stays as is."""
    try:
        value = json.loads(text)
    except ValueError:
        return change(text)
    cleaned = _inside(value, change)
    if cleaned == value:
        return text
    return json.dumps(cleaned, ensure_ascii=False)


def _inside(value: Any, change: Change) -> Any:
    if isinstance(value, str):
        return change(value)
    if isinstance(value, list):
        return [_inside(item, change) for item in value]
    if isinstance(value, dict):
        return {change(name): _inside(item, change) for name, item in value.items()}
    return value
