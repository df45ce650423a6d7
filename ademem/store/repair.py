"""Repair of damaged pages, rows and schema; the original of a repaired or removed row is kept."""

from __future__ import annotations

import json
import os
import re
import shutil
import sqlite3
import tempfile
from collections.abc import Collection, Iterator
from contextlib import closing, contextmanager, suppress
from datetime import datetime
from typing import Any

from ademem.core.clock import parse, stamp
from ademem.core.json_text import loads
from ademem.core.text import counted, dedupe_key
from ademem.core.value import Value, replace
from ademem.store import Store, agreements, counts, database, full_text, inspection, memories

VALUES = ("CHECK constraint failed", "NULL value in")
"""Beginnings of lines of SQLite's check about a value; such rows are repaired in place."""
HEADER = ((0, 24), (44, 64), (68, 72))
"""Places of what is the same at the beginning of each of our databases."""
OTHERS = ("index", "trigger", "view")
UNREADABLE = (sqlite3.Error, UnicodeDecodeError)

Row = dict[str, Any]

TYPES = {
    "text": "('text')",
    "integer": "('integer')",
    "real": "('real', 'integer')",
    "blob": "('blob')",
    "": "('text', 'integer', 'real', 'blob')",
}
TEXTS = frozenset({"anchors", "files", "errors", "decisions", "corrections", "episode_ids"})
INSTEAD = {
    ("unified_memories", "trust"): "import",
    ("unified_memories", "confidence"): 0.5,
    ("memory_revisions", "operation"): "edit",
    ("memory_revisions", "actor"): "import",
    ("turns", "class"): "required",
}
"""Values that are safer than the default of the column."""
_CHECK = re.compile(r"^[\s,]*(\w+) .*? check \((.*)\)(?:,[^()]*)? *(?:--.*)?$", re.M)
_BROKEN, _COLUMN = re.compile(r"\n\s+check \("), re.compile(r", (\w+ (?:text|integer|real|blob)\b)")
"""A constraint below its column, and a column that a migration added behind the last one."""
_WORD = re.compile(r" and \(\w+ in \('([\w-]+)'")


def raise_locked(error: Exception) -> None:
    if isinstance(error, sqlite3.Error) and database.is_locked(error):
        raise error


def find_damage(path: str) -> str:
    """Describe damage of pages, indexes or schema; raises sqlite3.Error for a locked database."""
    try:
        with closing(sqlite3.connect(path)) as db:
            for (line,) in db.execute("pragma integrity_check"):
                if line != "ok" and not line.startswith(VALUES):
                    return str(line)
            if (
                database.version(db) == database.SCHEMA_VERSION
                and inspection.schema(db) != inspection.read_shipped_schema()
            ):
                return "its schema is another than that of its version"
    except (*UNREADABLE, inspection.TooMuch) as error:
        raise_locked(error)
        return str(error).partition("\n")[0]
    return ""


def correct_version(path: str) -> list[str]:
    """A database with today's schema and another number lost the number."""
    if not os.path.exists(path):
        return []
    with suppress(*UNREADABLE, inspection.TooMuch), closing(sqlite3.connect(path)) as db:
        if (
            database.version(db) != database.SCHEMA_VERSION
            and inspection.schema(db) == inspection.read_shipped_schema()
        ):
            database.mark(db, database.SCHEMA_VERSION)
            return [f"wrote the version of its schema into {path} again"]
    return []


