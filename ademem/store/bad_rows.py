"""Rows with invalid values: find them, keep the originals, repair or remove them."""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from datetime import datetime
from typing import Any

from ademem.core.clock import parse, stamp
from ademem.core.value import Value
from ademem.store import database, full_text, memories

Row = dict[str, Any]

TYPES = {
    "text": "('text', 'null')",
    "integer": "('integer', 'null')",
    "real": "('real', 'integer', 'null')",
    "blob": "('blob', 'null')",
    "": "('text', 'integer', 'real', 'blob')",
}
"""Storage classes that a column of each declared type can hold."""
TEXTS = frozenset({"anchors", "files", "errors", "decisions", "corrections", "episode_ids"})
"""Columns with a JSON array of texts."""
INSTEAD = {
    ("unified_memories", "trust"): "import",
    ("unified_memories", "confidence"): 0.5,
    ("memory_revisions", "operation"): "edit",
    ("memory_revisions", "actor"): "import",
    ("turns", "class"): "required",
}
"""Values that are safer than the default of the column."""
_CHECK = re.compile(r"^[\s,]*(\w+) .*? check \((.*)\)(?:,[^()]*)? *(?:--.*)?$", re.M)
_WORD = re.compile(r" and \(\w+ in \('([\w-]+)'")


class Column(Value):
    table: str
    name: str
    check: str
    """An SQL expression that is false for what the column cannot hold."""
    nullable: bool
    default: str
    """An SQL expression."""
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
    """Columns with invalid values."""

    @property
    def named(self) -> str:
        return f"{self.table} {' '.join(map(str, self.key))} ({', '.join(self.columns)})"


class Mended(Value):
    bad: BadRow
    original: Row
    removed: bool


class NoText(bytes):
    """A text that is not UTF-8."""


def find(db: sqlite3.Connection) -> list[BadRow]:
    """Return every bad row; raises sqlite3.Error where tables are damaged."""
    with _raw(db):
        return [bad for table in _tables(db) for bad in _bad_rows(db, table)]


def repair(db: sqlite3.Connection, now: datetime) -> list[Mended]:
    """Replace each bad value by what history has, or the default; else remove the row.

    Runs in the caller's transaction; `keep` stores what the rows were.
    """
    with _raw(db):
        tables = {table.name: table for table in _tables(db)}
        found = [bad for table in tables.values() for bad in _bad_rows(db, table)]
        for index in full_text.present(db) if found else ():  # triggers fail on rows that differ
            full_text.fill(db, index)
        return [_mend(db, tables[bad.table], bad, now) for bad in found]


def repair_references(db: sqlite3.Connection) -> list[Mended]:
    """Move rows of a missing project to this one; remove rows of missing memories."""
    with _raw(db):
        tables = {table.name: table for table in _tables(db)}
        named = db.execute("select distinct project_id from unified_memories limit 2").fetchall()
        project_ids = {row[0] for row in db.execute("select id from projects")}
        if len(named) == 1 and len(project_ids) == 1 and named[0][0] not in project_ids:
            db.execute("update projects set id = ?", named[0])  # its own row lost it
        done = []
        for name, rowid, parent, _ in db.execute("pragma foreign_key_check").fetchall():
            bad = BadRow(table=name, key=(rowid,), columns=(f"reference to {parent}",))
            original = _row(db, tables[name], bad.key)
            if original is None:
                continue
            if parent == "projects":
                project = "(select id from projects order by rowid limit 1)"
                db.execute(f"update {name} set project_id = {project} where rowid = ?", (rowid,))
            else:
                db.execute(f"delete from {name} where rowid = ?", (rowid,))
            done.append(Mended(bad=bad, original=original, removed=parent != "projects"))
        return done


def keep(db: sqlite3.Connection, mended: list[Mended], now: datetime) -> None:
    for one in mended:
        key, names = " ".join(map(str, one.bad.key)), " ".join(one.bad.columns)
        original = json.dumps(one.original, default=lambda value: {"hex": value.hex()})
        outcome = "removed" if one.removed else "repaired"
        db.execute(
            "insert into bad_rows (table_name, row_key, bad_columns, original, outcome, found_at)"
            " values (?, ?, ?, ?, ?, ?)",
            (one.bad.table, key, names, original, outcome, stamp(now)),
        )


