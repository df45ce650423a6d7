"""Opening, creating and migrating the database file, and reading rows that may be damaged."""

from __future__ import annotations

import os
import sys
import time

from ademem.core import caching, shared_files
from ademem.core.errors import UnusableStore
from ademem.core.json_text import compact, loads
from ademem.core.shared_files import locked

TYPE_CHECKING = False
if TYPE_CHECKING:
    import sqlite3 as sqlite3
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
    from operator import methodcaller
    from typing import Any, TypeVar

    Row = TypeVar("Row")
    V = TypeVar("V")
else:
    from _operator import methodcaller  # the module around it defines all of it once more

    # All we need is in the C module; the package around it loads `collections` and more. So does
    # `functools`, of which the C module takes `lru_cache` alone.
    is_ours = sys.modules.setdefault("functools", caching) is caching
    try:
        import _sqlite3 as sqlite3
    except ImportError:
        sqlite3 = None
    finally:
        if is_ours:
            del sys.modules["functools"]
    if sqlite3 is None:
        import sqlite3

FOLDER = os.path.dirname(__file__)
SCHEMA = "schema.sql"
MIGRATIONS: tuple[str, ...] = ()
"""Files in FOLDER that follow SCHEMA, one a version; one that was released is never edited."""
CHECKPOINT_PAGES = 400
LONG_LOG_BYTES = CHECKPOINT_PAGES * 4096
PAGES_KIB = 16_384
IDLE_PAGES_KIB = 4096
DECODE = methodcaller("decode", "utf-8", "replace")
"""Reads a text with damaged bytes, too, so that one row cannot fail a whole query."""
FIRST_VERSION = 4
"""Version of SCHEMA."""
SCHEMA_VERSION = FIRST_VERSION + len(MIGRATIONS)
APPLICATION_ID = int.from_bytes(b"adem")
EARLIER = (1, 2, 3, *range(31, 40))
"""Versions from before the first release, those from 31 on without an application id; see
`take_over`."""
MAGIC, HEADER_BYTES = b"SQLite format 3\0", 100
SCHEMA_PAGES = (5, 13)
"""First bytes of an inner page and of a leaf of a table."""
SECRET_BYTES = 16
_VALUES = (
    "CREATE TABLE store_values (\n"
    "  name text primary key,"
    "  -- secret | whitening_model | whitening_mean | … | hook_output/2026-01-31/stop\n"
    "  value not null\n)"
)
"""The definition of the table with the secret, of this version and earlier ones."""
SIDECARS = ("-wal", "-shm", "-journal")

BAD_SCHEMA = "its schema is not UTF-8"
OperationalError = sqlite3.OperationalError
DatabaseError = sqlite3.DatabaseError

ASKING_MS = 20
"""Time after which a writer that waits asks as often again as at first."""
_LOCKED = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
_UNWRITABLE = (
    *_LOCKED,
    sqlite3.SQLITE_READONLY,
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_CANTOPEN,
)


class NewerDatabase(UnusableStore):
    hint = "update ademem: run install.sh of the newer version"

    def __init__(self, found: int) -> None:
        super().__init__(
            f"the database has schema {found}; this ademem knows up to {SCHEMA_VERSION}"
        )


class MigrationFailed(UnusableStore):
    def __init__(self, error: sqlite3.Error, backup: str) -> None:
        self.cause = error
        super().__init__(
            f"the database could not be brought to schema {SCHEMA_VERSION}: {error}",
            f"nothing was changed, and {backup} is a copy; `ademem doctor --fix` sets it aside and"
            " rebuilds it from the files and its rows",
        )


def connect(path: str, wait_s: float, *, for_threads: bool = False) -> sqlite3.Connection:
    db = sqlite3.connect(
        path, timeout=wait_s, isolation_level=None, check_same_thread=not for_threads
    )
    try:
        db.row_factory = sqlite3.Row
        db.text_factory = DECODE
        db.execute("pragma foreign_keys = on")
        db.execute("pragma synchronous = normal")
        db.execute(f"pragma cache_size = -{PAGES_KIB}")
        db.execute(f"pragma wal_autocheckpoint = {CHECKPOINT_PAGES}")
    except UnicodeDecodeError as error:  # of SQLite's message, which quotes the schema
        db.close()
        raise sqlite3.DatabaseError(BAD_SCHEMA) from error
    except BaseException:
        db.close()
        raise
    return db


