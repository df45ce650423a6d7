"""Import the lines of knowledge.jsonl."""

from __future__ import annotations

from ademem.core.clock import parse, stamp
from ademem.core.memory import Status, Tier, Trust
from ademem.core.text import clean, dedupe_key
from ademem.core.value import replace
from ademem.files import export_format, knowledge, records
from ademem.files.knowledge import is_losing_text
from ademem.files.records import BadLine, Import, Outcome
from ademem.store import memories, memory_queries, revisions, transitions
from ademem.store.memories import Change
from ademem.store.transitions import CannotDo
from ademem.sync.differences import ChangedLine, ConcurrentLine, ForeignLine
from ademem.sync.import_context import LEAST
from ademem.sync.merging import losing_text
from ademem.sync.provenance import record_digest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime
    from typing import Any

    from ademem.core.memory import Memory
    from ademem.files.knowledge import Record
    from ademem.files.snapshot import KnowledgeLine
    from ademem.sync.import_context import ImportContext
    from ademem.sync.provenance import Source

_LOWEST = {"tier": int(Tier.FADING)}
"""The tier as a line has it."""


def import_difference(
    difference: ChangedLine | ConcurrentLine | ForeignLine, context: ImportContext
) -> None:
    try:
        match difference:
            case ChangedLine():
                _import_line(difference, context)
            case ConcurrentLine():
                _keep_losing_text(difference, context)
            case ForeignLine():
                _import_foreign_line(difference, context)
    except BadLine as error:
        raise CannotDo(str(error)) from error


def _job_of(source: Source, context: ImportContext, branch: str | None = None) -> Import:
    """Return the settings of an import from this source, with the trust of a file at most."""
    return Import(
        store=context.act.store,
        settings=context.settings,
        now=context.act.now,
        event_id=context.event,
        branch=branch,
        trust=source.trust if source.by_agent else Trust.IMPORT,
        claimed_author=source.author,
    )


def _import_line(difference: ChangedLine, context: ImportContext) -> None:
    """Import a line about a new memory, a newer version of one, or one that commits changed."""
    line, known = difference.line, context.find(difference.id)
    if line.is_tombstone:
        return _apply_tombstone(difference, context)
    record = _as_export_record(line, context)
    source = context.provenance.of_record(line.path, line.record, line.id)
    if source.author is not None and known and known.claimed_author is None:
        (ours,) = knowledge.each_record([known])
        if record_digest(ours) == record_digest(line.record):  # equal to ours, it is ours
            source = replace(source, author=None)
    if source.by_agent:  # it may add a text, and confirm nothing
        record |= _status_fields(known)
    job = _job_of(source, context)
    twin = _find_duplicate(record, context)
    if twin and context.later is not None:
        return context.later.append(difference)
    if twin and not _is_older(record, twin):  # keep ours, and archive the other here, too
        if known is None:
            export_format.restore(record | transitions.archived() | _LOWEST, job)
            known = context.find(difference.id)
        if known:
            values = {name: record[name] for name in ("content", "category")}
            at = _archive_time(record, twin)
            context.archive(known, at, superseded_by=twin.id, **values)
        return None
    if twin:
        context.archive(twin, _archive_time(record, twin), superseded_by=difference.id)
    if known and not known.live:
        absent = difference.before is None or difference.before.is_tombstone
        if absent and _comes_back(known, record, context):
            context.free_key(known)  # another memory may have its old text by now
            transitions.restore(known.id, context.act_of(source))
            export_format.restore(record, job, even_older=True)
            context.restore_key(known.id)
            _set_created_at(parse(str(record["created_at"])), known.id, context)
            context.note("restored", known.id)
        return None
    even_older = known is not None and _is_intended(difference, known, context)
    export_format.restore(record, job, even_older=even_older)
    now = context.find(difference.id)
    if now and now != known:
        context.note("edited" if known else "added", now.id)
    return None


def _import_foreign_line(difference: ForeignLine, context: ImportContext) -> None:
    record, path = difference.line.record, difference.line.path
    waits_on = context.waits_on(None, str(record.get("key")))
    source = context.provenance.of_record(path, record, None)
    if source.by_agent:
        record = record | {"status": Status.CANDIDATE}
    outcome = records.import_plain(record, _job_of(source, context, waits_on))
    if outcome is Outcome.REJECTED:
        raise CannotDo("not kept; `ademem log --refused` shows the reason")


def _status_fields(known: Memory | None) -> dict[str, Any]:
    """Return the status fields of our memory; those of a candidate for a new one."""
    if known is None:
        return (
            transitions.initial(promoted=False) | {"pinned": False, "promoted_at": None} | _LOWEST
        )
    return {
        "status": known.status,
        "pinned": known.pinned,
        "tier": int(known.tier),
        "promoted_at": known.promoted_at and stamp(known.promoted_at),
    }


