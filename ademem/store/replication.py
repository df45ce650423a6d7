"""Records of memories read and applied, for whoever carries them between stores; the journal.

A record is joined with what is here. Where a row cannot show all of the joined record, the stamps
keep the rest: nothing of a record is lost by being applied, and all stores come to the same one.
"""

from __future__ import annotations

from ademem.core import record_json, registers
from ademem.core.clock import datetime, parse, stamp
from ademem.core.errors import FORBIDDEN
from ademem.core.json_text import flat, loads
from ademem.core.memory import MERGE, Category, Importance, Memory, Scope, Status, Trust
from ademem.core.redaction import redact
from ademem.core.text import clean, dedupe_key, sha256_hex, without_controls
from ademem.core.value import Value, replace
from ademem.store import (
    Store,
    conflict_candidates,
    database,
    jobs,
    journal,
    kept_copies,
    memories,
    relations,
    stamps,
    transitions,
)
from ademem.store.database import sqlite3
from ademem.store.memories import Change

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterator, Mapping
    from typing import Any

    from ademem.core.registers import Candidate, Record
    from ademem.store.stamps import Row

    Admit = Callable[[Memory, Memory | None], Memory]

CONFLICT = "conflict"
_LOST_TOPIC = "topic_key is null and json_extract(stamps, '$.values.topic_key') = ?"
"""SQL for a memory whose topic an elder one has."""
REPLAYED = 50
_UNSTORABLE = (sqlite3.IntegrityError, sqlite3.InterfaceError, sqlite3.ProgrammingError)


class Applied(Value):
    memory: Memory | None
    """None: it was removed for good, or waits for a text."""
    before: Memory | None
    changed: bool


def read(store: Store, id: str, target: str = "") -> Record | None:
    row = memories.raw_row(store.db, id)
    if row:
        return stamps.record_of_row(row) if stamps.is_shared(row, target) else None
    query = "select sync_id, stamp, deleted_at from tombstones where memory_id = ?"
    gone = [
        registers.make_tombstone(id, sync_id, at or registers.old_stamp(deleted_at))
        for sync_id, at, deleted_at in store.db.execute(query, (id,))
    ]
    if gone:
        return registers.join_all(gone)[id]
    return journal.waiting_record(store, id)


def read_all(store: Store, target: str = "") -> Iterator[Record]:
    ids = store.column(
        "select id, 0, seq from main.unified_memories where project_id = ? and scope = 'project'"
        " union all select memory_id, 1, 0 from tombstones where memory_id is not null"
        " union all select entity_id, 2, 0 from sync_apply_deferred where entity = 'memory'"
        " order by 2, 3, 1",
        (store.project_id,),
    )
    for id in dict.fromkeys(ids):
        if record := read(store, id, target):
            yield record


def apply(
    store: Store,
    record: Record,
    change: Change,
    admit: Admit = lambda memory, _before: memory,
    target: str | None = None,
    *,
    waits: bool = False,
    read_before: tuple[dict[str, Any] | None, Record | None] | None = None,
) -> Applied:
    """Join the record with ours and store what they come to; to do it again changes nothing.

    *admit* gets the row that shows the record, and the one before, and may change what only this
    store decides: trust, claimed author, quarantine, branch. A record without a text about an
    unknown memory waits for one; with *waits* one with a text waits until all registers have
    arrived. *target* is where it came from. What was *read_before* in this transaction, our row and
    record, is not read again.
    """
    with store.transaction():
        stamps.follow(store, record.last_stamp, change.at)
        row, current = read_before or _find_current(store, record, waits=waits)
        if row and row["scope"] != Scope.PROJECT:
            _defer(store, record, change.at, "its id is that of a memory of another scope here")
            return Applied(memory=None, before=None, changed=False)
        joined, is_cleaned = _join(store, current, record, change.at)
        target = None if is_cleaned else target  # which gets what was redacted here
        before = memories.from_values(row) if row else None
        if joined == current and not _may_show(joined, before):
            return Applied(memory=before, before=before, changed=False)
        if joined.life == registers.REMOVED:
            _remove(store, current, joined, before, change, target)
            return Applied(memory=None, before=before, changed=True)
        if _is_incomplete(joined, before, waits=waits):
            _defer(store, joined, change.at, "not all of it has arrived")
            _journal(store, current, joined, change, target)
            return Applied(memory=None, before=None, changed=True)
        memory = _store(store, current, joined, before, change, admit, target)
        return Applied(memory=memory, before=before, changed=True)


