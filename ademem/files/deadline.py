"""The moment until which a hook may read the files; what takes longer is left to the worker."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable


class TooLate(Exception):
    """The deadline passed; nothing was changed."""


class Deadline:
    def __init__(self, clock: Callable[[], float], seconds: float) -> None:
        """Pass *seconds* from now on, by a *clock* such as `time.monotonic`."""
        self._clock = clock
        self._end = clock() + seconds

    @property
    def left_s(self) -> float:
        return self._end - self._clock()

    def check(self) -> None:
        if self.left_s <= 0:
            raise TooLate
