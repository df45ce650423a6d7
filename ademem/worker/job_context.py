"""One run of the worker: what it may use, what kinds of work there are, how a failure ends."""

from __future__ import annotations

from contextlib import nullcontext

from ademem.core.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager
    from datetime import datetime
    from typing import TypeVar

    from ademem.search.embedding import Embedder
    from ademem.store.jobs import Job
    from ademem.store.runtime import Runtime

    T = TypeVar("T")


class Model(Value):
    """The installed model; loading it is left to who needs it."""

    id: str
    load: Callable[[], Embedder | None]


class JobContext:
    """What a kind of work is asked about, and done with."""

    def __init__(
        self,
        runtime: Runtime,
        now: Callable[[], datetime],
        model: Model | None,
        *,
        patient: bool = False,
        pause: Callable[[], None] | None = None,
        tell: Callable[[str], None] | None = None,
        offer: Callable[[Embedder], AbstractContextManager[None]] | None = None,
    ) -> None:
        self.runtime = runtime
        self.store = runtime.store
        self.now = now
        self.model = model
        """None: none is installed."""
        self.patient = patient
        """Whether what can wait does so while a session is active."""
        self.pause = pause
        """Called between two batches."""
        self.tell = tell
        """Told how far it is, for a person who looks on."""
        self.offer = offer or nullcontext
        """Lends the loaded model to others for as long as the context lasts."""
        self.figures: dict[str, int] = {}
        """What the job under way counted so far, for the log."""


class Kind(Value):
    """A kind of work: its name in `jobs`, what does it, and when it is due."""

    name: str
    when: str
    """What makes it due, in words."""
    run: Callable[[JobContext, Job], datetime | None]
    """Does it; hands back when to go on, if something has to be left for later."""
    able: Callable[[JobContext], bool] = lambda _shift: True
    """Whether it can be done here today; until then its jobs wait."""
    notice: Callable[[JobContext], None] = lambda _shift: None
    """Queues it when it is due though nobody asked for it."""
    patience_s: float = 0.0
    """How long after it was first asked for it leaves an active session alone."""


class Failure(Value):
    """What a try ended with, on one line and without secrets."""

    error: str


def attempt(do: Callable[[], T]) -> T | Failure:
    """What it hands back, or why it could not: the one place where a failure of work ends."""
    try:
        return do()
    except Exception as error:
        from ademem.core.failure_log import in_words

        return Failure(error=in_words(error))
