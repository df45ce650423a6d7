"""The store: one SQLite database for each repository."""

from __future__ import annotations

import os
import time

from ademem.core import confined, trust
from ademem.core.client import config_dir, transcript_folder
from ademem.core.clock import datetime, stamp
from ademem.core.errors import suppress
from ademem.store import admission, database

TYPE_CHECKING = False
if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any, TypeVar

    from ademem.core.project import Project
    from ademem.store.database import IdleConnections

    T = TypeVar("T")
    Values = Sequence[object] | Mapping[str, object]

LIVE = "status <> 'archived' and deleted_at is null and superseded_by is null"
CURRENT = "deleted_at is null and superseded_by is null and quarantine_reason is null"
"""SQL for what may be shown as true, of any status; the partial index has these words."""
BROWSED = "source_type not in ('skill', 'episode')"
"""Not `Memory.hidden`, in SQL."""
TOLD = "(status <> 'candidate' or source_type <> 'intervention')"
"""Not `Memory.is_heard`, in SQL."""
UNPLACED = "it came with an import and waits for your review"
HUB = "hub"
FOREVER = "~"
"""A text that sorts after every stamp."""
_WRITTEN = ("memory_missions", "memory_relations", "cto_core_memory_state", "sessions")
WRITES = (
    "insert on main.unified_memories",
    "delete on main.unified_memories",
    "update of revision_count on main.unified_memories",
    *(f"{act} on main.{name}" for act in ("insert", "update", "delete") for name in _WRITTEN),
    *(f"{act} on main.user_prompts" for act in ("insert", "update", "delete")),
    "insert on main.store_values when new.name glob 'sync/*'",
)
"""Changes that a read-only copy of the database refuses; counts and logs may be lost with it."""

_FROM_ELSEWHERE = (
    *("title", "content", "tags", "anchors", "file_scope_pattern", "topic_key", "knowledge_key"),
    *("bead", "agent_id", "source_id", "source_branch", "source_session_id", "scope_owner_id"),
)
"""Columns of another's database that reach a terminal, git, a file name or a path."""

JUDGING_S = 0.5
"""Seconds that one opening may search a database that was not made here for instructions."""


