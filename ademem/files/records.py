"""Records, lines of JSON: the export format with all fields of a memory, and imports of any."""

from __future__ import annotations

import itertools
from collections import Counter
from enum import StrEnum
from itertools import islice

from ademem.capture.gate import Gate, Reject, form, judge, write
from ademem.capture.gate.rows import build_row
from ademem.capture.gate.rules import instruction_beside, instruction_shaped
from ademem.capture.gate.writing import StoreLookup
from ademem.core import anchor, record_json, registers
from ademem.core.clock import UTC, datetime, parse, stamp
from ademem.core.errors import FORBIDDEN, suppress
from ademem.core.json_text import loads
from ademem.core.memory import (
    DIALOGUE,
    PERSONAL,
    Category,
    Draft,
    Importance,
    Memory,
    Origin,
    Scope,
    Status,
    Tier,
    Trust,
)
from ademem.core.redaction import redact
from ademem.core.text import sha256_hex
from ademem.core.value import Value, replace
from ademem.files.knowledge import VALUES
from ademem.files.texts import BadLine
from ademem.store import (
    Store,
    jobs,
    ledger,
    memories,
    memory_queries,
    relations,
    replication,
    stamps,
    transitions,
    verdicts,
)
from ademem.store.database import sqlite3
from ademem.store.transitions import Act

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Iterator
    from typing import Any, TypeVar

    from ademem.core.settings import GateSettings, Settings

    Choice = TypeVar("Choice", bound=StrEnum)
    Record = dict[str, Any]

FIRST_YEAR = 1970
MAX_NUMBER = 2**31
SOURCE = "import"

VERSION = 1
MARK = "ademem"
"""The key that marks a line of this format; its value is the version."""

RELATION = "relation"
"""The key that a line of a relation has, in place of a content."""

PAGE = 1000
CHUNK = 1000
"""Lines of one transaction."""

FIELDS = (
    *("id", "sync_id", "scope", "scope_owner_id", "tier", "category", "title", "content"),
    *("importance", "confidence", "observation_count", "status", "pinned"),
    *("source_type", "source_id", "source_session_id", "source_run_id", "source_branch"),
    *("agent_id", "file_scope_pattern", "anchors", "tags", "topic_key", "knowledge_key", "bead"),
    *("created_at", "updated_at", "promoted_at", "review_after"),
)
"""Exported fields; counts of reads and trust belong to one store."""

_FIXED = {"id", "sync_id", "scope", "scope_owner_id", "source_branch", "created_at"}
UPDATED = (
    *(name for name in FIELDS if name not in _FIXED),
    *("trust", "claimed_author", "dedupe_key"),
)
"""Fields that a newer line without stamps changes; the last three follow from source and text."""

LOCAL = (
    *("tier", "observation_count", "promoted_at", "review_after", "updated_at"),
    *("source_type", "source_id", "source_session_id", "source_run_id", "agent_id"),
    *("trust", "claimed_author"),
)
"""Fields of a newer line that are joined by no stamps."""
STAMPS = "stamps"
"""The key for the stamps of a memory of the project, as the database has them."""

RULES = (
    form.normal_form,
    form.redaction,
    form.known_category,
    form.length,
    instruction_shaped,
    instruction_beside,
)
"""Rules of the gate for restored text, which is as untrusted as any file."""


class Outcome(StrEnum):
    INSERTED = "inserted"
    MERGED = "merged"
    REJECTED = "rejected"


class Import(Act):
    settings: GateSettings
    actor: str = Trust.IMPORT
    trust: Trust = Trust.IMPORT
    """The trust of lines that claim no lower one."""
    mission: str | None = None
    cuts: list[str]
    """Notes on texts of which only a part was stored, until they are reported."""

    def take_cuts(self) -> list[str]:
        taken = [f"is stored in part, {cut}" for cut in self.cuts]
        self.cuts.clear()
        return taken


