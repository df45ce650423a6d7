"""The worker's loop: what is due now, in which order, and what becomes of it."""

from __future__ import annotations

from ademem.core.clock import stamp, timedelta
from ademem.core.locks import locked
from ademem.store import jobs, sessions
from ademem.worker import journal, lock
from ademem.worker.job_context import Failure, Model, Shift, attempt
from ademem.worker.kinds import JOBS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ademem.store.jobs import Job
    from ademem.store.runtime import Runtime
    from ademem.worker.job_context import Kind

__all__ = ["JOBS", "Model", "Shift", "any_due", "due", "installed", "run_due"]


def any_due(runtime: Runtime) -> bool:
    """Whether a worker would find something to do."""
    shift = Shift(runtime, lambda: runtime.now, installed(runtime), patient=True)
    return any(due(shift, kind) for kind in JOBS)


def due(shift: Shift, kind: Kind) -> list[Job]:
    """The jobs of this kind to do now."""
    if not kind.able(shift):
        return []
    kind.notice(shift)
    now = shift.now()
    found = jobs.due(shift.store, kind.name, now)
    if found and kind.patience_s and shift.patient and sessions.is_active(shift.store, now):
        asked_before = stamp(now - timedelta(seconds=kind.patience_s))
        return [job for job in found if job.since <= asked_before]
    return found


def run_due(shift: Shift, *, retry: bool = False, wait: bool = False) -> list[str]:
    """Do what is due until nothing is, and tell the kinds done; what fails is due again later.

    What another worker is at is left to it; with *wait* it is over when this returns.
    """
    if retry:
        jobs.unpark(shift.store, shift.now())
        jobs.queue(shift.store, "embed", "project", shift.now())
    done: list[str] = []
    # Asked again after the lock is let go: whoever found it taken left his work to us.
    while any(due(shift, kind) for kind in JOBS):
        project = shift.runtime.project
        with locked(lock(project), root=project.home_root, wait=wait) as ours:
            if not ours:
                break
            done += [job.kind for kind in JOBS for job in due(shift, kind) if _do(kind, job, shift)]
    return list(dict.fromkeys(done))


def installed(runtime: Runtime) -> Model | None:
    """The model that this project is embedded with; None while it is not installed."""
    from ademem.search import embedding
    from ademem.search.embedding import cache

    settings, environment = runtime.settings.embed, runtime.environment
    if cache.state(cache.folder(environment, settings.dtype)) is not cache.State.INSTALLED:
        return None
    return Model(
        id=embedding.model_id(settings), load=lambda: embedding.load(settings, environment)
    )


def _do(kind: Kind, job: Job, shift: Shift) -> bool:
    """Whether it ended well."""
    started = shift.now()
    shift.figures = {}
    jobs.begun(shift.store, job)
    again = attempt(lambda: kind.run(shift, job))
    if isinstance(again, Failure):
        jobs.failed(shift.store, job, again.error, shift.now())
    elif again is None:
        jobs.done(shift.store, job)
    else:
        jobs.later(shift.store, job, again)
    error = again.error if isinstance(again, Failure) else ""
    journal.note(
        shift.runtime.project,
        job,
        started=started,
        ended=shift.now(),
        error=error,
        figures=shift.figures,
    )
    return not error
