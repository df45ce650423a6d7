"""The full-text indexes beside their tables: whether they still agree, and making them anew."""

from __future__ import annotations

import sqlite3

from ademem.core.value import Value
from ademem.store.database import is_locked

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ademem.store import Store


class FullText(Value):
    name: str
    table: str
    columns: str


INDEXES = (
    FullText(
        name="unified_memories_fts",
        table="unified_memories",
        columns="title, content, tags, file_scope_pattern, topic_key",
    ),
    FullText(name="unified_memories_trigram", table="unified_memories", columns="title, content"),
    FullText(name="prompts_fts", table="user_prompts", columns="content"),
)


def astray(store: Store) -> list[FullText]:
    """The indexes that are damaged, or hold another number of rows than their tables.

    Raises sqlite3.Error where another process has locked the database.
    """
    return [index for index in INDEXES if not _agrees(index, store.db)]


def rebuild(store: Store, index: FullText) -> None:
    """Index what is not deleted; SQLite's own rebuild would take in the deleted rows too."""
    with store.transaction() as db:
        fill(db, index)


def fill(db: sqlite3.Connection, index: FullText) -> None:
    """The same, in the caller's transaction."""
    db.execute(f"insert into {index.name}({index.name}) values ('delete-all')")
    db.execute(
        f"insert into {index.name}(rowid, {index.columns})"
        f" select seq, {index.columns} from {index.table} where deleted_at is null"
    )


def _agrees(index: FullText, db: sqlite3.Connection) -> bool:
    try:
        db.execute(f"insert into {index.name}({index.name}) values ('integrity-check')")
    except sqlite3.DatabaseError as error:
        if is_locked(error):
            raise
        return False
    indexed = db.execute(f"select count(*) from {index.name}_docsize").fetchone()[0]
    query = f"select count(*) from {index.table} where deleted_at is null"
    return bool(indexed == db.execute(query).fetchone()[0])


def check_fts5() -> None:
    """Raise sqlite3.Error where this SQLite lacks FTS5 or its trigram tokenizer."""
    from contextlib import closing

    with closing(sqlite3.connect(":memory:")) as db:
        db.execute("create virtual table t using fts5(x, tokenize='trigram')")
