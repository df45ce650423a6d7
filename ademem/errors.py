"""What a user can act on."""

from __future__ import annotations


class AdememError(Exception):
    """One line and a hint for the user, exit code 1, no traceback."""

    hint = ""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        if hint:
            self.hint = hint


class UsageError(AdememError):
    """The command was called with something it cannot mean; exit code 2."""


class NotEnrolled(AdememError):
    hint = "`ademem init` enrols this project"

    def __init__(self, where: str) -> None:
        super().__init__(f"no ademem project at {where}")


class NoSuchMemory(AdememError):
    hint = "`ademem list` shows the ids"

    def __init__(self, id: str) -> None:
        super().__init__(f"no memory has the id {id!r}")