class Imported(Value):
    inserted: int = 0
    merged: int = 0
    """Lines with the text of a memory, or imported before."""
    rejected: int = 0
    """Lines refused by the gate, whose log has the reasons, or deleted here for good."""
    errors: tuple[tuple[int, str], ...]
    """Number and error of each line that could not be read, or was stored in part."""
    event: str = ""
    """The act that takes all of it back, but for the person's own; empty where nothing changed."""


def export_lines(store: Store, include_personal: bool = False) -> Iterator[dict[str, Any]]:
    """Yield live memories in order of creation."""
    last = 0
    while page := memory_queries.page(store, after=last, limit=PAGE):
        last = page[-1].seq
        yield from export_records(store, page, include_personal=include_personal)


def export_records(
    store: Store, found: Iterable[Memory], *, include_personal: bool = False
) -> Iterator[dict[str, Any]]:
    for memory in found:
        if memory.shareable or (include_personal and memory.live and not memory.quarantine_reason):
            yield _to_record(store, memory)


def _to_record(store: Store, memory: Memory) -> dict[str, Any]:
    fields = {name: getattr(memory, name) for name in FIELDS}
    fields["anchors"] = anchor.plain(memory.anchors)
    if values := anchor.values(memory.anchors):
        fields[VALUES] = values
    for name in ("created_at", "updated_at", "promoted_at", "review_after"):
        fields[name] = fields[name] and stamp(fields[name])
    doubtful = memory.trust if memory.trust in (Trust.TOOL, Trust.WEB) else None
    row = memories.raw_row(store.db, memory.id)
    record = stamps.record_of_row(row) if row and stamps.is_shared(row) else None
    if row and record:
        fields[STAMPS] = loads(stamps.dump(record, row))
    return {MARK: VERSION} | fields | {"trust": doubtful}


def export_relations(store: Store, ids: Container[str]) -> Iterator[dict[str, Any]]:
    """Yield the relations between memories with these sync ids."""
    for found in relations.list_shared(store):
        if found["source_id"] in ids and found["target_id"] in ids:
            yield {MARK: VERSION} | found


def import_lines(
    lines: Iterable[str],
    store: Store,
    settings: Settings,
    now: datetime,
    on_progress: Callable[[int], None] | None = None,
    *,
    event: str = "",
    mission: str | None = None,
    confirms: bool = True,
) -> Imported:
    """Import each line once; report a bad one and skip it.

    All changes belong to the act *event*; each of the person's own memories is one for itself.
    *mission* is for the lines of a mission that do not name it. Unless the importer *confirms*,
    confirmed memories come as candidates, none is pinned, and what a person said, confirmed or
    removed here stays.
    Chunks are committed one by one, and *on_progress* gets the number of lines read; the next
    import of the same lines brings what an interrupted one did not reach.
    """
    job = Import(
        store=store, settings=settings.gate, now=now, event_id=event, mission=mission, cuts=[]
    )
    counts: Counter[str] = Counter()
    errors: list[tuple[int, str]] = []
    numbered = parse_lines(lines)
    while chunk := list(islice(numbered, CHUNK)):
        with store.transaction():
            for number, found in chunk:
                try:
                    if found is not None:
                        record = check(found, ("content", RELATION))
                        counts[_import_record(record, job, confirms=confirms).value] += 1
                        errors += [(number, cut) for cut in job.take_cuts()]
                except BadLine as error:
                    errors.append((number, str(error)))
        if on_progress:
            on_progress(chunk[-1][0])
    return Imported(event=event, errors=tuple(errors), **counts)


def _import_record(record: Record, job: Import, *, confirms: bool) -> Outcome:
    if RELATION in record and "content" not in record:
        return _restore_relation(record, job, confirms=confirms)
    if not confirms and _confirm_nothing(record, job.store):
        return Outcome.MERGED
    scope, owner = home(record, job)
    if owner is None and scope.strip().lower() in PERSONAL:
        job = replace(job, event_id="")  # it moves to a separate database
    return restore(record, job) if MARK in record else import_plain(record, job)


