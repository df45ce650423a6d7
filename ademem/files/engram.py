"""Exchange sessions, memories and prompts with Engram: its JSON, and its database.

Observations are matched by their sync id, and the newer text counts. What Engram knows and we do
not is kept beside the row, so that an export has it again.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any

from ademem.capture import gate
from ademem.core.clock import UTC, parse
from ademem.core.errors import UsageError
from ademem.core.memory import TYPES, Category, Draft, Memory, Origin, Scope, Trust
from ademem.core.redaction import redact
from ademem.core.text import opening, sha256_hex
from ademem.core.value import Value, replace
from ademem.files.readers.items import Skipped, read_text, text_of
from ademem.store import (
    Store,
    database,
    foreign_fields,
    ledger,
    memory_queries,
    session_queries,
    sessions,
    transitions,
)
from ademem.store.foreign import columns, open_foreign, rows
from ademem.store.transitions import Act, CannotDo

if TYPE_CHECKING:
    from ademem.core.settings import GateSettings

VERSION = "0.1.0"
"""The version that is written, which every Engram reads."""
READ = ("0.1.0", "0.2.0")
DATABASE = "engram.db"
SOURCE = "engram"
"""Source type of what comes from Engram; entries of the ledger have sync ids as keys."""
TITLE_CHARS = 60
PERSONAL = ("personal", "global")
KEPT = """
    id sync_id session_id type tool_name project scope topic_key revision_count duplicate_count
    last_seen_at review_after expires_at created_at updated_at deleted_at pinned
