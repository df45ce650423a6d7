"""The journal: what enrolled targets do not have yet, and what arrived and cannot be applied yet.

A target takes records from here, such as a folder that machines share. Its cursor is the number of
the last row that it has. Rows are written in the transaction of the act, one for each memory, and
deleted once every target has them; without a target there are none.
"""

from __future__ import annotations

from ademem.core import record_json, registers
from ademem.core.clock import datetime, stamp
from ademem.core.json_text import loads
from ademem.core.value import Value
from ademem.store import Store, database, stamps
from ademem.store.memories import new_event

TYPE_CHECKING = False
if TYPE_CHECKING:
    import sqlite3
    from typing import Any

    from ademem.core.registers import Record

ALL = ""
"""The cursor of a target that has to get every record."""
FAILURES = 5
"""Failures after which a record is dead: no replay tries it again."""

_IS_WHOLE = " and ".join(
    f"json_type(record, '$.{name}') is not null"
    for name in ("content", registers.LIFE, *registers.FIELDS)
)


class Waiting(Value):
    count: int
    oldest: str
    dead: tuple[str, ...]
    """Entity, id and reason of each that was given up."""


class Chunk(Value):
    id: str
    replica: str | None
    """The name of this database when it wrote the chunk; None: it was read."""
    is_covered: bool


def enrol(store: Store, target: str) -> bool:
    with store.transaction() as db:
        is_new = target not in stamps.targets(db)
        database.set_value(db, stamps.TARGET + target, ALL if is_new else cursor(store, target))
        return is_new


def leave(store: Store, target: str) -> bool:
    with store.transaction() as db:
        if target not in stamps.targets(db):
            return False
        db.execute("delete from store_values where name = ?", (stamps.TARGET + target,))
        db.execute("delete from sync_chunks where target = ?", (target,))
        _prune(db)
        return True


def cursor(store: Store, target: str) -> str:
    return database.value(store.db, stamps.TARGET + target)


def advance(store: Store, target: str, cursor: int | str) -> None:
    with store.transaction() as db:
        if target in stamps.targets(db):
            database.set_value(db, stamps.TARGET + target, str(cursor))
            _prune(db)


def _prune(db: sqlite3.Connection) -> None:
    least = min(_numbers(db), default=last(db))
    db.execute("delete from sync_mutations where seq <= ?", (least,))


def last(db: sqlite3.Connection) -> int:
    """Return the greatest number of a row, now or when a target got it."""
    (number,) = db.execute("select ifnull(max(seq), 0) from sync_mutations").fetchone()
    return max([int(number), *_numbers(db)])


def _numbers(db: sqlite3.Connection) -> list[int]:
    cursors = (database.value(db, stamps.TARGET + target) for target in stamps.targets(db))
    return [int(found) for found in cursors if found.isdecimal()]


def append(
    store: Store,
    entity: str,
    id: str,
    written: dict[str, Any],
    actor: str,
    trust: str,
    now: datetime,
    target: str | None,
    event_id: str = "",
) -> None:
    """Append what an act wrote, united with what waits of the same; *target* brought it."""
    if stamps.targets(store.db) in ([], [target]):
        return
    query = "select registers, target from sync_mutations where entity = ? and entity_id = ?"
    waiting = store.db.execute(query, (entity, id)).fetchone()
    if waiting:
        ours, theirs = record_json.from_json(loads(waiting[0])), record_json.from_json(written)
        if entity == "memory" and ours and theirs:
            written = record_json.to_json(registers.join(ours, theirs))
        target = target if target == waiting[1] else None
    row = (last(store.db) + 1, entity, id, record_json.compact(written), event_id or new_event())
    store.db.execute(
        "insert or replace into sync_mutations (seq, entity, entity_id, registers, event_id, actor,"
        " trust, target, created_at) values (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (*row, actor, trust, target, stamp(now)),
    )


def rows_since(store: Store, target: str) -> list[sqlite3.Row]:
    """Return the rows that a target waits for, those of one act together."""
    return store.db.execute(
        "select * from sync_mutations where seq > cast(? as integer) and target is not ?"
        " order by min(seq) over (partition by event_id), seq",
        (cursor(store, target), target),
    ).fetchall()


def chunks(store: Store, target: str) -> dict[str, Chunk]:
    query = "select chunk_id, replica, is_covered from sync_chunks where target = ?"
    return {
        row[0]: Chunk(id=row[0], replica=row[1], is_covered=bool(row[2]))
        for row in store.db.execute(query, (target,))
    }