def _find_current(
    store: Store, record: Record, *, waits: bool
) -> tuple[dict[str, Any] | None, Record | None]:
    """Return our row and record, without a candidate that waits for the rest of its record."""
    row = memories.raw_row(store.db, record.id)
    if waits and not _is_whole(record) and conflict_candidates.delete(store, record.id):
        row = None  # it was decided on
    return row, stamps.record_of_row(row) if row else read(store, record.id)


def _join(
    store: Store, current: Record | None, record: Record, now: datetime
) -> tuple[Record, bool]:
    """Return what both come to, without secrets, and whether it had any."""
    joined = registers.join(current, record) if current else record
    if joined == current:
        return joined, False
    cleaned = redact_record(joined, _clean, store, now)
    return cleaned, cleaned != joined


def _may_show(joined: Record, before: Memory | None) -> bool:
    """Return True for a record without a row: it waited while its id was another memory's."""
    return before is None and bool(joined.texts) and joined.life != registers.REMOVED


def _remove(
    store: Store,
    current: Record | None,
    joined: Record,
    before: Memory | None,
    change: Change,
    target: str | None,
) -> None:
    written = joined.last_stamp
    if before:
        kept_copies.keep_deleted(store, before, change)
        memories.delete(store, before, replace(change, operation="delete"), written)
    journal.undefer(store, "memory", joined.id)
    store.db.execute(
        "insert into tombstones"
        " (entity, sync_id, project_id, deleted_at, memory_id, stamp)"
        " values ('memory', :sync_id, :project, :at, :id, :stamp)"
        " on conflict (entity, sync_id) do update set memory_id = :id, stamp = :stamp",
        {"sync_id": joined.sync_id or joined.id, "project": store.project_id}
        | {"at": registers.time_of(written), "id": joined.id, "stamp": written},
    )
    _show_candidates(store, current, joined, change)
    if before:
        _reveal(store, before.dedupe_key, before.topic_key, change)
    _journal(store, current, joined, change, target)
    jobs.follow(store, change.at)


def _store(
    store: Store,
    current: Record | None,
    joined: Record,
    before: Memory | None,
    change: Change,
    admit: Admit,
    target: str | None,
) -> Memory:
    journal.undefer(store, "memory", joined.id)
    memory = admit(_row_of(joined, before, store, change.at), before)
    memory = _make_room(store, memory, change)
    if before:
        memory = kept_copies.protect(store, before, memory, change)
    written = stamps.dump(joined, memories.row_of(memory))
    store_row = memories.put_back if before else memories.insert
    memory = store_row(store, memory, change, written)
    if (before and before.dedupe_key != memory.dedupe_key) or not memory.live:
        was = before or memory
        _reveal(store, was.dedupe_key, was.topic_key, change)
    _show_candidates(store, current, joined, change, admit)
    _journal(store, current, joined, change, target)
    if before is None:
        replay(store, change, admit, failed=False)
    jobs.follow(store, change.at)
    return memory


def _is_incomplete(joined: Record, before: Memory | None, *, waits: bool) -> bool:
    """Tell whether a text is missing; where one *waits*, also other registers of a new memory."""
    return not joined.texts or (waits and before is None and not _is_whole(joined))


def _is_whole(record: Record) -> bool:
    return record.registers.keys() >= {registers.LIFE, *registers.FIELDS}


def redact_record(
    record: Record, change_text: Callable[[str], str], store: Store, now: datetime
) -> Record:
    return registers.rewrite(record, change_text, lambda last: stamps.tick(store, now, above=last))


def _clean(text: str) -> str:
    found = redact(text)
    return clean(found.text) if found.found else text


def _row_of(record: Record, before: Memory | None, store: Store, now: datetime) -> Memory:
    values = registers.values_of(record)
    memory = before or _new_row(record, values, store, now)
    shown = stamps.values_of_row(memories.row_of(memory))
    fields = _plain_fields(record, values, memory, shown) | _standing(record, values, memory, shown)
    last = parse(registers.time_of(record.last_stamp))
    return replace(
        memory,
        **fields,
        dedupe_key=dedupe_key(record.text[0], fields.get("topic_key", memory.topic_key)),
        created_at=parse(record.created_at) if record.created_at else memory.created_at,
        updated_at=min(last, now + registers.CLOCKS_DIFFER),
        last_accessed_at=now,
    )


