"""Stamps of memories: the clock of this database, and the record that a row is.

The column `stamps` has what `record_json.pack` returns, and under VALUES the registers that the row
shows in another way than the record has them, such as a duplicate that is hidden behind the elder.
"""

from __future__ import annotations

import os

from ademem.core import registers
from ademem.core.json_text import loads, quoted
from ademem.core.memory import HIDDEN, MERGE, Scope, Status, Trust
from ademem.store import Store, database

TYPE_CHECKING = False
if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Mapping
    from datetime import datetime
    from typing import Any

    from ademem.core.registers import Commit, Record
    from ademem.store.memories import Change

    Row = Mapping[str, Any]

VALUES = "values"
DERIVED = "derived"
_CONFIRMED_ELSEWHERE = '"status":"promoted"'
"""Part of the stamps of a row whose record others confirmed."""
"""On the row of an undecided conflict candidate or a kept copy: its memory. It is not a record."""
AHEAD = "clock_ahead/"
"""Prefix of the names of replicas in `store_values` whose stamps are far ahead; see doctor."""
TARGET = "sync/"
BRANCH = "branch"
"""Operation that follows the branches of git, which each store does for itself."""
HUB = "hub "
"""Beginning of the target that also gets what waits on a branch, with the branch's name."""
_ARCHIVED = (registers.ARCHIVED, registers.REJECTED)


def replica(store: Store) -> str:
    """Return the id of this database as a replica, made anew for a file at another place.

    Called in a transaction that writes. A copy, or a database that a backup replaced while it was
    open, would otherwise write under the same id.
    """
    noted, _, where = database.value(store.db, "replica").partition(" ")
    if not noted or noted != store.replica:
        place = database.place(store.db)
        store.replica = noted
        if not noted or where != place:
            store.replica = new_replica()
            database.set_value(store.db, "replica", f"{store.replica} {place}".rstrip())
    return store.replica


def new_replica() -> str:
    made = os.urandom(4).hex()
    return made if made != registers.OLD_REPLICA else new_replica()


def tick(
    store: Store, now: datetime, above: str = "", *, made: Commit | None = None, said: str = ""
) -> str:
    """Return the stamp of an act, greater than all before it and than *above*.

    That of one that a commit *made* is greater than *above* alone, as each clone writes the same:
    else each would have a separate text, and later edits in one of them would contradict those.
    """
    if made:
        stamp = registers.commit_stamp(above, made, now, said)
        follow(store, stamp, now)
        return stamp
    last = database.value(store.db, "clock")
    stamp = registers.next_stamp(max(last, above), now, replica(store))
    if not registers.is_ahead(stamp, now):
        database.set_value(store.db, "clock", stamp)
    return stamp


def follow(store: Store, stamp: str, now: datetime) -> None:
    """Let the clock not fall behind a stamp of another store; note one that is far ahead."""
    if registers.is_ahead(stamp, now):
        database.set_value(store.db, AHEAD + registers.replica_of(stamp), stamp)
    elif stamp > database.value(store.db, "clock"):
        database.set_value(store.db, "clock", stamp)


def far_ahead(store: Store, now: datetime) -> dict[str, str]:
    found = database.values(store.db, AHEAD)
    return {name: stamp for name, stamp in found.items() if registers.is_ahead(stamp, now)}


def of_new(stamp: str) -> str:
    return f"{{{quoted(stamp)}:[]}}"


def of_changed(store: Store, before: Row, after: Row, change: Change) -> str:
    operation, now = change.operation, change.at
    changed = _changed_values(before, after)
    confirms = operation in ("merge", "revise", "edit")
    if not changed and not confirms and before["stamps"] != "{}":
        return str(before["stamps"])
    record = record_of_row(before)
    if record is None:  # the first decision on a conflict candidate
        return of_new(tick(store, now))
    if (changed and operation != BRANCH) or confirms:
        said = f"{record.id} {sorted(changed.items())}"
        stamp = tick(store, now, record.last_stamp, made=change.made, said=said)
        record = registers.write(record, changed, stamp, confirms=confirms)
    return dump(record, after)


def _changed_values(before: Row, after: Row) -> dict[str, Any]:
    """Return the values to write; content and title are one register."""
    old, new = values_of_row(before), values_of_row(after)
    changed = {name: new[name] for name in new if new[name] != old[name]}
    if new[registers.LIFE] in _ARCHIVED:
        changed.pop("status", None)  # the row of an archived memory does not show it
    if "content" in changed or "title" in changed:
        changed |= {name: new[name] for name in ("content", "title")}
    return changed


