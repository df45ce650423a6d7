"""Classification of a database by its schema: ours, ADE's, or another's.

The database is opened read-only and with bounds on time and sizes; of what is in it only
`sqlite_schema` and `user_version` are read. A row there is text that SQLite parses: no trigger,
view or expression of it is run by reading it.
"""

from __future__ import annotations

import time

from ademem.core import trust
from ademem.core.text import sha256_hex
from ademem.core.value import StrEnum
from ademem.store import database
from ademem.store.database import sqlite3

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    Object = tuple[str, str, str, str]
    """Type, name, table and SQL of a row of `sqlite_schema`."""

DIGEST = "274cc1acc70f11af348f632ea372c44e"

LOOK_S = 5.0
COPY_S = 60.0
OPERATIONS = 100_000
"""Steps of SQLite's virtual machine between two checks of the time."""
SCHEMA_ROWS = 5_000
_OBJECTS = (
    "select type, name, tbl_name, ifnull(sql, '') as sql from sqlite_master"
    f" where name not glob 'sqlite_stat*' order by type, name limit {SCHEMA_ROWS + 1}"
)
ROWS = 500_000
VALUE_BYTES = 16_000_000
_OPTIONS = (("DEFENSIVE", True), ("ENABLE_TRIGGER", False), ("ENABLE_VIEW", False))
_ENDLESS = (sqlite3.SQLITE_INTERRUPT, sqlite3.SQLITE_TOOBIG, sqlite3.SQLITE_NOMEM)
_MISFIT = (sqlite3.SQLITE_ERROR, sqlite3.SQLITE_CONSTRAINT, sqlite3.SQLITE_MISMATCH)


class Kind(StrEnum):
    OURS = "ours"
    ADE = "ade"
    FOREIGN = "foreign"


class TooMuch(Exception):
    """A table holds more than is read."""


def kind_of(path: str, environment: Mapping[str, str], wait_s: float = 0.0) -> Kind:
    """Raises NewerDatabase, or sqlite3.Error for what is damaged or locked."""
    if database.is_none(path):
        return Kind.FOREIGN
    try:
        db = open_read_only(path, wait_s, LOOK_S)
        try:
            return _kind_of_opened(db, environment)
        finally:
            db.close()
    except UnicodeDecodeError as error:
        raise sqlite3.DatabaseError(database.BAD_SCHEMA) from error
    except (TooMuch, sqlite3.Error) as error:
        if not is_beyond_bounds(error):
            raise
        return Kind.FOREIGN


def _kind_of_opened(db: sqlite3.Connection, environment: Mapping[str, str]) -> Kind:
    found, is_marked = database.version(db), database.is_marked(db)
    if found > database.SCHEMA_VERSION and is_marked:
        raise database.NewerDatabase(found)
    if trust.is_registered(database.read_secret(db), environment):
        is_known = is_marked or found <= database.SCHEMA_VERSION or database.is_earlier(db)
        return Kind.OURS if is_known else Kind.FOREIGN
    objects = schema(db)
    if found == 0:
        return _kind_of_unnumbered(objects)
    if not is_marked or found < 0 or _spell(read_shipped_schema(found)) != _spell(objects):
        return Kind.FOREIGN
    return Kind.OURS


def _kind_of_unnumbered(objects: list[Object]) -> Kind:
    if not objects:
        return Kind.OURS  # an empty file; opening it makes our tables
    tables = {name.lower() for kind, name, _, sql in objects if kind == "table"}
    return Kind.ADE if tables & {"unified_memories", "memories"} else Kind.FOREIGN


def has_shipped_schema(db: sqlite3.Connection) -> bool:
    """Compare with the current schema and run nothing; `admit` looks again at one that differs."""
    return digest(db.execute(_OBJECTS)) == DIGEST


def digest(objects: Iterable[Iterable[object]]) -> str:
    """Names count the same with and without quotes, as renaming adds them."""
    return sha256_hex(*(str(part).replace('"', "") for each in objects for part in each))[:32]


def open_read_only(path: str, wait_s: float, limit_s: float) -> sqlite3.Connection:
    escaped = path.replace("%", "%25").replace("?", "%3f").replace("#", "%23")
    db = sqlite3.connect(f"file:{escaped}?mode=ro", timeout=wait_s, uri=True, isolation_level=None)
    try:
        set_bounds(db, limit_s)
        for pragma in ("trusted_schema = off", "cell_size_check = on", "query_only = on"):
            db.execute(f"pragma {pragma}")
        db.execute("begin")  # another process may migrate it between two of our looks
        db.text_factory = database.DECODE
    except BaseException:
        db.close()
        raise
    return db


def set_bounds(db: sqlite3.Connection, limit_s: float) -> None:
    deadline = time.monotonic() + limit_s
    db.set_progress_handler(lambda: time.monotonic() > deadline, OPERATIONS)
    db.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, VALUE_BYTES)
    db.setlimit(sqlite3.SQLITE_LIMIT_SQL_LENGTH, VALUE_BYTES)
    if hasattr(db, "setconfig"):  # Python 3.12
        for option, value in _OPTIONS:
            db.setconfig(getattr(sqlite3, f"SQLITE_DBCONFIG_{option}"), value)


def is_beyond_bounds(error: Exception) -> bool:
    return isinstance(error, TooMuch) or _code(error) in _ENDLESS


def schema(db: sqlite3.Connection) -> list[Object]:
    rows = db.execute(_OBJECTS).fetchall()
    if len(rows) > SCHEMA_ROWS:
        raise TooMuch("sqlite_schema")
    return [(str(row[0]), str(row[1]), str(row[2]), str(row[3])) for row in rows]


def plain_tables(db: sqlite3.Connection) -> dict[str, list[str]]:
    """Columns of plain tables by lower-case name; SQLite would compute generated ones."""
    found = {}
    for kind, name, _, sql in schema(db):
        if kind == "table" and sql.startswith("CREATE TABLE "):
            columns = db.execute(f"pragma table_xinfo({quote(name)})").fetchall()
            found[name.lower()] = [row[1] for row in columns if row[6] == 0]
    return found


def read_rows(
    db: sqlite3.Connection, table: str, columns: Iterable[str]
) -> Iterable[tuple[object, ...]]:
    names = ", ".join(map(quote, columns))
    for number, row in enumerate(db.execute(f"select {names} from {quote(table)}")):
        if number >= ROWS:
            raise TooMuch(table)
        yield row


def quote(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def read_shipped_schema(version: int = database.SCHEMA_VERSION) -> list[Object]:
    from contextlib import closing

    with closing(sqlite3.connect(":memory:", isolation_level=None)) as db:
        database.run_schema(db, upto=version)
        return schema(db)


def _spell(objects: Iterable[Object]) -> set[Object]:
    return {(kind, name, table, sql.replace('"', "")) for kind, name, table, sql in objects}


def is_misfit(error: Exception) -> bool:
    """Tell whether a table is not what its name says."""
    return _code(error) in _MISFIT


def _code(error: Exception) -> int:
    return getattr(error, "sqlite_errorcode", 0) & 0xFF