""".split()
"""Fields of an observation that are kept as they came."""

Row = dict[str, Any]
Document = dict[str, Any]


class Job(Value):
    store: Store
    settings: GateSettings
    now: datetime
    project: str = ""
    """Only rows of this project of Engram; empty for all of them."""
    dry_run: bool = False
    kept: dict[str, Row] = {}
    """Fields of Engram by memory, as far as they are read."""


class Report(Value):
    inserted: int = 0
    updated: int = 0
    deleted: int = 0
    known: int = 0
    """Rows that are here as new or newer."""
    rejected: int = 0
    """Texts that the gate refused; its log has the reasons."""
    sessions: int = 0
    prompts: int = 0
    skipped: tuple[Skipped, ...] = ()


# Export


def export_document(store: Store, project: str, now: datetime) -> Document:
    """Return the memories that may leave the project, with their sessions and all prompts.

    *project* is the name that rows without one get.
    """
    kept = foreign_fields.get_all(store, foreign_fields.MEMORY)
    observations = [
        observation_of(memory, kept.get(memory.id, {}), project)
        for memory in memory_queries.everything(store)
        if _leaves(memory, kept.get(memory.id, {}))
    ]
    prompts = _prompts(store, project)
    wanted = {row["session_id"] for row in (*observations, *prompts)}
    return {
        "version": VERSION,
        "exported_at": _time(now),
        "sessions": _sessions(store, wanted, project, observations),
        "observations": observations,
        "prompts": prompts,
    }


def _leaves(memory: Memory, kept: Mapping[str, Any]) -> bool:
    """Tell whether a memory is exported; a deleted one only if it came deleted from Engram."""
    if memory.deleted_at:
        return bool(kept.get("deleted_at")) and memory.scope is Scope.PROJECT
    return memory.shareable


def observation_of(memory: Memory, kept: Mapping[str, Any], project: str) -> Row:
    kind = next((tag for tag in memory.tags if tag in TYPES), memory.category.value)
    own = {
        "id": memory.seq,
        "sync_id": memory.sync_id,
        "session_id": memory.source_session_id or _session_of(project),
        "type": kind,
        "title": memory.title or opening(memory.content, TITLE_CHARS),
        "content": memory.content,
        "project": project,
        "scope": "project",
        "topic_key": memory.topic_key,
        "revision_count": memory.revision_count,
        "duplicate_count": memory.observation_count,
        "review_after": memory.review_after and _time(memory.review_after),
        "created_at": _time(memory.created_at),
        "updated_at": _time(memory.updated_at),
        "deleted_at": memory.deleted_at and _time(memory.deleted_at),
    }
    known = {name: kept[name] for name in KEPT if name in kept}
    if kept and kept["revision"] != memory.revision_count:  # changed here since
        for name in ("type", "revision_count", "duplicate_count", "updated_at", "deleted_at"):
            known.pop(name, None)
    return {name: value for name, value in (own | known).items() if value is not None}


def _sessions(store: Store, wanted: set[str], project: str, of: Iterable[Row]) -> list[Row]:
    """Return the sessions that rows name; one that is not stored begins with its first row."""
    kept = foreign_fields.get_all(store, foreign_fields.SESSION)
    found = {
        row["id"]: {
            "id": row["id"],
            "project": project,
            "directory": project,
            "started_at": _time(parse(row["started_at"])),
            "ended_at": _time(parse(row["ended_at"])) if row.get("ended_at") else None,
            "summary": row.get("summary"),
        }
        | kept.get(row["id"], {})
        for row in session_queries.list_sessions(store, -1)
        if row["id"] in wanted or row["id"] in kept
    }
    first: dict[str, str] = {}
    for row in of:
        first[row["session_id"]] = min(first.get(row["session_id"], "9"), row["created_at"])
    for id in sorted(wanted - found.keys()):
        started = first.get(id, _time(datetime.fromtimestamp(0, UTC)))
        found[id] = {"id": id, "project": project, "directory": project, "started_at": started}
    ordered = sorted(found.values(), key=lambda row: (row["started_at"], row["id"]))
    return [{key: value for key, value in row.items() if value is not None} for row in ordered]


def _prompts(store: Store, project: str) -> list[Row]:
    kept = foreign_fields.get_all(store, foreign_fields.PROMPT)
    return [
        {
            "id": row["seq"],
            "sync_id": row["sync_id"],
            "session_id": row["session_id"],
            "content": row["content"],
            "project": project,
            "created_at": _time(parse(row["created_at"])),
        }
        | kept.get(row["sync_id"], {})
        for row in session_queries.list_prompts(store)
    ]


def _session_of(project: str) -> str:
    return f"ademem-{project}"


def _time(moment: datetime) -> str:
    """Format as Engram does, in UTC."""
    return moment.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S")


# Import


def read_document(source: str | bytes) -> Document:
    """Read an export, or a database; raises UsageError for another version or another file.

    The *source* is a path, or the text of an export.
    """
    path = source if isinstance(source, str) else "the export"
    if os.path.isdir(path):
        path = os.path.join(path, DATABASE)
    if path.endswith(".db"):
        return _read_database(path)
    try:
        found = json.loads(read_text(path) if path is source else source)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{path} is no JSON: {error}", "`engram export` writes it") from error
    version = found.get("version") if isinstance(found, dict) else None
    if version not in READ:
        raise UsageError(f"{path} has version {version!r}", f"read are {', '.join(READ)}")
    return {
        name: [row for row in found.get(name) or () if isinstance(row, dict)]
        for name in ("sessions", "observations", "prompts")
    }


_COLUMNS = {
    "sessions": "id project directory started_at ended_at summary",
    "observations": "title content normalized_hash " + " ".join(KEPT),
    "user_prompts": "id sync_id session_id content project created_at",
}


def _read_database(path: str) -> Document:
    if not os.path.isfile(path):
        raise UsageError(f"there is no {path}", f"name {DATABASE} or its folder")
    with open_foreign(path) as db:
        if not columns(db, "observations") >= {"session_id", "content", "created_at"}:
            raise UsageError(f"{path} is no database of Engram", "name engram.db")
        sessions_, observations, prompts = (
            [
                {name: value for name, value in row.items() if value is not None}
                for row in rows(db, table, *names.split())
            ]
            for table, names in _COLUMNS.items()
        )
    return {"sessions": sessions_, "observations": observations, "prompts": prompts}


def list_projects(document: Document) -> list[str]:
    found = (row.get("project") for name in ("observations", "prompts") for row in document[name])
    return sorted({text_of(project) for project in found if text_of(project)})


def import_document(document: Document, job: Job) -> Report:
    """Import what is new or newer, all or nothing; a second import changes nothing."""
    job = replace(job, kept=foreign_fields.get_all(job.store, foreign_fields.MEMORY))
    counts: Counter[str] = Counter()
    skipped: list[Skipped] = []
    try:
        with database.BulkWrites(job.store.db), job.store.transaction():
            used = {
                text_of(row.get("session_id"))
                for name in ("observations", "prompts")
                for row in _of_project(document[name], job)
            }
            for row in document["sessions"]:
                if text_of(row.get("id")) in used or not job.project:
                    counts["sessions"] += _add_session(row, job)
            for row in _of_project(document["observations"], job):
                outcome = _import_observation(row, job)
                if isinstance(outcome, Skipped):
                    skipped.append(outcome)
                else:
                    counts[outcome] += 1
            for row in _of_project(document["prompts"], job):
                counts["prompts"] += _add_prompt(row, job)
            if job.dry_run:
                raise database.DryRun
    except database.DryRun:
        pass
    return Report(**counts, skipped=tuple(skipped))


def _of_project(found: Iterable[Row], job: Job) -> Iterator[Row]:
    return (row for row in found if job.project in ("", text_of(row.get("project"))))


def _import_observation(row: Row, job: Job) -> str | Skipped:
    """Insert, update or delete the memory of an observation, by whichever is newer."""
    content, title = text_of(row.get("content")), text_of(row.get("title"))
    sync_id = text_of(row.get("sync_id")) or sha256_hex("observations", title, content)[:32]
    changed = _moment(row, "deleted_at", "updated_at", "created_at")
    if not content and not row.get("deleted_at"):
        return Skipped(where=f"observation {row.get('id') or sync_id}", why="it has no text")
    known = _find_memory(sync_id, job)
    if known is None:
        if ledger.is_claimed(job.store, SOURCE, sync_id) or memory_queries.is_dead(
            job.store, sync_id
        ):
            return "known"  # refused before, or deleted here for good
        return _insert(row, sync_id, content, title, job)
    kept = job.kept.get(known.id, {})
    ours = known.updated_at
    if kept and kept["revision"] == known.revision_count:
        ours = _moment(kept, "deleted_at", "updated_at") or ours
    if changed is None or changed.replace(microsecond=0) <= ours.replace(microsecond=0):
        return "known"
    return _change(known, row, sync_id, job)


def _find_memory(sync_id: str, job: Job) -> Memory | None:
    id = ledger.memory_of(job.store, SOURCE, sync_id)
    return memory_queries.by_id(job.store, id) or memory_queries.by_sync_id(job.store, sync_id)


def _insert(row: Row, sync_id: str, content: str, title: str, job: Job) -> str:
    ledger.claim(job.store, SOURCE, sync_id, job.now)
    if not content:
        return "known"  # deleted before it came here
    kind = text_of(row.get("type")) or Category.FACT.value
    is_own = text_of(row.get("scope")) in PERSONAL
    draft = Draft(
        content=content,
        category=TYPES.get(kind, kind if kind in set(Category) else Category.FACT.value),
        title=title or None,
        tags=() if kind in set(Category) else (kind,),
        topic_key=text_of(row.get("topic_key")) or None,
        scope=Scope.AGENT if is_own else Scope.PROJECT,
        created_at=_moment(row, "created_at"),
        origin=Origin(
            trust=Trust.IMPORT,
            source_type="import",
            source_id=f"{SOURCE}:{sync_id}",
            session_id=text_of(row.get("session_id")) or None,
        ),
    )
    written = gate.write(draft, job.store, job.settings, job.now)
    if written.memory is None:
        return "rejected"
    ledger.credit(job.store, SOURCE, sync_id, written.memory.id)
    if written.deduped:
        return "known"
    memory = written.memory
    if row.get("deleted_at"):
        memory = transitions.delete(memory.id, _act(job))
    if " " not in sync_id:  # else it stands beside the memory that has its fields
        _keep(memory, row, sync_id, job)
    return "inserted"


def _change(memory: Memory, row: Row, sync_id: str, job: Job) -> str:
    content, title = text_of(row.get("content")), text_of(row.get("title"))
    if memory.trust is Trust.USER:
        return _propose(row, sync_id, content, title, job)
    try:
        if row.get("deleted_at"):
            memory = transitions.delete(memory.id, _act(job))
            outcome = "deleted"
        else:
            changes: Row = {"content": content, "title": title or memory.title}
            memory = transitions.edit(memory.id, _act(job), job.settings, **changes)
            outcome = "updated"
    except CannotDo:  # quarantined, or it would be an order: a person decides
        return "rejected"
    _keep(memory, row, sync_id, job)
    return outcome


def _propose(row: Row, sync_id: str, content: str, title: str, job: Job) -> str:
    """Write a newer text as a candidate, once, where a person said what it would replace."""
    key = f"{sync_id} {sha256_hex(title, content)[:16]}"
    if not content or ledger.is_claimed(job.store, SOURCE, key):
        return "known"
    return _insert(row | {"topic_key": None, "deleted_at": None}, key, content, title, job)


def _act(job: Job) -> Act:
    return Act(store=job.store, now=job.now, actor=Trust.IMPORT)


def _keep(memory: Memory, row: Row, sync_id: str, job: Job) -> None:
    fields = {name: row[name] for name in KEPT if row.get(name) is not None}
    if memory.title is None:
        fields.pop("title", None)
    fields |= {"sync_id": sync_id, "revision": memory.revision_count}
    foreign_fields.put(job.store, foreign_fields.MEMORY, memory.id, fields)
    job.kept[memory.id] = fields


def _add_session(row: Row, job: Job) -> bool:
    """Add a session that is not here, and was not deleted here."""
    id = text_of(row.get("id"))
    started = _moment(row, "started_at") or job.now
    if not id or not session_queries.may_import(job.store, id):
        return False
    session_queries.add(job.store, id, text_of(row.get("directory")), None, "import", started)
    if ended := _moment(row, "ended_at"):
        session_queries.end(job.store, id, "import", ended)
    if summary := text_of(row.get("summary")):
        session_queries.set_summary(job.store, id, summary)
    kept = {name: row[name] for name in ("project", "directory") if row.get(name)}
    foreign_fields.put(job.store, foreign_fields.SESSION, id, kept)
    return True


def _add_prompt(row: Row, job: Job) -> bool:
    content, session = text_of(row.get("content")), text_of(row.get("session_id"))
    if not content or not session:
        return False
    content = redact(content).text
    id = text_of(row.get("sync_id")) or sha256_hex("prompts", session, content)[:32]
    created = _moment(row, "created_at") or job.now
    added = sessions.add_prompt(job.store, session, id, content, created, sync_id=id)
    if added:
        kept = {name: row[name] for name in ("id", "sync_id", "project") if row.get(name)}
        foreign_fields.put(job.store, foreign_fields.PROMPT, id, kept)
    return added


def _moment(row: Mapping[str, Any], *names: str) -> datetime | None:
    """Return the first of these times that is there and can be read."""
    for name in names:
        text = text_of(row.get(name))
        try:
            if text:
                return parse(text)
        except ValueError:
            continue
    return None