def _confirm_nothing(record: Record, store: Store) -> bool:
    """Make it a candidate, in place; return True for the text of one that a person decides about.

    Raises BadLine for another text of such a memory.
    """
    record |= {"pinned": False, "tier": None, "promoted_at": None, STAMPS: None}
    if choice(record, "status", Status) is Status.PROMOTED:
        record["status"] = Status.CANDIDATE
    sync_id = text(record, "sync_id") if MARK in record else None
    current = memory_queries.by_sync_id(store, sync_id)
    if current is None or not _is_for_person(current, store):
        return False
    if record["content"] != current.content:
        raise BadLine(f"is another text of {current.id}, which a person decides about")
    return True


def _is_for_person(memory: Memory, store: Store) -> bool:
    if memory.live:
        return memories.is_of_person(store, memory)
    return memories.is_removed_by_person(store, memory)


def _restore_relation(record: Record, job: Import, *, confirms: bool) -> Outcome:
    """Store a relation; unless the importer *confirms* it, one that takes away is a proposal."""
    _check_version(record)
    if text(record, RELATION) not in verdicts.VERBS:
        raise BadLine("has a relation that is none")
    values = {name: record.get(name) for name in relations.SHARED}
    for name in ("sync_id", "source_id", "target_id"):
        values[name] = _id(record, name)
    for name in ("reason", "marked_by_actor", "marked_by_kind"):
        values[name] = redact(text(record, name) or "").text
    for name in ("created_at", "updated_at"):
        values[name] = stamp(at_most(moment(record, name), job.now))
    if not confirms:
        values |= {"judgment_status": "pending", "marked_by_kind": Trust.IMPORT}
    try:
        is_new = replication.apply_relation(job.store, values, job.change("import"))
    except (ValueError, sqlite3.Error) as error:
        raise BadLine(f"is a relation that cannot be stored: {error}") from error
    return Outcome.INSERTED if is_new else Outcome.MERGED


def memory_of(line: str, store: Store) -> str | None:
    """Return the id of the memory that a plain line became or was merged into; None if refused."""
    return ledger.memory_of(store, SOURCE, key_of(read(line)))


def restore(record: Record, job: Import) -> Outcome:
    """Insert the memory, or join it with ours; a line without stamps counts if it is newer.

    A memory that was deleted here stays deleted, and a text that another memory has is not
    inserted again.
    """
    _check_version(record)
    sync_id = _id(record, "sync_id")
    if memory_queries.is_dead(job.store, sync_id):
        return Outcome.REJECTED
    lookup = StoreLookup(job.store)
    gate = Gate(lookup=lookup, settings=job.settings, now=job.now)
    verdict = judge(_draft(record, job), gate, RULES).verdict
    if isinstance(verdict, Reject):
        raise BadLine(verdict.why)
    job.cuts.extend(form.cut_notes(verdict.draft.notes))
    row = _row_of(record, build_row(verdict.draft, sync_id, job.store.project_id, job.now), job)
    current = memory_queries.by_sync_id(job.store, sync_id)
    if current is None and row.status is not Status.ARCHIVED and lookup.same(verdict.draft):
        return Outcome.MERGED
    shared = None if row.quarantine_reason else _shared_record(record, row)
    if current and _says_nothing_new(row, shared, current, job):
        return Outcome.MERGED
    _put_alone(row, shared, current, job)
    jobs.follow(job.store, job.now)
    return Outcome.MERGED if current else Outcome.INSERTED


def _says_nothing_new(
    row: Memory, shared: registers.Record | None, current: Memory, job: Import
) -> bool:
    """Tell whether ours has what a line says; one without stamps says something if it is newer."""
    if shared:
        ours = replication.read(job.store, current.id)
        return ours is not None and registers.has_writes_of(ours, shared)
    is_newer = row.updated_at > current.updated_at
    return not (is_newer and current.live and not row.quarantine_reason)


