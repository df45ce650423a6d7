"""Migration of a database of an earlier version, whose rows are repaired before and after."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from datetime import datetime

from ademem.store import database, repair


def migrate(db: sqlite3.Connection, now: datetime, back_up: Callable[[], str]) -> None:
    """Bring the database to SCHEMA_VERSION; *back_up* makes a copy before, and returns its path."""
    db.execute("pragma foreign_keys = off")
    try:
        with database.Transaction(db):
            if database.is_outdated(db):  # another process may have got here first
                found, backup = database.version(db), back_up()
                try:
                    mended = repair.repair_rows(db, now) if found else []
                    db.execute("pragma ignore_check_constraints = on")
                    database.run_schema(db, found)
                    db.execute("pragma ignore_check_constraints = off")
                    mended += repair.repair_rows(db, now)  # of tables that have another name now
                    repair.keep_originals(db, mended, now)
                    if found < database.FIRST_WITH_SECRET:
                        database.add_secret(db)
                except sqlite3.Error as error:
                    raise database.MigrationFailed(error, backup) from error
    finally:
        db.execute("pragma foreign_keys = on")
