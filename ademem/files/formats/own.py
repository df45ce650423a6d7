"""The export format of ademem: memories with their identity, status and history fields."""

from __future__ import annotations

import re
import sqlite3
from datetime import timedelta

from ademem.capture.gate import Gate, Reject, form, judge
from ademem.capture.gate.lookup import StoreLookup
from ademem.capture.gate.rows import build_row
from ademem.capture.gate.rules import instruction_beside, instruction_shaped
from ademem.core.clock import stamp
from ademem.core.memory import Draft, Importance, Origin, Status, Tier, Trust
from ademem.core.redaction import redact
from ademem.core.value import replace
from ademem.files.formats.record import BadLine, Outcome, choice, home, moment, text, texts
from ademem.store import imports, jobs, memories, memory_queries
from ademem.store.memories import Change

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime
    from typing import Any

    from ademem.capture.gate import Reviewed
    from ademem.capture.gate.verdict import Lookup
    from ademem.core.memory import Memory
    from ademem.files.formats.record import Import, Record
    from ademem.store import Store

VERSION = 1
MARK = "ademem"
"""The key that marks a line of this format; its value is the version."""

PAGE = 1000

CLOCKS_DIFFER = timedelta(days=1)
"""The most that another clock may be ahead; a later time would be the newest for ever."""

FIELDS = (
    "id",
    "sync_id",
    "scope",
    "scope_owner_id",
    "tier",
    "category",
    "title",
    "content",
    "importance",
    "confidence",
    "observation_count",
    "status",
    "pinned",
    "source_type",
    "source_id",
    "source_session_id",
    "source_run_id",
    "source_branch",
    "agent_id",
    "file_scope_pattern",
    "anchors",
    "tags",
    "topic_key",
    "knowledge_key",
    "bead",
    "created_at",
    "updated_at",
    "promoted_at",
)
"""Exported fields; counts of reads and trust belong to one store."""

RENEWED = frozenset(FIELDS) - {
    "id",
    "sync_id",
    "scope",
    "scope_owner_id",
    "source_branch",
    "created_at",
}

_FOLLOWING = ("trust", "claimed_author", "dedupe_key")
"""Fields that follow from the source and from the text."""

RULES = (
    form.normal_form,
    form.redaction,
    form.known_category,
    form.length,
    instruction_shaped,
    instruction_beside,
)
"""Rules of the gate for restored text, which is as untrusted as any file."""

_NAME = re.compile(r"[\w-]{1,64}", re.ASCII)


def export_lines(store: Store, include_personal: bool = False) -> Iterator[dict[str, Any]]:
    """Yield live memories in order of creation; those of agents and missions only on request."""
    seen = 0
    while page := memory_queries.page(store, seen, PAGE):
        seen = page[-1].seq
        for memory in page:
            personal = memory.live and not memory.quarantine_reason
            if memory.shareable or (include_personal and personal):
                yield _record(memory)


def is_own(record: Record) -> bool:
    return MARK in record


def restore(record: Record, job: Import, *, even_older: bool = False) -> Outcome:
    """Insert the memory, or update it here if the line is newer.

    What was deleted here stays so, and a text that another memory has is that memory. With
    *even_older* the line is right whatever its time.
    """
    if record[MARK] != VERSION:
        raise BadLine(f"is of export version {record[MARK]!r}; this ademem reads {VERSION}")
    sync_id = _name(record, "sync_id")
    if imports.is_dead(job.store, sync_id):
        return Outcome.REJECTED
    shelf = StoreLookup(job.store, job.settings)
    draft = _reviewed(record, shelf, job)
    row = _row(record, sync_id, draft, job)
    known = memory_queries.by_sync_id(job.store, sync_id)
    if known:
        return _renewed(known, row, job, even_older)
    here_already = row.status is not Status.ARCHIVED and shelf.exact(draft)
    return Outcome.MERGED if here_already else _added(row, job)


def _record(memory: Memory) -> dict[str, Any]:
    fields = {name: getattr(memory, name) for name in FIELDS}
    for name in ("created_at", "updated_at", "promoted_at"):
        fields[name] = fields[name] and stamp(fields[name])
    doubtful = memory.trust if memory.trust in (Trust.TOOL, Trust.WEB) else None
    return {MARK: VERSION} | fields | {"trust": doubtful}


