"""Rows of `unified_memories`; every change leaves a revision."""

from __future__ import annotations

import os

from ademem.core.clock import datetime, parse, stamp
from ademem.core.errors import NoSuchMemory, SeveralMemories, UnusableStore
from ademem.core.json_text import array, flat, loads
from ademem.core.memory import (
    DIALOGUE,
    EPISODE,
    STOP,
    Category,
    Importance,
    Memory,
    Scope,
    Stage,
    Status,
    Tier,
    Trust,
    claimed_name,
    stage_of,
    without_name,
)
from ademem.core.text import sha256_hex
from ademem.core.value import Value, as_dict, of, replace
from ademem.store import Store, database

TYPE_CHECKING = False
if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable
    from typing import Any

    from ademem.core.registers import Commit


TABLE = "unified_memories"
COLUMNS = Memory._fields
_MOMENTS = (
    "created_at",
    "updated_at",
    "last_accessed_at",
    "promoted_at",
    "rejected_at",
    "review_after",
    "deleted_at",
)
_MEMBERS = tuple(
    (name, kind, {one.value: one for one in kind})
    for name, kind in (
        *(("scope", Scope), ("tier", Tier), ("category", Category)),
        *(("importance", Importance), ("status", Status), ("trust", Trust)),
        ("stage", Stage),
    )
)
"""Members by value; calling the enum takes ten times as long."""
TURN = f"instr(' ' || tags || ' ', ' {DIALOGUE} ') > 0"
CONFIRMING = "('merge', 'revise', 'edit')"
BOOKKEEPING = (
    "seq",
    "access_score",
    "base_score",
    "composite_score",
    "access_count",
    "last_accessed_at",
)
KEPT = tuple(name for name in COLUMNS if name not in BOOKKEEPING)
_GIVEN = (*(name for name in COLUMNS if name != "seq"), "stamps")
_INSERT = (
    f"insert into main.unified_memories ({', '.join(_GIVEN)})"
    f" values ({', '.join(f':{name}' for name in _GIVEN)})"
)


class UnreadableMemory(UnusableStore):
    hint = "`ademem doctor --fix` repairs it and keeps what it was"

    def __init__(self, id: str, error: Exception) -> None:
        super().__init__(f"the memory {id!r} holds a value that it cannot have: {error}")


class Change(Value):
    operation: str
    actor: str
    at: datetime
    session_id: str | None = None
    reason: str | None = None
    event_id: str = ""
    """Shared by all changes of one act; empty for a single change."""
    made: Commit | None = None
    """The commit that brought the change into the files, if one did."""
    author: str | None = None
    """Claimed author of another person's change; None for one of this person or a trusted one."""
    vouched: str | None = None
    """Claimed author of the change of a trusted person, which is told and not disputed."""


def insert(store: Store, memory: Memory, change: Change, written: str | None = None) -> Memory:
    """Add the row and return it with its `seq`; *written* are its stamps, those of now if None."""
    from ademem.store import stamps

    is_act = written is None
    with store.transaction() as db:
        if written is None:
            said = f"{memory.id} {memory.whole_text}" if change.made else ""
            written = stamps.of_new(stamps.tick(store, change.at, made=change.made, said=said))
        row = row_of(memory) | {"stamps": written}
        seq = db.execute(_INSERT, row).lastrowid
        memory = replace(memory, seq=seq, stage=stage_of(memory.status, memory.stage))
        _note_place(store, None, row)
        _record(store, memory.id, row, _last_revision(db, memory.id) + 1, change)
        if is_act:
            stamps.follow_up(store, None, row, change)
    return memory


def update(store: Store, memory: Memory, change: Change) -> Memory:
    """Store the next revision; read it in the same transaction, or changes by others are lost."""
    return put_back(store, replace(memory, updated_at=change.at), change)


