"""Kinds of jobs in the order in which they run, their schedule and context, and running them."""

from __future__ import annotations

import os

from ademem import store as store_
from ademem.core import confined, plugins, trust
from ademem.core.clock import datetime, parse, stamp, timedelta
from ademem.core.errors import suppress
from ademem.core.json_text import loads
from ademem.core.project import Project, was_read, worktrees
from ademem.core.repository import under_way
from ademem.core.settings import load_configuration
from ademem.core.shared_files import locked
from ademem.core.value import Value, as_dict
from ademem.store import (
    Store,
    agreements,
    embeddings,
    full_text,
    jobs,
    kept_copies,
    maintenance,
    sessions,
    statistics,
)
from ademem.store.maintenance import CONSOLIDATION, SWEEP
from ademem.worker import lock

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager
    from typing import Any, TypeVar

    from ademem.search.embedding import Embedder
    from ademem.store.jobs import Job
    from ademem.store.runtime import Runtime

    T = TypeVar("T")

LOG_BYTES = 128_000
"""Size at which the log is rotated; one rotated file is kept."""


class Model(Value):
    id: str
    load: Callable[[], Embedder | None]
    second: Model | None = None
    """For other languages."""


class JobContext:
    def __init__(
        self,
        runtime: Runtime,
        now: Callable[[], datetime],
        model: Model | None,
        *,
        patient: bool = False,
        pause: Callable[[], None] | None = None,
        on_progress: Callable[[str], None] | None = None,
        offer: Callable[[Embedder], AbstractContextManager[None]] | None = None,
    ) -> None:
        self.runtime = runtime
        self.store = runtime.store
        self.now = now
        self.model = model
        self.patient = patient
        """Postpone what can wait while a session is active."""
        self.pause = pause
        self.on_progress = on_progress
        self.offer = offer
        """Serves the loaded model to other processes while the context lasts."""
        self.figures: dict[str, int] = {}
        """Counts of the running job, for the log."""


class Kind(Value):
    name: str
    run: Callable[[JobContext, Job], datetime | None]
    """Return when to continue, if a part is left."""
    able: Callable[[JobContext], bool] = lambda _context: True
    """Until then such jobs wait."""
    needed: Callable[[JobContext], bool] = lambda _context: False
    """Make a job due without a request."""
    patience_s: float = 0.0
    """Seconds for which a job waits while a session is active."""
    before: str = ""
    """Of a part: the kind of the core before which it runs; at the end by default."""


class Failure(Value):
    """An error on one line, without secrets."""

    error: str


def attempt(do: Callable[[], T]) -> T | Failure:
    """Return the result, or the failure: no other place catches failures of jobs."""
    try:
        return do()
    except Exception as error:
        from ademem.core.failure_log import describe

        return Failure(error=describe(error))


PERIODS = {SWEEP: timedelta(hours=24), CONSOLIDATION: timedelta(days=7)}
CROWDED_SHARE = 0.8
"""Share of a limit above which a sweep queues a consolidation."""


def next_run(store: Store, kind: str, now: datetime) -> datetime:
    """Return one period after the last consolidation or successful sweep, or the store's creation.

    A creation time in the future is ignored: the oldest memory that is not counts. With one that is
    no time the job is due.
    """
    last = maintenance.last(store, kind, "ok" if kind == SWEEP else "%", until=stamp(now))
    began = (last and last.completed_at) or store_.creation_time(store)
    if began > stamp(now):
        began = maintenance.oldest(store, now) or began
    try:
        return parse(began) + PERIODS[kind]
    except (ValueError, OverflowError):
        return now


def is_due(context: JobContext, kind: str) -> bool:
    return (now := context.now()) >= next_run(context.store, kind, now)


def is_spent(context: JobContext) -> bool:
    """Tell whether work in the background has taken its processor time of this day."""
    most, now = context.runtime.settings.jobs.daily_s, context.now()
    is_bounded = context.patient and most > 0
    return is_bounded and maintenance.read_work_seconds(context.store, now) >= most


def next_day(now: datetime) -> datetime:
    return parse(stamp(now)[: maintenance.DAY_CHARS]) + timedelta(days=1)