def note_chunk(store: Store, target: str, id: str, replica: str | None, now: datetime) -> None:
    store.db.execute(
        "insert into sync_chunks (target, chunk_id, replica, created_at)"
        " values (:target, :id, :replica, :now) on conflict do update set"
        " replica = ifnull(:replica, replica)",
        {"target": target, "id": id, "replica": replica, "now": stamp(now)},
    )


def last_written(store: Store, target: str) -> str:
    query = "select max(created_at) from sync_chunks where target = ? and replica is not null"
    (found,) = store.db.execute(query, (target,)).fetchone()
    return str(found or "")


def cover_chunks(store: Store, target: str, replica: str) -> None:
    """Record that a chunk with every record is written, which replaces those before it."""
    values = {"target": target, "replica": replica}
    store.db.execute(
        "delete from sync_chunks where target = :target and replica = :replica", values
    )
    store.db.execute("update sync_chunks set is_covered = 1 where target = :target", values)


def defer(
    store: Store,
    entity: str,
    id: str,
    found: dict[str, Any],
    now: datetime,
    reason: str,
    failures: int = 0,
) -> None:
    """Keep it in one row; FAILURES if it never can be applied, 0 if it waits for another."""
    try:
        record = record_json.compact(found, allow_nan=False)
    except (ValueError, RecursionError):  # a number that is none, or deeper than can be written
        record = record_json.compact({"text": repr(found)[: record_json.MAX_TEXT]})
    store.db.execute(
        "insert into sync_apply_deferred (entity, entity_id, record, reason, attempts, created_at)"
        " values (:entity, :id, :record, :reason, :failures, :at)"
        " on conflict (entity, entity_id) do update set record = :record, reason = :reason,"
        " attempts = min(:dead, iif(:failures, attempts + :failures, min(attempts, :dead - 1)))",
        {
            "entity": entity,
            "id": id,
            "record": record,
            "reason": reason,
            "failures": failures,
            "dead": FAILURES,
            "at": stamp(now),
        },
    )


def undefer(store: Store, entity: str, id: str) -> None:
    delete = "delete from sync_apply_deferred where entity = ? and entity_id = ?"
    store.db.execute(delete, (entity, id))


def waiting_record(store: Store, id: str) -> Record | None:
    query = "select record from sync_apply_deferred where entity = 'memory' and entity_id = ?"
    row = store.db.execute(query, (id,)).fetchone()
    return record_json.from_json(loads(row[0])) if row else None


def find_deferred(store: Store) -> Waiting:
    query = "select entity, entity_id, reason from sync_apply_deferred where attempts >= ?"
    dead = store.db.execute(f"{query} order by created_at, rowid", (FAILURES,))
    query = "select count(*), ifnull(min(created_at), '') from sync_apply_deferred"
    count, oldest = store.db.execute(f"{query} where attempts < ?", (FAILURES,)).fetchone()
    return Waiting(count=count, oldest=oldest, dead=tuple(": ".join(row) for row in dead))


def list_deferred(store: Store) -> list[dict[str, Any]]:
    query = "select entity, entity_id as id, reason, attempts, created_at from sync_apply_deferred"
    return store.dicts(f"{query} order by created_at, rowid")


def drop_deferred(store: Store, id: str) -> bool:
    delete = "delete from sync_apply_deferred where entity_id = ?"
    return store.db.execute(delete, (id,)).rowcount > 0


def list_applicable(
    store: Store, limit: int, *, failed: bool
) -> list[tuple[str, str, dict[str, Any]]]:
    """Return the oldest records of which all that they waited for is here, or that *failed*."""
    rows = store.db.execute(
        "select entity, entity_id, record from sync_apply_deferred where attempts < :tries"
        " and case entity when 'relation' then 2 = (select count(*) from main.unified_memories"
        "  where sync_id in (json_extract(record, '$.source_id'),"
        "  json_extract(record, '$.target_id')))"
        f" else attempts > 0 or ({_IS_WHOLE}"
        "  and entity_id not in (select id from main.unified_memories)) end"
        " order by created_at, rowid limit :limit",
        {"tries": FAILURES if failed else 1, "limit": limit},
    )
    return [(entity, id, loads(found)) for entity, id, found in rows]


def revive(store: Store) -> int:
    update = "update sync_apply_deferred set attempts = 1 where attempts >= ?"
    return store.db.execute(update, (FAILURES,)).rowcount
