"""Import plain lines: a content, and optional fields."""

from __future__ import annotations

import orjson

from ademem.capture import gate, learned
from ademem.core.digest import sha256_hex
from ademem.core.memory import DIALOGUE, Category, Draft, Origin, Status, Trust
from ademem.core.value import replace
from ademem.files.formats.record import Outcome, choice, home, moment, text, texts, unix_moment
from ademem.store import imports, ledger, memories, transitions
from ademem.store.memories import Change

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ademem.core.memory import Memory
    from ademem.files.formats.record import Import, Record

SOURCE = "import"


def write(record: Record, job: Import) -> Outcome:
    """Pass the record to the gate, unless it was imported before."""
    status = choice(record, "status", Status) or job.status
    draft = _draft(record, job, promoted=status is Status.PROMOTED)
    return keep(key_of(record), draft, status, job)


def keep(key: str, draft: Draft, status: Status | None, job: Import) -> Outcome:
    """Write the draft of the line with this key once."""
    if not ledger.claim(job.store, SOURCE, key, job.now):
        return Outcome.MERGED if imports.credited(job.store, SOURCE, key) else Outcome.REJECTED
    written = gate.write(draft, job.store, job.settings, job.now, event_id=job.event_id)
    if written.memory is None:
        return Outcome.REJECTED
    ledger.credit(job.store, SOURCE, key, written.memory.id)
    if written.rule != "insert":
        return Outcome.MERGED
    if status is Status.ARCHIVED:
        _archive(written.memory, job)
    return Outcome.INSERTED


def key_of(record: Record) -> str:
    """Digest a record; the order of its fields does not matter."""
    return sha256_hex(orjson.dumps(record, option=orjson.OPT_SORT_KEYS).decode())


def _draft(record: Record, job: Import, *, promoted: bool) -> Draft:
    """Make a draft with the trust of the file."""
    title, speaker = text(record, "title"), text(record, "speaker")
    said = () if title or not speaker else (DIALOGUE,)
    scope, owner = home(record, job)
    return Draft(
        content=record["content"],
        category=text(record, "category")
        or learned.CATEGORY.get((text(record, "type") or "").upper(), Category.FACT),
        scope=scope,
        owner=owner,
        title=title or speaker,
        tags=(*texts(record, "tags"), *said),
        path=text(record, "path"),
        bead=text(record, "bead"),
        knowledge_key=text(record, "key"),
        promoted=promoted,
        created_at=moment(record, "created_at") or unix_moment(record, "ts"),
        origin=Origin(
            trust=job.trust,
            source_type=SOURCE,
            source_id=text(record, "source_id") or text(record, "id"),
            session_id=text(record, "source_session_id"),
            branch=job.branch,
            claimed_author=job.claimed_author,
        ),
    )


def _archive(memory: Memory, job: Import) -> None:
    change = Change(operation="archive", actor=Trust.IMPORT, at=job.now, reason="the line says so")
    archived = replace(memory, **transitions.archived(), promoted_at=None)
    memories.update(job.store, archived, change)
