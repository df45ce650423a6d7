"""Connections that a long process keeps open between its calls."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from ademem.store import database

if TYPE_CHECKING:
    from collections.abc import Callable
    from sqlite3 import Connection

PAGES_KIB = 4096
"""KiB of memory for pages of the database in each connection."""


class IdleConnections:
    """One idle connection to each database, which any thread may take.

    It has the schema, statements and pages of the last call in memory, and holds no lock. While it
    is open, other connections close without a checkpoint of the whole log.
    """

    def __init__(self) -> None:
        self._idle: dict[str, tuple[str, Connection]] = {}

    def take(self, path: str, state: str, wait_s: float) -> tuple[Connection, Callable[[], None]]:
        """Return the idle connection to the file at *path* or a new one, and what puts it back.

        *state* tells this file from another at its path, and was found before the file is opened.
        """
        state_then, db = self._idle.pop(path, ("", None))
        if db is not None and state_then != state:
            db.close()
            db = None
        if db is None:
            db = database.connect(path, wait_s, for_threads=True)
            db.execute(f"pragma cache_size = -{PAGES_KIB}")
        return db, partial(self._put, path, state, db)

    def _put(self, path: str, state: str, db: Connection) -> None:
        if db.in_transaction or self._idle.setdefault(path, (state, db))[1] is not db:
            db.close()

    def close(self) -> None:
        while self._idle:
            self._idle.popitem()[1][1].close()
