"""Exchange sessions, memories and prompts with Engram: its JSON, its database, and its chunks.

Observations are matched by their sync id. One is a write of all that it says, at its time, so that
the newest counts in whatever order they come. What Engram knows and we do not is kept beside the
row, so that an export has it again.
"""

from __future__ import annotations

import json
import math
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from datetime import datetime
from typing import TYPE_CHECKING, Any

from ademem.capture import gate
from ademem.core import record_json, registers
from ademem.core.clock import UTC, parse, stamp
from ademem.core.errors import UsageError
from ademem.core.memory import TYPES, Category, Draft, Memory, Origin, Scope, Trust
from ademem.core.redaction import redact
from ademem.core.registers import Record
from ademem.core.text import clean, opening, sha256_hex, slug
from ademem.core.value import Value, replace
from ademem.files.readers.items import (
    EXPORT_BYTES,
    FILE_BYTES,
    Skipped,
    moment_of,
    read_text,
    text_of,
)
from ademem.files.records import at_most
from ademem.guard.injection import instruction_in
from ademem.store import (
    Store,
    foreign,
    ledger,
    memories,
    memory_queries,
    relations,
    replication,
    revisions,
    sessions,
    verdicts,
)
from ademem.store.foreign import columns, open_foreign, rows
from ademem.store.transitions import Act

if TYPE_CHECKING:
    from ademem.core.settings import GateSettings
    from ademem.store.replication import Admit

VERSION = "0.1.0"
"""The version that is written, which every Engram reads."""
READ = ("0.1.0", "0.2.0")
DATABASE = "engram.db"
SOURCE = "engram"
"""Source type of what comes from Engram; entries of the ledger have sync ids as keys."""
TARGET = "engram"
"""The target whose chunks are in `.engram/`; it is enrolled by the first export."""
TITLE_CHARS = 60
STEP = 1000
PERSONAL = ("personal", "global")
KEPT = """
    id sync_id session_id type tool_name project scope topic_key revision_count duplicate_count
    last_seen_at review_after expires_at created_at updated_at deleted_at pinned
""".split()
"""Fields of an observation that are kept as they came."""
SENT = "sent"
"""The field with the state of a row that Engram's chunks have."""
GONE = "gone"
ANNOTATIONS = ("related", "compatible", "scoped")
"""Relations that take nothing away, which an import may judge."""

Row = dict[str, Any]
Document = dict[str, Any]


class Job(Act):
    settings: GateSettings
    actor: str = Trust.IMPORT
    admit: Admit
    project: str = ""
    """Only rows of this project of Engram; empty for all of them."""
    asked_by_agent: bool = False
    """An agent asked for it: what a person confirmed stays, too."""
    on_progress: Callable[[int], None] = lambda count: None
    is_shared: bool = False
    """The rows are those of a chunk, which others read, too."""
    kept: dict[str, Row] = {}
    """By the id of the memory."""


class Report(Value):
    event: str = ""
    """The act that takes all of it back, but for the person's own; empty where nothing changed."""
    inserted: int = 0
    updated: int = 0
    deleted: int = 0
    known: int = 0
    rejected: int = 0
    sessions: int = 0
    prompts: int = 0
    relations: int = 0
    skipped: tuple[Skipped, ...] = ()


# Export


def export_document(store: Store, project: str, now: datetime) -> Document:
    """Export what may leave the project; of deleted memories those that came deleted."""
    stored = foreign.get_all(store, foreign.MEMORY)
    observations = []
    for memory in memory_queries.everything(store):
        kept = stored.get(memory.id, {})
        came_deleted = bool(kept.get("deleted_at")) and memory.scope is Scope.PROJECT
        if came_deleted if memory.deleted_at else memory.shareable:
            observations.append(observation_of(memory, kept, project))
    stored_prompts = foreign.get_all(store, foreign.PROMPT)
    prompts = [
        {"id": row["seq"]}
        | {name: row[name] for name in ("sync_id", "session_id", "content")}
        | {"project": project, "created_at": format_time(parse(row["created_at"]))}
        | stored_prompts.get(row["sync_id"], {})
        for row in sessions.list_prompts(store)
    ]
    wanted = {row["session_id"] for row in (*observations, *prompts)}
    return {
        "version": VERSION,
        "exported_at": format_time(now),
        "sessions": sessions_of(store, wanted, project, observations),
        "observations": observations,
        "prompts": prompts,
    }


