"""The kinds of jobs, in the order in which they run."""

from __future__ import annotations

from ademem.core import configuration, worktree
from ademem.core.clock import timedelta
from ademem.core.project import worktrees
from ademem.core.repository import under_way
from ademem.store import ageing, embeddings, existence, jobs
from ademem.worker import schedule
from ademem.worker.job_context import Kind

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import datetime

    from ademem.store.jobs import Job
    from ademem.worker.job_context import JobContext


COLD_START_S = 60.0
"""Seconds for which embedding waits for an active session, as loading the model takes a core."""


CROWDED = "crowded"
"""The kind of a consolidation that a sweep queues."""
GIT_AT_IT = timedelta(minutes=1)
"""Delay after which files are looked at again that a git operation is changing."""


def mirror(context: JobContext, _job: Job) -> datetime | None:
    """Bring the files of the project up to date, in every worktree that has them."""
    from ademem.sync import refresh

    def tell(done: int, total: int) -> None:
        if context.tell:
            context.tell(f"{done:,} of {total:,} changes of the files are imported")

    own, left = context.runtime.project, False
    for place in (own, *filter(worktree.is_kept, worktrees(own))):
        if under_way(place.root):
            left = True
            continue
        environment = context.runtime.environment
        settings = configuration.load(place, environment).settings
        refresh(
            *(place, context.store, settings, context.now()),
            pause=context.pause,
            tell=tell,
            environment=environment,
        )
    return context.now() + GIT_AT_IT if left else None


def current(context: JobContext, _job: Job) -> None:
    """Write the summary of the current state and the log of the day."""
    from ademem.files import daily

    daily.write_current(context.runtime.project, context.store, context.now())


def anchors(context: JobContext, _job: Job) -> None:
    """Verify the anchors of memories, for the ranking."""
    from ademem.synthesis.anchor_verification import verify

    verify(context.runtime.project, context.store)


def skills(context: JobContext, _job: Job) -> None:
    """Bring the index of skill files up to date."""
    from ademem.synthesis import skill_registry

    context.figures |= skill_registry.figures(skill_registry.scan(context.runtime, context.now()))


def procedures(context: JobContext, _job: Job) -> None:
    """Learn procedures from sessions, and export promoted ones."""
    from ademem.synthesis.procedures import export, learning

    model = context.model.id if context.model else None
    context.figures |= learning.learn(context.runtime, context.now(), model)
    if context.runtime.settings.skills.export:
        told = export.export_all(context.runtime, context.now())
        context.figures["written"] = sum(each.outcome == export.WRITTEN for each in told)


def procedure_is_unwritten(context: JobContext) -> None:
    """Notice a procedure that was promoted, changed or imported."""
    export = context.runtime.settings.skills.export
    if existence.any_procedure(context.store, export=export) and not jobs.is_known(
        context.store, "procedures"
    ):
        jobs.queue(context.store, "procedures", "project", context.now())


def digest(context: JobContext, _job: Job) -> None:
    """Read new commits of people, and list the last ones."""
    from ademem.capture import commits

    commits.catch_up(context.runtime.project, context.store, context.now())


def head_moved(context: JobContext) -> None:
    from ademem.capture import commits

    if commits.is_behind(context.runtime.project, context.store):
        jobs.queue(context.store, "digest", "project", context.now())


def embed(context: JobContext, job: Job) -> datetime | None:
    """Give every memory a vector of the installed model."""
    from ademem.worker import embedding

    return embedding.run(context, job)


def model_is_installed(context: JobContext) -> bool:
    return context.model is not None


def model_is_new(context: JobContext) -> None:
    """Queue embedding while the store has no vector of this model; later each change queues it."""
    model = context.model
    if (
        model
        and not jobs.is_known(context.store, "embed")
        and not embeddings.has_any(context.store, model.id)
        and embeddings.any_waiting(context.store, model.id)
    ):
        jobs.queue(context.store, "embed", "project", context.now())


