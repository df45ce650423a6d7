"""The store: one SQLite database for each repository."""

from __future__ import annotations

import os

from ademem.core.errors import suppress
from ademem.store import database

TYPE_CHECKING = False
if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Mapping, Sequence
    from datetime import datetime
    from typing import Any, Protocol, TypeVar

    from ademem.core.memory import Memory
    from ademem.store.database import IdleConnections
    from ademem.store.memories import Change

    T = TypeVar("T")
    Row = Mapping[str, Any]
    Values = Sequence[object] | Mapping[str, object]

    class Observer(Protocol):
        """Gets the changes of shared rows, in the transaction of each."""

        def protect(self, store: Store, before: Memory, after: Memory, change: Change) -> Memory:
            """Return the row to store in place of *after*."""

        def follow(
            self, store: Store, before: Row | None, after: Row | None, change: Change
        ) -> None: ...

        def follow_relation(self, store: Store, id: str, actor: str, now: datetime) -> None: ...


LIVE = "status <> 'archived' and deleted_at is null and superseded_by is null"
CURRENT = "deleted_at is null and superseded_by is null and quarantine_reason is null"
"""SQL for what may be shown as true, of any status; the partial index has these words."""
BROWSED = "source_type not in ('skill', 'episode')"
"""Not `Memory.hidden`, in SQL."""
TOLD = "(status <> 'candidate' or stage <> 'heard')"
"""Not `Memory.is_heard`, in SQL."""
SURE = "'given', 'read', 'named', 'learned'"
"""Strengths of bindings that are more than a suggestion of words, in SQL."""
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


class Store:
    def __init__(
        self,
        db: sqlite3.Connection,
        project_id: str,
        *,
        observer: Observer | None,
        secret: str = "",
        is_trusted: bool = True,
    ) -> None:
        self.db = db
        self.project_id = project_id
        self.observer = observer
        """None for a database that is not shared while this store writes to it."""
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

    def spill_nothing(self) -> None:
        """Keep statement journals in memory, whose pages SQLite else writes to a file as well."""
        self.db.execute("pragma temp_store = memory")

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


def schema_version(store: Store) -> int:
    return database.version(store.db)


def data_version(store: Store) -> int:
    """Return a number that differs once another connection has changed the database."""
    return store.number("pragma data_version")


def creation_time(store: Store) -> str:
    """Return the time at which this database was made; one that replaces it has another."""
    query = "select created_at from projects where id = ?"
    return store.first(query, (store.project_id,), "")


def is_in_hub(store: Store) -> bool:
    return bool(database.value(store.db, HUB))


def person_in_hub(store: Store) -> str:
    """Return the name by which the hub knows who works here."""
    from ademem.core.json_text import loads

    return str(loads(database.value(store.db, HUB) or "{}").get("person", ""))


def changes(store: Store) -> int:
    """Return a count that grows with every change of a memory, except with counted accesses."""
    return int(database.value(store.db, "changes") or 0)


def file_changes(store: Store) -> int:
    """Count the changes of memories that files have or had, or that others confirmed.

    A candidate that no file has is none of these until it gets a line.
    """
    return int(database.value(store.db, "file_changes") or 0)
