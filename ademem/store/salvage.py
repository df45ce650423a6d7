"""Repair of a database: damage in its pages, rows and schema, and the rows that can be saved."""

from __future__ import annotations

import os
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing, suppress
from datetime import datetime
from typing import Any

from ademem.core.json_text import loads
from ademem.core.text import counted, dedupe_key
from ademem.store import Store, bad_rows, distrust, full_text, inspection, memories
from ademem.store.database import (
    SCHEMA_VERSION,
    add_secret,
    is_locked,
    read_secret,
    version,
)

VALUES = ("CHECK constraint failed", "NULL value in")
"""Beginnings of lines of SQLite's check about a value; such rows are repaired in place."""
HEADER = (
    (0, b"SQLite format 3\x00\x10\x00"),
    (20, b"\x00\x40\x20\x20"),
    (44, b"\x00\x00\x00\x04"),
    (56, b"\x00\x00\x00\x01"),
    (60, SCHEMA_VERSION.to_bytes(4)),
)
"""Bytes at the beginning of each of our databases, by their place."""
JOURNAL_MODES = (b"\x01\x01", b"\x02\x02")
OTHERS = ("index", "trigger", "view")
UNREADABLE = (sqlite3.Error, UnicodeDecodeError)
"""Errors of reading a damaged file."""


def raise_locked(error: Exception) -> None:
    """Raise the error if another process holds the database, which is not damage."""
    if isinstance(error, sqlite3.Error) and is_locked(error):
        raise error


def find_damage(path: str) -> str:
    """Describe damage of the pages, the indexes or the schema; empty when there is none.

    Raises sqlite3.Error where another process has locked the database.
    """
    try:
        with closing(sqlite3.connect(path)) as db:
            for (line,) in db.execute("pragma integrity_check"):
                if line != "ok" and not line.startswith(VALUES):
                    return str(line)
            if version(db) == SCHEMA_VERSION and inspection.schema(db) != inspection.built():
                return "its schema is another than that of its version"
    except (*UNREADABLE, inspection.TooMuch) as error:
        raise_locked(error)
        return str(error)
    return ""


def correct_version(path: str) -> list[str]:
    """A database with today's schema and another number lost the number."""
    if not os.path.exists(path):
        return []
    with suppress(*UNREADABLE, inspection.TooMuch), closing(sqlite3.connect(path)) as db:
        if version(db) != SCHEMA_VERSION and inspection.schema(db) == inspection.built():
            db.execute(f"pragma user_version = {SCHEMA_VERSION}")
            return [f"wrote the version of its schema into {path} again"]
    return []


def mend(store: Store, now: datetime) -> list[str]:
    """Repair rows, references, texts, vectors and indexes; return a line for each repair."""
    done = []
    was_trusted = store.is_trusted
    store.accept()  # what is repaired are the rows as they are
    store.db.execute("pragma foreign_keys = off")
    try:
        with store.transaction() as db:
            mended = bad_rows.repair(db, now) + bad_rows.repair_references(db)
            mended += _restore_memories(db)
            bad_rows.keep(db, mended, now)
            done += [
                f"{'removed' if one.removed else 'repaired'} {one.bad.named}" for one in mended
            ]
            cut = "length(embedding_blob) <> 4 * dimensions"
            vectors = db.execute(f"delete from unified_memory_embeddings where {cut}").rowcount
            if vectors:
                done.append(f"dropped {counted(vectors, 'damaged vector')}; they are made anew")
    finally:
        store.db.execute("pragma foreign_keys = on")
    lost = full_text.find_broken(store)
    for index in lost:
        full_text.rebuild(store, index)
    if not was_trusted:
        store.is_trusted = False
        distrust(store.db, store.judged)
    return done + [f"rebuilt {index}" for index in lost]


def _restore_memories(db: sqlite3.Connection) -> list[bad_rows.Mended]:
    """Give a memory back what its last revision has, where the memory alone is wrong.

    A text is wrong that its digest does not fit, a successor that is not there.
    """
    done = []
    query = (
        "select memory.seq, memory.content, memory.superseded_by, memory.topic_key,"
        " memory.dedupe_key, snapshot,"
        " superseded_by not in (select id from unified_memories) as is_lost"
        " from unified_memories as memory join memory_revisions as revision"
        " on revision.memory_id = memory.id and revision.revision ="
        "  (select max(revision) from memory_revisions where memory_id = memory.id)"
    )
    for row in db.execute(query).fetchall():
        fits = dedupe_key(row["content"], row["topic_key"]) == row["dedupe_key"]
        if fits and not row["is_lost"]:
            continue
        before = loads(row["snapshot"])
        key = dedupe_key(before["content"], row["topic_key"])
        for column, wrong in (
            ("content", not fits and key == row["dedupe_key"]),
            ("superseded_by", row["is_lost"] and row["superseded_by"] != before["superseded_by"]),
        ):
            if wrong:
                update = f"update unified_memories set {column} = ? where seq = ?"
                db.execute(update, (before[column], row["seq"]))
                bad = bad_rows.BadRow(table=memories.TABLE, key=(row["seq"],), columns=(column,))
                original = {"seq": row["seq"], column: row[column]}
                done.append(bad_rows.Mended(bad=bad, original=original, removed=False))
    return done


