"""Work beside one's own, for what leaves the interpreter free: a model, a product of matrices."""

from __future__ import annotations

from threading import Thread
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")


class Aside(Generic[T]):
    """A thread that begins at once; who wants its result waits for it."""

    def __init__(self, do: Callable[[], T]) -> None:
        self._do = do
        self._results: list[T] = []
        self._failure: Exception | None = None
        self._thread = Thread(target=self._run)
        self._thread.start()

    def result(self) -> T:
        """What was done, however often it is asked for; raises what doing it raised."""
        self._thread.join()
        if self._failure is not None:
            raise self._failure
        return self._results[0]

    def _run(self) -> None:
        try:
            self._results.append(self._do())
        except Exception as error:
            self._failure = error