def mend(store: Store, now: datetime) -> list[str]:
    done = []
    was_trusted = store.is_trusted
    store.accept()  # what is repaired are the rows as they are
    store.db.execute("pragma foreign_keys = off")
    try:
        with store.transaction() as db:
            mended = repair_rows(db, now) + repair_references(db)
            mended += _restore_memories(db)
            keep_originals(db, mended, now)
            done += [f"{'removed' if one.removed else 'repaired'} {one.named}" for one in mended]
            cut = "length(embedding_blob) <> 4 * dimensions"
            vectors = db.execute(f"delete from unified_memory_embeddings where {cut}").rowcount
            if vectors:
                done.append(f"dropped {counted(vectors, 'damaged vector')}; they are made anew")
    finally:
        store.db.execute("pragma foreign_keys = on")
    lost = full_text.find_broken(store)
    for index in lost:
        full_text.rebuild(store, index)
    wrong = counts.find_wrong(store)
    for table in wrong:
        counts.recount(store, table)
    if not was_trusted:
        store.distrust()
    return done + [f"rebuilt {name}" for name in (*lost, *wrong)]


def _restore_memories(db: sqlite3.Connection) -> list[BadRow]:
    """Give a memory back what its last revision has, where its digest or successor is wrong."""
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
        before, right = loads(row["snapshot"]), {}
        now, then = (dedupe_key(each["content"], row["topic_key"]) for each in (row, before))
        if now != row["dedupe_key"] == then:
            right["content"] = before["content"]
        if row["is_lost"] and row["superseded_by"] != before["superseded_by"]:
            right["superseded_by"] = before["superseded_by"]
        if right:
            key, columns = row["seq"], tuple(right)
            changes = ", ".join(f"{name} = :{name}" for name in right)
            update = f"update unified_memories set {changes} where seq = :seq"
            db.execute(update, right | {"seq": key})
            original = {name: row[name] for name in ("seq", *columns)}
            bad = BadRow(table=memories.TABLE, key=(key,), columns=columns, original=original)
            done.append(bad)
    return done


def salvage(store: Store, damaged: str) -> int:
    """Copy row by row, table by table; a row or table that cannot be read is passed over."""
    with tempfile.TemporaryDirectory() as folder:
        temporary = os.path.join(folder, "copy.db")
        for suffix in ("", "-wal"):
            if os.path.exists(damaged + suffix):
                shutil.copyfile(damaged + suffix, temporary + suffix)
        is_older = False
        with suppress(*UNREADABLE):
            is_older = _restore_schema(temporary)
        if not is_older:
            path = store.db.execute("pragma database_list").fetchone()["file"]
            with open(path, "rb") as new, open(temporary, "r+b") as file:
                header = new.read(100)
                for start, end in HEADER:
                    file.seek(start)
                    file.write(header[start:end])
                file.seek(28)
                file.write(bytes(4))  # lets SQLite count the pages
            with suppress(*UNREADABLE):
                _restore_schema(temporary)
        db = sqlite3.connect(temporary, isolation_level=None)
        inspection.set_bounds(db, inspection.COPY_S)
        with closing(db) as source:
            return _copy(source, store)


def _restore_schema(path: str) -> bool:
    """Write today's tables over those of the file; True if it is older, and stays as it is."""
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute("pragma writable_schema = on")
        db.text_factory = decode
        if database.is_earlier(db) or database.version(db) in range(1, database.SCHEMA_VERSION):
            return True
        rows = db.execute("select rowid, type, name, tbl_name from sqlite_master").fetchall()
        for kind, name, table, sql in inspection.read_shipped_schema():
            if kind == "table":
                at = [row[0] for row in rows if name in row[2:] and row[1] not in OTHERS]
                if len(at) == 1:
                    db.execute(
                        "update sqlite_master set type = ?, name = ?, tbl_name = ?, sql = ?"
                        " where rowid = ?",
                        (kind, name, table, sql, at[0]),
                    )
        db.execute("delete from sqlite_master where type in ('trigger', 'view')")
        return False


