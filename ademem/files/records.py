"""Lines of JSON as typed fields, and the import of plain ones: a content with optional fields."""

from __future__ import annotations

from enum import StrEnum

from ademem.core.clock import UTC, datetime, parse
from ademem.core.memory import DIALOGUE, Category, Draft, Origin, Scope, Status, Trust
from ademem.core.text import sha256_hex
from ademem.core.value import Value, replace
from ademem.files.texts import BadLine
from ademem.store import ledger, memories, transitions
from ademem.store.memories import Change

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TypeVar

    from ademem.core.settings import GateSettings
    from ademem.store import Store

    Choice = TypeVar("Choice", bound=StrEnum)
    Record = dict[str, Any]

FIRST_YEAR = 1970
SOURCE = "import"


class Outcome(StrEnum):
    INSERTED = "inserted"
    MERGED = "merged"
    REJECTED = "rejected"


class Import(Value):
    """The store, the settings and the source of an import."""

    store: Store
    settings: GateSettings
    now: datetime
    event_id: str = ""
    """The act that all changes belong to."""
    branch: str | None = None
    """The branch that the lines wait on."""
    trust: Trust = Trust.IMPORT
    """The trust of lines that claim no lower one."""
    claimed_author: str | None = None
    """The author of the lines, as the files claim."""
    mission: str | None = None
    """The mission of memories that name none."""
    cuts: list[str]
    """Notes on texts of which only a part was stored, until they are reported."""

    def take_cuts(self) -> list[str]:
        """Return what to report of the texts that were cut since the last call."""
        taken = [f"is stored in part, {cut}" for cut in self.cuts]
        self.cuts.clear()
        return taken


def import_plain(record: Record, job: Import) -> Outcome:
    """Pass the record to the gate, unless it was imported before."""
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
        path=text(record, "path"),
        bead=text(record, "bead"),
        knowledge_key=text(record, "key"),
        promoted=status is Status.PROMOTED,
        created_at=moment(record, "created_at") or unix_moment(record),
        origin=Origin(
            trust=job.trust,
            source_type=SOURCE,
            source_id=text(record, "source_id") or text(record, "id"),
            session_id=text(record, "source_session_id"),
            branch=job.branch,
            claimed_author=job.claimed_author,
        ),
    )
    return write_once(key_of(record), draft, status, job)


def write_once(key: str, draft: Draft, status: Status | None, job: Import) -> Outcome:
    from ademem.capture import gate  # hooks import this module for its types

    if not ledger.claim(job.store, SOURCE, key, job.now):
        return Outcome.MERGED if ledger.memory_of(job.store, SOURCE, key) else Outcome.REJECTED
    written = gate.write(draft, job.store, job.settings, job.now, event_id=job.event_id)
    if written.memory is None:
        return Outcome.REJECTED
    ledger.credit(job.store, SOURCE, key, written.memory.id)
    job.cuts.extend(gate.form.cut_notes(written.notes))
    if written.rule != "insert":
        return Outcome.MERGED
    if status is Status.ARCHIVED:
        change = Change(
            operation="archive", actor=Trust.IMPORT, at=job.now, reason="the line is archived"
        )
        archived = replace(written.memory, **transitions.archived(), promoted_at=None)
        memories.update(job.store, archived, change)
    return Outcome.INSERTED


def key_of(record: Record) -> str:
    """Digest a record; the order of its fields does not matter."""
    import orjson  # hooks import this module, and parse no such lines

    return sha256_hex(orjson.dumps(record, option=orjson.OPT_SORT_KEYS).decode())


def read(line: str, needed: tuple[str, ...] = ("content",)) -> Record:
    """Parse a line into an object with one of the *needed* texts; raises BadLine."""
    import orjson

    try:
        record = orjson.loads(line.removeprefix("\ufeff").encode("utf-8", "replace"))
    except orjson.JSONDecodeError as error:
        raise BadLine(f"is no JSON: {error}") from error
    if not isinstance(record, dict):
        raise BadLine("is no JSON object")
    if not any(text(record, name) for name in needed):
        raise BadLine("has no content")
    if type(record.get("content")) is int:
        record["content"] = str(record["content"])
    return record


def text(record: Record, name: str) -> str | None:
    """Return the text under *name*, None for an empty one; a number becomes its digits."""
    value = record.get(name)
    if type(value) is int:
        value = str(value)
    if value is not None and not isinstance(value, str):
        raise BadLine(f"has a {name} that is no text")
    return value or None


def home(record: Record, job: Import) -> tuple[str, str | None]:
    """Return scope and owner; raises BadLine for a memory of an unknown mission."""
    scope, owner = text(record, "scope") or Scope.PROJECT, text(record, "scope_owner_id")
    if owner is None and Scope.is_mission(scope):
        if job.mission is None:
            raise BadLine(
                "does not name its mission: give it a scope_owner_id,"
                " or import with ADEMEM_MISSION set"
            )
        owner = job.mission
    return scope, owner


def texts(record: Record, name: str) -> tuple[str, ...]:
    """Return the list of texts under *name*, or the words of one text."""
    value = record.get(name)
    items = value.split() if isinstance(value, str) else value or []
    if not isinstance(items, list) or not all(isinstance(item, str) for item in items):
        raise BadLine(f"has {name} that are no list of texts")
    return tuple(items)


def moment(record: Record, name: str) -> datetime | None:
    value = text(record, name)
    if value is None:
        return None
    try:
        found = parse(value)
    except ValueError as error:
        raise BadLine(f"has a {name} that is no ISO 8601 time") from error
    if found.year <= FIRST_YEAR:
        raise BadLine(f"has a {name} before {FIRST_YEAR}")
    return found


def unix_moment(record: Record) -> datetime | None:
    """Read seconds since 1970, as Beads writes them."""
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
