"""Adoption of the database of an ADE installation; whatever a column holds, reading cannot fail."""

from __future__ import annotations

import json
import math
import sqlite3
import struct
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from enum import StrEnum
from typing import Any, TypeVar

from ademem.core.clock import parse, stamp
from ademem.core.json_text import array, flat
from ademem.core.memory import Category, Importance, Scope, Status, Tier, Trust
from ademem.core.record_json import texts_in
from ademem.core.redaction import redact
from ademem.core.text import dedupe_key, in_one_line, sha256_hex, without_controls
from ademem.guard.injection import instruction_in
from ademem.store import Store, database, embeddings, maintenance, memories
from ademem.store.inspection import plain_tables, read_rows
from ademem.store.memories import COLUMNS, Change

Row = dict[str, Any]
Word = TypeVar("Word", bound=StrEnum)

BRIEFS = "cto_core_memory_state"
COPIED = (
    "memory_procedure_details",
    "memory_procedure_history",
    "memory_skill_index",
    "memory_capture_ledger",
    "cto_core_memory_state",
    "agent_identities",
)
LOGS = {
    maintenance.SWEEP: "memory_sweep_log",
    maintenance.CONSOLIDATION: "memory_consolidation_log",
}
COUNTS = {
    maintenance.SWEEP: {f"entries_{name}": name for name in maintenance.COUNTED},
    maintenance.CONSOLIDATION: {
        "clusters_found": "found",
        "entries_merged": "merged",
        "entries_created": "created",
    },
}
TRIGGERS = ("manual", "schedule", "startup")
NO_END = "ADE noted no end"

BLANK = {"text": "", "blob": b"", "integer": 0, "real": 0}
PROSE = ("content", "trigger", "procedure_markdown", "payload_json")
"""Columns that people and agents write, so that a secret may be in them."""

LARGEST = 2**31  # so that sums of counts fit the 64 bits of SQLite


def adopt(source: sqlite3.Connection, db: sqlite3.Connection, now_stamp: str) -> None:
    """Make our schema in *db*, and copy every row that has a place in it.

    A text with an instruction to a model is quarantined, or left out where there is no quarantine.
    Belongs in a transaction, with foreign keys off. Raises sqlite3.Error or TooMuch.
    """
    database.run_schema(db)
    database.add_secret(db)
    ade = _Rows(source)
    current = list_memories(ade)
    projects = _list_projects(ade, current)
    project = str(projects[0]["id"])
    steps = {table: ade.rows(table) for table in COPIED}
    # by age, each with a revision that keeps what was changed in it
    pairs = [(old, convert_memory(old, project, now_stamp)) for old in current]
    pairs.sort(key=lambda pair: (pair[1]["created_at"], pair[1]["id"]))
    _quarantine((new for _, new in pairs), steps["memory_procedure_details"])
    _merge_duplicates(new for _, new in pairs)
    steps[BRIEFS] = [row for row in steps[BRIEFS] if not instruction_in(_prose(row))]
    steps["memory_procedure_details"] = _with_sources(
        steps["memory_procedure_details"], ade.rows("memory_procedure_sources")
    )
    runs = [
        convert_run(row, kind, now_stamp) for kind, name in LOGS.items() for row in ade.rows(name)
    ]
    _copy(db, "projects", projects, project, now_stamp)
    _insert(pairs, Store(db, project, observer=None), now_stamp)
    for table, found in (steps | {"unified_memory_embeddings": _list_vectors(ade, pairs)}).items():
        _copy(db, table, _best_first(found, project), project, now_stamp)
    _copy(db, "maintenance_log", _with_own_ids(runs), project, now_stamp)


class _Rows:
    """The tables of a foreign database, by the names that ADE gives their columns."""

    def __init__(self, source: sqlite3.Connection) -> None:
        self._source, self._tables = source, plain_tables(source)

    def rows(self, table: str) -> list[Row]:
        columns = self._tables.get(table, [])
        names = [column.lower() for column in columns]
        found = read_rows(self._source, table, columns) if columns else ()
        return [dict(zip(names, row, strict=True)) for row in found]


def list_memories(ade: _Rows) -> list[Row]:
    """Return the memories of both tables, the first of each id; one without an id gets one."""
    by_id: dict[str, Row] = {}
    found = [*ade.rows("unified_memories"), *map(from_legacy, ade.rows("memories"))]
    for place, row in enumerate(found):
        id = line(row.get("id")) or sha256_hex(str(place), repr(row.get("content")))[:32]
        by_id.setdefault(id, row | {"id": id})
    return list(by_id.values())