def salvage(store: Store, damaged: str) -> int:
    """Copy row by row, table by table; a row or table that cannot be read is passed over."""
    with tempfile.TemporaryDirectory() as folder:
        aside = os.path.join(folder, "copy.db")
        for suffix in ("", "-wal"):
            if os.path.exists(damaged + suffix):
                shutil.copyfile(damaged + suffix, aside + suffix)
        try:
            found = _restore_schema(aside)
        except UNREADABLE:
            found = 0
        if found not in range(1, SCHEMA_VERSION):
            with open(aside, "r+b") as file:
                mode = file.read(20)[18:20]
                for at, right in HEADER:
                    file.seek(at)
                    file.write(right)
                if mode not in JOURNAL_MODES:
                    file.seek(18)
                    file.write(JOURNAL_MODES[1])
            with suppress(*UNREADABLE):
                _restore_schema(aside)
        db = sqlite3.connect(aside, isolation_level=None)
        inspection.set_bounds(db, inspection.COPY_S)
        with closing(db) as source:
            return _copy(source, store)


def _restore_schema(path: str) -> int:
    """Write the definitions of today's tables over those in the file, without indexes or triggers.

    Return the version that the file names; an older one keeps its definitions.
    """
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute("pragma writable_schema = on")
        db.text_factory = bad_rows.decode
        found = version(db)
        if found in range(1, SCHEMA_VERSION):
            return found
        rows = db.execute("select rowid, type, name, tbl_name from sqlite_master").fetchall()
        for kind, name, table, sql in inspection.built():
            if kind == "table":
                at = [row[0] for row in rows if name in row[2:] and row[1] not in OTHERS]
                if len(at) == 1:
                    db.execute(
                        "update sqlite_master set type = ?, name = ?, tbl_name = ?, sql = ?"
                        " where rowid = ?",
                        (kind, name, table, sql, at[0]),
                    )
        db.execute("delete from sqlite_master where type in ('trigger', 'view')")
        return found


def _copy(source: sqlite3.Connection, store: Store) -> int:
    db = store.db
    db.execute("pragma foreign_keys = off")
    db.execute("pragma ignore_check_constraints = on")
    source.text_factory = bad_rows.decode
    copied = 0
    try:
        plain = inspection.plain_tables(source)
    except (sqlite3.Error, inspection.TooMuch):
        plain = {}
    try:
        with store.transaction():
            shadows = ("sqlite_", *full_text.INDEXES)
            rows = db.execute("select name from sqlite_master where type = 'table' order by rowid")
            tables = [row[0] for row in rows if not row[0].startswith(shadows)]
            # Memories first: triggers on them write to other tables, whose own rows replace that.
            for table in sorted(tables, key=lambda name: name != memories.TABLE):
                db.execute(f"savepoint {table}")
                copied += _copy_table(source, db, table, plain.get(table, []))
                db.execute(f"release {table}")
            # The new database speaks for the project that most of the memories name.
            owner = db.execute(
                "select project_id from unified_memories"
                " group by project_id order by count(*) desc, project_id limit 1"
            ).fetchone()
            if owner and owner[0] != store.project_id:
                db.execute("delete from projects where id = ?", (owner[0],))
                db.execute("update projects set id = ? where id = ?", (owner[0], store.project_id))
                store.project_id = owner[0]
            db.execute("delete from projects where id <> ?", (store.project_id,))
            if not read_secret(db):
                add_secret(db)  # which nobody registered: whose it was cannot be read
    finally:
        db.execute("pragma ignore_check_constraints = off")
        db.execute("pragma foreign_keys = on")
    return copied


def _copy_table(
    source: sqlite3.Connection, db: sqlite3.Connection, table: str, there: list[str]
) -> int:
    """Copy the columns that are *there*; a table of an older version may have fewer of them."""
    if table != "projects":
        db.execute(f"delete from {table}")
    if not there:
        return 0
    names = [row[1] for row in db.execute(f"pragma table_info({table})")]
    listed = ", ".join(name for name in names if name in there)
    marks = ", ".join("?" for name in names if name in there)
    insert = f"insert or ignore into {table} ({listed}) values ({marks})"
    return sum(db.execute(insert, row).rowcount for row in _read_rows(source, table, listed))


def _read_rows(source: sqlite3.Connection, table: str, columns: str) -> Iterator[tuple[Any, ...]]:
    """Yield rows by rising and falling key until the damage is met from both sides."""
    for order in ("", " order by rowid desc"):
        try:
            yield from source.execute(f"select {columns} from {table} not indexed{order}")
        except sqlite3.Error:
            continue
        else:
            return


def traces(store: Store) -> set[str]:
    """Ids of all memories that the database has, or had."""
    found = set(store.column("select id from unified_memories"))
    return found | set(store.column("select memory_id from memory_revisions"))