def observation_of(memory: Memory, stored: Mapping[str, Any], project: str) -> Row:
    fields = {name: stored[name] for name in KEPT if name in stored}
    if stored and stored.get("revision") != memory.revision_count:  # changed here since
        for name in ("type", "revision_count", "duplicate_count", "updated_at", "deleted_at"):
            fields.pop(name, None)
    row = _own_fields(memory, project) | fields
    return {name: value for name, value in row.items() if value is not None}


def _own_fields(memory: Memory, project: str) -> Row:
    return {
        "id": memory.seq,
        "sync_id": memory.sync_id,
        "session_id": memory.source_session_id or f"ademem-{project}",
        "type": next((tag for tag in memory.tags if tag in TYPES), memory.category.value),
        "title": memory.title or opening(memory.content, TITLE_CHARS),
        "content": memory.content,
        "project": project,
        "scope": "project",
        "topic_key": memory.topic_key,
        "revision_count": memory.revision_count,
        "duplicate_count": memory.observation_count,
        "review_after": memory.review_after and format_time(memory.review_after),
        "created_at": format_time(memory.created_at),
        "updated_at": format_time(memory.updated_at),
        "deleted_at": memory.deleted_at and format_time(memory.deleted_at),
    }


def sessions_of(store: Store, wanted: set[str], project: str, of: Iterable[Row]) -> list[Row]:
    """Return the sessions that rows name; one that is not stored begins with its first row."""
    stored = foreign.get_all(store, foreign.SESSION)
    for fields in stored.values():
        fields.pop(SENT, None)
    found = {
        row["id"]: {
            "id": row["id"],
            "project": project,
            "directory": project,
            "started_at": format_time(parse(row["started_at"])),
            "ended_at": format_time(parse(row["ended_at"])) if row.get("ended_at") else None,
            "summary": row.get("summary"),
        }
        | stored.get(row["id"], {})
        for row in sessions.list_sessions(store, -1)
        if row["id"] in wanted or row["id"] in stored
    }
    first = _first_times(of)
    for id in sorted(wanted - found.keys()):
        started = first.get(id, format_time(datetime.fromtimestamp(0, UTC)))
        found[id] = {"id": id, "project": project, "directory": project, "started_at": started}
    ordered = sorted(found.values(), key=lambda row: (row["started_at"], row["id"]))
    return [{key: value for key, value in row.items() if value is not None} for row in ordered]


def _first_times(of: Iterable[Row]) -> dict[str, str]:
    """Return the time of the first row of each session."""
    first: dict[str, str] = {}
    for row in of:
        if at := text_of(row["created_at"]):  # as it came, also a number
            first[row["session_id"]] = min(first.get(row["session_id"], "9"), at)
    return first


def format_time(moment: datetime) -> str:
    return moment.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S")


# Import


def read_document(source: str | bytes) -> Document:
    """Read the text of an export, its path, or a database; raises UsageError for anything else."""
    path = source if isinstance(source, str) else "the export"
    if os.path.isdir(path):
        path = os.path.join(path, DATABASE)
    if path.endswith(".db"):
        return _read_database(path)
    try:
        found = json.loads(read_text(path, EXPORT_BYTES) if path is source else source)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{path} is not JSON: {error}", "`engram export` writes it") from error
    version = found.get("version") if isinstance(found, dict) else None
    if version not in READ:
        raise UsageError(f"{path} has version {version!r}", f"read are {', '.join(READ)}")
    return {name: rows_of(found, name) for name in _COLUMNS}