def _list_projects(ade: _Rows, current: Iterable[Row]) -> list[Row]:
    """Return the projects, first the one with most memories; there is at least one."""
    counts = Counter(text(row.get("project_id")) for row in current)
    named = {text(row.get("id")): row for row in ade.rows("projects")}
    ids = [id for id in named or counts if id] or ["project"]
    ids.sort(key=lambda id: -counts[id])
    return [named.get(id, {"id": id, "display_name": id}) for id in ids]


def _quarantine(converted: Iterable[Row], procedures: Iterable[Row]) -> None:
    """Quarantine memories with an instruction to a model, in their text or in their procedure."""
    shapes = {str(row.get("memory_id")): instruction_in(_prose(row)) for row in procedures}
    for new in converted:
        if shape := instruction_in(new["content"]) or shapes.get(new["id"]):
            status = new["status"]
            waiting = Status.CANDIDATE if status is Status.PROMOTED else status
            new |= {"quarantine_reason": shape, "status": waiting, "tier": Tier.FADING}
            new |= {"promoted_at": None, "pinned": 0}


def _insert(pairs: Iterable[tuple[Row, Row]], store: Store, now_stamp: str) -> None:
    event = memories.new_event()
    for old, new in pairs:
        lost = {name: value for name, value in old.items() if _is_lost(name, value, new)}
        change = Change(
            operation="adopt",
            actor="system",
            at=parse(now_stamp),
            reason=f"ADE had {json.dumps(lost, default=repr)}" if lost else None,
            event_id=event,
        )
        memories.insert(store, memories.from_values(new), change)


def _is_lost(name: str, value: Any, new: Row) -> bool:
    """Tell whether the converted row does not have a value, which no prose may be."""
    is_compared = name not in PROSE and name != "dedupe_key" and value not in (None, "")
    return is_compared and new.get(name) not in (value, moment(value) or value)


def _list_vectors(ade: _Rows, pairs: Iterable[tuple[Row, Row]]) -> list[Row]:
    """Return the vectors of texts that nothing changed and nothing holds back, at length 1."""
    said = {
        old["id"]: new["quarantine_reason"] is None and old.get("content") == new["content"]
        for old, new in pairs
    }
    rows = (row for row in ade.rows("unified_memory_embeddings") if said.get(row.get("memory_id")))
    return list(filter(None, map(convert_vector, rows)))


def _prose(row: Row) -> str:
    parts = []
    for name in PROSE:
        written = text(row.get(name)) or ""
        try:
            parts.append("\n".join(texts_in(json.loads(written))))
        except (ValueError, RecursionError):
            parts.append(written)
    return "\n".join(filter(None, parts))


def from_legacy(row: Row) -> Row:
    owners: tuple[str, ...] = ("agent_id", "source_session_id")
    if _parse_scope(row.get("scope")) is Scope.MISSION:
        owners = ("source_run_id", *owners)
    return row | {
        "scope_owner_id": next((row[name] for name in owners if text(row.get(name))), None),
        "tier": 3 if row.get("status") in ("candidate", "archived") else 2,
        "observation_count": row.get("access_count") or 1,
        "source_type": "system",
    }


def convert_memory(old: Row, project: str, now: str) -> Row:
    """Read invalid words and numbers as ADE reads them."""
    content = redact(text(old.get("content")) or "").text
    source_type = line(old.get("source_type")) or "agent"
    given = old.get("status")
    status = word(Status, given, Status.PROMOTED if given is None else Status.CANDIDATE)
    return (
        dict.fromkeys(COLUMNS)
        | {"seq": 0, "anchors": "[]", "tags": "", "revision_count": 1}
        | {
            "id": old["id"],
            "sync_id": sha256_hex("ade", old["id"])[:32],
            "project_id": project,
            "content": content,
            "dedupe_key": dedupe_key(content),
            "category": word(Category, old.get("category"), Category.FACT),
            "importance": word(Importance, old.get("importance"), Importance.MEDIUM),
            "confidence": min(1.0, max(0.0, number(old.get("confidence"), 1.0))),
            "observation_count": max(1, bounded_integer(old.get("observation_count"), 1)),
            "trust": Trust.USER if source_type == "user" else Trust.AGENT,
            "source_type": source_type,
            "status": status if content.strip() else Status.ARCHIVED,
        }
        | {name: line(old.get(name)) for name in LINES}
        | _convert_tier(old)
        | _convert_use(old)
        | _convert_owner(old)
        | _convert_moments(old, status, now)
    )