class IdleConnections:
    """One idle connection to each database, which any thread of a long process may take.

    It has the schema, statements and pages of the last call in memory, and holds no lock. While it
    is open, other connections close without a checkpoint of the whole log.
    """

    def __init__(self) -> None:
        self._idle: dict[str, tuple[str, sqlite3.Connection]] = {}

    def take(
        self, path: str, state: str, wait_s: float
    ) -> tuple[sqlite3.Connection, Callable[[], None]]:
        """Return the idle connection to the file at *path* or a new one, and what puts it back.

        *state* tells this file from another at its path, and was found before the file is opened.
        """
        state_then, db = self._idle.pop(path, ("", None))
        if db is not None and state_then != state:
            db.close()
            db = None
        if db is None:
            db = connect(path, wait_s, for_threads=True)
            db.execute(f"pragma cache_size = -{IDLE_PAGES_KIB}")
        taken = db

        def put() -> None:
            if taken.in_transaction or self._idle.setdefault(path, (state, taken))[1] is not taken:
                taken.close()

        return taken, put

    def close(self) -> None:
        while self._idle:
            self._idle.popitem()[1][1].close()


def is_unwritable(error: sqlite3.OperationalError) -> bool:
    return getattr(error, "sqlite_errorcode", 0) & 0xFF in _UNWRITABLE


def is_locked(error: sqlite3.Error) -> bool:
    return getattr(error, "sqlite_errorcode", 0) & 0xFF in _LOCKED


class Transaction:
    """One `begin immediate` … commit, rolled back by any exception; nested ones join the outer."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self.db = db
        self.outermost = False

    def __enter__(self) -> sqlite3.Connection:
        self.outermost = not self.db.in_transaction
        if self.outermost:
            self._begin()
        return self.db

    def _begin(self) -> None:
        """Begin as soon as no other writer is there; SQLite would ask less and less often."""
        (wait_ms,) = self.db.execute("pragma busy_timeout").fetchone()
        until = time.monotonic() + wait_ms / 1000
        self.db.execute(f"pragma busy_timeout = {min(wait_ms, ASKING_MS)}")
        try:
            while True:
                try:
                    self.db.execute("begin immediate")
                    return
                except sqlite3.OperationalError as error:
                    if not is_locked(error) or time.monotonic() >= until:
                        raise
        finally:
            self.db.execute(f"pragma busy_timeout = {wait_ms}")

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if not self.outermost:
            return
        try:
            if error is None:
                self.db.execute("commit")
        finally:
            if self.db.in_transaction:
                self.db.execute("rollback")


class Savepoint:
    def __init__(self, db: sqlite3.Connection) -> None:
        self.db = db

    def __enter__(self) -> None:
        self.db.execute("savepoint block")

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        if not self.db.in_transaction:
            return  # SQLite has rolled all of it back, and the error tells why
        if kind is not None:
            self.db.execute("rollback to block")
        self.db.execute("release block")


class DryRun(Exception):
    """Raised inside of a transaction to take its writes back."""


def value(db: sqlite3.Connection, name: str) -> str:
    row = db.execute("select value from store_values where name = ?", (name,)).fetchone()
    return str(row[0]) if row else ""


def set_value(db: sqlite3.Connection, name: str, text: str) -> None:
    db.execute("insert or replace into store_values values (?, ?)", (name, text))


def read_list(db: sqlite3.Connection, name: str) -> list[Any]:
    found: list[Any] = loads(value(db, name) or "[]")
    return found


def write_list(db: sqlite3.Connection, name: str, items: Sequence[object]) -> None:
    set_value(db, name, compact(items))


# A range of the key: a project in a hub has values for each memory, and each change reads targets.
_BEGINNING = "name >= ?1 and name < ?1 || char(1114111)"


def values(db: sqlite3.Connection, prefix: str) -> dict[str, str]:
    query = f"select name, value from store_values where {_BEGINNING} order by name"
    return {name.removeprefix(prefix): text for name, text in db.execute(query, (prefix,))}


def delete_value(db: sqlite3.Connection, name: str) -> None:
    db.execute("delete from store_values where name = ?", (name,))


def delete_values(db: sqlite3.Connection, prefix: str) -> None:
    db.execute(f"delete from store_values where {_BEGINNING}", (prefix,))


def upsert(
    db: sqlite3.Connection,
    table: str,
    row: Mapping[str, object],
    keys: Sequence[str],
    kept: Collection[str] = (),
) -> None:
    changed = ", ".join(f"{name} = :{name}" for name in row if name not in (*keys, *kept))
    db.execute(
        f"insert into {table} ({', '.join(row)}) values ({', '.join(f':{name}' for name in row)})"
        f" on conflict ({', '.join(keys)}) do update set {changed}",
        row,
    )


def place(db: sqlite3.Connection) -> str:
    """Return inode and path of the database, which differ in a copy; empty for one in memory."""
    path = db.execute("pragma database_list").fetchone()["file"]
    try:
        return f"{os.stat(path).st_ino} {os.path.realpath(path)}"
    except OSError:
        return ""


def version(db: sqlite3.Connection) -> int:
    return int(db.execute("pragma user_version").fetchone()[0])


def create(path: str) -> str:
    """Build a database aside and move it into place; return its secret, empty if one was there."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    temporary = create_temporary(path)
    try:
        made = fill(temporary)
        with locked(os.path.dirname(path)):
            if not os.path.lexists(path):
                # SQLite would replay the log of a deleted database into ours.
                remove_files(path)
                os.rename(temporary, path)
                return made
    finally:
        remove_files(temporary)
    return ""