def put_back(store: Store, memory: Memory, change: Change, written: str | None = None) -> Memory:
    """Store a row as `update` does, without setting `updated_at`.

    *written* are the stamps of the row that shows a joined record; if None, each replicated field
    that differs gets a new one.
    """
    from ademem.store import stamps

    is_act = written is None
    with store.transaction() as db:
        before = raw_row(db, memory.id)
        if before is None:
            raise NoSuchMemory(memory.id)
        revision = _last_revision(db, memory.id) + 1
        row = row_of(replace(memory, revision_count=revision))
        if not store.is_trusted:  # what the store masks stays, where the change leaves it alone
            shown, masked = row_of(get(store, memory.id)), ("trust", "pinned", "tier")
            row |= {name: before[name] for name in masked if row[name] == shown[name]}
        if written is None:
            written = stamps.of_changed(store, before, row, change)
            protected = _protected(store, before, memory, change)
            if protected is not memory:  # the record has the change, which the row does not show
                record = stamps.record_of_row(row | {"stamps": written})
                row = row_of(replace(protected, revision_count=revision))
                written = stamps.dump(record, row) if record else written
        row["stamps"] = written
        stored = _update(db, before, row)
        _note_place(store, before, row)
        memory = from_row(stored) if store.is_trusted else get(store, memory.id)
        _record(store, memory.id, row, revision, change)
        if is_act:
            stamps.follow_up(store, before, row, change)
    return memory


def _update(db: sqlite3.Connection, before: dict[str, Any], row: dict[str, Any]) -> sqlite3.Row:
    """Write the columns that differ and return the row; others cost their indexes and triggers."""
    changed = [name for name in _GIVEN if row[name] != before[name]] or ["revision_count"]
    assigned = ", ".join(f"{name} = :{name}" for name in changed)
    query = f"update main.unified_memories set {assigned} where id = :id returning *"
    stored: sqlite3.Row = db.execute(query, row).fetchone()
    return stored


def _note_place(store: Store, before: dict[str, Any] | None, row: dict[str, Any]) -> None:
    """Note where a personal text was said; a changed text was said here alone."""
    if not store.place:
        return
    is_same = before is not None and before["content"] == row["content"]
    if before and is_same and row["observation_count"] <= before["observation_count"]:
        return
    places = loads(before["said_in"]) if before and is_same else []
    if store.place not in places:
        update = "update main.unified_memories set said_in = ? where id = ?"
        store.db.execute(update, (array([*places, store.place]), row["id"]))


def _protected(store: Store, before: dict[str, Any], memory: Memory, change: Change) -> Memory:
    copied = "select 1 from main.unified_memories where kept_of = ?"
    is_own = change.author is None and change.vouched is None
    if store.observer is None or (is_own and not store.has_row(copied, (memory.id,))):
        return memory
    return store.observer.protect(store, from_values(before), memory, change)


def raw_row(db: sqlite3.Connection, id: str) -> dict[str, Any] | None:
    query = "select * from main.unified_memories where id = ?"
    row = db.execute(query, (id,)).fetchone()
    return columns(row) if row else None


def set_anchors(store: Store, memory: Memory, anchors: Iterable[str]) -> None:
    """Replace the anchors without a revision, for what is derived from the code."""
    with store.transaction() as db:
        query = "update main.unified_memories set anchors = ? where seq = ?"
        db.execute(query, (array(anchors), memory.seq))


