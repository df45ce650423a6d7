"""Errors that a user can act on."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import TracebackType


class suppress:
    """`contextlib.suppress` for hooks, without half a millisecond of import."""

    __slots__ = ("kinds",)

    def __init__(self, *kinds: type[BaseException]) -> None:
        self.kinds = kinds

    def __enter__(self) -> None:
        """Do nothing."""

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> bool:
        return kind is not None and issubclass(kind, self.kinds)


class AdememError(Exception):
    """One line and a hint for the user, exit code 1, no traceback."""

    hint = ""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        if hint:
            self.hint = hint


class UsageError(AdememError):
    """Wrong usage of a command; exit code 2."""


class NotEnrolled(AdememError):
    hint = "`ademem init` enrols this project"

    def __init__(self, where: str) -> None:
        super().__init__(f"no ademem project at {where}")


class NoSuchMemory(AdememError):
    hint = "`ademem list` shows the ids; the first four signs will do"

    def __init__(self, id: str) -> None:
        super().__init__(f"no memory has the id {id!r}")


class SeveralMemories(NoSuchMemory):
    """A prefix of several ids."""

    hint = "give more of it"

    def __init__(self, id: str) -> None:
        AdememError.__init__(self, f"more than one memory has an id that begins with {id!r}")


READ_ONLY = "the memory of this project is read-only"
LOCKED = "the database is locked, so a copy of it is read"
REBUILD = "`ademem doctor --fix` rebuilds it from the files"


def explain_machine_error(error: Exception) -> AdememError | None:
    """Word a refusal of the disk or the database; None for any other error."""
    import errno
    import sqlite3

    rights = "`.ade/` and what is in it have to be yours to write"
    room = "make room on that disk"
    if isinstance(error, sqlite3.Error):
        if str(error) == READ_ONLY:
            return AdememError(READ_ONLY, f"copy the project to where it can be written; {rights}")
        if str(error) == LOCKED:
            return AdememError(
                "the database cannot be used: database is locked",
                "another program holds it; try again",
            )
        hint = {
            sqlite3.SQLITE_READONLY: rights,
            sqlite3.SQLITE_CANTOPEN: rights,
            sqlite3.SQLITE_PERM: rights,
            sqlite3.SQLITE_BUSY: "another program holds it; try again",
            sqlite3.SQLITE_FULL: room,
            sqlite3.SQLITE_CORRUPT: REBUILD,
            sqlite3.SQLITE_NOTADB: REBUILD,
        }.get(getattr(error, "sqlite_errorcode", 0) & 0xFF)
        return AdememError(f"the database cannot be used: {error}", hint) if hint else None
    if not isinstance(error, OSError):
        return None
    if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        hint = "it has to be yours to use"
    elif error.errno in (errno.ENOSPC, errno.EDQUOT):
        hint = room
    else:
        return None
    where = f"{error.filename}: " if error.filename else ""
    return AdememError(f"{where}{error.strerror}", hint)