class Store:
    def __init__(
        self, db: sqlite3.Connection, project_id: str, *, secret: str = "", is_trusted: bool = True
    ) -> None:
        self.db = db
        self.project_id = project_id
        self.secret = secret
        """Secret of the database, by which the person's data folder recognizes it; never shown."""
        self.is_trusted = is_trusted
        """False for a database that was not made here: see `distrust`."""
        self.replica = ""
        """Id of the database as a replica, once something was written; see `stamps`."""
        self.put_back: Callable[[], None] | None = None
        self.connections: IdleConnections | None = None
        self.is_personal = False
        """True for the person's own memories, which are told beside those of every project."""
        self.place = ""
        """The project beside which they are told: see `show_beside`."""
        self.judged: int | None = None
        """Last row of such a database that was searched for orders; None where all were."""

    def has_row(self, query: str, values: Values = ()) -> bool:
        return self.db.execute(query, values).fetchone() is not None

    def first(self, query: str, values: Values, default: T) -> T:
        row = self.db.execute(query, values).fetchone()
        return default if row is None or row[0] is None else row[0]

    def number(self, query: str, values: Values = ()) -> int:
        return int(self.first(query, values, 0))

    def column(self, query: str, values: Values = ()) -> list[Any]:
        return [row[0] for row in self.db.execute(query, values)]

    def dicts(self, query: str, values: Values = ()) -> list[dict[str, Any]]:
        return [dict(row) for row in self.db.execute(query, values)]

    def tuples(self, query: str, values: Values = ()) -> list[Any]:
        return [tuple(row) for row in self.db.execute(query, values)]

    def pairs(self, query: str, values: Values = ()) -> dict[Any, Any]:
        return dict(self.db.execute(query, values).fetchall())

    def counts(self, query: str, values: Values = ()) -> dict[str, dict[str, int]]:
        found: dict[str, dict[str, int]] = {}
        for first, second, count in self.db.execute(query, values):
            found.setdefault(first, {})[second] = count
        return found

    def transaction(self) -> database.Transaction:
        return database.Transaction(self.db)

    def close(self) -> None:
        (self.put_back or self.db.close)()

    def make_read_only(self) -> None:
        self.put_back = None
        self.db.execute("pragma query_only = on")

    def accept(self) -> None:
        if not self.is_trusted:
            self.db.execute("drop view if exists temp.unified_memories")
            self.is_trusted = True

    def distrust(self) -> None:
        """Let every query read memories that claim a person's trust as imported and not pinned.

        Rows after the last `judged` one are read as quarantined. A view of this connection stands
        before the table, so no query has to know of it, and the rows stay what they are: whoever
        writes names the table `main.unified_memories`.
        """
        self.is_trusted, self.put_back = False, None
        masks = {
            "trust": "case trust when 'user' then 'import' else trust end",
            "pinned": "0",
            "tier": "max(tier, 2)",
        }
        if self.judged is not None:
            masks["quarantine_reason"] = (
                f"case when seq <= {self.judged:d} then quarantine_reason"
                " else ifnull(quarantine_reason, 'was not judged yet') end"
            )
        names = [row["name"] for row in self.db.execute("pragma main.table_info(unified_memories)")]
        columns = ", ".join(f"{masks.get(name, name)} as {name}" for name in names)
        self.db.execute("pragma temp_store = memory")
        self.db.execute(
            f"create temp view unified_memories as select {columns} from main.unified_memories"
        )

    def show_beside(self, place: str) -> None:
        """Let every query read of the person's memories what may be told in the project *place*.

        That is what a person confirmed, and what was said there. What came with an import, or from
        before places were noted, is read as quarantined until a person confirms it.
        """
        self.is_personal, self.place = True, place
        quoted = place.replace("'", "''")
        names = self.column("select name from pragma_table_info('unified_memories', 'main')")
        held = f"ifnull(quarantine_reason, '{UNPLACED}')"
        masks = {
            "quarantine_reason": "case when status = 'candidate' and said_in = '[]'"
            f" then {held} else quarantine_reason end"
        }
        columns = ", ".join(f"{masks.get(name, name)} as {name}" for name in names)
        self.db.execute("drop view if exists temp.unified_memories")
        self.db.execute("pragma temp_store = memory")
        self.db.execute(
            f"create temp view unified_memories as select {columns} from main.unified_memories"
            " where status = 'promoted' or status = 'archived' and promoted_at is not null"
            " or said_in = '[]'"
            f" or exists (select 1 from json_each(said_in) where value = '{quoted}')"
        )

    def show_all(self) -> None:
        self.place = ""
        self.db.execute("drop view if exists temp.unified_memories")

    def vacuum(self) -> None:
        """Rewrite the file, without the view of `distrust`, which SQLite takes for the table."""
        was_trusted, place = self.is_trusted, self.place
        self.accept()
        if place:
            self.show_all()
        try:
            self.db.execute("vacuum")
        finally:
            if not was_trusted:
                self.distrust()
            if place:
                self.show_beside(place)

    def forbid_changes(self, reason: str) -> None:
        """Let this connection refuse WRITES; the *reason* holds no quotes."""
        self.put_back = None
        for number, write in enumerate(WRITES):
            self.db.execute(
                f"create temp trigger read_only_{number} before {write}"
                f" begin select raise(abort, '{reason}'); end"
            )

    def savepoint(self) -> database.Savepoint:
        return database.Savepoint(self.db)

    def leave(self) -> None:
        """Close only where the log is long, as each process that opens it reads all of it first."""
        path = self.db.execute("pragma database_list").fetchone()["file"]
        with suppress(OSError):
            if os.stat(f"{path}-wal").st_size > database.LONG_LOG_BYTES:
                self.close()