def delete(store: Store, memory: Memory, change: Change, written: str | None = None) -> None:
    """Delete the row for good; history keeps the deletion and no text."""
    from ademem.store import stamps

    is_act = written is None
    with store.transaction() as db:
        before = raw_row(db, memory.id)
        gone = [memory.id]
        if change.author is None:  # and of what another person changed, the copy too
            copied = "select id from main.unified_memories where kept_of = ?"
            gone += store.column(copied, (memory.id,))
        for id in gone:
            db.execute("delete from memory_revisions where memory_id = ?", (id,))
            db.execute("delete from main.unified_memories where id = ?", (id,))
        db.execute(
            "update memory_relations set reason = null, evidence = null"
            " where ? in (source_id, target_id)",
            (memory.sync_id,),
        )
        if written is None:
            written = stamps.tick(store, change.at)
        db.execute(
            "insert or ignore into tombstones"
            " (entity, sync_id, project_id, deleted_at, memory_id, stamp)"
            " values ('memory', ?, ?, ?, ?, ?)",
            (memory.sync_id, store.project_id, stamp(change.at), memory.id, written),
        )
        texts = ("title", "file_scope_pattern", "topic_key", "knowledge_key")
        blank = dict.fromkeys((*texts, "write_gate_reason", "quarantine_reason"))
        blank |= {"content": "", "tags": (), "anchors": (), "dedupe_key": ""}
        last = replace(memory, **blank, deleted_at=change.at)
        _record(store, last.id, row_of(last), 1, change)
        if is_act:
            stamps.follow_up(store, before, None, change)


def forget_author(store: Store, digest: str) -> int:
    query = "select distinct claimed_author from main.unified_memories where claimed_author <> ''"
    authors = [row[0] for row in store.db.execute(query)]
    names = [each for each in authors if sha256_hex(claimed_name(each)) == digest]
    count = 0
    for name in names:
        db, values = store.db, (without_name(name), name)
        update = "update main.unified_memories set claimed_author = ? where claimed_author = ?"
        count += db.execute(update, values).rowcount
        db.execute(
            "update memory_revisions set snapshot = json_set(snapshot, '$.claimed_author', ?)"
            " where json_extract(snapshot, '$.claimed_author') = ?",
            values,
        )
    return count


def touch(store: Store, memory: Memory, score: float, now: datetime) -> None:
    store.db.execute(
        "update main.unified_memories set access_count = access_count + 1, last_accessed_at = ?,"
        " access_score = ?, base_score = null where id = ?",
        (stamp(now), score, memory.id),
    )


def get(store: Store, id: str) -> Memory:
    """The memory with this id, sync id, or unambiguous beginning of its id; raises NoSuchMemory."""
    # The sync id of one may be the id of another, as other stores choose both.
    rows = store.db.execute(
        "select * from unified_memories where id = :id or sync_id = :id"
        " or length(:id) >= 4 and id > :id and id < :id || char(1114111)"
        " order by id = :id desc, sync_id = :id desc limit 2",
        {"id": id},
    ).fetchall()
    if not rows or (len(rows) == 2 and id not in (rows[0]["id"], rows[0]["sync_id"])):
        raise SeveralMemories(id) if rows else NoSuchMemory(id)
    return from_row(rows[0])


def any_kept_copy(store: Store) -> bool:
    query = "select 1 from unified_memories where kept_of is not null limit 1"
    return store.has_row(query)


def any_vector(store: Store) -> bool:
    query = "select 1 from unified_memory_embeddings limit 1"
    return store.has_row(query)


def any_adopted(store: Store) -> bool:
    """Tell whether there are items of instruction files, before the module for them is loaded."""
    return store.has_row("select 1 from adopted limit 1")


class Query:
    """A query for whole memories of this project; values for its parameters are given by name.

    With *by_key* SQLite uses the index of the condition, else it may read all of the project.
    """

    def __init__(self, where: str, tail: str = "", *, by_key: bool = False) -> None:
        project = "+project_id" if by_key else "project_id"
        self.sql = f"select * from unified_memories where {project} = :project and ({where}) {tail}"

    def __call__(self, store: Store, **values: str | float | None) -> list[Memory]:
        return from_rows(store.db.execute(self.sql, values | {"project": store.project_id}))


def find(store: Store, where: str, tail: str = "", **values: Any) -> list[Memory]:
    return Query(where, tail)(store, **values)


def has_tag(store: Store, tag: str) -> bool:
    query = (
        "select 1 from unified_memories where deleted_at is null"
        " and instr(' ' || tags || ' ', ' ' || ? || ' ') limit 1"
    )
    return store.has_row(query, (tag,))