def _copy(source: sqlite3.Connection, store: Store) -> int:
    db = store.db
    db.execute("pragma foreign_keys = off")
    db.execute("pragma ignore_check_constraints = on")
    source.text_factory = decode
    copied = 0
    try:
        plain = inspection.plain_tables(source)
    except (sqlite3.Error, inspection.TooMuch):
        plain = {}
    try:
        with store.transaction():
            shadows = ("sqlite_", *full_text.INDEXES, *counts.TABLES)
            rows = db.execute("select name from sqlite_master where type = 'table' order by rowid")
            tables = [row[0] for row in rows if not row[0].startswith(shadows)]
            own = db.execute("select value from store_values where name = 'secret'").fetchone()
            # Memories first: triggers on them write to other tables, whose own rows replace that.
            for table in sorted(tables, key=lambda name: name != memories.TABLE):
                copied += _copy_table(source, db, table, plain.get(table, ()))
            database.delete_values(db, agreements.PREFIX)  # what is lost here is in the files
            _name_project(store)
            if own and not copied:  # nothing in it is of the damaged one
                db.execute("insert or replace into store_values values ('secret', ?)", (own[0],))
            elif not database.read_secret(db):
                database.add_secret(db)  # which is not registered: the former one cannot be read
    finally:
        db.execute("pragma ignore_check_constraints = off")
        db.execute("pragma foreign_keys = on")
    return copied


def _name_project(store: Store) -> None:
    """Let the new database speak for the project that most of the memories name."""
    db = store.db
    owner = db.execute(
        "select project_id from unified_memories"
        " group by project_id order by count(*) desc, project_id limit 1"
    ).fetchone()
    if owner and owner[0] != store.project_id:
        db.execute("delete from projects where id = ?", (owner[0],))
        db.execute("update projects set id = ? where id = ?", (owner[0], store.project_id))
        store.project_id = owner[0]
    db.execute("delete from projects where id <> ?", (store.project_id,))


def _copy_table(
    source: sqlite3.Connection, db: sqlite3.Connection, table: str, readable: Collection[str]
) -> int:
    """Fill a table with what the *readable* columns of the other one have; return the rows."""
    if table != "projects":
        db.execute(f"delete from {table}")
    info = db.execute(f"pragma table_info({table})").fetchall()
    names = [row[1] for row in info if row[1] in readable]
    if not names:
        return 0
    listed, marks = ", ".join(names), ", ".join("?" * len(names))
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
    found = set(store.column("select id from unified_memories"))
    return found | set(store.column("select memory_id from memory_revisions"))


class Column(Value):
    table: str
    name: str
    check: str
    """An SQL expression that is false for what the column cannot hold."""
    nullable: bool
    default: str
    is_moment: bool


class Table(Value):
    name: str
    key: tuple[str, ...]
    columns: tuple[Column, ...]


class BadRow(Value):
    table: str
    key: tuple[Any, ...]
    """Values of the columns that name the row; for most tables the number of the row."""
    columns: tuple[str, ...]
    original: Row
    removed: bool = False

    @property
    def named(self) -> str:
        return f"{self.table} {' '.join(map(str, self.key))} ({', '.join(self.columns)})"


class NoText(bytes):
    """A text that is not UTF-8."""


def find_bad_rows(db: sqlite3.Connection) -> list[BadRow]:
    """Raises sqlite3.Error where tables are damaged."""
    with _raw(db):
        return [bad for table in _tables(db) for bad in _bad_rows(db, table)]


def repair_rows(db: sqlite3.Connection, now: datetime) -> list[BadRow]:
    """Replace each bad value by what history has, or the default; else remove the row."""
    with _raw(db):
        tables = {table.name: table for table in _tables(db)}
        found = [bad for table in tables.values() for bad in _bad_rows(db, table)]
        for index in full_text.present(db) if found else ():  # triggers fail on rows that differ
            full_text.fill(db, index)
        return [_mend(db, tables[bad.table], bad, now) for bad in found]