def _new_row(record: Record, values: dict[str, Any], store: Store, now: datetime) -> Memory:
    return Memory(
        id=record.id,
        sync_id=record.sync_id or record.id,
        project_id=store.project_id,
        scope=Scope.PROJECT,
        category=Category.FACT,
        content=record.text[0],
        importance=Importance.MEDIUM,
        confidence=0.5,
        **transitions.initial(promoted=False),
        trust=Trust.IMPORT,
        source_type=values.get("source") or "import",
        dedupe_key="",
        created_at=now,
        updated_at=now,
        last_accessed_at=now,
    )


_NAMES = {"path": "file_scope_pattern", "key": "knowledge_key"}
"""Columns of registers that have another name."""
_COPIED = ("confidence", "pinned", "path", "topic_key", "key", "bead")


def _plain_fields(
    record: Record, values: dict[str, Any], memory: Memory, shown: dict[str, Any]
) -> dict[str, Any]:
    """Return the fields of the row that say what the registers say, and the trust of the text."""
    content, title = record.text
    fields: dict[str, Any] = {"content": content, "title": title}
    fields |= {_NAMES.get(name, name): values[name] for name in _COPIED if name in values}
    kinds = {"category": Category, "importance": Importance}
    fields |= {name: kind(values[name]) for name, kind in kinds.items() if name in values}
    if values.get("source") and values["source"] != shown["source"]:
        fields |= {"source_type": values["source"], "agent_id": None}
    fields["trust"] = _trust_of(record, values.get("trust"), memory)
    fields |= {kind: tuple(values[kind]) for kind in registers.SETS}
    fields["tags"] = tuple(word for tag in fields["tags"] for word in tag.split())
    return fields


def _trust_of(record: Record, given: str | None, memory: Memory) -> Trust:
    """Return the trust in the text of a record; ours holds for the text that we have."""
    if given:
        return Trust(given)
    is_ours = record.text == (memory.content, memory.title)
    return memory.trust if is_ours and memory.trust not in ("tool", "web") else Trust.IMPORT


def _standing(
    record: Record, values: dict[str, Any], memory: Memory, shown: dict[str, Any]
) -> dict[str, Any]:
    """Return the fields of the row's life, status and pin, where the record has others."""
    fields: dict[str, Any] = {}
    pinned = bool(values.get("pinned", memory.pinned))
    status = Status(values.get("status", shown["status"]))
    if (record.life, status, pinned) != (shown[registers.LIFE], shown["status"], memory.pinned):
        last = parse(registers.time_of(record.last_stamp))
        fields = transitions.as_recorded(memory, record.life, status, last, pinned=pinned)
    if record.life == registers.DELETED:
        fields["deleted_at"] = parse(registers.time_of(record.registers[registers.LIFE][0]))
    return fields


def _make_room(store: Store, memory: Memory, change: Change) -> Memory:
    """Hide the younger of two live memories with one text; of one topic, the younger loses it."""
    if not memory.live:
        return memory
    for other in _find_alike(store, memory):
        if _age(other) < _age(memory):
            return replace(memory, superseded_by=other.id)
        _show(store, other, replace(other, superseded_by=memory.id), change)
    for other in conflict_candidates.find_live(store, "topic_key = ?", memory.topic_key, memory.id):
        if _age(other) < _age(memory):
            return _make_room(store, _without_topic(memory), change)
        _show(store, other, _make_room(store, _without_topic(other), change), change)
    return memory


def _find_alike(store: Store, memory: Memory) -> list[Memory]:
    """Withdraw an undecided candidate with its text, and return the others that have it."""
    alike = conflict_candidates.find_live(store, "dedupe_key = ?", memory.dedupe_key, memory.id)
    if alike and conflict_candidates.withdraw(store, memory.dedupe_key, memory.id):
        alike = conflict_candidates.find_live(store, "dedupe_key = ?", memory.dedupe_key, memory.id)
    if memory.topic_key:  # also one that lost the topic to another
        for other in conflict_candidates.find_live(store, _LOST_TOPIC, memory.topic_key, memory.id):
            if dedupe_key(other.content, memory.topic_key) == memory.dedupe_key:
                alike.append(other)
    return alike