def any_faded(store: Store) -> bool:
    """Tell whether there is a confirmed memory of tier 3."""
    return store.has_row(
        "select 1 from unified_memories where project_id = ? and status = 'promoted' and tier = 3"
        " and deleted_at is null limit 1",
        (store.project_id,),
    )


def any_archived(store: Store) -> bool:
    query = "select 1 from unified_memories where project_id = ? and status = 'archived' limit 1"
    return store.has_row(query, (store.project_id,))


def revisions(store: Store, id: str) -> list[dict[str, Any]]:
    query = "select * from memory_revisions where memory_id = ? order by revision"
    rows = store.db.execute(query, (id,))
    return [dict(row) | {"snapshot": loads(row["snapshot"])} for row in rows]


def find_confirmed(store: Store, ids: Iterable[str]) -> set[str]:
    """Return promoted ones, and archived ones that can return, whose text a person confirmed."""
    rows = store.column(
        "select distinct memory_id from memory_revisions"
        " join unified_memories as memory on memory.id = memory_id"
        " where (status = 'promoted' or status = 'archived' and promoted_at is not null)"
        " and memory_id in (select value from json_each(?)) and actor = 'user'"
        " and operation in ('promote', 'pin', 'edit', 'revise', 'merge', 'restore')"
        " and json_extract(snapshot, '$.content') = memory.content"
        " and json_extract(snapshot, '$.title') is memory.title",
        (array(ids),),
    )
    return set(rows)


def find_accepted(store: Store, ids: Iterable[str]) -> set[str]:
    """Return those of this clone, or accepted in it, that need not be said in each turn."""
    query = (
        "select id from unified_memories where claimed_author is null"
        f" and instr(' ' || tags || ' ', ' {STOP} ') = 0"
        " and id in (select value from json_each(?))"
    )
    return set(store.column(query, (array(ids),)))


def is_of_person(store: Store, memory: Memory) -> bool:
    return memory.trust is Trust.USER or bool(find_confirmed(store, [memory.id]))


def is_removed_by_person(store: Store, memory: Memory) -> bool:
    query = (
        "select actor from memory_revisions where memory_id = ?"
        " and operation in ('archive', 'reject', 'delete', 'supersede', 'undo')"
        " order by revision desc limit 1"
    )
    return store.column(query, (memory.id,)) == [Trust.USER]


def list_by_number(store: Store, seqs: Iterable[int]) -> list[Memory]:
    query = (
        "select memory.* from json_each(?) as asked"
        " cross join unified_memories as memory on memory.seq = asked.value"
    )
    return from_rows(store.db.execute(query, (array(seqs),)))


def from_row(row: sqlite3.Row) -> Memory:
    try:
        return of(Memory, _read(columns(row)))
    except database.MISREAD as error:
        raise UnreadableMemory(str(row["id"]), error) from error


def from_rows(rows: sqlite3.Cursor) -> list[Memory]:
    """Leave out rows that cannot be read."""
    names, found = [column[0] for column in rows.description], []
    for row in rows:
        try:
            found.append(of(Memory, _read(dict(zip(names, row, strict=True)))))
        except database.MISREAD:
            continue
    return found


def columns(row: sqlite3.Row) -> dict[str, Any]:
    """Return `dict(row)`, in a quarter of its time."""
    return dict(zip(row.keys(), row, strict=True))


def from_values(given: dict[str, Any]) -> Memory:
    return Memory(**_read(given.copy()))


def from_snapshot(snapshot: dict[str, Any]) -> Memory:
    """Read a snapshot; BOOKKEEPING is zero, the last access is the last change."""
    left_out = dict.fromkeys(BOOKKEEPING, 0)
    return from_values(left_out | snapshot | {"last_accessed_at": snapshot["updated_at"]})


