"""Import the lines of knowledge.jsonl that any ademem wrote."""

from __future__ import annotations

import sqlite3

from ademem.core.clock import parse, stamp, timedelta
from ademem.core.errors import NoSuchMemory
from ademem.core.memory import Status, Tier, Trust
from ademem.core.text import clean, dedupe_key
from ademem.core.value import replace
from ademem.files import conflicts, export_format, knowledge
from ademem.files.conflicts import is_losing_text
from ademem.files.records import BadLine
from ademem.store import jobs, memories, memory_queries, revisions, transitions
from ademem.store.memories import Change
from ademem.sync.differences import ChangedLine
from ademem.sync.merging import losing_text
from ademem.sync.provenance import record_digest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from datetime import datetime
    from typing import Any

    from ademem.core.memory import Memory, Tier
    from ademem.files.records import Import
    from ademem.files.snapshot import Line
    from ademem.sync.differences import ConcurrentLine, Difference
    from ademem.sync.import_context import ImportContext
    from ademem.sync.provenance import Source

_IN_BETWEEN = "in between"
"""The beginning of the dedupe key of a memory whose text is about to change."""

LEAST = timedelta(milliseconds=1)
"""The least difference between an act and the one it follows."""


def import_line(difference: ChangedLine, context: ImportContext) -> None:
    """Import a line about a new memory, a newer version of one, or one that commits changed."""
    known = find_memory(difference.id, context)
    if difference.line.gone:
        return apply_tombstone(difference, context)
    record = as_export_record(difference.line, context)
    source = _line_source(difference.line, record, known, context)
    if source.by_agent:  # it may say something, and confirm nothing
        record |= _status_fields(known)
    job = context.job_of(source)
    twin = _find_duplicate(record, context)
    if twin and context.later is not None:
        return context.later.append(difference)
    if twin and not _is_older(record, twin):
        return _archive_duplicate(record, twin, job, context)
    if twin:
        _archive(twin, _archive_time(record, twin), context, superseded_by=difference.id)
    if known and not known.live:
        absent = difference.before is None or difference.before.gone
        if absent and _comes_back(known, record, context):
            _key(
                known, f"{_IN_BETWEEN} {known.id}", context
            )  # another may have its old text by now
            transitions.restore(known.id, context.by(source))
            export_format.restore(record, job, even_older=True)
            _restore_key(known.id, context)
            _set_created_at(parse(str(record["created_at"])), known.id, context)
            context.note("restored", known.id)
        return None
    export_format.restore(
        record, job, even_older=known is not None and _is_newer_on_purpose(difference, context)
    )
    now = find_memory(difference.id, context)
    if now and now != known:
        context.note("edited" if known else "added", now.id)
    return None


def _line_source(
    line: Line, record: Mapping[str, Any], known: Memory | None, context: ImportContext
) -> Source:
    """Return the source of a line; one equal to our memory is ours."""
    source = context.provenance.of_record(line.path, line.record, line.id)
    if source.author is None or known is None or known.claimed_author is not None:
        return source
    (ours,) = knowledge.records([known])
    same = record_digest(ours) == record_digest(line.record)
    return replace(source, author=None) if same else source


_LOWEST = {"tier": int(Tier.FADING)}
"""The tier as a line has it."""


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
    """Set the time of creation that the files have."""
    known = find_memory(id, context)
    if known and known.created_at != moment:
        change = Change(
            operation="import",
            actor=Trust.IMPORT,
            at=context.act.now,
            event_id=context.event,
        )
        memories.put_back(context.act.store, replace(known, created_at=moment), change)


def release_texts(waiting: Iterable[Difference], context: ImportContext) -> None:
    """Free the dedupe keys of texts about to change, as memories may have exchanged theirs."""
    for difference in waiting:
        known = find_memory(difference.id, context) if isinstance(difference, ChangedLine) else None
        if known and known.live:
            _key(known, f"{_IN_BETWEEN} {known.id}", context)


def restore_keys(context: ImportContext) -> None:
    """Restore dedupe keys that this import or an earlier one freed and did not need."""
    first, end = f"{_IN_BETWEEN} ", f"{_IN_BETWEEN}!"
    for known in memory_queries.live_by_key_range(context.act.store, first, end):
        _restore_key(known.id, context)


def _restore_key(id: str, context: ImportContext) -> None:
    known = find_memory(id, context)
    if known and known.dedupe_key.startswith(_IN_BETWEEN):
        key = dedupe_key(known.content, known.topic_key)
        try:
            _key(known, key, context)
        except sqlite3.IntegrityError:  # between two batches somebody else came to say the same
            heir = memory_queries.live_by_text(context.act.store, key)[0]
            _archive(known, heir.updated_at + LEAST, context, superseded_by=heir.id)


def _key(known: Memory, key: str, context: ImportContext) -> None:
    memory_queries.set_dedupe_key(context.act.store, known.id, key)


def _find_duplicate(record: Mapping[str, Any], context: ImportContext) -> Memory | None:
    """Return another live memory with the same text."""
    key = dedupe_key(clean(str(record["content"])), record.get("topic_key"))
    return memory_queries.live_shared_by_text(context.act.store, key, except_id=str(record["id"]))


def _is_older(record: Mapping[str, Any], twin: Memory) -> bool:
    """Return True if the line's memory is the older duplicate, which stays on every machine.

    A text that lost once waits for nothing any more when its memory says it.
    """
    id = str(record["id"])
    if is_losing_text(twin.id, id, twin.content):
        return False
    if is_losing_text(id, twin.id, twin.content):
        return True
    return (str(record["created_at"]), str(record["id"])) < (stamp(twin.created_at), twin.id)


