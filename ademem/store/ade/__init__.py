"""Taking over the database of an ADE installation: its rows, our schema."""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from contextlib import closing

from ademem.clock import parse
from ademem.store import Store, memories
from ademem.store.ade.copying import COPIED, best_first, copy
from ademem.store.ade.memory import adopted, from_legacy, once, unite
from ademem.store.ade.values import lost, text
from ademem.store.memories import Change

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from ademem.store.ade.values import Row

__all__ = ["adopt"]

INDEX = "unified_memories_fts"
"""ADE's word index; ours takes its place."""


def adopt(
    db: sqlite3.Connection, run_schema: Callable[[sqlite3.Connection], None], now_stamp: str
) -> None:
    """Bring every row under our schema; what has no place in it stays in a table `ade_<name>`.

    Belongs in the migration's transaction, with foreign keys off. Raises sqlite3.Error.
    """
    db.text_factory = lambda raw: raw.decode("utf-8", "replace")
    aside = _set_aside(db, _names(run_schema))
    run_schema(db)

    def rows(table: str) -> list[Row]:
        return _rows(db, aside[table]) if table in aside else []

    known = once([*rows("unified_memories"), *map(from_legacy, rows("memories"))])
    projects = _ranked(rows("projects"), known)
    project = str(projects[0]["id"])
    carried = {"unified_memories", "memories", "unified_memory_embeddings"}
    if copy(db, "projects", projects, project, now_stamp):
        carried.add("projects")
    unchanged = _adopt_memories(db, known, project, now_stamp)
    vectors = [
        row
        for row in rows("unified_memory_embeddings")
        if row.get("memory_id") in unchanged and row.get("embedding_blob")
    ]
    copy(db, "unified_memory_embeddings", best_first(vectors, project), project, now_stamp)
    for table in COPIED:
        if copy(db, table, best_first(rows(table), project), project, now_stamp):
            carried.add(table)
    for table in carried & aside.keys():
        db.execute(f"drop table {_quoted(aside[table])}")
    db.text_factory = str


def _names(run_schema: Callable[[sqlite3.Connection], None]) -> set[str]:
    """The names our schema needs for itself."""
    with closing(sqlite3.connect(":memory:")) as scratch:
        run_schema(scratch)
        return {row[0] for row in scratch.execute("select lower(name) from sqlite_master")}


def _set_aside(db: sqlite3.Connection, names: set[str]) -> dict[str, str]:
    """Rename the tables in our way, dropping their indexes and triggers; old name to new."""
    entries = db.execute(
        "select type, lower(name) as name, lower(tbl_name) as owner from sqlite_master"
        " where sql is not null"
    ).fetchall()
    taken = {entry["name"] for entry in entries}
    for entry in entries:
        if entry["type"] in ("trigger", "index") and {entry["name"], entry["owner"]} & names:
            db.execute(f"drop {entry['type']} {_quoted(entry['name'])}")
    if INDEX in taken:
        _drop_index(db)
    aside = {}
    db.execute("pragma legacy_alter_table = on")  # other tables go on referring to `projects`
    for entry in entries:
        name = entry["name"]
        if entry["type"] == "table" and name in names and not name.startswith(INDEX):
            aside[name] = f"ade_{name}"
            while aside[name] in taken:
                aside[name] = f"ade_{aside[name]}"
            db.execute(f"alter table {_quoted(name)} rename to {_quoted(aside[name])}")
    db.execute("pragma legacy_alter_table = off")
    return aside


def _drop_index(db: sqlite3.Connection) -> None:
    try:
        db.execute(f"drop table {INDEX}")
    except sqlite3.OperationalError:  # an SQLite without FTS4 cannot drop such a table
        db.execute("pragma writable_schema = on")
        db.execute("delete from sqlite_master where lower(name) = ?", (INDEX,))
        db.execute("pragma writable_schema = reset")
        for part in ("content", "segments", "segdir", "docsize", "stat"):
            db.execute(f"drop table if exists {INDEX}_{part}")


def _ranked(given: list[Row], known: list[Row]) -> list[Row]:
    """The projects ADE knew, first the one these memories are of; there is always one."""
    counts = Counter(text(row.get("project_id")) for row in known)
    rows = {text(row.get("id")): row for row in given}
    ids = [id for id in rows or counts if id] or ["project"]
    ids.sort(key=lambda id: -counts[id])
    return [rows.get(id, {"id": id, "display_name": id}) for id in ids]


def _adopt_memories(db: sqlite3.Connection, known: list[Row], project: str, now: str) -> set[str]:
    """Insert them by age, each with a revision that keeps what was changed in it.

    Hands back the ids of those whose text is what it was.
    """
    pairs = [(old, adopted(old, project, now)) for old in known]
    pairs.sort(key=lambda pair: (pair[1]["created_at"], pair[1]["id"]))
    unite(new for _, new in pairs)
    event = memories.new_event()
    for old, new in pairs:
        gone = lost(old, new)
        change = Change(
            operation="adopt",
            actor="system",
            at=parse(now),
            reason=f"ADE had {json.dumps(gone, default=repr)}" if gone else None,
            event_id=event,
        )
        memories.insert(Store(db, project), memories.from_values(new), change)
    return {new["id"] for old, new in pairs if new["content"] == old.get("content")}


def _rows(db: sqlite3.Connection, table: str) -> list[Row]:
    cursor = db.execute(f"select * from {_quoted(table)}")
    names = [column[0].lower() for column in cursor.description]
    return [dict(zip(names, row, strict=True)) for row in cursor]


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
