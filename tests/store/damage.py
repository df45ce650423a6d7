"""A project with a row in every table, and ways to damage its database."""

from __future__ import annotations

import random
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

from ademem.core.value import Value
from ademem.operations import files
from tests.store import filled
from tests.world import World

RAW = {
    "a word": "zzz",
    "bytes": b"\xff\x00",
    "a huge number": 9e99,
    "a negative number": -7,
    "damaged text": b"gr\xfcn",
}
SKIPPED = ("sqlite_sequence", "bad_rows")
TEXTS = (
    ("Tabs are forbidden in this code", "convention"),
    ("Deploys go through staging, never straight to production", "decision"),
    ("The parser in src/parse.py caches `tokens` between runs", "gotcha"),
    ("WAL needs shared memory", "fact"),
    ("People here like short functions", "preference"),
)


class Damage(Value):
    """One value that its column cannot hold, or one byte of the file."""

    table: str = ""
    column: str = ""
    kind: str = ""
    offset: int = -1
    mask: int = 0
    file: str = ""
    """What is appended to the database's name in that of the file with the byte."""

    @property
    def name(self) -> str:
        if self.table:
            return f"{self.table}.{self.column}: {self.kind}"
        return f"byte {self.offset} of ade.db{self.file}"

    def inflict(self, path: Path) -> None:
        if self.table:
            with closing(sqlite3.connect(path, isolation_level=None)) as db:
                db.execute("pragma foreign_keys = off")
                db.execute("pragma ignore_check_constraints = on")
                value = RAW[self.kind]
                marked = "cast(:value as text)" if self.kind == "damaged text" else ":value"
                query = "select name, sql from sqlite_master where type = 'trigger'"
                triggers = db.execute(query).fetchall()
                for name, _ in triggers:  # a byte that flips sets none off
                    db.execute(f"drop trigger {name}")
                first = f"(select min(rowid) from {self.table})"
                where = "" if _is_keyed(db, self.table) else f" where rowid = {first}"
                db.execute(
                    f"update or ignore {self.table} set {self.column} = {marked}{where}",
                    {"value": value},
                )
                for _, sql in triggers:
                    db.execute(sql)
        else:
            with path.with_name(path.name + self.file).open("r+b") as file:
                file.seek(self.offset)
                byte = file.read(1)[0]
                file.seek(self.offset)
                file.write(bytes([byte ^ self.mask]))


def build(root: Path) -> World:
    """Sessions, memories and an episode; and a plain row in every other table."""
    world = World(root)
    for text, category in TEXTS:
        world.know(text, category=category)
    world.fire("session_start", source="startup")
    world.fire("user_prompt_submit", prompt="fix the parser in src/parse.py", prompt_id="p1")
    world.fire(
        "post_tool_use",
        tool_name="Bash",
        tool_use_id="t1",
        prompt_id="p1",
        tool_input={"command": 'bd comment BD-1 "LEARNED: the cache must be cleared first"'},
        tool_response={"stdout": ""},
    )
    world.fire("stop", prompt_id="p1")
    world.fire("session_end", reason="other")
    with world.memories() as memories:
        files.refresh_files(memories)
        db = memories.store.db
        query = "select id, project_id from unified_memories order by seq limit 2"
        (memory, project), (other, _) = db.execute(query).fetchall()
        known = {"project_id": project, "memory_id": memory, "procedure_memory_id": memory}
        known["neighbour_id"] = other
        known["attempts"] = 0  # what failed too often is a finding of its own
        with memories.store.transaction():
            for table in filled.tables(db):
                if not table.startswith(SKIPPED) and not _has_rows(db, table):
                    filled.insert_one(db, table, known)
    with closing(sqlite3.connect(world.root / ".ade" / "ade.db")) as db:
        db.execute("pragma wal_checkpoint(truncate)")
    return world


def damages(path: Path) -> list[Damage]:
    """Every column of every table with each value that it cannot hold."""
    with closing(sqlite3.connect(path)) as db:
        return [
            Damage(table=table, column=column, kind=kind)
            for table in filled.tables(db)
            if not table.startswith(SKIPPED)
            for _, column, kind_, _, _, key in db.execute(f"pragma table_info({table})")
            for declared in (kind_.lower(),)
            if not (
                key and declared == "integer"
            )  # the number of the row, which nothing else can be
            for kind in RAW
            if _is_bad(kind, declared)
        ]


def flip(path: Path, chance: random.Random, file: str = "") -> Damage:
    """One bit anywhere in the database's file, or in the one beside it."""
    offset = chance.randrange(path.with_name(path.name + file).stat().st_size)
    return Damage(offset=offset, mask=1 << chance.randrange(8), file=file)


def with_log(world: World, root: Path, text: str) -> World:
    """A copy of the project, taken while the text is in the log beside the database."""
    with closing(sqlite3.connect(world.root / ".ade" / "ade.db")) as open_all_along:
        open_all_along.execute("select * from projects").fetchall()  # else closing ends the log
        world.know(text)
        with world.memories() as memories:
            files.refresh_files(memories)
        return copied(world, root)


def copied(world: World, root: Path) -> World:
    shutil.copytree(world.root, root)
    copy = object.__new__(World)
    copy.root, copy.now = root, world.now
    changed = {"CLAUDE_PROJECT_DIR": str(root), "TMPDIR": str(root.parent)}
    copy.environment = world.environment | changed
    return copy


def _is_bad(kind: str, declared: str) -> bool:
    return kind in ("bytes", "damaged text") or declared in ("text", "integer", "real")


def _has_rows(db: sqlite3.Connection, table: str) -> bool:
    return db.execute(f"select 1 from {table} limit 1").fetchone() is not None


def _is_keyed(db: sqlite3.Connection, table: str) -> bool:
    (sql,) = db.execute("select sql from sqlite_master where name = ?", (table,)).fetchone()
    return "without rowid" in sql