def open_store(
    project: Project,
    now: datetime,
    *,
    wait_s: float = 5.0,
    environment: Mapping[str, str] = os.environ,
    is_copy: bool = False,
    connections: IdleConnections | None = None,
) -> Store:
    """Open the project's database, made or migrated if need be.

    A database that may not be used is set aside and made anew (see `admission`), and so is one that
    ADE left. *wait_s* bounds the waiting for another writer; a database that *is_copy* of another
    one needs no backup; *connections* are those of a process that opens it often. Raises
    NewerDatabase, MigrationFailed, sqlite3.OperationalError (locked, read-only, cannot be opened),
    sqlite3.DatabaseError (damaged), Refused, or OSError when the folder cannot be made.
    """
    state = admission.state(project)
    noted = trust.last_inspection(project.database, environment)
    store = None
    if admission.is_still_admitted(project, noted, state):
        idle = connections.take(project.database, state, wait_s) if connections else None
        try:
            store = _open(
                project, now, wait_s, environment, is_copy=is_copy, is_noted=True, idle=idle
            )
        except database.DatabaseError:
            if not database.is_none(project.database):
                raise
        if store:
            store.connections = connections
    if store is None:
        admission.admit(project, environment, stamp(now), wait_s, noted)
        store = _open(project, now, wait_s, environment, is_copy=is_copy, is_noted=False)
        assert store
        state = admission.state(project)
    if state != noted:
        with suppress(OSError):  # a look at each opening is what it costs not to note this one
            trust.note_inspection(project.database, state, environment)
    if not store.is_trusted:
        from ademem.core.settings import trust_roots  # the person's own databases need none of it

        if trust.is_under_trusted_root(project.root, trust_roots(environment), environment):
            store.is_trusted = True
        else:
            store.judged = _quarantine_instructions(store, project, environment)
            store.distrust()
    return store


def _quarantine_instructions(
    store: Store, project: Project, environment: Mapping[str, str]
) -> int | None:
    """Return the last row that was searched; None if all were.

    The same look takes control characters out of the rows, which anybody may have written.
    """
    from ademem.core.json_text import array, loads
    from ademem.core.text import in_one_line, without_controls
    from ademem.guard.injection import instruction_in

    def plain(name: str, value: object) -> object:
        if not isinstance(value, str):
            return value
        if name == "anchors":
            texts = loads(value)
            return array(map(in_one_line, filter(lambda each: isinstance(each, str), texts)))
        return without_controls(value) if name == "content" else in_one_line(value)

    identity = f"{store.secret} {os.stat(project.database).st_ino}"
    last = trust.last_judged_row(project.database, identity, environment)
    deadline = time.monotonic() + JUDGING_S
    rows = store.db.execute(
        f"select seq, quarantine_reason, {', '.join(_FROM_ELSEWHERE)} from unified_memories"
        " where seq > ? order by seq",
        (last,),
    )
    held, cleaned, is_complete, before = [], [], True, last
    for seq, reason, *values in rows:
        fields = dict(zip(_FROM_ELSEWHERE, values, strict=True))
        shown = {name: plain(name, value) for name, value in fields.items()}
        if shown != fields:
            cleaned.append(shown | {"seq": seq})
        texts = (str(shown[name]) for name in ("title", "content") if shown[name])
        found = None if reason else instruction_in("\n".join(texts))
        if found:
            held.append((found, seq))
        last = seq
        if time.monotonic() > deadline:
            is_complete = False
            break
    if held or cleaned:
        with store.transaction() as db:
            db.executemany("update unified_memories set quarantine_reason = ? where seq = ?", held)
            names = ", ".join(f"{name} = :{name}" for name in _FROM_ELSEWHERE)
            db.executemany(f"update unified_memories set {names} where seq = :seq", cleaned)
    if last != before:
        with suppress(OSError):
            trust.note_judged_row(project.database, identity, last, environment)
    return None if is_complete else last


