"""Migration of a database of an earlier version, whose rows are repaired on the way.

From the first release on a database is changed by the files of `database.MIGRATIONS`. One from
before it is taken over: all rows of its tables go into the tables of today, column by column.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from datetime import datetime

from ademem.core.errors import UnusableStore
from ademem.store import counts, database, memories, repair
from ademem.store.full_text import INDEXES
from ademem.store.inspection import quote

BYTES_PER_S = 4_000_000
"""Size of a database that is surely taken over in a second; 20 to 40 MB were measured."""
_FORMER = "former_"
_STAGES = """
update unified_memories set stage = case
  when status = 'promoted' or promoted_at is not null then 'confirmed'
  when source_type = 'intervention' then 'heard' else 'candidate' end
"""


class TakesLonger(UnusableStore):
    """The caller has less time than taking over the database may need."""

    def __init__(self, size: int) -> None:
        mib = size / 2**20
        super().__init__(
            f"the database is one from before the first release, and its {mib:.0f} MiB are not"
            " taken over in a hook",
            "`ademem doctor` takes it over",
        )


def migrate(
    db: sqlite3.Connection,
    now: datetime,
    back_up: Callable[[], str],
    limit_s: float | None = None,
) -> None:
    """Bring the database to SCHEMA_VERSION; *back_up* makes a copy before, and returns its path.

    All of it is one transaction: a process that is killed or a full disk leave what was there.
    Raises MigrationFailed, sqlite3.OperationalError, or TakesLonger than *limit_s*.
    """
    db.execute("pragma foreign_keys = off")
    db.execute("pragma legacy_alter_table = on")  # else renaming looks for views that were dropped
    try:
        with database.Transaction(db):
            if not database.is_outdated(db):  # another process may have got here first
                return
            is_earlier, found = database.is_earlier(db), database.version(db)
            if is_earlier and limit_s is not None:
                _require_time(db, limit_s)
            backup = back_up()
            try:
                mended = [] if is_earlier or not found else repair.repair_rows(db, now)
                db.execute("pragma ignore_check_constraints = on")
                if is_earlier:
                    take_over(db)
                else:
                    database.run_schema(db, found)
                db.execute("pragma ignore_check_constraints = off")
                mended += repair.repair_rows(db, now)  # of tables that have another name now
                repair.keep_originals(db, mended, now)
                if not found:
                    database.add_secret(db)
            except sqlite3.Error as error:
                raise database.MigrationFailed(error, backup) from error
    finally:
        db.execute("pragma legacy_alter_table = off")
        db.execute("pragma foreign_keys = on")


def _require_time(db: sqlite3.Connection, limit_s: float) -> None:
    query = "select page_count * page_size from pragma_page_count, pragma_page_size"
    (size,) = db.execute(query).fetchone()
    if size > limit_s * BYTES_PER_S:
        raise TakesLonger(size)


def take_over(db: sqlite3.Connection) -> None:
    """Make today's schema, and move all rows of a database of EARLIER into it.

    Belongs in a transaction, without foreign keys and checks of values. Rows keep their numbers.
    """
    former = _set_aside_tables(db)
    database.run_schema(db)
    tables = [name for name in _tables(db) if name in former]
    # Memories first: triggers on them write to other tables, whose own rows replace that.
    for table in sorted(tables, key=lambda name: name != memories.TABLE):
        columns = [name for name in _columns(db, table) if name in former[table]]
        listed = ", ".join(columns)
        db.execute(f"delete from {table}")
        db.execute(f"insert into {table} ({listed}) select {listed} from {_FORMER}{table}")
        if table == memories.TABLE and "stage" not in columns:
            db.execute(_STAGES)
    for name in former:
        db.execute(f"drop table {quote(_FORMER + name)}")
    db.execute("delete from jobs where kind = 'map'")  # of which nothing is left that does it


def _set_aside_tables(db: sqlite3.Connection) -> dict[str, list[str]]:
    """Rename all tables and drop what depends on them; return their columns."""
    kinds = "type in ('view', 'trigger', 'index') and sql is not null"
    for kind, name in db.execute(f"select type, name from sqlite_master where {kinds}").fetchall():
        db.execute(f"drop {kind} {quote(name)}")
    for name in (*INDEXES, *counts.TABLES):  # which triggers fill
        db.execute(f"drop table if exists {name}")
    tables = _tables(db)
    columns = {name: _columns(db, name) for name in tables}
    for name in tables:
        db.execute(f"alter table {quote(name)} rename to {quote(_FORMER + name)}")
    return columns


def _tables(db: sqlite3.Connection) -> list[str]:
    query = "select name from sqlite_master where type = 'table' order by rowid"
    shadows = ("sqlite_", _FORMER, *INDEXES, *counts.TABLES)
    return [row[0] for row in db.execute(query) if not row[0].startswith(shadows)]


def _columns(db: sqlite3.Connection, table: str) -> list[str]:
    return [row[1] for row in db.execute(f"pragma table_info({quote(table)})")]