def _reviewed(record: Record, shelf: Lookup, job: Import) -> Reviewed:
    gate = Gate(lookup=shelf, settings=job.settings, now=job.now)
    verdict = judge(_draft(record, job), gate, RULES).verdict
    if isinstance(verdict, Reject):
        raise BadLine(verdict.why)
    return verdict.draft


def _row(record: Record, sync_id: str, draft: Reviewed, job: Import) -> Memory:
    """Return the memory as it was exported; in quarantine it is a candidate."""
    row = build_row(draft, sync_id, job.store.project_id, job.settings, job.now)
    if row.quarantine_reason is None:
        row = replace(
            row,
            status=choice(record, "status", Status) or Status.CANDIDATE,
            tier=_tier(record),
            promoted_at=moment(record, "promoted_at"),
        )
    return replace(
        row,
        id=_name(record, "id"),
        observation_count=max(1, int(_number(record, "observation_count") or 1)),
        created_at=at_most(moment(record, "created_at"), job.now),
        updated_at=at_most(moment(record, "updated_at"), job.now),
    )


def at_most(moment: datetime | None, now: datetime) -> datetime:
    """Return a time from another clock, limited to CLOCKS_DIFFER ahead of *now*."""
    return min(moment or now, now + CLOCKS_DIFFER)


def _draft(record: Record, job: Import) -> Draft:
    """Make a draft with the trust of the file or a lower one."""
    doubtful = choice(record, "trust", Trust)
    scope, owner = home(record, job)
    return Draft(
        content=record["content"],
        category=text(record, "category") or "",
        scope=scope,
        owner=owner,
        importance=text(record, "importance") or Importance.MEDIUM,
        confidence=_number(record, "confidence"),
        title=text(record, "title"),
        topic_key=text(record, "topic_key"),
        tags=texts(record, "tags"),
        path=text(record, "file_scope_pattern"),
        anchors=texts(record, "anchors"),
        pinned=record.get("pinned") is True,
        bead=text(record, "bead"),
        knowledge_key=text(record, "knowledge_key"),
        created_at=moment(record, "created_at"),
        origin=Origin(
            trust=doubtful if doubtful in (Trust.TOOL, Trust.WEB) else job.trust,
            source_type=text(record, "source_type") or "import",
            source_id=text(record, "source_id"),
            session_id=text(record, "source_session_id"),
            run_id=text(record, "source_run_id"),
            agent_id=text(record, "agent_id"),
            branch=text(record, "source_branch"),
            claimed_author=job.claimed_author,
        ),
    )


def _added(row: Memory, job: Import) -> Outcome:
    try:
        memories.insert(job.store, row, _change(job))
    except sqlite3.IntegrityError as error:
        raise BadLine(f"has the id {row.id} or the topic of another memory here") from error
    jobs.follow(job.store, job.now)
    return Outcome.INSERTED


def _renewed(known: Memory, row: Memory, job: Import, even_older: bool) -> Outcome:
    """Update a live memory; a quarantined line changes nothing."""
    newer = even_older or row.updated_at > known.updated_at
    if known.live and not row.quarantine_reason and newer:
        changes = {name: getattr(row, name) for name in (*RENEWED, *_FOLLOWING)}
        changes["created_at"] = min(row.created_at, known.created_at)
        try:
            row = replace(known, **changes, last_accessed_at=job.now)
            memories.put_back(job.store, row, _change(job))
        except sqlite3.IntegrityError as error:
            raise BadLine(f"says of {known.id} what another memory here says") from error
        jobs.follow(job.store, job.now)
    return Outcome.MERGED


def _change(job: Import) -> Change:
    return Change(operation="import", actor=Trust.IMPORT, at=job.now, event_id=job.event_id)


def _name(record: Record, field: str) -> str:
    """Return an id that is valid in a file and in a command."""
    name = text(record, field) or ""
    if not _NAME.fullmatch(name) or redact(name).found:
        raise BadLine(f"has no {field} of at most 64 letters, digits, - and _")
    return name


def _tier(record: Record) -> Tier:
    try:
        return Tier(int(_number(record, "tier") or Tier.ACTIVE))
    except ValueError as error:
        raise BadLine("has a tier that is none of 1, 2, 3") from error


def _number(record: Record, name: str) -> float | None:
    value = record.get(name)
    if value is not None and type(value) not in (int, float):
        raise BadLine(f"has a {name} that is no number")
    return value