def _without_topic(memory: Memory) -> Memory:
    return replace(memory, topic_key=None, dedupe_key=dedupe_key(memory.content, None))


def _age(memory: Memory) -> tuple[str, str]:
    return stamp(memory.created_at), memory.id


def _show(store: Store, before: Memory, after: Memory, change: Change) -> None:
    row = memories.raw_row(store.db, before.id)
    record = stamps.record_of_row(row) if row else None
    if record:
        operation = "supersede" if after.superseded_by else "restore"
        shown = replace(change, operation=operation, actor="system")
        after = kept_copies.protect(store, before, after, shown)
        memories.put_back(store, after, shown, stamps.dump(record, memories.row_of(after)))


def scrub(store: Store, change_text: Callable[[str], str], now: datetime) -> dict[str, Record]:
    found = {}
    for row in store.db.execute("select * from main.unified_memories").fetchall():
        record = database.read_row(memories.columns(row), stamps.record_of_row)
        if record and (new := redact_record(record, change_text, store, now)) != record:
            found[record.id] = new
            _drop_candidates(store, record, frozenset())
    return found


def put_scrubbed(store: Store, records: dict[str, Record], now: datetime) -> None:
    change = Change(operation="scrub", actor="system", at=now)
    for id, record in records.items():
        if row := memories.raw_row(store.db, id):
            for kind in registers.SETS:  # secrets of several words are found in all of a list
                shown = stamps.values_of_row(row)[kind]
                if shown != record.items(kind):
                    kept = {
                        name: write
                        for name, write in record.registers.items()
                        if not name.startswith(f"{kind}/")
                    }
                    at = stamps.tick(store, now, above=record.last_stamp)
                    bare = replace(record, registers=kept)
                    record = registers.write(bare, {kind: shown}, at)
            update = "update main.unified_memories set stamps = ? where id = ?"
            store.db.execute(update, (stamps.dump(record, row), record.id))
            if stamps.is_shared(row):
                _show_candidates(store, None, record, change)
            _journal(store, None, record, change, None)


def follow_up(store: Store, before: Row | None, after: Row | None, change: Change) -> None:
    """Show what an act set free, and append what it wrote to the journal."""
    was_shared = _is_shared_row(before)
    old = None
    if before:
        old = stamps.record_of_row(before)
        _reveal(store, str(before["dedupe_key"]), before["topic_key"], change)
    new = _record_after(store, before, after)
    if old:
        _show_candidates(store, old, new, change)
    current = old if was_shared else None
    if new and current != new:
        _journal(store, current, new, change, None, gone=None if after else before)
    if after and _is_shared_row(after) and not was_shared:
        _journal_relations(store, after, change)


def _is_shared_row(row: Row | None) -> bool:
    return bool(row and stamps.is_shared(row))


def _record_after(store: Store, before: Row | None, after: Row | None) -> Record | None:
    """Return the record of a row, or what is left of one that is gone."""
    if after:
        return stamps.record_of_row(after)
    return read(store, str(before["id"]) if before else "")


def _journal_relations(store: Store, row: Row, change: Change) -> None:
    query = "select sync_id from memory_relations where source_id = :id or target_id = :id"
    for id in store.column(f"{query} order by 1", {"id": row["sync_id"]}):
        journal_relation(store, id, change.actor, change.at)


def follow_hub(store: Store, id: str, branch: str | None, change: Change) -> bool:
    """Share a memory that waits here on a branch, and at the hub on none or on another one."""
    row = memories.raw_row(store.db, id)
    if not row or row["source_branch"] in (None, branch):
        return False
    memory = memories.from_values(row)
    reason = None if memory.has_unseen_branch else memory.write_gate_reason
    shared = replace(memory, source_branch=None, write_gate_reason=reason)
    memories.put_back(store, shared, replace(change, operation=stamps.BRANCH))
    return True


