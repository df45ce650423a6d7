"""Taking over the lines of knowledge.jsonl: what somebody's ademem said of a memory."""

from __future__ import annotations

import sqlite3

from ademem.core.clock import parse, stamp, timedelta
from ademem.core.errors import NoSuchMemory
from ademem.core.memory import Status, Tier, Trust
from ademem.core.text import clean, dedupe_key
from ademem.core.value import replace
from ademem.files import conflicts, knowledge
from ademem.files.conflicts import lost_by
from ademem.files.formats import own
from ademem.files.formats.record import BadLine
from ademem.store import jobs, memories, memory_queries, revisions, transitions
from ademem.store.memories import Change
from ademem.sync.differences import Told
from ademem.sync.merging import losing_text
from ademem.sync.provenance import record_digest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from datetime import datetime
    from typing import Any

    from ademem.core.memory import Memory, Tier
    from ademem.files.formats.record import Import
    from ademem.files.reading import Line
    from ademem.sync.differences import Difference, Outlived
    from ademem.sync.import_context import Taking
    from ademem.sync.provenance import Source

_IN_BETWEEN = "in between"
"""How the key begins of a text that is about to change."""

LEAST = timedelta(milliseconds=1)
"""By which an act is later than what it answers to."""


def told(difference: Told, taking: Taking) -> None:
    """A line about a memory that we do not have, that we know less of, or that commits changed."""
    known = known_as(difference.id, taking)
    if difference.line.gone:
        return buried(difference, taking)
    record = portable(difference.line, taking)
    source = _source(difference.line, record, known, taking)
    if source.by_agent:  # it may say something, and confirm nothing
        record |= _standing(known)
    job = taking.job_of(source)
    twin = _twin(record, taking)
    if twin and taking.later is not None:
        return taking.later.append(difference)
    if twin and not _elder(record, twin):
        return _fold(record, twin, job, taking)
    if twin:
        _archive(twin, _after(record, twin), taking, superseded_by=difference.id)
    if known and not known.live:
        absent = difference.before is None or difference.before.gone
        if absent and _comes_back(known, record, taking):
            _key(known, f"{_IN_BETWEEN} {known.id}", taking)  # another may have its old text by now
            transitions.restore(known.id, taking.by(source))
            own.restore(record, job, even_older=True)
            _settled(known.id, taking)
            _learned_at(parse(str(record["created_at"])), known.id, taking)
            taking.note("restored", known.id)
        return None
    own.restore(record, job, even_older=known is not None and _agreed(difference, taking))
    now = known_as(difference.id, taking)
    if now and now != known:
        taking.note("edited" if known else "added", now.id)
    return None


def _source(line: Line, record: Mapping[str, Any], known: Memory | None, taking: Taking) -> Source:
    """Whose word the line is; one that claims nothing new about a memory of ours is ours."""
    source = taking.provenance.of_record(line.path, line.record, line.id)
    if source.author is None or known is None or known.claimed_author is not None:
        return source
    (ours,) = knowledge.records([known])
    same = record_digest(ours) == record_digest(line.record)
    return replace(source, author=None) if same else source


_LOWEST = {"tier": int(Tier.FADING)}
"""The tier as a line has it."""


def _standing(known: Memory | None) -> dict[str, Any]:
    """As the memory stands here; a new one waits."""
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


def _learned_at(moment: datetime, id: str, taking: Taking) -> None:
    """It was learned anew, elsewhere: it is as old as everybody's files say."""
    known = known_as(id, taking)
    if known and known.created_at != moment:
        change = Change(
            operation="import",
            actor=Trust.IMPORT,
            at=taking.act.now,
            event_id=taking.event,
        )
        memories.put_back(taking.act.store, replace(known, created_at=moment), change)


def make_way(waiting: Iterable[Difference], taking: Taking) -> None:
    """Texts that are about to change are in nobody's way: memories may have exchanged theirs."""
    for difference in waiting:
        known = known_as(difference.id, taking) if isinstance(difference, Told) else None
        if known and known.live:
            _key(known, f"{_IN_BETWEEN} {known.id}", taking)


def settle(taking: Taking) -> None:
    """Give those that stayed as they were their place again, also what an earlier import left."""
    first, end = f"{_IN_BETWEEN} ", f"{_IN_BETWEEN}!"
    for known in memory_queries.live_by_key_range(taking.act.store, first, end):
        _settled(known.id, taking)


def _settled(id: str, taking: Taking) -> None:
    known = known_as(id, taking)
    if known and known.dedupe_key.startswith(_IN_BETWEEN):
        key = dedupe_key(known.content, known.topic_key)
        try:
            _key(known, key, taking)
        except sqlite3.IntegrityError:  # between two batches somebody else came to say the same
            heir = memory_queries.live_by_text(taking.act.store, key)[0]
            _archive(known, heir.updated_at + LEAST, taking, superseded_by=heir.id)


def _key(known: Memory, key: str, taking: Taking) -> None:
    memory_queries.set_dedupe_key(taking.act.store, known.id, key)


def _twin(record: Mapping[str, Any], taking: Taking) -> Memory | None:
    """Another live memory that says the same."""
    key = dedupe_key(clean(str(record["content"])), record.get("topic_key"))
    return memory_queries.live_shared_by_text(taking.act.store, key, except_id=str(record["id"]))


def _elder(record: Mapping[str, Any], twin: Memory) -> bool:
    """Of two memories that say the same the elder stays, on every machine.

    A text that lost once waits for nothing any more when its memory says it.
    """
    id = str(record["id"])
    if lost_by(twin.id, id, twin.content):
        return False
    if lost_by(id, twin.id, twin.content):
        return True
    return (str(record["created_at"]), str(record["id"])) < (stamp(twin.created_at), twin.id)