def fill(path: str) -> str:
    from contextlib import closing

    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        with Transaction(db):
            run_schema(db)
            add_secret(db)
            made = read_secret(db)
        db.execute("pragma journal_mode = wal")
    return made


def create_temporary(path: str) -> str:
    """Return the path of a new file for its owner alone, as it gets prompts."""
    from contextlib import suppress

    temporary = f"{path}.{os.getpid()}-{os.urandom(4).hex()}.new"
    with suppress(OSError):  # SQLite meets the same, and is asked next
        os.close(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    return temporary


def add_secret(db: sqlite3.Connection) -> None:
    secret = os.urandom(SECRET_BYTES)
    db.execute("insert or replace into store_values values ('secret', ?)", (secret,))


def read_secret(db: sqlite3.Connection) -> str:
    """Return it in hex; the table has the very words of our schema, so reading runs nothing."""
    made = db.execute("select sql from sqlite_master where name = 'store_values'").fetchall()
    if len(made) != 1 or made[0][0] != _VALUES:
        return ""
    row = db.execute("select value from store_values where name = 'secret'").fetchone()
    is_whole = row and isinstance(row[0], bytes) and len(row[0]) == SECRET_BYTES
    return row[0].hex() if is_whole else ""


def write_ahead(db: sqlite3.Connection, path: str) -> None:
    """Set WAL mode; where that would wait, the next opening does it."""
    if db.execute("pragma journal_mode").fetchone()[0] != "wal":
        from contextlib import closing, suppress

        with suppress(sqlite3.OperationalError), closing(connect(path, wait_s=0)) as alone:
            alone.execute("pragma journal_mode = wal")


def is_none(path: str) -> bool:
    """Return True for a file in which nothing of a database is left; a damaged one is repaired.

    It has neither the header of SQLite nor, behind it, a page as that of a schema begins
    (https://www.sqlite.org/fileformat2.html, 1.3 and 1.6).
    """
    try:
        with open(path, "rb", buffering=0) as file:
            head = file.read(HEADER_BYTES + 1)
    except OSError:
        return False
    has_page = len(head) > HEADER_BYTES and head[HEADER_BYTES] in SCHEMA_PAGES
    return bool(head) and not head.startswith(MAGIC) and not has_page


def is_outdated(db: sqlite3.Connection) -> bool:
    found = version(db)
    if found > SCHEMA_VERSION and not is_earlier(db):
        raise NewerDatabase(found)
    return found != SCHEMA_VERSION


def is_earlier(db: sqlite3.Connection) -> bool:
    """Return True for a database of ours from before the first release."""
    found = version(db)
    return found in EARLIER and is_marked(db) == (found < FIRST_VERSION)


def is_marked(db: sqlite3.Connection) -> bool:
    return bool(db.execute("pragma application_id").fetchone()[0] == APPLICATION_ID)


def run_schema(db: sqlite3.Connection, done: int = 0, upto: int | None = None) -> None:
    """Bring a database of the version *done* to that of *upto*, or to today's."""
    last = SCHEMA_VERSION if upto is None else upto
    for version, name in enumerate((SCHEMA, *MIGRATIONS), FIRST_VERSION):
        if not done < version <= last:
            continue
        with open(os.path.join(FOLDER, name), encoding="utf-8") as file:
            for statement in statements(file.read()):
                db.execute(statement)
    mark(db, last)


def mark(db: sqlite3.Connection, version: int) -> None:
    db.execute(f"pragma application_id = {APPLICATION_ID}")
    db.execute(f"pragma user_version = {version}")


def statements(script: str) -> Iterator[str]:
    """Split a script where SQLite sees a statement end, as triggers hold semicolons."""
    statement = ""
    for line in script.splitlines(keepends=True):
        statement += line
        if ";" in line and sqlite3.complete_statement(statement):
            yield statement
            statement = ""
    if statement.strip():
        yield statement


def remove_files(path: str) -> None:
    for suffix in ("", *SIDECARS):
        shared_files.remove(path + suffix)


MISREAD = (ValueError, TypeError, AttributeError, KeyError, OverflowError, RecursionError)
"""Exceptions of readers for an invalid value, which the doctor finds and repairs."""


def read_rows(rows: Iterable[Row], read: Callable[[Row], V]) -> list[V]:
    """Leave out rows that cannot be read."""
    return [value for row in rows if (value := read_row(row, read)) is not None]


def read_row(row: Any, read: Callable[[Any], V]) -> V | None:
    try:
        return None if row is None else read(row)
    except MISREAD:
        return None