def _archive_time(record: Mapping[str, Any], twin: Memory) -> datetime:
    """Return the time of archiving a duplicate: just after both had the text."""
    return max(parse(record["updated_at"]), twin.updated_at) + LEAST


def _archive_duplicate(
    record: dict[str, Any], twin: Memory, job: Import, context: ImportContext
) -> None:
    """Keep ours, which is older, and archive the other here, too."""
    known = find_memory(record["id"], context)
    if known is None:
        export_format.restore(record | transitions.archived() | _LOWEST, job)
        known = find_memory(record["id"], context)
    if known:
        said = {name: record[name] for name in ("content", "category")}
        _archive(known, _archive_time(record, twin), context, superseded_by=twin.id, **said)


def apply_tombstone(difference: ChangedLine, context: ImportContext) -> None:
    """Archive the memory, unless it was changed after the tombstone."""
    known, gone_at = (
        find_memory(difference.id, context),
        knowledge.archived_at(difference.line.record),
    )
    if not known or not gone_at or (not known.live and gone_at == known.updated_at):
        return
    if (
        gone_at > known.updated_at
        or _lost_to_memory(known)
        or _is_newer_on_purpose(difference, context)
    ):
        heir = None if _lost_to_memory(known) else known.superseded_by
        _archive(
            known, export_format.at_most(gone_at, context.act.now), context, superseded_by=heir
        )


def keep_losing_text(difference: ConcurrentLine, context: ImportContext) -> None:
    """Make a candidate of a losing text that was neither archived nor replaced."""
    record, newer = difference.line.record, difference.newer
    was = conflicts.base_fields(record)
    if was is not None:
        unseen = "content" in was
    elif newer.gone:
        unseen = knowledge.has_unseen_text(newer.record, record)
    else:
        unseen = _is_unseen(record, difference, context)
    if unseen:
        told_of = record | (was or {}) if was or newer.gone else newer.record
        line = difference.line.as_understood(losing_text(record["content"], told_of))
        import_line(ChangedLine(id=line.record["id"], line=line, before=None), context)


def _is_unseen(
    record: Mapping[str, Any], difference: ConcurrentLine, context: ImportContext
) -> bool:
    """Return True if the memory never had the text, or has it and did not begin with it.

    Learned twice under one name, it began with both.
    """
    texts = _earlier_texts(str(record["id"]), context)
    if not texts:
        return difference.line.path == difference.newer.path
    learned_twice = record.get("created_at") != difference.newer.record.get("created_at")
    still = record["content"] == texts[-1] and (len(texts) > 1 or learned_twice)
    return still or record["content"] not in texts


def was_replaced(id: str, content: str, context: ImportContext) -> bool:
    """Return True if the memory had the text, and an edit replaced it."""
    texts = [" ".join(text.split()) for text in _earlier_texts(id, context)]
    said = " ".join(content.split())
    return said in texts and (said != texts[-1] or len(texts) == 1)


def _earlier_texts(id: str, context: ImportContext) -> list[str]:
    """Return the texts of the memory before this import, oldest first."""
    rows = memories.revisions(context.act.store, id)
    before = (row for row in rows if row["event_id"] != context.event)
    return list(dict.fromkeys(row["snapshot"]["content"] for row in before))


def _lost_to_memory(known: Memory) -> bool:
    """Return True for a losing text that was archived because its memory has it now."""
    return is_losing_text(known.superseded_by, known.id, known.content)


def _archive(known: Memory, at: datetime, context: ImportContext, **changes: Any) -> None:
    """Archive the memory at the time when it was archived elsewhere."""
    act = context.act
    change = Change(operation="archive", actor=act.actor, at=act.now, event_id=context.event)
    gone = transitions.archived() | {"updated_at": at}
    memories.put_back(act.store, replace(known, **gone, **changes), change)
    jobs.follow(act.store, act.now)
    if known.live:
        context.note("archived", known.id)


def as_export_record(line: Line, context: ImportContext) -> dict[str, Any]:
    """Convert the line to a record of the export format."""
    record = line.record
    missing = [name for name in ("key", "category", "updated_at") if not record.get(name)]
    if missing:
        raise BadLine(f"has no {', '.join(missing)}")
    confirmed = record.get("status") == Status.PROMOTED
    return {
        export_format.MARK: export_format.VERSION,
        **{name: record.get(name) for name in export_format.FIELDS},
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


def find_memory(id: str, context: ImportContext) -> Memory | None:
    try:
        return memories.get(context.act.store, id)
    except NoSuchMemory:
        return None


def _is_newer_on_purpose(difference: ChangedLine, context: ImportContext) -> bool:
    """Return True for an intended change of the version that we have."""
    known, before = find_memory(difference.id, context), difference.before
    then = before and before.record.get("updated_at")
    return bool(known and then == stamp(known.updated_at) and context.history.counts(difference.id))


def _comes_back(known: Memory, record: Mapping[str, Any], context: ImportContext) -> bool:
    """Return True if the line is newer than the archiving, or undoes it on purpose.

    What was refused comes back confirmed only: another machine may have captured it again.
    """
    if known.rejected_at and record["status"] != Status.PROMOTED:
        return False
    store, then = context.act.store, str(record["updated_at"])
    if _lost_to_memory(known):
        return True
    last = revisions.last(store, known.id)
    if then > stamp(known.updated_at):
        return True
    before = revisions.before(store, last)
    archived = before and before.snapshot["updated_at"] == then
    return bool(archived and context.history.returned(known.id))