def repair_references(db: sqlite3.Connection) -> list[BadRow]:
    with _raw(db):
        named = db.execute("select distinct project_id from unified_memories limit 2").fetchall()
        project_ids = {row[0] for row in db.execute("select id from projects")}
        if len(named) == 1 and len(project_ids) == 1 and named[0][0] not in project_ids:
            db.execute("update projects set id = ?", named[0])  # its own row lost it
        done = []
        for name, rowid, parent, _ in db.execute("pragma foreign_key_check").fetchall():
            cursor = db.execute(f"select * from {name} where rowid = ?", (rowid,))
            row, is_kept = cursor.fetchone(), parent == "projects"
            if row is None:
                continue
            if is_kept:
                project = "(select id from projects order by rowid limit 1)"
                db.execute(f"update {name} set project_id = {project} where rowid = ?", (rowid,))
            else:
                db.execute(f"delete from {name} where rowid = ?", (rowid,))
            done.append(
                BadRow(
                    table=name,
                    key=(rowid,),
                    columns=(f"reference to {parent}",),
                    original=dict(zip([each[0] for each in cursor.description], row, strict=True)),
                    removed=not is_kept,
                )
            )
        return done


def keep_originals(db: sqlite3.Connection, mended: list[BadRow], now: datetime) -> None:
    for one in mended:
        db.execute(
            "insert into bad_rows (table_name, row_key, bad_columns, original, outcome, found_at)"
            " values (?, ?, ?, ?, ?, ?)",
            (
                one.table,
                " ".join(map(str, one.key)),
                " ".join(one.columns),
                json.dumps(one.original, default=lambda value: {"hex": value.hex()}),
                "removed" if one.removed else "repaired",
                stamp(now),
            ),
        )


def _tables(db: sqlite3.Connection) -> list[Table]:
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as model:
        database.run_schema(model)
        rows = model.execute(
            "select name, sql from sqlite_master where type = 'table' and name not like 'sqlite_%'"
        ).fetchall()
        shadows = full_text.INDEXES
        found = [_table(model, db, *row) for row in rows if not row[0].startswith(shadows)]
        return [table for table in found if table.columns]


def _table(model: sqlite3.Connection, db: sqlite3.Connection, name: str, sql: str) -> Table:
    lines = _COLUMN.sub(r",\n\1", _BROKEN.sub(" check (", sql))
    checks = dict(_CHECK.findall(lines.removesuffix(")")))  # after an added column
    there = {row[1] for row in db.execute(f"pragma table_info({name})")}
    info = [row for row in model.execute(f"pragma table_info({name})") if row[1] in there]
    key = tuple(row[1] for row in info if row[5]) if "without rowid" in sql else ("rowid",)
    columns = tuple(_column(name, row, checks.get(row[1], "")) for row in info)
    return Table(name=name, key=key, columns=columns)


def _column(table: str, info: tuple[Any, ...], own_check: str) -> Column:
    _, name, kind, needed, default, primary = info
    check = f"typeof({name}) in {TYPES[kind.lower()]}"
    if own_check:
        check = f"{check} and ({own_check})"
    nullable = not needed and not primary
    return Column(
        table=table,
        name=name,
        check=f"{name} is null or {check}" if nullable else check,
        nullable=nullable,
        default=default or "null",
        is_moment=" glob '[0-9]" in check,
    )


def _bad_rows(db: sqlite3.Connection, table: Table) -> Iterator[BadRow]:
    columns, keys = table.columns, len(table.key)
    names = [column.name for column in columns]
    tests = [f"({column.check})" for column in columns]
    query = f"select {', '.join([*table.key, *names, *tests])} from {table.name}"
    for row in db.execute(query):
        values, passed = row[keys : keys + len(names)], row[keys + len(names) :]
        bad = tuple(
            column.name
            for column, value, ok in zip(columns, values, passed, strict=True)
            if not ok or not _is_read(column, value)
        )
        if bad:
            original = dict(zip(names, values, strict=True))
            yield BadRow(table=table.name, key=row[:keys], columns=bad, original=original)