def dump(record: Record, row: Row) -> str:
    from ademem.core import record_json

    packed = record_json.pack(record)
    shown, values = values_of_row(row), registers.values_of(record)
    other = {name: one for name, one in values.items() if shown[name] != one}
    packed |= {VALUES: other} if other else {}
    return record_json.compact(packed)


def record_of_row(row: Row) -> Record | None:
    """Return None for a derived conflict candidate."""
    from ademem.core import record_json  # a new memory needs none of it

    stamps = loads(row["stamps"])
    if DERIVED in stamps:
        return None
    values = values_of_row(row) | stamps.get(VALUES, {})
    identity = {name: row[name] for name in ("id", "sync_id", "created_at")}
    return record_json.unpack(identity | values, row["updated_at"], stamps)


def differs(row: Row) -> bool:
    """Return True where a row shows something else than its record, as what was stated here."""
    return f'"{VALUES}"' in row["stamps"]


def values_of_row(row: Row) -> dict[str, Any]:
    life = _life(row)
    promoted = row["promoted_at"] is not None if life in _ARCHIVED else row["status"] == "promoted"
    return {
        "content": row["content"],
        "title": row["title"] or None,
        "tags": tuple(row["tags"].split()),
        "anchors": tuple(loads(row["anchors"])),
        registers.LIFE: life,
        "category": str(row["category"]),
        "status": str(Status.PROMOTED if promoted else Status.CANDIDATE),
        "importance": str(row["importance"]),
        "confidence": float(row["confidence"]),
        "pinned": bool(row["pinned"]),
        "trust": str(row["trust"]) if row["trust"] in ("tool", "web") else None,
        "path": row["file_scope_pattern"] or None,
        "topic_key": row["topic_key"] or None,
        "key": row["knowledge_key"] or None,
        "source": row["agent_id"] or row["source_type"] or None,
        "bead": row["bead"] or None,
    }


def _life(row: Row) -> str:
    if row["deleted_at"]:
        return registers.DELETED
    if row["superseded_by"]:
        return f"{registers.SUPERSEDED} {row['superseded_by']}"
    if row["status"] == Status.ARCHIVED:
        return registers.REJECTED if row["rejected_at"] else registers.ARCHIVED
    return registers.LIVE


def is_shared(row: Row, target: str = "") -> bool:
    return (
        row["scope"] == Scope.PROJECT
        and row["source_type"] not in HIDDEN
        and not row["kept_of"]
        and not row["quarantine_reason"]
        and not _stays_here(row)
        and (not row["source_branch"] or target.startswith(HUB))
    )


def _stays_here(row: Row) -> bool:
    """Tell of a row what `Memory.stays_here` does.

    The record may say more: that others confirmed it, or that it was confirmed here once.
    """
    if row["status"] == Status.PROMOTED or row["promoted_at"]:
        return False
    if row["claimed_author"] is not None or row["trust"] in (Trust.USER, Trust.IMPORT):
        return False
    if row["source_type"] == MERGE or _CONFIRMED_ELSEWHERE in row["stamps"]:
        return False
    record = record_of_row(row)
    if record is None or "status" not in record.registers:
        return True
    return record.registers["status"][0] == min(stamp for stamp, _ in record.registers.values())


def follow_up(store: Store, before: Row | None, after: Row | None, change: Change) -> None:
    frees_text = before is not None and _frees_text(store, before, after)
    ends_conflict = before and ('"heads":' in before["stamps"] or '"seen":' in before["stamps"])
    if store.observer and (frees_text or ends_conflict or targets(store.db)):
        store.observer.follow(store, before, after, change)


def _frees_text(store: Store, before: Row, after: Row | None) -> bool:
    """Return True if a live row gave up its text or topic, which another may show then."""
    if _life(before) != registers.LIVE:
        return False
    key = before["dedupe_key"]
    if after and _life(after) == registers.LIVE and after["dedupe_key"] == key:
        return False
    query = "select 1 from unified_memories where dedupe_key = ? and superseded_by notnull"
    return bool(before["topic_key"]) or store.has_row(query, (key,))


def targets(db: sqlite3.Connection) -> list[str]:
    return list(database.values(db, TARGET))