def _open(
    project: Project,
    now: datetime,
    wait_s: float,
    environment: Mapping[str, str],
    *,
    is_copy: bool,
    is_noted: bool,
    idle: tuple[sqlite3.Connection, Callable[[], None]] | None = None,
) -> Store | None:
    """Open the database; None where one that *is_noted* needs a look, as another has its inode."""
    path = project.database
    if not os.path.exists(path):
        forget_readings(project)
        _register(database.create(path), environment)

    def back_up() -> str:
        from ademem.store import backups  # a migration is rare

        return "" if is_copy else backups.make_before_migration(project, environment, now)

    store = None
    db, put_back = idle or (database.connect(path, wait_s), None)
    try:
        if database.is_outdated(db):
            if is_noted:
                return None
            found = database.version(db)
            if found == 0:
                forget_readings(project)
            database.migrate(db, now, back_up)
            if found == 0 or (
                found < database.FIRST_WITH_SECRET and _has_sessions_of(db, project, environment)
            ):
                _register(database.read_secret(db), environment)
        secret = database.read_secret(db)
        is_registered = trust.is_registered(secret, environment)
        if is_noted and not is_registered:
            from ademem.store import inspection  # the person's own databases need none of it

            if not inspection.has_shipped_schema(db):
                return None
        database.write_ahead(db, path)
        id = _project_id(db, project, now)
        store = Store(db, id, secret=secret, is_trusted=is_registered)
        store.put_back = put_back
    finally:
        if store is None:
            db.close()
    return store


def forget_readings(project: Project) -> None:
    """Let all worktrees read their files again, which a new database does not know."""
    from ademem.core.project import worktrees

    for each in (project, *worktrees(project)):
        with suppress(OSError):
            confined.remove(each.root, each.readings)


def _register(secret: str, environment: Mapping[str, str]) -> None:
    if secret:
        with suppress(OSError):
            trust.register_store(secret, environment)


def _has_sessions_of(
    db: sqlite3.Connection, project: Project, environment: Mapping[str, str]
) -> bool:
    """Return True if a session in the database has its transcript in this home.

    Databases from before there were secrets are this person's if Claude Code worked with them here:
    it keeps a transcript of each session under a random id, in a folder outside of the project.
    Our own records of an installation prove less: those of a project lie inside it, where an
    archive may have them, and the one for all projects says nothing about any of them.
    """
    of_clients = os.path.join(config_dir(environment), "projects")
    slug = transcript_folder(project.root)
    try:
        folders = [name for name in os.listdir(of_clients) if name.startswith(slug)]
        there = {
            name.removesuffix(".jsonl")
            for folder in folders
            for name in os.listdir(os.path.join(of_clients, folder))
        }
    except OSError:
        return False
    return any(row[0] in there for row in db.execute("select id from sessions limit 10000"))


def open_in_memory(project: Project, now: datetime) -> Store:
    db = database.connect(":memory:", 0)
    database.run_schema(db)
    return Store(db, _project_id(db, project, now))


def schema_version(store: Store) -> int:
    return database.version(store.db)


def creation_time(store: Store) -> str:
    """Return the time at which this database was made; one that replaces it has another."""
    query = "select created_at from projects where id = ?"
    return store.first(query, (store.project_id,), "")


def is_in_hub(store: Store) -> bool:
    return bool(database.value(store.db, HUB))


def changes(store: Store) -> int:
    """Return a count that grows with every change of a memory, except with counted accesses."""
    return int(database.value(store.db, "changes") or 0)


def _project_id(db: sqlite3.Connection, project: Project, now: datetime) -> str:
    row = db.execute("select id from projects order by rowid limit 1").fetchone()
    if row is None:
        moment = stamp(now)
        with database.Transaction(db):
            db.execute(
                "insert into projects (id, root_path, display_name, created_at, last_opened_at)"
                " select ?, ?, ?, ?, ? where not exists (select 1 from projects)",
                (project.name, project.root, project.name, moment, moment),
            )
            row = db.execute("select id from projects order by rowid limit 1").fetchone()
    return str(row[0])