LINES = (
    *("source_id", "source_session_id", "source_pack_key", "source_run_id"),
    *("file_scope_pattern", "agent_id", "write_gate_reason"),
)
"""Columns that are copied as one line."""


def _convert_tier(old: Row) -> Row:
    tier = number(old.get("tier"), 2)
    pinned = tier == 1 or number(old.get("pinned"), 0) != 0
    return {"tier": 1 if pinned else 3 if tier == 3 else 2, "pinned": int(pinned)}


def _convert_use(old: Row) -> Row:
    """Read how often a memory was used; a missing score follows from the others."""
    count = max(0, bounded_integer(old.get("access_count"), 0))
    composite = max(0.0, number(old.get("composite_score"), 0))
    score = max(0.0, number(old.get("access_score"), 0))
    return {
        "access_count": count,
        "access_score": score or composite or min(1.0, count / 10),
        "composite_score": composite,
    }


def _convert_owner(old: Row) -> Row:
    scope = _parse_scope(old.get("scope"))
    owner = None if scope is Scope.PROJECT else line(old.get("scope_owner_id"))
    return {"scope": scope, "scope_owner_id": owner.strip() if owner else None}


def _convert_moments(old: Row, status: Status, now: str) -> Row:
    """Complete moments that are missing from the others."""
    names = ("created_at", "updated_at", "last_accessed_at", "promoted_at")
    created, updated, accessed, promoted = (moment(old.get(name)) for name in names)
    created = created or updated or accessed or now
    return {
        "created_at": created,
        "updated_at": updated or created,
        "last_accessed_at": accessed or updated or created,
        "promoted_at": promoted or (created if status is Status.PROMOTED else None),
    }


def convert_vector(old: Row) -> Row | None:
    """Return a vector at length 1; None for one of another model, or without a direction."""
    blob = old.get("embedding_blob")
    shape = old.get("embedding_model"), old.get("dimensions")
    size = 4 * embeddings.ADE_DIMENSIONS
    if shape != (embeddings.ADE_MODEL, embeddings.ADE_DIMENSIONS) or not isinstance(blob, bytes):
        return None
    if len(blob) != size:
        return None
    values = struct.unpack(f"<{embeddings.ADE_DIMENSIONS}f", blob)
    length = math.hypot(*values)
    if not (math.isfinite(length) and length > 0):
        return None
    unit = struct.pack(f"<{embeddings.ADE_DIMENSIONS}f", *(value / length for value in values))
    return old | {"embedding_blob": unit, "norm": 1.0}


def convert_run(old: Row, kind: str, now: str) -> Row:
    """Read a row of a lifecycle log, with the columns of ADE's documents or those of its code.

    A run without an end has failed. None is later than *now*, as the next one is due after it.
    """
    started = moment(old.get("started_at"))
    ended = _first(moment, old, "ended_at", "completed_at")
    trigger = _first(line, old, "trigger", "trigger_reason")
    counts = {
        name: max(0, bounded_integer(old.get(column), 0)) for column, name in COUNTS[kind].items()
    }
    return {
        "id": _first(line, old, "id", f"{kind}_id"),
        "kind": kind,
        "trigger_reason": trigger if trigger in TRIGGERS else "auto",
        "started_at": min(started or ended or now, now),
        "completed_at": min(ended or started or now, now),
        "counts": flat(counts),
        "tokens_used": max(0, bounded_integer(old.get("tokens_used"), 0)),
        "duration_ms": max(0, bounded_integer(old.get("duration_ms"), 0)),
        "outcome": "ok" if ended else "failed",
        "error": None if ended else NO_END,
    }


def _with_own_ids(runs: Iterable[Row]) -> list[Row]:
    """Let the runs of both logs, which are one here, have an id each."""
    taken: set[object] = {None}
    found = []
    for run in runs:
        same = run["id"] in taken
        taken.add(run["id"])
        found.append(run | {"id": sha256_hex(*map(repr, run.values()))[:32]} if same else run)
    return found


