"""Run one call in a thread, for work that leaves the interpreter free, such as a model."""

from __future__ import annotations

from threading import Thread
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")


class Background(Generic[T]):
    """A call that begins at once; the process ends after it."""

    def __init__(self, call: Callable[[], T]) -> None:
        self._call = call
        self._results: list[T] = []
        self._failure: BaseException | None = None
        self._thread = Thread(target=self._run)
        self._thread.start()

    def result(self) -> T:
        """Wait for the result, as often as it is wanted; raises what the call raised."""
        self._thread.join()
        if self._failure is not None:
            raise self._failure
        return self._results[0]

    def _run(self) -> None:
        try:
            self._results.append(self._call())
        except BaseException as error:  # for the caller of `result`
            self._failure = error
