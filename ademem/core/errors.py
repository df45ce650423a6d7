"""What a user can act on."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import TracebackType


class suppress:
    """`contextlib.suppress` for the modules of hooks; importing the original takes half a ms."""

    __slots__ = ("kinds",)

    def __init__(self, *kinds: type[BaseException]) -> None:
        self.kinds = kinds

    def __enter__(self) -> None:
        """There is nothing to prepare."""

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
    """The command was called with something it cannot mean; exit code 2."""


class NotEnrolled(AdememError):
    hint = "`ademem init` enrols this project"

    def __init__(self, where: str) -> None:
        super().__init__(f"no ademem project at {where}")


class NoSuchMemory(AdememError):
    hint = "`ademem list` shows the ids; the first four signs will do"

    def __init__(self, id: str) -> None:
        super().__init__(f"no memory has the id {id!r}")


class SeveralMemories(NoSuchMemory):
    """The beginning of an id that more than one has."""

    hint = "give more of it"

    def __init__(self, id: str) -> None:
        AdememError.__init__(self, f"more than one memory has an id that begins with {id!r}")