def _row_of(record: Record, row: Memory, job: Import) -> Memory:
    """Return the row with the state and the stamps of its line; what is held back has no state."""
    if row.quarantine_reason is None:
        status, promoted_at = choice(record, "status", Status), moment(record, "promoted_at")
        try:
            tier = Tier(int(_number(record, "tier") or Tier.ACTIVE))
        except ValueError as error:
            raise BadLine("has a tier that is none of 1, 2, 3") from error
        state = {"status": status or Status.CANDIDATE, "tier": tier, "promoted_at": promoted_at}
        row = replace(row, **state, pinned=record.get("pinned") is True)
        if "review_after" in record:
            row = replace(row, review_after=moment(record, "review_after"))
    return replace(
        row,
        id=_id(record, "id"),
        observation_count=max(1, int(_number(record, "observation_count") or 1)),
        created_at=at_most(moment(record, "created_at"), job.now),
        updated_at=at_most(moment(record, "updated_at"), job.now),
    )


def _put_alone(
    row: Memory, shared: registers.Record | None, current: Memory | None, job: Import
) -> None:
    """Put the row; raises BadLine if another memory has its id, its topic or its text."""
    try:
        _put(row, shared, current, job)
    except sqlite3.IntegrityError as error:
        if str(error) in FORBIDDEN:
            raise
        fault = f"has the id {row.id} or the topic of another memory here"
        if current:
            fault = f"gives {current.id} the text of another memory here"
        raise BadLine(fault) from error


def _put(row: Memory, shared: registers.Record | None, current: Memory | None, job: Import) -> None:
    """Join the row with ours, replace ours by it, or insert it."""
    change = job.change("import")
    if shared and (current or not memory_queries.by_id(job.store, row.id)):

        def admit(shown: Memory, before: Memory | None) -> Memory:
            is_newer = before is None or row.updated_at > before.updated_at
            local = {name: getattr(row, name) for name in LOCAL} if is_newer else {}
            return replace(shown, **local)

        joined = replace(shared, id=current.id if current else row.id)
        replication.apply(job.store, joined, change, admit)
    elif current:
        changes = {name: getattr(row, name) for name in UPDATED}
        changes["anchors"] = anchor.keep_values(row.anchors, current.anchors)
        changes["created_at"] = min(row.created_at, current.created_at)
        updated = replace(current, **changes, last_accessed_at=job.now)
        memories.put_back(job.store, updated, change)
    else:
        memories.insert(job.store, row, change)


def _shared_record(record: Record, row: Memory) -> registers.Record | None:
    found = record.get(STAMPS)
    if not isinstance(found, dict) or row.scope is not Scope.PROJECT or row.source_branch:
        return None
    if not isinstance(found.get(stamps.VALUES, {}), dict):
        raise BadLine("has stamps that are none")
    return stamps.record_of_row(memories.row_of(row) | {"stamps": record_json.compact(found)})


def _check_version(record: Record) -> None:
    if record.get(MARK) != VERSION:
        raise BadLine(f"is of export version {record.get(MARK)!r}; this ademem reads {VERSION}")


def at_most(moment: datetime | None, now: datetime) -> datetime:
    return min(moment or now, now + registers.CLOCKS_DIFFER)


