"""Run due jobs in order, and record how they end."""

from __future__ import annotations

import json
import os
from contextlib import suppress
from typing import Any

from ademem.core import confined
from ademem.core.clock import stamp, timedelta
from ademem.core.json_text import loads
from ademem.core.project import Project
from ademem.core.shared_files import locked
from ademem.store import jobs, sessions
from ademem.store.jobs import Job
from ademem.store.runtime import Runtime
from ademem.worker import lock
from ademem.worker.job_kinds import JOBS, Failure, JobContext, Kind, Model, attempt

__all__ = ["JOBS", "JobContext", "Model", "any_due", "due", "find_model", "run_due"]

LOG_BYTES = 128_000
"""Size at which the log is rotated; one rotated file is kept."""


def any_due(runtime: Runtime) -> bool:
    """Tell whether a worker would find a due job."""
    context = JobContext(runtime, lambda: runtime.now, find_model(runtime), patient=True)
    return any(due(context, kind) for kind in JOBS)


def due(context: JobContext, kind: Kind) -> list[Job]:
    """Return the due jobs of a kind."""
    if not kind.able(context):
        return []
    kind.notice(context)
    now = context.now()
    found = jobs.list_due(context.store, kind.name, now)
    if found and kind.patience_s and context.patient and sessions.is_active(context.store, now):
        asked_before = stamp(now - timedelta(seconds=kind.patience_s))
        return [job for job in found if job.since <= asked_before]
    return found


def run_due(context: JobContext, *, retry: bool = False, wait: bool = False) -> list[str]:
    """Run jobs until none is due, and return the kinds that ran; failures are retried later.

    While another worker runs this returns at once, or after its end with *wait*.
    """
    if retry:
        jobs.unpark(context.store, context.now())
        jobs.queue(context.store, "embed", "project", context.now())
    done: list[str] = []
    # Ask again after the lock is released: a process that found it held left its jobs to us.
    while any(due(context, kind) for kind in JOBS):
        project = context.runtime.project
        with locked(lock(project), root=project.home_root, wait=wait) as ours:
            if not ours:
                break
            done += [
                job.kind for kind in JOBS for job in due(context, kind) if _do(kind, job, context)
            ]
    return list(dict.fromkeys(done))


def find_model(runtime: Runtime) -> Model | None:
    """Return the project's model; None while it is not installed."""
    from ademem.search import embedding
    from ademem.search.embedding import cache

    settings, environment = runtime.settings.embed, runtime.environment

    def is_installed(dtype: str) -> bool:
        return cache.state(cache.folder(environment, dtype)) is cache.State.INSTALLED

    if not is_installed(settings.dtype):
        return None
    second = None
    if settings.multilingual != "off" and is_installed(cache.MULTILINGUAL):
        second = Model(
            id=embedding.model_id(embedding.second_settings(settings)),
            load=lambda: embedding.load_second(settings, environment),
        )
    return Model(
        id=embedding.model_id(settings),
        load=lambda: embedding.load_pair(settings, environment),
        second=second,
    )


def _do(kind: Kind, job: Job, context: JobContext) -> bool:
    """Run a job and tell whether it succeeded."""
    started = context.now()
    context.figures = {}
    jobs.mark_started(context.store, job)
    again = attempt(lambda: kind.run(context, job))
    if isinstance(again, Failure):
        jobs.fail(context.store, job, again.error, context.now())
    elif again is None:
        jobs.finish(context.store, job)
    else:
        jobs.postpone(context.store, job, again)
    error = again.error if isinstance(again, Failure) else ""
    ended = context.now()
    line = {
        "at": stamp(ended),
        "job": job.kind,
        "key": job.key,
        "outcome": "failed" if error else "done",
        "error": error or None,
        "seconds": round((ended - started).total_seconds(), 3),
        **context.figures,
    }
    project = context.runtime.project
    with suppress(OSError):  # a log that cannot be written is ignored
        confined.append_line(project.root, _path(project), json.dumps(line), LOG_BYTES)
    return not error


def recent_runs(project: Project) -> list[dict[str, Any]]:
    """Return the logged jobs, oldest first."""
    runs = []
    for path in (_path(project) + ".1", _path(project)):
        for line in _lines(project, path):
            with suppress(ValueError):  # a full disk may have cut a line
                runs.append(loads(line))
    return runs


def _lines(project: Project, path: str) -> list[str]:
    try:
        return (confined.read_text(project.root, path) or "").splitlines()
    except (OSError, UnicodeDecodeError):
        return []


def _path(project: Project) -> str:
    return os.path.join(project.log, "work.log")
