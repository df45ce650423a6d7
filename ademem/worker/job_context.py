"""The context of a run of the worker, kinds of jobs, and failures."""

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
    """The installed model, loaded on demand."""

    id: str
    load: Callable[[], Embedder | None]


class JobContext:
    """The store, clock, model and callbacks of one run."""

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
        """None when no model is installed."""
        self.patient = patient
        """Postpone what can wait while a session is active."""
        self.pause = pause
        """Called between two batches."""
        self.tell = tell
        """Called with the progress, for a person who watches."""
        self.offer = offer or nullcontext
        """Serves the loaded model to other processes while the context lasts."""
        self.figures: dict[str, int] = {}
        """Counts of the running job, for the log."""


class Kind(Value):
    """A kind of job, by its name in the table `jobs`."""

    name: str
    when: str
    """Describes when it is due."""
    run: Callable[[JobContext, Job], datetime | None]
    """Runs a job; returns when to continue, if a part is left."""
    able: Callable[[JobContext], bool] = lambda _shift: True
    """Tells whether such jobs can run here now; until then they wait."""
    notice: Callable[[JobContext], None] = lambda _shift: None
    """Queues a job when one is due without a request."""
    patience_s: float = 0.0
    """Seconds for which a job waits while a session is active."""


class Failure(Value):
    """An error on one line, without secrets."""

    error: str


def attempt(do: Callable[[], T]) -> T | Failure:
    """Return the result, or the failure: no other place catches failures of jobs."""
    try:
        return do()
    except Exception as error:
        from ademem.core.failure_log import in_words

        return Failure(error=in_words(error))