def _tables(db: sqlite3.Connection) -> list[Table]:
    """The tables of our schema that *db* has, with the columns that it has."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as model:
        database.run_schema(model)
        rows = model.execute(
            "select name, sql from sqlite_master where type = 'table' and name not like 'sqlite_%'"
        ).fetchall()
        shadows = full_text.INDEXES
        found = [_table(model, db, *row) for row in rows if not row[0].startswith(shadows)]
        return [table for table in found if table.columns]


def _table(model: sqlite3.Connection, db: sqlite3.Connection, name: str, sql: str) -> Table:
    checks = dict(_CHECK.findall(sql.removesuffix(")")))  # after an added column
    there = {row[1] for row in db.execute(f"pragma table_info({name})")}
    info = [row for row in model.execute(f"pragma table_info({name})") if row[1] in there]
    key = tuple(row[1] for row in info if row[5]) if "without rowid" in sql else ("rowid",)
    columns = []
    for _, column, kind, needed, default, primary in info:
        check = f"typeof({column}) in {TYPES[kind.lower()]}"
        if column in checks:
            check = f"{check} and ({checks[column]})"
        if not needed and not primary:
            check = f"{column} is null or {check}"
        elif kind:
            check = f"{column} is not null and {check}"
        columns.append(
            Column(
                table=name,
                name=column,
                check=check,
                nullable=not needed and not primary,
                default=default or "null",
                is_moment=" glob '[0-9]" in check,
            )
        )
    return Table(name=name, key=key, columns=tuple(columns))


def _bad_rows(db: sqlite3.Connection, table: Table) -> Iterator[BadRow]:
    """Find rows that fail a check in SQL, or only when read: damaged text, moments, JSON."""
    tests = ", ".join(f"({column.check})" for column in table.columns)
    names = ", ".join(column.name for column in table.columns)
    key = ", ".join(table.key)
    width, keys = len(table.columns), len(table.key)
    query = f"select {key}, {names}, {tests} from {table.name}"
    for row in db.execute(query):
        values, passed = row[keys : keys + width], row[keys + width :]
        bad = tuple(
            column.name
            for column, value, ok in zip(table.columns, values, passed, strict=True)
            if not ok or not _is_read(column, value)
        )
        if bad:
            yield BadRow(table=table.name, key=tuple(row[:keys]), columns=bad)


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
    except (ValueError, TypeError, AttributeError, KeyError, RecursionError):
        return False
    return True


def _mend(db: sqlite3.Connection, table: Table, bad: BadRow, now: datetime) -> Mended:
    original = _row(db, table, bad.key) or {}
    where = _where(table, bad.key)
    values: dict[str, object] = {}
    removed = False
    for column in table.columns:
        if column.name in bad.columns:
            query = f"select {column.check} from (select ? as {column.name})"
            for value in _candidates(db, column, original, now):
                if db.execute(query, (value,)).fetchone()[0] and _is_read(column, value):
                    values[column.name] = value
                    break
            else:  # the column can hold none of them
                removed = True
    if not removed:
        changes = ", ".join(f"{name} = ?" for name in values)
        try:
            query = f"update {table.name} set {changes} where {where}"
            db.execute(query, (*values.values(), *bad.key))
        except sqlite3.IntegrityError:  # what it says now is said by another row
            removed = True
    if removed:
        db.execute(f"delete from {table.name} where {where}", bad.key)
    return Mended(bad=bad, original=original, removed=removed)


def _candidates(
    db: sqlite3.Connection, column: Column, row: Row, now: datetime
) -> Iterator[object]:
    value = row[column.name]
    if column.table == "unified_memories":
        latest = "select snapshot from memory_revisions where memory_id is ?"
        query = f"{latest} order by revision desc limit 1"
        for (snapshot,) in db.execute(query, (row.get("id"),)).fetchall():
            with suppress(ValueError, TypeError, KeyError, RecursionError):
                yield json.loads(snapshot)[column.name]
    if column.name in ("snapshot", "claimed"):  # no default is as careful as to go without the row
        return
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
        yield from (row.get(name) for name in ("created_at", "started_at", "updated_at"))
        yield stamp(now)
    if column.name not in ("id", "sync_id"):
        yield from ("", 0, "[]", "{}", 1)


def _row(db: sqlite3.Connection, table: Table, key: tuple[Any, ...]) -> Row | None:
    names = [column.name for column in table.columns]
    where = _where(table, key)
    row = db.execute(f"select {', '.join(names)} from {table.name} where {where}", key).fetchone()
    return dict(zip(names, row, strict=True)) if row else None


def _where(table: Table, key: tuple[Any, ...]) -> str:
    marks = ("cast(? as text)" if isinstance(value, NoText) else "?" for value in key)
    return " and ".join(f"{name} is {mark}" for name, mark in zip(table.key, marks, strict=True))


@contextmanager
def _raw(db: sqlite3.Connection) -> Iterator[None]:
    """Read rows as tuples, and text that is not UTF-8 as NoText."""
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