def sweep(context: JobContext, _job: Job) -> None:
    """Sweep the store, unless that was done since it was queued."""
    from ademem.synthesis import sweeping

    if not schedule.sweep_is_due(context):
        return
    swept = sweeping.sweep_locked(context.runtime, context.now(), trigger="schedule")
    context.figures |= {name: getattr(swept, name) for name in ageing.COUNTED}
    if schedule.is_crowded(context.store, context.runtime.settings.lifecycle):
        jobs.plan(
            context.store, CROWDED, context.now(), period=schedule.consolidation_period(context)
        )


def sweep_is_due(context: JobContext) -> None:
    if schedule.sweep_is_due(context):
        jobs.plan(context.store, "sweep", context.now(), period=schedule.sweep_period(context))


def extract(context: JobContext, job: Job) -> None:
    """Extract findings from a session's transcript."""
    from ademem.synthesis.compaction import extract

    context.figures["kept"] = extract(job.key, context.runtime)


def episode(context: JobContext, job: Job) -> None:
    """Build the episode of a session, and queue the count of the memories it used."""
    from ademem.synthesis.episode_building import build_session_episode

    jobs.queue(context.store, "uses", job.key.partition(" ")[0], context.now())
    if made := build_session_episode(job.key, context.runtime, context.now()):
        jobs.queue(context.store, "procedures", "project", context.now())
        if made.mission_id:
            jobs.queue(context.store, "mission", made.mission_id, context.now())


def mission(context: JobContext, job: Job) -> None:
    """Build the episode of an ended mission."""
    from ademem.synthesis.episode_building import build_mission_episode

    build_mission_episode(job.key, context.runtime, context.now())


def consolidate(context: JobContext, job: Job) -> None:
    """Consolidate the store, unless that was done since it was queued."""
    from ademem.search.embedding import model_id
    from ademem.synthesis import consolidation

    crowded = job.kind == CROWDED
    if not crowded and not schedule.consolidation_is_due(context):
        return
    run = consolidation.Run(
        store=context.store,
        settings=context.runtime.settings,
        model=context.model.id if context.model else model_id(context.runtime.settings.embed),
        write=consolidation.ai_writer(context.runtime),
        trigger="auto" if crowded else "schedule",
    )
    done = consolidation.consolidate_locked(context.runtime, run, context.now)
    context.figures |= {"clusters": done.clusters, "merged": done.merged, "created": done.created}


def consolidation_is_due(context: JobContext) -> None:
    if schedule.consolidation_is_due(context):
        jobs.plan(
            context.store,
            "consolidate",
            context.now(),
            period=schedule.consolidation_period(context),
        )


def uses(context: JobContext, job: Job) -> None:
    """Count the memories that a session used."""
    from ademem.synthesis import usage

    context.figures["used"] = usage.count(job.key, context.runtime, context.now())


JOBS: tuple[Kind, ...] = (
    Kind(name="extract", when="a conversation is compacted, or a session ended", run=extract),
    Kind(name="episode", when="a session ended, or was left open", run=episode),
    Kind(name="mission", when="a mission ended, or a session of one that had", run=mission),
    Kind(name="uses", when="a session ended that was shown memories", run=uses),
    Kind(name="mirror", when="a memory or the brief changed", run=mirror),
    Kind(name="current", when="a session ended, or the brief changed", run=current),
    Kind(name="anchors", when="a session starts and memories are tied to places", run=anchors),
    Kind(
        name="procedures",
        when="an episode was told, reviewers were heard, or a procedure was confirmed or changed",
        run=procedures,
        notice=procedure_is_unwritten,
    ),
    Kind(name="skills", when="a session starts and a skill file changed", run=skills),
    Kind(
        name="digest",
        when="something was committed",
        run=digest,
        notice=head_moved,
    ),
    Kind(
        name="embed",
        when="a memory changed, or another model was installed",
        run=embed,
        able=model_is_installed,
        notice=model_is_new,
        patience_s=COLD_START_S,
    ),
    Kind(
        name="consolidate",
        when="a week after the last one, or after the project began",
        run=consolidate,
        notice=consolidation_is_due,
    ),
    Kind(
        name="sweep",
        when="a day after the last one, or after the project began",
        run=sweep,
        notice=sweep_is_due,
    ),
    Kind(name=CROWDED, when="a sweep found a scope above 80 % of its limit", run=consolidate),
)
"""All kinds of jobs, in the order in which they run; each has rows in the table `jobs`."""
