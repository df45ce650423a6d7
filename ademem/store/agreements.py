"""Agreements of files and database: which of them this database took part in.

What a worktree notes in `run/` about its files (their texts, the fingerprints of renderings, their
state) holds for the database that noted it, and for no earlier copy of that. Each agreement has an
id and a number. The database counts under the id before anything is noted or written; so a new or
emptied database does not know the id, and an older copy has a lower number. Both read the files
again, and take nothing in them for their own old rendering.
"""

from __future__ import annotations

import os

from ademem.core import confined
from ademem.core.errors import suppress
from ademem.core.project import Project, files_changed, recorded_agreement
from ademem.store import Store, database

PREFIX = "agreed/"
"""Beginning of the names in `store_values`, which go on with the id."""


def holds(store: Store, agreement: str) -> bool:
    """Return True if this database, or a copy that it comes from, made the agreement."""
    id, _, number = agreement.partition(" ")
    return number.isdecimal() and 0 < int(number) <= _count(store, id)


def advance(store: Store, agreement: str) -> str:
    """Count the next agreement and return it: under a new id if the last one does not hold."""
    id = agreement.partition(" ")[0] if holds(store, agreement) else os.urandom(8).hex()
    with store.transaction():
        number = _count(store, id) + 1
        database.set_value(store.db, PREFIX + id, str(number))
    return f"{id} {number}"


def has_unread_files(project: Project, store: Store) -> bool:
    """Return True if the files were not read by this database, which forgets their state then."""
    if holds(store, recorded_agreement(project)):
        return False
    with suppress(confined.Refused):  # it is read as if it were not there
        confined.remove(project.root, project.readings)
    return files_changed(project)


def _count(store: Store, id: str) -> int:
    number = database.value(store.db, PREFIX + id)
    return int(number) if number.isdecimal() else 0
