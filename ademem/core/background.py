"""Work beside one's own, for what leaves the interpreter free: a model, a product of matrices."""

from __future__ import annotations

import atexit
from queue import SimpleQueue
from threading import Event, Thread
from typing import TYPE_CHECKING, Any, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")


class Aside(Generic[T]):
    """Work that begins at once; who wants its result waits for it."""

    def __init__(self, do: Callable[[], T]) -> None:
        self._do = do
        self._results: list[T] = []
        self._failure: BaseException | None = None
        self._over = Event()
        thread = _free_thread()  # there may be no more threads: then nothing has begun
        _begun.add(self)
        thread.put(self)

    def result(self) -> T:
        """What was done, however often it is asked for; raises what doing it raised."""
        self.wait()
        if self._failure is not None:
            raise self._failure
        return self._results[0]

    def wait(self) -> None:
        self._over.wait()

    @property
    def is_over(self) -> bool:
        return self._over.is_set()

    def run(self) -> None:
        try:
            self._results.append(self._do())
        except BaseException as error:  # whatever it is, somebody waits for the end
            self._failure = error

    def end(self) -> None:
        _begun.discard(self)
        self._over.set()


_begun: set[Aside[Any]] = set()
_free: list[SimpleQueue[Aside[Any]]] = []
"""What threads without work take it from: starting one costs a tenth of reading a question."""


def _free_thread() -> SimpleQueue[Aside[Any]]:
    try:
        return _free.pop()
    except IndexError:
        given: SimpleQueue[Aside[Any]] = SimpleQueue()
        Thread(target=_serve, args=(given,), daemon=True).start()
        return given


def _serve(given: SimpleQueue[Aside[Any]]) -> None:
    while True:
        aside = given.get()
        aside.run()
        _free.append(given)
        aside.end()
        del aside  # the result belongs to who asked for it


@atexit.register
def _wait_for_all() -> None:
    """A model that runs while the process ends would take it down."""
    for aside in list(_begun):
        aside.wait()