COLD_START_S = 60.0
"""Patience of embedding, as loading the model takes a core."""
CROWDED = "crowded"
"""The kind of a consolidation that a sweep queues."""
FILES_RETRY = timedelta(minutes=1)
"""Delay before files are read again that git or another program is changing."""


def places(context: JobContext, _job: Job) -> None:
    """Derive where memories apply that changed, and write the lists that the shell asks."""
    from ademem.search import binding

    binding.refresh(context.runtime, seconds=float("inf"))


def mirror(context: JobContext, _job: Job) -> datetime | None:
    from ademem.store.runtime import Runtime
    from ademem.sync.importer import BeingWritten
    from ademem.sync.mirror import refresh

    def report(done: int, total: int) -> None:
        if context.on_progress:
            context.on_progress(f"{done:,} of {total:,} changes of the files are imported")

    own, left = context.runtime.project, False
    for place in (own, *filter(was_read, worktrees(own))):
        if under_way(place.root):
            left = True
            continue
        environment = context.runtime.environment
        settings = load_configuration(place, environment).settings
        there = Runtime(place, settings, context.store, environment, context.now())
        try:
            refresh(there, lazily=True, pause=context.pause, on_batch=report)
        except BeingWritten:
            left = True
    return context.now() + FILES_RETRY if left else None


def is_mirror_needed(context: JobContext) -> bool:
    return agreements.has_unread_files(context.runtime.project, context.store)


def current(context: JobContext, _job: Job) -> None:
    from ademem.sync import daily

    daily.write_current(context.runtime.project, context.store, context.now())


def tree(context: JobContext, _job: Job) -> None:
    """Renew the index of the files, and bind anew the memories whose places are gone or moved."""
    from ademem.search import binding
    from ademem.search import tree as index
    from ademem.store import bindings, gone_places

    renewal = index.renew(context.runtime.project)
    if renewal is None:
        raise OSError("git does not list the files of the commit that is checked out")
    bindings.mark_due(context.store, None if renewal.is_new else renewal.removed_places)
    binding.refresh(context.runtime, seconds=float("inf"))
    if renewal.is_new and bindings.has_gone(context.store):
        if index.learn_renames(context.runtime.project):
            bindings.mark_due(context.store, ())
        binding.refresh(context.runtime, seconds=float("inf"))
    gone_places.note(context.store, context.now())
    context.figures |= {"files": renewal.files, "removed": len(renewal.removed)}


def is_tree_behind(context: JobContext) -> bool:
    from ademem.search import tree as index

    return index.is_behind(context.runtime.project)


def adopt(context: JobContext, _job: Job) -> None:
    """Bring adopted instruction files in step, and the lists that the shell asks."""
    from ademem.search import binding
    from ademem.store import adopted
    from ademem.sync import adopting

    if not adopted.is_taken(context.store):
        return
    done = adopting.adopt(context.runtime)
    adopting.note_times(context.runtime)
    binding.renew_lists(context.runtime)
    context.figures |= {"items": len(done.reading.items), "added": done.added}


def is_adoption_behind(context: JobContext) -> bool:
    from ademem.sync import instruction_state

    return instruction_state.is_behind(context.runtime)


def digest(context: JobContext, _job: Job) -> None:
    from ademem.capture import commits

    commits.catch_up(context.runtime.project, context.store, context.now())


def is_digest_needed(context: JobContext) -> bool:
    from ademem.capture import commits

    return commits.is_behind(context.runtime.project, context.store)


def index(context: JobContext, _job: Job) -> None:
    full_text.renew(context.store)


def embed(context: JobContext, _job: Job) -> datetime | None:
    from ademem.worker import embedding

    return embedding.run(context)


def is_embedding_needed(context: JobContext) -> bool:
    """Return True while the store has no vector of a model; later each change queues it."""
    store, first = context.store, context.model
    return any(
        not embeddings.has_any(store, model.id) and embeddings.counts(store, model.id).waiting
        for model in (first, first and first.second)
        if model
    )