def _draft(record: Record, job: Import) -> Draft:
    doubtful = choice(record, "trust", Trust)
    scope, owner = home(record, job)
    names = ("title", "topic_key", "bead", "knowledge_key")
    same: dict[str, Any] = {name: text(record, name) for name in names}
    return Draft(
        content=record["content"],
        category=text(record, "category") or "",
        scope=scope,
        owner=owner,
        importance=text(record, "importance") or Importance.MEDIUM,
        confidence=_number(record, "confidence"),
        tags=texts(record, "tags"),
        path=text(record, "file_scope_pattern"),
        anchors=anchor.with_values(texts(record, "anchors"), _values(record)),
        pinned=record.get("pinned") is True,
        created_at=moment(record, "created_at"),
        **same,
        origin=Origin(
            trust=doubtful if doubtful in (Trust.TOOL, Trust.WEB) else job.trust,
            source_type=text(record, "source_type") or "import",
            claimed_author=job.claimed_author,
            **{name: text(record, name) for name in ("source_id", "agent_id")},
            **{name: text(record, f"source_{name}") for name in ("session_id", "run_id", "branch")},
        ),
    )


def _values(record: Record) -> dict[str, tuple[str, ...]]:
    found = record.get(VALUES) or {}
    if not isinstance(found, dict):
        raise BadLine("has values that are not an object")
    return {place: texts(found, place) for place in found}


def _id(record: Record, field: str) -> str:
    name = text(record, field) or ""
    if not record_json.is_id(name) or redact(name).found:
        raise BadLine(f"has no {field} of at most 64 letters, digits, - and _")
    return name


def _number(record: Record, name: str) -> float | None:
    value = record.get(name)
    if value is not None and (type(value) not in (int, float) or abs(value) > MAX_NUMBER):
        raise BadLine(f"has a {name} that is not a number, or too large")
    return value


def _importance(record: Record) -> Importance:
    """Return the importance; a word of another program for it costs no memory."""
    with suppress(BadLine):
        return choice(record, "importance", Importance) or Importance.MEDIUM
    return Importance.MEDIUM


def import_plain(record: Record, job: Import) -> Outcome:
    from ademem.capture import learned

    status = choice(record, "status", Status)
    title, speaker = text(record, "title"), text(record, "speaker")
    scope, owner = home(record, job)
    draft = Draft(
        content=record["content"],
        category=text(record, "category")
        or learned.CATEGORY.get((text(record, "type") or "").upper(), Category.FACT),
        scope=scope,
        owner=owner,
        title=title or speaker,
        tags=(*texts(record, "tags"), *(() if title or not speaker else (DIALOGUE,))),
        importance=_importance(record),
        confidence=_number(record, "confidence"),
        path=text(record, "path") or text(record, "file_scope_pattern"),
        anchors=anchor.with_values(texts(record, "anchors"), _values(record)),
        topic_key=text(record, "topic_key"),
        bead=text(record, "bead"),
        knowledge_key=text(record, "key") or text(record, "knowledge_key"),
        promoted=status is Status.PROMOTED,
        created_at=moment(record, "created_at") or unix_moment(record),
        origin=Origin(
            trust=job.trust,
            source_type=SOURCE,
            source_id=text(record, "source_id") or text(record, "id"),
            session_id=text(record, "source_session_id"),
            run_id=text(record, "source_run_id"),
            agent_id=text(record, "agent_id"),
            branch=job.branch,
            claimed_author=job.claimed_author,
        ),
    )
    return write_once(key_of(record), draft, status, job)


def write_once(key: str, draft: Draft, status: Status | None, job: Import) -> Outcome:
    if not ledger.claim(job.store, SOURCE, key, job.now):
        return Outcome.MERGED if ledger.memory_of(job.store, SOURCE, key) else Outcome.REJECTED
    written = write(draft, job.store, job.settings, job.now, event_id=job.event_id)
    if written.memory is None:
        return Outcome.REJECTED
    ledger.credit(job.store, SOURCE, key, written.memory.id)
    job.cuts.extend(form.cut_notes(written.notes))
    if written.rule != "insert":
        return Outcome.MERGED
    if status is Status.ARCHIVED:
        change = replace(job.change("archive"), reason="the line is archived")
        archived = replace(written.memory, **transitions.archived(), promoted_at=None)
        memories.update(job.store, archived, change)
    return Outcome.INSERTED


