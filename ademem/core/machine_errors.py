"""What the machine refuses: no bug of ours, and nothing that the command meant wrong."""

from __future__ import annotations

import errno
import sqlite3

from ademem.core.errors import AdememError

READ_ONLY = "the memory of this project is read-only"
_RIGHTS = "`.ade/` and what is in it have to be yours to write"
_ROOM = "make room on that disk"
REBUILD = "`ademem doctor --fix` rebuilds it from the files"

_FILES = {
    errno.EACCES: "it has to be yours to use",
    errno.EPERM: "it has to be yours to use",
    errno.EROFS: "it has to be yours to use",
    errno.ENOSPC: _ROOM,
    errno.EDQUOT: _ROOM,
}
_DATABASE = {
    sqlite3.SQLITE_READONLY: _RIGHTS,
    sqlite3.SQLITE_CANTOPEN: _RIGHTS,
    sqlite3.SQLITE_PERM: _RIGHTS,
    sqlite3.SQLITE_BUSY: "another program holds it; try again",
    sqlite3.SQLITE_FULL: _ROOM,
    sqlite3.SQLITE_CORRUPT: REBUILD,
    sqlite3.SQLITE_NOTADB: REBUILD,
}


def told(error: Exception) -> AdememError | None:
    """The error in words, with the next step; None for one that the machine has no part in."""
    if isinstance(error, sqlite3.Error):
        if str(error) == READ_ONLY:
            return AdememError(READ_ONLY, f"copy the project to where it can be written; {_RIGHTS}")
        hint = _DATABASE.get(getattr(error, "sqlite_errorcode", 0) & 0xFF)
        return AdememError(f"the database cannot be used: {error}", hint) if hint else None
    if isinstance(error, OSError) and (hint := _FILES.get(error.errno or 0)):
        where = f"{error.filename}: " if error.filename else ""
        return AdememError(f"{where}{error.strerror}", hint)
    return None