def _reveal(store: Store, key: str, topic: str | None, change: Change) -> None:
    """Show the eldest memory that one of this text hid, and give the eldest its lost topic back."""
    rows = store.db.execute(
        # The plus leaves the index of the few hidden texts, not one of all memories.
        "select * from main.unified_memories where dedupe_key = ? and superseded_by is not null"
        " and +project_id = ? and scope = 'project' and json_extract(stamps, '$.values.life') = ?",
        (key, store.project_id, registers.LIVE),
    )
    if hidden := memories.from_rows(rows):
        eldest = min(hidden, key=_age)
        if not conflict_candidates.find_live(store, "dedupe_key = ?", key, eldest.id):
            shown = replace(eldest, superseded_by=None)
            _show(store, eldest, _make_room(store, shown, change), change)
    lost = conflict_candidates.find_live(store, _LOST_TOPIC, topic) if topic else []
    if lost and not conflict_candidates.find_live(store, "topic_key = ?", topic):
        eldest = min(lost, key=_age)
        own = dedupe_key(eldest.content, topic)
        shown = replace(eldest, topic_key=topic, dedupe_key=own)
        _show(store, eldest, _make_room(store, shown, change), change)
        _reveal(store, eldest.dedupe_key, None, change)


def _show_candidates(
    store: Store,
    current: Record | None,
    record: Record | None,
    change: Change,
    admit: Admit = lambda memory, _before: memory,
) -> None:
    candidates = registers.conflict_candidates(record) if record else []
    if current:
        is_alike = record and _are_shown_alike(current, record)
        _drop_candidates(store, current, {one.id for one in candidates} if is_alike else ())
    for one in candidates:
        if memories.raw_row(store.db, one.id) is None and read(store, one.id) is None:
            memory = memories.get(store, one.memory_id)
            row = admit(_row_of_candidate(one, memory, change.at), None)
            if not conflict_candidates.find_live(store, "dedupe_key = ?", row.dedupe_key, row.id):
                shown = replace(change, operation="insert", actor="system")
                memories.insert(store, row, shown, flat({stamps.DERIVED: memory.id}))


def _are_shown_alike(one: Record, other: Record) -> bool:
    return all(one.value(name) == other.value(name) for name in ("category", "path"))


def _row_of_candidate(one: Candidate, memory: Memory, now: datetime) -> Memory:
    at = parse(registers.time_of(one.stamp))
    return replace(
        memory,
        id=one.id,
        sync_id=registers.candidate_id(memory.id, one.content, 32),
        content=one.content,
        title=one.title,
        topic_key=None,
        knowledge_key=None,
        dedupe_key=dedupe_key(one.content, None),
        **transitions.undecided(),
        tags=(CONFLICT,),
        anchors=(),
        trust=Trust.IMPORT,
        source_type=MERGE,
        agent_id=None,
        revision_count=1,
        created_at=min(at, now),
        updated_at=min(at, now),
        last_accessed_at=now,
    )


def _drop_candidates(store: Store, record: Record, but: Container[str]) -> None:
    for one in registers.conflict_candidates(record):
        if one.id not in but:
            conflict_candidates.delete(store, one.id)


def _defer(store: Store, record: Record, now: datetime, reason: str) -> None:
    waiting = journal.waiting_record(store, record.id)
    record = registers.join(waiting, record) if waiting else record
    journal.defer(store, "memory", record.id, record_json.to_json(record), now, reason)


def receive(
    store: Store,
    entity: object,
    found: object,
    change: Change,
    admit: Admit = lambda memory, _before: memory,
    target: str | None = None,
) -> bool:
    """Apply one entry; what cannot be applied is kept, and what cannot be read is dead at once."""
    values = found if isinstance(found, dict) else {"text": str(found)[: record_json.MAX_TEXT]}
    kind = "memory" if entity == "memory" else "relation"
    record, id = _read_entry(entity, values)
    if not id:
        import json  # the record of an import has an id

        id = sha256_hex(json.dumps(values, sort_keys=True))[:32]
        journal.defer(store, kind, id, values, change.at, "it cannot be read", journal.FAILURES)
        return False
    try:
        with store.savepoint():
            if record:
                return apply(store, record, change, admit, target, waits=True).changed
            return apply_relation(store, values, change, target)
    except (*_UNSTORABLE, *database.MISREAD) as error:
        if str(error) in FORBIDDEN:
            raise
        kept = record_json.to_json(record) if record else values
        reason = f"it cannot be stored: {error}"
        journal.defer(store, kind, id, kept, change.at, reason, 1)
        return False


def _read_entry(entity: object, values: dict[str, Any]) -> tuple[Record | None, str]:
    """Return the record, if it is one of a memory, and the id; empty if it cannot be read."""
    if entity == "memory":
        record = record_json.from_json(values)
        return record, record.id if record else ""
    id = values.get("sync_id")
    return None, str(id) if entity == "relation" and record_json.is_id(id) else ""