def key_of(record: Record) -> str:
    import orjson

    return sha256_hex(orjson.dumps(record, option=orjson.OPT_SORT_KEYS).decode())


def parse_lines(lines: Iterable[str]) -> Iterator[tuple[int, Record | BadLine | None]]:
    """Number the lines and parse them into objects; a blank one is None, others tell their fault.

    The package costs a command 20 ms and 20,000 lines another 20 ms, so lines that hooks read, as
    in `knowledge.parse_line`, are parsed by the standard library.
    """
    import jsonlines
    import orjson

    def loads(line: str | bytes) -> Any:
        return orjson.loads(line.encode() if isinstance(line, str) else line)

    reader = jsonlines.Reader(lines, loads=loads)
    for number in itertools.count(1):
        try:
            yield number, reader.read(type=dict)
        except EOFError:
            return
        except jsonlines.InvalidLineError as error:
            yield number, _describe(error.__cause__) if str(error.line).strip() else None


def _describe(cause: BaseException | None) -> BadLine:
    match cause:
        case None:
            return BadLine("is not a JSON object")
        case UnicodeError():
            return BadLine("is not UTF-8")
    return BadLine(f"is not JSON: {cause}")


def read(line: str) -> Record:
    """Parse a line into an object with content; raises BadLine."""
    [(_, found)] = parse_lines([line])
    return check(found or BadLine("has no content"))


def check(found: Record | BadLine, needed: tuple[str, ...] = ("content",)) -> Record:
    """Return a parsed line that has one of the *needed* texts; raises BadLine."""
    if isinstance(found, BadLine):
        raise found
    if not any(text(found, name) for name in needed):
        raise BadLine("has no content")
    if type(found.get("content")) is int:
        found["content"] = str(found["content"])
    return found


def text(record: Record, name: str) -> str | None:
    """Return the text under *name*, None for an empty one; a number becomes its digits."""
    value = record.get(name)
    if type(value) is int:
        value = str(value)
    if value is not None and not isinstance(value, str):
        raise BadLine(f"has a {name} that is not text")
    return value or None


def home(record: Record, job: Import) -> tuple[str, str | None]:
    """Return scope and owner; raises BadLine for a memory of an unknown mission."""
    scope, owner = text(record, "scope") or Scope.PROJECT, text(record, "scope_owner_id")
    if owner is None and Scope.is_mission(scope):
        if job.mission is None:
            way = "give it a scope_owner_id, or import with ADEMEM_MISSION set"
            raise BadLine(f"does not name its mission: {way}")
        owner = job.mission
    is_own = MARK in record and owner is None and scope == Scope.AGENT
    return "personal" if is_own else scope, owner


def texts(record: Record, name: str) -> tuple[str, ...]:
    """Return the list of texts under *name*, or the words of one text."""
    value = record.get(name)
    items = value.split() if isinstance(value, str) else value or []
    if not isinstance(items, list) or not all(isinstance(item, str) for item in items):
        raise BadLine(f"has {name} that are not a list of texts")
    return tuple(items)


def moment(record: Record, name: str) -> datetime | None:
    value = text(record, name)
    try:
        found = parse(value).astimezone(UTC) if value else None
    except (ValueError, OverflowError) as error:  # some times have no counterpart in UTC
        raise BadLine(f"has a {name} that is not an ISO 8601 time") from error
    if found and found.year <= FIRST_YEAR:
        raise BadLine(f"has a {name} before {FIRST_YEAR}")
    return found


def unix_moment(record: Record) -> datetime | None:
    value = record.get("ts")
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < 2**33:
        return None
    return datetime.fromtimestamp(value, UTC)


def choice(record: Record, name: str, kind: type[Choice]) -> Choice | None:
    value = text(record, name)
    try:
        return kind(value) if value else None
    except ValueError as error:
        raise BadLine(f"has a {name} that is none of {', '.join(kind)}") from error