def _is_read(column: Column, value: object) -> bool:
    if not isinstance(value, str | NoText):
        return True
    if isinstance(value, NoText):
        return False
    try:
        if column.is_moment:
            parse(value)
        elif column.name in TEXTS:
            return all(isinstance(text, str) for text in json.loads(value))
        elif column.name == "claimed":
            json.loads(value).get("texts")
        elif column.name == "snapshot":
            memories.from_snapshot(json.loads(value))
    except database.MISREAD:
        return False
    return True


def _mend(db: sqlite3.Connection, table: Table, bad: BadRow, now: datetime) -> BadRow:
    marks = ("cast(? as text)" if isinstance(value, NoText) else "?" for value in bad.key)
    each = (f"{name} is {mark}" for name, mark in zip(table.key, marks, strict=True))
    where = " and ".join(each)
    values: dict[str, object] = {}
    for column in table.columns:
        if column.name in bad.columns:
            values |= _find_value(db, column, bad.original, now)
    removed = len(values) < len(bad.columns)
    if not removed:
        changes = ", ".join(f"{name} = ?" for name in values)
        try:
            query = f"update {table.name} set {changes} where {where}"
            db.execute(query, (*values.values(), *bad.key))
        except sqlite3.IntegrityError:  # what it says now is said by another row
            removed = True
    if removed:
        db.execute(f"delete from {table.name} where {where}", bad.key)
    return replace(bad, removed=removed)


def _find_value(
    db: sqlite3.Connection, column: Column, row: Row, now: datetime
) -> dict[str, object]:
    """Return the first candidate that the column can hold, under its name; empty without one."""
    query = f"select {column.check} from (select ? as {column.name})"
    for value in _candidates(db, column, row, now):
        if db.execute(query, (value,)).fetchone()[0] and _is_read(column, value):
            return {column.name: value}
    return {}


def _candidates(
    db: sqlite3.Connection, column: Column, row: Row, now: datetime
) -> Iterator[object]:
    if column.table == "unified_memories":
        yield from _from_history(db, column.name, row.get("id"))
    if column.name in ("snapshot", "claimed"):  # no default is as careful as to go without the row
        return
    yield from _spelled_anew(column, row[column.name])
    if column.name == "scope":
        yield "agent" if row.get("scope_owner_id") else "project"
    yield INSTEAD.get((column.table, column.name))
    if column.default != "null":
        yield db.execute(f"select {column.default}").fetchone()[0]
    if column.nullable:
        yield None
    if word := _WORD.search(column.check):
        yield word[1]
    if column.is_moment:
        yield from map(row.get, ("created_at", "started_at", "updated_at"))
        yield stamp(now)
    if column.name not in ("id", "sync_id"):
        yield from ("", 0, "[]", "{}", 1)


def _from_history(db: sqlite3.Connection, name: str, id: object) -> Iterator[object]:
    latest = "select snapshot from memory_revisions where memory_id is ?"
    for (snapshot,) in db.execute(f"{latest} order by revision desc limit 1", (id,)).fetchall():
        with suppress(ValueError, TypeError, KeyError, RecursionError):
            yield json.loads(snapshot)[name]


def _spelled_anew(column: Column, value: object) -> Iterator[object]:
    """Yield what the value itself may have meant."""
    if isinstance(value, bytes) and "('text'" in column.check:
        value = value.decode("utf-8", "replace")
        yield value
    if isinstance(value, str):
        yield value.strip().lower()
    if column.is_moment and isinstance(value, str):
        with suppress(ValueError, OverflowError):
            yield stamp(parse(value))
    if isinstance(value, int | float):
        yield min(max(value, 0), 1)


@contextmanager
def _raw(db: sqlite3.Connection) -> Iterator[None]:
    before = db.text_factory, db.row_factory
    db.text_factory, db.row_factory = decode, None
    try:
        yield
    finally:
        db.text_factory, db.row_factory = before


def decode(read: bytes) -> str | NoText:
    try:
        return read.decode()
    except UnicodeDecodeError:
        return NoText(read)
