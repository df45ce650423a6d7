"""`python -m tests.store.schema_file` writes the schema file anew from the migrations."""

from __future__ import annotations

import re
import sqlite3
from contextlib import closing
from pathlib import Path

from ademem.store import database

HEAD = (
    "-- Today's schema, from which new databases are made; migrations bring older ones to it.\n"
    "-- Written by `python -m tests.store.schema_file`: add a migration, then run that.\n"
)
_OBJECTS = """
select type, name, tbl_name, sql from sqlite_master where sql is not null
order by rowid
"""


def written() -> str:
    """The schema that all migrations make, in the order of the tables, each with its comment."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as db:
        database.run_schema(db, upto=database.SCHEMA_VERSION)
        rows = db.execute(_OBJECTS).fetchall()
    about = comments()
    shadows = tuple(f"{row[1]}_" for row in rows if row[3].startswith("CREATE VIRTUAL"))
    tables = [row for row in rows if row[0] == "table" and not row[1].startswith(shadows)]
    tables.sort(key=lambda row: list(about).index(row[1]))
    blocks = [HEAD]
    for _, name, _, sql in tables:
        others = [lowered(row[3]) for row in rows if row[2] == name and row[0] == "index"]
        blocks.append("\n".join([f"-- {about[name]}", lowered(sql), *others, ""]))
    others = [lowered(row[3]) for row in rows if row[0] in ("trigger", "view")]
    return "\n".join([*blocks, *(f"{each}\n" for each in others)])


def comments() -> dict[str, str]:
    """The comment above each table where it was last made, or after its name in a later file."""
    found: dict[str, str] = {}
    for file in sorted(Path(database.MIGRATIONS).glob("*.sql")):
        lines = file.read_text(encoding="utf-8").splitlines()
        for above, line in zip(["", *lines], lines, strict=False):
            table = re.match(r"create (?:virtual )?table (\w+)", line)
            if table and (above.startswith("-- ") or table[1] not in found):
                found[table[1]] = above.removeprefix("-- ")
            renamed = re.match(r"-- (\w+): (.*)", line)
            if renamed and renamed[1] in found:
                found[renamed[1]] = renamed[2]
    return found


def lowered(sql: str) -> str:
    """As we write it; SQLite stores the first words in capitals, and the rest as it is."""
    words = re.match(r"(CREATE (?:UNIQUE )?(?:VIRTUAL )?(?:TABLE|INDEX|TRIGGER|VIEW)) ", sql)
    assert words, sql
    return f"{words[1].lower()}{sql[words.end() - 1 :]};"


if __name__ == "__main__":
    Path(database.SCHEMA).write_text(written(), encoding="utf-8")