def _set_created_at(moment: datetime, id: str, context: ImportContext) -> None:
    known = context.find(id)
    if known and known.created_at != moment:
        change = Change(
            operation="import",
            actor=Trust.IMPORT,
            at=context.act.now,
            event_id=context.event,
        )
        memories.put_back(context.act.store, replace(known, created_at=moment), change)


def _find_duplicate(record: Record, context: ImportContext) -> Memory | None:
    """Return another live memory with the same text."""
    key = dedupe_key(clean(str(record["content"])), record.get("topic_key"))
    return memory_queries.live_shared_by_text(context.act.store, key, except_id=str(record["id"]))


def _is_older(record: Record, twin: Memory) -> bool:
    """Return True if the line's memory is the older duplicate, which stays on every machine.

    A losing text is dropped once its memory has it.
    """
    id = str(record["id"])
    if is_losing_text(twin.id, id, twin.content):
        return False
    if is_losing_text(id, twin.id, twin.content):
        return True
    return (str(record["created_at"]), id) < (stamp(twin.created_at), twin.id)


def _archive_time(record: Record, twin: Memory) -> datetime:
    """Return the time of archiving a duplicate: just after both had the text."""
    return max(parse(record["updated_at"]), twin.updated_at) + LEAST


def _apply_tombstone(difference: ChangedLine, context: ImportContext) -> None:
    """Archive the memory, unless it was changed after the tombstone."""
    known = context.find(difference.id)
    archived_at = knowledge.archived_at(difference.line.record)
    if not known or not archived_at or (not known.live and archived_at == known.updated_at):
        return
    lost = _lost_to_memory(known)
    if archived_at > known.updated_at or lost or _is_intended(difference, known, context):
        at = export_format.at_most(archived_at, context.act.now)
        context.archive(known, at, superseded_by=None if lost else known.superseded_by)


def _keep_losing_text(difference: ConcurrentLine, context: ImportContext) -> None:
    """Make a candidate of a losing text that was neither archived nor replaced."""
    record, newer = difference.line.record, difference.newer
    was = knowledge.base_fields(record)
    if was is not None:
        unseen = "content" in was
    elif newer.is_tombstone:
        unseen = knowledge.has_unseen_text(newer.record, record)
    else:
        unseen = _is_unseen(record, difference, context)
    if unseen:
        origin = record | (was or {}) if was or newer.is_tombstone else newer.record
        line = difference.line.resolved_as(losing_text(record["content"], origin))
        _import_line(ChangedLine(id=line.record["id"], line=line, before=None), context)


def _is_unseen(record: Record, difference: ConcurrentLine, context: ImportContext) -> bool:
    """Return True if the memory never had the text, or has it and did not begin with it.

    Learned twice under one name, it began with both.
    """
    texts = context.earlier_texts(str(record["id"]))
    if not texts:
        return difference.line.path == difference.newer.path
    learned_twice = record.get("created_at") != difference.newer.record.get("created_at")
    is_current = record["content"] == texts[-1] and (len(texts) > 1 or learned_twice)
    return is_current or record["content"] not in texts


def _lost_to_memory(known: Memory) -> bool:
    """Return True for a losing text that was archived because its memory has it now."""
    return is_losing_text(known.superseded_by, known.id, known.content)


def _as_export_record(line: KnowledgeLine, context: ImportContext) -> Record:
    record = line.record
    missing = [name for name in ("key", "category", "updated_at") if not record.get(name)]
    if missing:
        raise BadLine(f"has no {', '.join(missing)}")
    confirmed = record.get("status") == Status.PROMOTED
    return {
        export_format.MARK: export_format.VERSION,
        **{name: record.get(name) for name in (*export_format.FIELDS, knowledge.VALUES)},
        "scope": "project",
        "scope_owner_id": None,
        "tier": 1 if record.get("pinned") else 2 if confirmed else 3,
        "source_type": record.get("source"),
        "source_branch": context.waits_on(line.id, knowledge.key_of(record)),
        "file_scope_pattern": record.get("path"),
        "knowledge_key": knowledge.key_of(record),
        "bead": record.get("bead") or None,
        "promoted_at": record.get("updated_at") if confirmed else None,
        "trust": record.get("trust"),
    }


def _is_intended(difference: ChangedLine, known: Memory, context: ImportContext) -> bool:
    """Return True for an intended change of the version that we have."""
    before = difference.before and difference.before.record.get("updated_at")
    return before == stamp(known.updated_at) and context.history.has_change(difference.id)


def _comes_back(known: Memory, record: Mapping[str, Any], context: ImportContext) -> bool:
    """Return True if the line is newer than the archiving, or undoes it on purpose.

    A refused memory comes back confirmed only: another machine may have captured it again.
    """
    if known.rejected_at and record["status"] != Status.PROMOTED:
        return False
    store, at = context.act.store, str(record["updated_at"])
    if _lost_to_memory(known) or at > stamp(known.updated_at):
        return True
    before = revisions.before(store, revisions.last(store, known.id))
    archived = before and before.snapshot["updated_at"] == at
    return bool(archived and context.history.has_returned(known.id))