def _merge_duplicates(rows: Iterable[Row]) -> None:
    alike = defaultdict(list)
    for row in rows:
        if row["status"] is not Status.ARCHIVED:
            alike[row["scope"], row["scope_owner_id"], row["dedupe_key"]].append(row)
    for group in alike.values():
        first, *others = sorted(
            group,
            key=lambda row: (
                row["status"] is not Status.PROMOTED,
                not row["pinned"],
                -row["observation_count"],
                row["created_at"],
                row["id"],
            ),
        )
        first["observation_count"] = sum(row["observation_count"] for row in group)
        first["pinned"] = max(row["pinned"] for row in group)
        first["tier"] = min(row["tier"] for row in group)
        for row in others:
            row["status"], row["superseded_by"] = Status.ARCHIVED, first["id"]


def _best_first(rows: Iterable[Row], project: str) -> list[Row]:
    return sorted(
        rows,
        key=lambda row: (
            row.get("project_id") == project,
            max((moment(row[name]) or "" for name in row if name.endswith("_at")), default=""),
        ),
        reverse=True,
    )


def _copy(db: sqlite3.Connection, table: str, rows: list[Row], project: str, now: str) -> None:
    columns = db.execute("select * from pragma_table_info(?)", (table,)).fetchall()
    for row in rows:
        values = ((column["name"], _convert(column, row, project, now)) for column in columns)
        new = {name: value for name, value in values if value is not None}
        marks = ", ".join("?" * len(new))
        query = f"insert or ignore into {table} ({', '.join(new)}) values ({marks})"
        db.execute(query, tuple(new.values()))
    for orphan in db.execute(f"pragma foreign_key_check({table})").fetchall():
        db.execute(f"delete from {table} where rowid = ?", (orphan["rowid"],))


def _convert(column: sqlite3.Row, row: Row, project: str, now: str) -> Any:
    """Return the value of a row for a column of ours; None where the column has its default."""
    name, kind = column["name"], column["type"].lower()
    value = project if name == "project_id" else _read(name, kind, row.get(name))
    is_needed = (column["notnull"] or column["pk"]) and column["dflt_value"] is None
    if value is not None or not is_needed:
        return value
    if name == "id":
        return sha256_hex(*map(repr, row.values()))[:32]
    return now if name.endswith("_at") else BLANK[kind]


def _with_sources(details: Iterable[Row], sources: Iterable[Row]) -> list[Row]:
    found: dict[object, list[str]] = {}
    for source in sorted(sources, key=lambda row: moment(row.get("created_at")) or ""):
        if episode := text(source.get("episode_memory_id")):
            found.setdefault(source.get("procedure_memory_id"), []).append(episode)
    return [row | {"episode_ids": array(found.get(row.get("memory_id"), []))} for row in details]


def _read(name: str, kind: str, value: object) -> object:
    if name.endswith("_at"):
        return moment(value)
    if kind == "text":
        return redact(text(value) or "").text or None if name in PROSE else text(value)
    if value is None or kind == "blob":
        return value
    return bounded_integer(value, 0) if kind == "integer" else number(value, 0)


def text(value: object) -> str | None:
    if isinstance(value, bytes):
        value = value.decode("utf-8", "replace")
    plain = "" if value is None else without_controls(str(value))
    return plain if plain.strip() else None


def _first(read: Callable[[object], str | None], old: Row, *names: str) -> str | None:
    """Return what the first of these columns with a value has."""
    return next(filter(None, (read(old.get(name)) for name in names)), None)


def line(value: object) -> str | None:
    found = text(value)
    return in_one_line(found) if found else None


def number(value: object, default: float) -> float:
    try:
        found = float(str(value))
    except ValueError:
        return default
    return found if math.isfinite(found) else default


def bounded_integer(value: object, default: int) -> int:
    return int(max(-LARGEST, min(LARGEST, number(value, default))))


def moment(value: object) -> str | None:
    try:
        return stamp(parse(str(value)))
    except (ValueError, OverflowError):
        return None


def word(words: type[Word], value: object, default: Word) -> Word:
    try:
        return words(str(value).strip().lower())
    except ValueError:
        return default


def _parse_scope(value: object) -> Scope:
    try:
        return Scope.parse(str(value))
    except ValueError:
        return Scope.PROJECT