def relate(context: JobContext, _job: Job | None = None) -> datetime | None:
    from time import process_time

    from ademem.search import neighbours

    store, began = context.store, process_time()
    if is_spent(context):
        return next_day(context.now())
    if context.model is not None:
        context.figures["compared"] = neighbours.catch_up(
            store, context.model.id, context.now(), context.pause
        )
        maintenance.add_work_seconds(store, context.now(), process_time() - began)
    return None


def is_relating_needed(context: JobContext) -> bool:
    from ademem.store import relations

    model = context.model
    has_vectors = model is not None and embeddings.has_any(context.store, model.id)
    return has_vectors and relations.is_behind(context.store)


def sweep(context: JobContext, _job: Job) -> None:
    from ademem.synthesis import sweeping

    if not is_due(context, SWEEP):  # it was swept after the job was queued
        return
    swept = sweeping.sweep_locked(context.runtime, context.now(), trigger="schedule")
    kept_copies.remove_ended(context.store, context.now())
    context.figures |= {name: getattr(swept, name) for name in maintenance.COUNTED}
    if any(
        max(counts) > CROWDED_SHARE * limit
        for scope, counts in statistics.by_owner(context.store).items()
        if (limit := context.runtime.settings.lifecycle.limit_of(scope))
    ):
        jobs.plan(context.store, CROWDED, context.now())


def extract(context: JobContext, job: Job) -> None:
    from ademem.synthesis.checkpoints import append_checkpoint
    from ademem.synthesis.episode_building import extract_findings

    context.figures["kept"] = extract_findings(job.key, context.runtime)
    append_checkpoint(job.key.partition(" ")[0], context.runtime)


def client_memory(context: JobContext, _job: Job) -> None:
    from ademem.capture import reconciling

    reconciling.run(context.runtime, seconds=float("inf"))


def episode(context: JobContext, job: Job) -> None:
    from ademem.synthesis.episode_building import build_session_episode

    jobs.queue(context.store, "uses", job.key.partition(" ")[0], context.now())
    if made := build_session_episode(job.key, context.runtime, context.now()):
        jobs.queue(context.store, "procedures", "project", context.now())
        if made.mission_id:
            jobs.queue(context.store, "mission", made.mission_id, context.now())


def mission(context: JobContext, job: Job) -> None:
    from ademem.synthesis.episode_building import build_mission_episode

    build_mission_episode(job.key, context.runtime, context.now())


def consolidate(context: JobContext, job: Job) -> None:
    from ademem.search.embedding import model_id
    from ademem.synthesis import consolidation

    crowded = job.kind == CROWDED
    if not crowded and not is_due(context, CONSOLIDATION):  # done after it was queued
        return
    run = consolidation.ConsolidationRun(
        store=context.store,
        settings=context.runtime.settings,
        model=context.model.id if context.model else model_id(context.runtime.settings.embed),
        trigger="auto" if crowded else "schedule",
    )
    done = consolidation.consolidate_locked(context.runtime, run, context.now)
    context.figures |= {"clusters": done.clusters, "merged": done.merged, "created": done.created}


def read_session(context: JobContext, job: Job) -> None:
    """Let the client's model read an ended session; a failure is tried once more, later."""
    from ademem.synthesis.reader import reading

    try:
        if found := reading.read_session(job.key, context.runtime):
            context.figures |= as_dict(found)
    except reading.NoAnswer:
        if not job.attempts:
            raise


def uses(context: JobContext, job: Job) -> None:
    from ademem.synthesis import usage

    context.figures["used"] = usage.count(job.key, context.runtime, context.now())


def back_up(context: JobContext, _job: Job) -> None:
    from ademem.store import backup_files, backups
    from ademem.store.runtime import personal_project

    runtime = context.runtime
    made = backups.make(
        runtime.project, runtime.environment, backup_files.Kind.WEEKLY, context.now()
    )
    context.figures["bytes"] = made.bytes
    own = personal_project(runtime.environment)
    has_own = trust.has_personal(runtime.environment)
    if has_own and backups.is_due(own, runtime.environment, "", context.now()):
        backups.make(own, runtime.environment, backup_files.Kind.WEEKLY, context.now())


def is_backup_needed(context: JobContext) -> bool:
    from ademem.store import backups

    began = store_.creation_time(context.store)
    return backups.is_due(
        context.runtime.project, context.runtime.environment, began, context.now()
    )