def _after(record: Mapping[str, Any], twin: Memory) -> datetime:
    """When one of the two went: right after both had come to say the same."""
    return max(parse(record["updated_at"]), twin.updated_at) + LEAST


def _fold(record: dict[str, Any], twin: Memory, job: Import, taking: Taking) -> None:
    """Keep ours, which is the elder; of the other it is known here, too, that it went."""
    known = known_as(record["id"], taking)
    if known is None:
        own.restore(record | transitions.archived() | _LOWEST, job)
        known = known_as(record["id"], taking)
    if known:
        said = {name: record[name] for name in ("content", "category")}
        _archive(known, _after(record, twin), taking, superseded_by=twin.id, **said)


def buried(difference: Told, taking: Taking) -> None:
    """The memory was archived, and not changed after that."""
    known, gone_at = known_as(difference.id, taking), knowledge.archived_at(difference.line.record)
    if not known or not gone_at or (not known.live and gone_at == known.updated_at):
        return
    if gone_at > known.updated_at or _won(known) or _agreed(difference, taking):
        heir = None if _won(known) else known.superseded_by
        _archive(known, own.at_most(gone_at, taking.act.now), taking, superseded_by=heir)


def outlived(difference: Outlived, taking: Taking) -> None:
    """A text that nobody archived, and nobody replaced, waits for a word of its own."""
    record, newer = difference.line.record, difference.newer
    was = conflicts.was(record)
    if was is not None:
        unseen = "content" in was
    elif newer.gone:
        unseen = knowledge.has_unseen_text(newer.record, record)
    else:
        unseen = _unseen(record, difference, taking)
    if unseen:
        told_of = record | (was or {}) if was or newer.gone else newer.record
        line = difference.line.as_understood(losing_text(record["content"], told_of))
        told(Told(id=line.record["id"], line=line, before=None), taking)


def _unseen(record: Mapping[str, Any], difference: Outlived, taking: Taking) -> bool:
    """Whether the memory never had the text, or has it still and did not begin with it.

    Learned twice under one name, it began with both.
    """
    texts = _texts(str(record["id"]), taking)
    if not texts:
        return difference.line.path == difference.newer.path
    learned_twice = record.get("created_at") != difference.newer.record.get("created_at")
    still = record["content"] == texts[-1] and (len(texts) > 1 or learned_twice)
    return still or record["content"] not in texts


def replaced(id: str, content: str, taking: Taking) -> bool:
    """Whether the memory said it once, and whoever changed that knew."""
    texts = [" ".join(text.split()) for text in _texts(id, taking)]
    said = " ".join(content.split())
    return said in texts and (said != texts[-1] or len(texts) == 1)


def _texts(id: str, taking: Taking) -> list[str]:
    """What the memory said before this import, in the order in which it came to say it."""
    rows = memories.revisions(taking.act.store, id)
    before = (row for row in rows if row["event_id"] != taking.event)
    return list(dict.fromkeys(row["snapshot"]["content"] for row in before))


def _won(known: Memory) -> bool:
    """Whether it waited until its memory said it: it waits again when that lost it again."""
    return lost_by(known.superseded_by, known.id, known.content)


def _archive(known: Memory, at: datetime, taking: Taking, **changes: Any) -> None:
    """As if it had been done here when it was done elsewhere."""
    act = taking.act
    change = Change(operation="archive", actor=act.actor, at=act.now, event_id=taking.event)
    gone = transitions.archived() | {"updated_at": at}
    memories.put_back(act.store, replace(known, **gone, **changes), change)
    jobs.follow(act.store, act.now)
    if known.live:
        taking.note("archived", known.id)


def portable(line: Line, taking: Taking) -> dict[str, Any]:
    """The line as a line of our export, which `own.restore` reads."""
    record = line.record
    missing = [name for name in ("key", "category", "updated_at") if not record.get(name)]
    if missing:
        raise BadLine(f"has no {', '.join(missing)}")
    confirmed = record.get("status") == Status.PROMOTED
    return {
        own.MARK: own.VERSION,
        **{name: record.get(name) for name in own.FIELDS},
        "scope": "project",
        "scope_owner_id": None,
        "tier": 1 if record.get("pinned") else 2 if confirmed else 3,
        "source_type": record.get("source"),
        "source_branch": taking.waits_on(line.id, knowledge.key_of(record)),
        "file_scope_pattern": record.get("path"),
        "knowledge_key": knowledge.key_of(record),
        "bead": record.get("bead") or None,
        "promoted_at": record.get("updated_at") if confirmed else None,
        "trust": record.get("trust"),
    }


def known_as(id: str, taking: Taking) -> Memory | None:
    try:
        return memories.get(taking.act.store, id)
    except NoSuchMemory:
        return None


def _agreed(difference: Told, taking: Taking) -> bool:
    """We know nothing newer than what the line said before, and it was changed on purpose."""
    known, before = known_as(difference.id, taking), difference.before
    then = before and before.record.get("updated_at")
    return bool(known and then == stamp(known.updated_at) and taking.lineage.counts(difference.id))


def _comes_back(known: Memory, record: Mapping[str, Any], taking: Taking) -> bool:
    """The line is newer than the archive, or is what was archived, put back on purpose.

    What was refused comes back confirmed only: another machine may have captured it again.
    """
    if known.rejected_at and record["status"] != Status.PROMOTED:
        return False
    store, then = taking.act.store, str(record["updated_at"])
    if _won(known):
        return True
    last = revisions.last(store, known.id)
    if then > stamp(known.updated_at):
        return True
    before = revisions.before(store, last)
    archived = before and before.snapshot["updated_at"] == then
    return bool(archived and taking.lineage.returned(known.id))