def rows_of(document: Row, name: str) -> list[Row]:
    rows = document.get(name)
    return [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []


def fits(path: str) -> bool:
    if os.path.isdir(path):
        return os.path.isfile(os.path.join(path, DATABASE))
    with suppress(UsageError, OSError):
        document = read_document(path)
        return bool(document["observations"] or document["sessions"])
    return False


_TEXTS = "type title content topic_key"
_COLUMNS = {
    "sessions": "id project directory started_at ended_at summary ownership_mode",
    "observations": "title content normalized_hash " + " ".join(KEPT),
    "prompts": "id sync_id session_id content project created_at",
    "memory_relations": " ".join(relations.SHARED),
    "observation_versions": f"observation_sync_id revision_count captured_at {_TEXTS}",
}


def _read_database(path: str) -> Document:
    if not os.path.isfile(path):
        raise UsageError(f"there is no {path}", f"name {DATABASE} or its folder")
    with open_foreign(path) as db:
        if not columns(db, "observations") >= {"session_id", "content", "created_at"}:
            raise UsageError(f"{path} is not a database of Engram", "name engram.db")
        return {
            name: [
                {name: value for name, value in row.items() if value is not None}
                for row in rows(db, "user_prompts" if name == "prompts" else name, *names.split())
            ]
            for name, names in _COLUMNS.items()
        }


def list_projects(document: Document) -> list[str]:
    rows = (*document["observations"], *document["prompts"])
    return sorted({text_of(row.get("project")) for row in rows} - {""})


def import_document(document: Document, job: Job) -> Report:
    """Import what is new or newer, all or nothing; a second import changes nothing."""
    job = replace(job, kept=foreign.get_all(job.store, foreign.MEMORY))
    counts: Counter[str] = Counter()
    skipped: list[Skipped] = []
    with job.store.transaction():
        counts["sessions"] = sum(_add_session(row, job) for row in _read_sessions(document, job))
        for outcome in _import_observations(document, job):
            if isinstance(outcome, Skipped):
                skipped.append(outcome)
            else:
                counts[outcome] += 1
        prompts = _of_project(document["prompts"], job)
        counts["prompts"] = sum(_add_prompt(row, job) for row in prompts)
        counts["relations"] = sum(_add_relation(row, job) for row in _read_relations(document, job))
        removed = document.get("removed", ())
        counts["deleted"] += sum(_remove(entity, key, job) for entity, key in removed)
    event = job.event_id if revisions.has_event(job.store, job.event_id) else ""
    return Report(event=event, **counts, skipped=tuple(skipped))


def _read_sessions(document: Document, job: Job) -> Iterator[Row]:
    """Yield the sessions; of one project those that its observations and prompts name."""
    rows = (*document["observations"], *document["prompts"])
    used = {text_of(row.get("session_id")) for row in _of_project(rows, job)}
    for row in document["sessions"]:
        if text_of(row.get("id")) in used or not job.project:
            yield row


def _import_observations(document: Document, job: Job) -> Iterator[str | Skipped]:
    versions = _versions_by_id(document)
    for number, row in enumerate(_of_project(document["observations"], job), 1):
        if number % STEP == 0:
            job.on_progress(number)
        yield _import_observation(row, versions.get(_sync_id(row), ()), job)


def _versions_by_id(document: Document) -> dict[str, list[Row]]:
    """Return the earlier texts of observations by sync id, oldest first."""
    versions: dict[str, list[Row]] = {}
    rows = document.get("observation_versions", ())
    for row in sorted(rows, key=lambda row: text_of(row.get("captured_at"))):
        versions.setdefault(text_of(row.get("observation_sync_id")), []).append(row)
    return versions


def _read_relations(document: Document, job: Job) -> Iterator[Row]:
    """Yield relations; those of a database only where both ends were imported."""
    yield from document.get("relations", ())
    for row in document.get("memory_relations", ()):
        ends = (text_of(row.get(end)) for end in ("source_id", "target_id"))
        if all(memory_queries.by_sync_id(job.store, end) for end in ends):
            yield row


def _of_project(found: Iterable[Row], job: Job) -> Iterator[Row]:
    return (row for row in found if job.project in ("", text_of(row.get("project"))))


def _import_observation(row: Row, earlier: Iterable[Row], job: Job) -> str | Skipped:
    """Insert, update or delete a memory if the row is newer; *earlier* texts become its history."""
    sync_id = _sync_id(row)
    if why := _unfit(row, job):
        return Skipped(where=f"observation {row.get('id') or sync_id}", why=why)
    if (current := _find_memory(sync_id, job)) is None:
        return _import_new(row, earlier, sync_id, job)
    changed = _moment(row, "deleted_at", "updated_at", "created_at")
    if changed is None or not _is_newer(row, changed, current, job):
        return "known"
    if _is_settled(current, job):
        return "known" if row.get("deleted_at") else _propose(row, sync_id, job)
    if current.quarantine_reason or current.scope is not Scope.PROJECT:
        return "rejected"  # a person decides
    return _apply(row, sync_id, current, job)


def _is_settled(memory: Memory, job: Job) -> bool:
    """Return True for what a person said; where an agent asked, for what one confirmed, too."""
    is_confirmed = job.asked_by_agent and memories.find_confirmed(job.store, [memory.id])
    return memory.trust is Trust.USER or bool(is_confirmed)


def _unfit(row: Row, job: Job) -> str:
    """Return why a row is skipped; empty for one that is imported."""
    content = _plain(row.get("content"))
    if not content and not row.get("deleted_at"):
        return "it has no text"
    if len(content) > record_json.MAX_TEXT:
        return f"it has more than {record_json.MAX_TEXT:,} characters"
    return "it is personal" if _is_own(row) and job.is_shared else ""


def _is_own(row: Row) -> bool:
    return text_of(row.get("scope")) in PERSONAL


def _import_new(row: Row, earlier: Iterable[Row], sync_id: str, job: Job) -> str:
    """Insert a memory with its earlier texts; one that was refused or deleted here stays away."""
    is_refused = ledger.is_claimed(job.store, SOURCE, text_of(row.get("sync_id")))
    if is_refused or memory_queries.is_dead(job.store, sync_id):
        return "known"
    if _is_own(row):
        return _insert_own(row, sync_id, job)
    for past in _past_rows(row, earlier):  # the first is inserted, and replaced by the later ones
        _apply(past, sync_id, _find_memory(sync_id, job), job, is_copy=True)
    current = _find_memory(sync_id, job)
    outcome = _apply(row, sync_id, current, job)
    return "inserted" if current and outcome != "deleted" else outcome


def _past_rows(row: Row, earlier: Iterable[Row]) -> Iterator[Row]:
    """Yield the row as it was with each of its *earlier* texts that can be imported."""
    last = text_of(row.get("updated_at")) or text_of(row.get("created_at"))
    for version in earlier:
        at, text = text_of(version.get("captured_at")), _plain(version.get("content"))
        is_fit = text and len(text) <= record_json.MAX_TEXT and not instruction_in(text)
        if is_fit and at < last:
            texts = {name: version.get(name) for name in _TEXTS.split()}
            yield row | texts | {"updated_at": at, "deleted_at": None}


def _plain(value: object) -> str:
    """Return a text as the gate would write it."""
    return clean(redact(text_of(value)[:FILE_BYTES]).text)


def _sync_id(row: Row) -> str:
    found = text_of(row.get("sync_id"))
    if record_json.is_id(found):
        return found
    texts = (found,) if found else (text_of(row.get("title")), text_of(row.get("content")))
    return sha256_hex("observations", *texts)[:32]


def _find_memory(sync_id: str, job: Job) -> Memory | None:
    id = ledger.memory_of(job.store, SOURCE, sync_id)
    return memory_queries.by_sync_id(job.store, sync_id) or memory_queries.by_id(job.store, id)


def _is_newer(row: Row, changed: datetime, current: Memory, job: Job) -> bool:
    """Return False for what is older than our own text, or the same; the rest is joined."""
    if (record := replication.read(job.store, current.id)) is None:
        return True
    ends = (*record.over.values(), record.registers.get(registers.LIFE, ("",))[0])
    own = [at for at in ends if at and registers.replica_of(at) != registers.OLD_REPLICA]
    theirs = format_time(changed)
    ours = format_time(parse(registers.time_of(max(own)))) if own else ""
    if theirs != ours:
        return theirs > ours
    return state_of(row) != state_of(observation_of(current, job.kept.get(current.id, {}), ""))


def state_of(row: Row) -> str:
    """Return the digest of what an observation or a session says, whatever its times and counts."""
    names = ("type", "title", "content", "topic_key", "ended_at", "summary")
    texts = (text_of(row.get(name)) for name in names)
    return sha256_hex(*texts, "deleted" if row.get("deleted_at") else "")[:16]


def _apply(
    row: Row, sync_id: str, current: Memory | None, job: Job, *, is_copy: bool = False
) -> str:
    changed = _moment(row, "deleted_at", "updated_at", "created_at") or job.now
    created = at_most(_moment(row, "created_at") or changed, job.now)
    ours = current or Record(id=sha256_hex(SOURCE, sync_id)[:16], sync_id=sync_id)
    bare = Record(id=ours.id, sync_id=ours.sync_id, created_at=stamp(created))
    record = _write_record(bare, row, registers.old_stamp(stamp(changed)), job)
    target = TARGET if job.is_shared else None
    admit = _admit_from(row, sync_id, job)
    applied = replication.apply(job.store, record, job.change("import"), admit, target)
    if applied.memory is None or not applied.changed:
        return "known"
    if not is_copy:
        _keep(applied.memory, row, job)
    if current is None:
        return "inserted"
    return "deleted" if row.get("deleted_at") else "updated"


def _admit_from(row: Row, sync_id: str, job: Job) -> Admit:
    """Return the rule of the job for memories whose source is the row."""

    def admit(memory: Memory, before: Memory | None) -> Memory:
        if before is None:
            names = {"source_id": f"{SOURCE}:{sync_id}", "source_session_id": _session(row)}
            memory = replace(memory, **names)
        return job.admit(memory, before)

    return admit


def _write_record(bare: Record, row: Row, at: str, job: Job) -> Record:
    """Return the record with what a row says, and without what it replaces of ours."""
    ours = replication.read(job.store, bare.id)
    life = registers.DELETED if row.get("deleted_at") else registers.LIVE
    values: Row = {registers.LIFE: life}
    if content := _plain(row.get("content")):
        values |= {
            "content": content,
            "title": _plain(row.get("title"))[: record_json.MAX_CHARS] or None,
            **_kind_of(row),
            "topic_key": _plain(row.get("topic_key"))[: record_json.MAX_CHARS] or None,
        }
    record = registers.write(bare, values, at)
    replaced = (ours.over if ours else {}).items()
    over = {name: last for name, last in replaced if last <= at} | dict(record.over)
    gone = _replaced_types(ours, record, at, job.kept.get(bare.id, {})) if content else {}
    return replace(
        record,
        over=over if content else {},
        seen=registers.all_seen(life, at, over),
        registers=dict(record.registers) | gone,
    )


def _kind_of(row: Row) -> dict[str, Any]:
    kind = text_of(row.get("type")).casefold()
    tag = "" if kind in set(Category) else slug(kind)[:60]
    category = TYPES.get(kind, kind if kind in set(Category) else Category.FACT.value)
    return {"category": category, "tags": (tag,) if tag else ()}


def _replaced_types(
    ours: Record | None, theirs: Record, at: str, stored: Row
) -> dict[str, registers.Write]:
    """Return the removal of tags that are types of other versions, which the latest one ends."""
    category = ours.registers.get("category", ("",))[0] if ours else ""
    last = max(at, category) if registers.replica_of(category) == registers.OLD_REPLICA else at
    written = {**(ours.registers if ours else {}), **theirs.registers}
    types = {*TYPES, slug(text_of(stored.get("type"))), *theirs.items("tags")}
    names = [name for kind in types if (name := f"tags/{kind}") in written]
    return {name: (last, None) for name in names if written[name][0] < last}


def _session(row: Row) -> str | None:
    return redact(text_of(row.get("session_id"))[: record_json.MAX_CHARS]).text or None


def _insert_own(row: Row, sync_id: str, job: Job) -> str:
    ledger.claim(job.store, SOURCE, sync_id, job.now)
    if row.get("deleted_at"):
        return "known"
    draft = Draft(
        content=text_of(row.get("content")),
        **_kind_of(row),
        title=text_of(row.get("title")) or None,
        topic_key=text_of(row.get("topic_key")) or None,
        scope="personal",
        created_at=_moment(row, "created_at"),
        origin=Origin(trust=Trust.IMPORT, source_type="import", source_id=f"{SOURCE}:{sync_id}"),
    )
    written = gate.write(draft, job.store, job.settings, job.now)
    if written.memory is None:
        return "rejected"
    ledger.credit(job.store, SOURCE, sync_id, written.memory.id)
    return "known" if written.deduped else "inserted"


def _propose(row: Row, sync_id: str, job: Job) -> str:
    """Write a newer text as a candidate, once, where a person said what it would replace."""
    content, title = _plain(row.get("content")), _plain(row.get("title"))
    key = sha256_hex(sync_id, title, content)[:32]
    if not content or _find_memory(key, job) or memory_queries.is_dead(job.store, key):
        return "known"
    return _apply(row | {"topic_key": None, "deleted_at": None}, key, None, job, is_copy=True)


def _keep(memory: Memory, row: Row, job: Job) -> None:
    """Keep the fields of the row whose text the memory has, and the latest of those."""
    stored = job.kept.get(memory.id, {})
    content = _plain(row.get("content"))
    is_last = text_of(row.get("updated_at")) >= text_of(stored.get("updated_at"))
    if content == memory.content and is_last:
        stored = {name: stored[name] for name in (SENT,) if name in stored}
        stored |= _small_fields(row, KEPT)
    stored["deleted_at"] = format_time(memory.deleted_at) if memory.deleted_at else None
    stored["revision"] = memory.revision_count
    if job.is_shared and content in ("", memory.content):
        stored[SENT] = GONE if memory.deleted_at else state_of(observation_of(memory, stored, ""))
    foreign.put(job.store, foreign.MEMORY, memory.id, stored)
    job.kept[memory.id] = stored


def _small_fields(row: Row, names: Iterable[str]) -> Row:
    return {name: row[name] for name in names if _is_small(row.get(name))}


def _is_small(value: object) -> bool:
    if isinstance(value, str):
        is_whole = text_of(value) == value.strip()  # no half of a character
        return is_whole and len(value) <= record_json.MAX_CHARS and not redact(value).found
    return type(value) in (int, bool) or (isinstance(value, float) and math.isfinite(value))


def _add_session(row: Row, job: Job) -> bool:
    """Add a session that is not here, and was not deleted here; one of Engram may end later."""
    id = text_of(row.get("id"))[: record_json.MAX_CHARS]
    if not id or redact(id).found or instruction_in(id):
        return False
    ended, summary = _moment(row, "ended_at"), _read_summary(row)
    if sessions.may_import(job.store, id):
        started = at_most(_moment(row, "started_at"), job.now)
        directory = text_of(row.get("directory"))[: record_json.MAX_CHARS]
        directory = "" if instruction_in(directory) else directory
        sessions.add(job.store, id, directory, None, "import", started)
        kept = _small_fields(row, ("project", "directory", "ownership_mode"))
        foreign.put(job.store, foreign.SESSION, id, kept)
    elif not _ends_later(id, ended, summary, job):
        return False
    sessions.set_end(job.store, id, ended, summary)
    if job.is_shared:
        foreign.mark(job.store, foreign.SESSION, id, SENT, state_of(row))
    return True


def _read_summary(row: Row) -> str | None:
    """Return the summary of a session unless it has an instruction, as a model reads it.

    The memory of the same summary waits for a person.
    """
    summary = redact(text_of(row.get("summary"))[: record_json.MAX_TEXT]).text
    return None if not summary or instruction_in(summary) else summary


def _ends_later(id: str, ended: datetime | None, summary: str | None, job: Job) -> bool:
    (stored,) = sessions.list_sessions(job.store, 1, id) or [{}]
    ours = stored.get("ended_at", ""), stored.get("summary", "")
    theirs = stamp(ended) if ended else "", summary or ""
    return stored.get("source") == "import" and theirs > ours


def _add_relation(row: Row, job: Job) -> bool:
    values = _small_fields(row, relations.SHARED)
    if values.get("judgment_status") == values.get("relation") == "pending":
        values["relation"] = relations.RELATED
    if values.get("relation") not in verdicts.VERBS:
        return False
    values |= {"marked_by_kind": Trust.IMPORT, "marked_by_actor": SOURCE}
    if values["relation"] not in ANNOTATIONS:
        values["judgment_status"] = "pending"
    for name in ("created_at", "updated_at"):
        values[name] = stamp(_moment(row, name, "updated_at", "created_at") or job.now)
    values |= {"confidence": values.get("confidence", 1.0), "reason": values.get("reason", "")}
    change, target = job.change("import"), TARGET if job.is_shared else None
    return replication.receive(job.store, "relation", values, change, job.admit, target)


def _remove(entity: str, key: str, job: Job) -> bool:
    if entity == "prompt":
        if is_there := key in sessions.find_prompts(job.store, key):
            sessions.delete_prompt(job.store, key, job.now)
        return is_there
    (found,) = sessions.list_sessions(job.store, 1, key) or [{}]
    if found.get("source") != "import" or found["memories"]:
        return False
    sessions.delete(job.store, key, job.now)
    return True


def _add_prompt(row: Row, job: Job) -> bool:
    content, session = text_of(row.get("content")), _session(row)
    if not content or not session:
        return False
    content = redact(content).text
    if instruction_in(content):
        return False  # its author is unknown, and a model reads it as what the person asked
    id = text_of(row.get("sync_id"))
    if not record_json.is_id(id) or redact(id).found:
        id = sha256_hex("prompts", session, id or content)[:32]
    created = at_most(_moment(row, "created_at"), job.now)
    added = sessions.add_prompt(job.store, session, id, content, created, sync_id=id)
    if added:
        stored = _small_fields(row, ("id", "sync_id", "project"))
        foreign.put(job.store, foreign.PROMPT, id, stored)
    return added


def _moment(row: Mapping[str, Any], *names: str) -> datetime | None:
    return next(filter(None, (moment_of(text_of(row.get(name))) for name in names)), None)
