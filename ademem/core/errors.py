"""Errors that a user can act on."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import datetime


class suppress:
    """`contextlib.suppress` for hooks, without half a millisecond of import."""

    __slots__ = ("kinds",)

    def __init__(self, *kinds: type[BaseException]) -> None:
        self.kinds = kinds

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: type[BaseException] | None, error: object, trace: object) -> bool:
        return kind is not None and issubclass(kind, self.kinds)


NO, USAGE, BUG, REFUSED, NO_PROJECT, NO_STORE = range(1, 7)
"""Exit codes of commands besides 0; a check that found something also ends with NO."""
KINDS = {
    NO: "not_found",
    USAGE: "usage",
    BUG: "bug",
    REFUSED: "refused",
    NO_PROJECT: "no_project",
    NO_STORE: "store",
}


class AdememError(Exception):
    """One line and a hint for the user, no traceback."""

    hint = ""
    exit_code = REFUSED
    rule = ""
    """Rule of a refusal, for other programs; empty for that of the exit code."""
    id = ""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        if hint:
            self.hint = hint


class UsageError(AdememError):
    exit_code = USAGE


class NotFound(AdememError):
    exit_code = NO


class Conflict(AdememError):
    """The row changed since the caller read it, or the caller says two different things."""

    def __init__(self, message: str, hint: str, id: str = "") -> None:
        super().__init__(message, hint)
        self.id = id


class UnusableStore(AdememError):
    exit_code = NO_STORE


class NotEnrolled(AdememError):
    exit_code = NO_PROJECT
    hint = "`ademem init` enrols this project"

    def __init__(self, where: str) -> None:
        super().__init__(f"no ademem project at {where}")


class NoSuchMemory(NotFound):
    hint = "`ademem list` or a search shows the ids; their first four characters are enough"

    def __init__(self, id: str) -> None:
        super().__init__(f"no memory has the id {id!r}")


class Deleted(NoSuchMemory):
    """The memory was deleted, and not for good."""

    def __init__(self, id: str, at: datetime) -> None:
        hint = f"`ademem get {id} --deleted` shows it, `ademem restore {id}` brings it back"
        AdememError.__init__(self, f"{id} was deleted on {at:%Y-%m-%d}", hint)


class SeveralMemories(NoSuchMemory):
    hint = "give more of it"

    def __init__(self, id: str) -> None:
        AdememError.__init__(self, f"more than one memory has an id that begins with {id!r}")


READ_ONLY = "the memory of this project is read-only"
LOCKED = "the database is locked, so a copy of it is read"
FORBIDDEN = (READ_ONLY, LOCKED)
REBUILD = "`ademem doctor --fix` rebuilds it from the files"


def explain_machine_error(error: Exception) -> UnusableStore | None:
    import errno
    import sqlite3

    rights = "`.ade/` and what is in it have to be yours to write"
    room = "make room on that disk"
    busy = "another program holds it; try again"
    if isinstance(error, sqlite3.Error):
        if str(error) == READ_ONLY:
            hint = f"copy the project to where it can be written; {rights}"
            return UnusableStore(READ_ONLY, hint)
        if str(error) == LOCKED:
            return UnusableStore("the database cannot be used: database is locked", busy)
        found = {
            sqlite3.SQLITE_READONLY: rights,
            sqlite3.SQLITE_CANTOPEN: rights,
            sqlite3.SQLITE_PERM: rights,
            sqlite3.SQLITE_BUSY: busy,
            sqlite3.SQLITE_FULL: room,
            sqlite3.SQLITE_IOERR: f"{room}, if it is full, or check it",
            sqlite3.SQLITE_CORRUPT: REBUILD,
            sqlite3.SQLITE_NOTADB: REBUILD,
        }.get(getattr(error, "sqlite_errorcode", 0) & 0xFF)
        return UnusableStore(f"the database cannot be used: {error}", found) if found else None
    if not isinstance(error, OSError):
        return None
    hints = dict.fromkeys((errno.EACCES, errno.EPERM, errno.EROFS), "it has to be yours to use")
    hints |= dict.fromkeys((errno.ENOSPC, errno.EDQUOT), room)
    where = f"{error.filename}: " if error.filename else ""
    found = hints.get(error.errno or 0)
    return UnusableStore(f"{where}{error.strerror}", found) if found else None