def _read(values: dict[str, Any]) -> dict[str, Any]:
    """Convert values in place to those of a Memory; raises one of MISREAD."""
    values.pop("stamps", None)
    values.pop("foreign_fields", None)
    values.pop("said_in", None)
    if bytes in map(type, values.values()):
        raise TypeError("bytes where a text or a number is expected")
    # Sums of unlike kinds raise TypeError.
    values["id"] + values["content"] + values["source_type"]
    values["confidence"] + values["access_score"]
    values["composite_score"] + values["access_count"]
    values["observation_count"] + values["revision_count"]
    if not 0 <= values["confidence"] <= 1:
        raise ValueError(f"confidence is {values['confidence']}")
    for name, kind, members in _MEMBERS:
        if values.get(name) is not None:
            values[name] = members.get(values[name]) or kind(values[name])
    # An earlier snapshot or another's table has no stage.
    values["stage"] = stage_of(values["status"], values.get("stage") or Stage.CANDIDATE)
    values["pinned"] = bool(values["pinned"])
    values["tags"] = tuple(values["tags"].split())
    values["anchors"] = () if values["anchors"] == "[]" else _read_anchors(values["anchors"])
    for name in _MOMENTS:
        if name in values:
            values[name] = parse(values[name]) if values[name] else None
    return values


def _read_anchors(text: str) -> tuple[str, ...]:
    anchors = loads(text)
    if type(anchors) is not list or not all(type(anchor) is str for anchor in anchors):
        raise TypeError(f"anchors are {anchors!r}")
    return tuple(anchors)


def new_event() -> str:
    return os.urandom(8).hex()


def row_of(memory: Memory) -> dict[str, Any]:
    row = dict(memory.__dict__)
    row["pinned"] = int(memory.pinned)
    row["tags"] = " ".join(memory.tags)
    row["anchors"] = array(memory.anchors)
    row["stage"] = stage_of(memory.status, memory.stage)
    for name in _MOMENTS:
        row[name] = stamp(row[name]) if row[name] else None
    return row


def _record(store: Store, id: str, row: dict[str, Any], revision: int, change: Change) -> None:
    store.db.execute(
        "insert into memory_revisions (memory_id, revision, event_id, operation, actor, session_id,"
        " reason, snapshot, created_at) values (:id, :revision, :event_id, :operation, :actor,"
        " :session_id, :reason, :snapshot, :at)",
        as_dict(change)
        | {"id": id, "revision": revision, "event_id": change.event_id or new_event()}
        | {"snapshot": flat({name: row[name] for name in KEPT}), "at": stamp(change.at)},
    )


def _last_revision(db: sqlite3.Connection, id: str) -> int:
    query = "select ifnull(max(revision), 0) from memory_revisions where memory_id = ?"
    return int(db.execute(query, (id,)).fetchone()[0])


# An episode has the words of its whole session, so it is not a neighbour of its notes.
_SESSIONS = f"""
select json_group_array(seq) from unified_memories
where source_session_id in (
    select source_session_id from unified_memories
    where seq in (select value from json_each(?)) and source_type <> '{EPISODE}')
  and deleted_at is null and source_type <> '{EPISODE}'
group by source_session_id having count(*) > 1
"""


def session_neighbours(
    store: Store, rows: Iterable[int], reach: int, around: int
) -> dict[int, tuple[tuple[int, ...], ...]]:
    """Rows of the same session at distance 1 to *reach* of each row, and of those *around* it."""
    asked = set(rows)
    found: dict[int, tuple[tuple[int, ...], ...]] = {}
    for session in store.column(_SESSIONS, (array(asked),)):
        line = sorted(loads(session))
        for at in (place for place, seq in enumerate(line) if seq in asked):
            for place in range(max(0, at - around), min(len(line), at + around + 1)):
                found[line[place]] = tuple(
                    (*line[max(0, place - far) : max(0, place - far + 1)], *line[place + far :][:1])
                    for far in range(1, reach + 1)
                )
    return found