def replay(
    store: Store,
    change: Change,
    admit: Admit = lambda memory, _before: memory,
    *,
    failed: bool = True,
) -> int:
    found = journal.list_applicable(store, REPLAYED, failed=failed)
    for entity, _, values in found:
        receive(store, entity, values, change, admit)
    return len(found)


def outgoing(store: Store, target: str) -> Iterator[dict[str, Any]]:
    """Yield the entries of a target's next chunks: all that it has to get, else what it lacks."""
    if journal.cursor(store, target) == journal.ALL:
        for record in read_all(store, target):
            yield {"entity": "memory", "registers": record_json.to_json(record)}
        rows = store.db.execute("select sync_id from memory_relations order by sync_id")
        for row in rows.fetchall():
            if _is_shared(store, "relation", row[0], target):
                yield {"entity": "relation", "registers": relations.read_shared(store, row[0])}
        return
    for row in journal.rows_since(store, target):
        if _is_shared(store, row["entity"], row["entity_id"], target):
            entry = {name: row[name] for name in ("entity", "event_id", "actor", "trust")}
            yield entry | {"registers": loads(row["registers"])}


def _is_shared(store: Store, entity: str, id: str, target: str) -> bool:
    if entity == "memory":
        return read(store, id, target) is not None
    found = relations.read_shared(store, id)
    return found is not None and len(_shared_ends(store, found)) == 2


def _shared_ends(store: Store, relation: dict[str, Any]) -> list[Row]:
    query = "select * from main.unified_memories where sync_id in (?, ?)"
    ends = store.db.execute(query, (relation["source_id"], relation["target_id"]))
    return [row for row in ends if stamps.is_shared(row)]


def apply_relation(
    store: Store, found: dict[str, Any], change: Change, target: str | None = None
) -> bool:
    """Store a relation that is later, or a person's; it waits for both memories."""
    values = {name: found.get(name) for name in relations.SHARED}
    texts = {name: value for name, value in values.items() if isinstance(value, str)}
    values |= {name: without_controls(text) for name, text in texts.items()}
    id = values["sync_id"]
    with store.transaction() as db:
        query = "select count(*) from main.unified_memories where sync_id in (?, ?)"
        both = (values["source_id"], values["target_id"])
        if not all(map(record_json.is_id, both)) or both[0] == both[1]:
            raise ValueError("it does not name two memories")
        if db.execute(query, both).fetchone()[0] < 2:
            reason = "a memory of it has not arrived"
            journal.defer(store, "relation", str(id), values, change.at, reason)
            return False
        current = relations.read_shared(store, str(id))
        if current and relation_order(current) >= relation_order(values):
            journal.undefer(store, "relation", str(id))
            return False
        row = values | {"project_id": store.project_id}
        database.upsert(db, "memory_relations", row, ["sync_id"], kept=["project_id"])
        journal.undefer(store, "relation", str(id))
        journal_relation(store, str(id), change.actor, change.at, target)
        return True


def relation_order(values: Mapping[str, Any]) -> tuple[bool, str, str]:
    """Return what is greater for the row that counts."""
    import json  # no import of files has relations

    by_person = values["marked_by_kind"] != "system"
    return by_person, str(values["updated_at"]), json.dumps(values, sort_keys=True)


def journal_relation(
    store: Store, id: str, actor: str, now: datetime, target: str | None = None
) -> None:
    found = relations.read_shared(store, id)
    if found and stamps.targets(store.db) and len(both := _shared_ends(store, found)) == 2:
        trust = str(both[0]["trust"])
        journal.append(store, "relation", id, found, actor, trust, now, target)


def _journal(
    store: Store,
    before: Record | None,
    after: Record,
    change: Change,
    target: str | None,
    gone: Row | None = None,
) -> None:
    """Append what differs where a target gets it; of a row that is *gone* as it was."""
    if not (enrolled := stamps.targets(store.db)):
        return
    row = gone or memories.raw_row(store.db, after.id)
    if row and not any(stamps.is_shared(row, each) for each in enrolled):
        return
    written = record_json.to_json(registers.changes(before, after))
    event, trust = change.event_id, str(row["trust"]) if row else Trust.IMPORT
    journal.append(
        store, "memory", after.id, written, change.actor, trust, change.at, target, event
    )