JOBS: tuple[Kind, ...] = (
    Kind(name="index", run=index, needed=lambda context: full_text.is_outdated(context.store)),
    Kind(name="client_memory", run=client_memory),
    Kind(name="extract", run=extract),
    Kind(name="episode", run=episode),
    Kind(name="mission", run=mission),
    Kind(name="uses", run=uses),
    Kind(name="places", run=places),
    Kind(name="mirror", run=mirror, needed=is_mirror_needed),
    Kind(name="current", run=current),
    Kind(name="tree", run=tree, needed=is_tree_behind),
    Kind(name="adopt", run=adopt, needed=is_adoption_behind),
    Kind(name="digest", run=digest, needed=is_digest_needed),
    Kind(
        name="embed",
        run=embed,
        able=lambda context: context.model is not None,
        needed=is_embedding_needed,
        patience_s=COLD_START_S,
    ),
    Kind(name="relate", run=relate, needed=is_relating_needed),
    Kind(
        name="consolidate", run=consolidate, needed=lambda context: is_due(context, CONSOLIDATION)
    ),
    Kind(name="sweep", run=sweep, needed=lambda context: is_due(context, SWEEP)),
    Kind(name=CROWDED, run=consolidate),
    Kind(name="backup", run=back_up, needed=is_backup_needed),
    Kind(name="reader", run=read_session),
)
"""In the order in which they run; each has rows in the table `jobs`."""


def kinds(*, by_others: bool = False) -> list[Kind]:
    """Return the kinds of the core and of the parts in the order in which they run."""
    found = list(JOBS)
    for module in plugins.modules("JOBS", by_others=by_others):
        for kind in module.JOBS:
            names = [each.name for each in found]
            found.insert(names.index(kind.before) if kind.before in names else len(names), kind)
    return found


def any_due(runtime: Runtime) -> bool:
    context = JobContext(runtime, lambda: runtime.now, find_model(runtime), patient=True)
    return any(due(context, kind) for kind in kinds())


def due(context: JobContext, kind: Kind) -> list[Job]:
    if not kind.able(context):
        return []
    now = context.now()
    if kind.needed(context):
        jobs.plan(context.store, kind.name, now)
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
    every = kinds(by_others=True)
    jobs.delete_others(context.store, [*(kind.name for kind in every), embeddings.FAILURES])
    # Ask again after the lock is released: a process that found it held left its jobs to us.
    while any(due(context, kind) for kind in every):
        project = context.runtime.project
        with locked(lock(project), root=project.home_root, wait=wait) as ours:
            if not ours:
                break
            done += [
                job.kind
                for kind in every
                for job in due(context, kind)
                if _run_job(kind, job, context)
            ]
    return list(dict.fromkeys(done))


def find_model(runtime: Runtime) -> Model | None:
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


def _run_job(kind: Kind, job: Job, context: JobContext) -> bool:
    started = context.now()
    context.figures = {}
    again, error = attempt(lambda: kind.run(context, job)), None
    if isinstance(again, Failure):
        error = again.error
        jobs.fail(context.store, job, error, context.now())
    elif again is None:
        jobs.finish(context.store, job)
    else:
        jobs.postpone(context.store, job, again)
    ended = context.now()
    import json  # a hook only asks what is due

    line = {
        "at": stamp(ended),
        "job": job.kind,
        "key": job.key,
        "outcome": "failed" if error else "done",
        "error": error,
        "seconds": round((ended - started).total_seconds(), 3),
        **context.figures,
    }
    project = context.runtime.project
    with suppress(OSError):  # a log that cannot be written is ignored
        confined.append_line(project.root, _path(project), json.dumps(line), LOG_BYTES)
    return not error


def recent_runs(project: Project) -> list[dict[str, Any]]:
    """Oldest first."""
    runs = []
    for path in (_path(project) + ".1", _path(project)):
        with suppress(OSError, UnicodeDecodeError):
            for line in (confined.read_text(project.root, path) or "").splitlines():
                with suppress(ValueError):  # a full disk may have cut a line
                    runs.append(loads(line))
    return runs


def _path(project: Project) -> str:
    return os.path.join(project.log, "work.log")
