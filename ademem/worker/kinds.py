"""All kinds of work there are, in the order in which they are done."""

from __future__ import annotations

from ademem.core import configuration, worktree
from ademem.core.clock import timedelta
from ademem.core.project import worktrees
from ademem.core.repository import under_way
from ademem.store import ageing, embeddings, jobs, unexported
from ademem.worker import schedule
from ademem.worker.job_context import Kind

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import datetime

    from ademem.store.jobs import Job
    from ademem.worker.job_context import Shift


COLD_START_S = 60.0
"""Loading the model takes a core for a while: so long an active session is left alone."""


CROWDED = "crowded"
"""The kind of a consolidation that a sweep asks for."""
GIT_AT_IT = timedelta(minutes=1)
"""When to look again at files that are git's own for the moment."""


def mirror(shift: Shift, _job: Job) -> datetime | None:
    """Bring the files of the project up to date, in every worktree that has them."""
    from ademem.sync import refresh

    def tell(done: int, total: int) -> None:
        if shift.tell:
            shift.tell(f"{done:,} of {total:,} changes of the files are imported")

    own, left = shift.runtime.project, False
    for place in (own, *filter(worktree.is_kept, worktrees(own))):
        if under_way(place.root):
            left = True
            continue
        environment = shift.runtime.environment
        settings = configuration.load(place, environment).settings
        refresh(
            *(place, shift.store, settings, shift.now()),
            pause=shift.pause,
            tell=tell,
            environment=environment,
        )
    return shift.now() + GIT_AT_IT if left else None


def current(shift: Shift, _job: Job) -> None:
    """Tell where things stand, and keep the log of the day."""
    from ademem.files import current

    current.write(shift.runtime.project, shift.store, shift.now())


def anchors(shift: Shift, _job: Job) -> None:
    """See how the places stand that memories are tied to, for the ranking."""
    from ademem.synthesis.anchor_verification import verify

    verify(shift.runtime.project, shift.store)


def skills(shift: Shift, _job: Job) -> None:
    """Bring the index of skill files up to date."""
    from ademem.synthesis.skills import registry

    shift.figures |= registry.figures(registry.scan(shift.runtime, shift.now()))


def procedures(shift: Shift, _job: Job) -> None:
    """Learn from what sessions did, and write what is confirmed."""
    from ademem.synthesis.procedures import export, learning

    model = shift.model.id if shift.model else None
    shift.figures |= learning.learn(shift.runtime, shift.now(), model)
    if shift.runtime.settings.skills.export:
        told = export.export_all(shift.runtime, shift.now())
        shift.figures["written"] = sum(each.outcome == export.WRITTEN for each in told)


def procedure_is_unwritten(shift: Shift) -> None:
    """Somebody confirmed or changed one, or it came with the files."""
    export = shift.runtime.settings.skills.export
    if unexported.any_procedure(shift.store, export=export) and not jobs.is_known(
        shift.store, "procedures"
    ):
        jobs.queue(shift.store, "procedures", "project", shift.now())


def digest(shift: Shift, _job: Job) -> None:
    """Look at what people committed, and list the last commits."""
    from ademem.capture import commits

    commits.catch_up(shift.runtime.project, shift.store, shift.now())


def head_moved(shift: Shift) -> None:
    from ademem.capture import commits

    if commits.is_behind(shift.runtime.project, shift.store):
        jobs.queue(shift.store, "digest", "project", shift.now())


def embed(shift: Shift, job: Job) -> datetime | None:
    """Give every memory a vector of the installed model."""
    from ademem.worker import embedding

    return embedding.run(shift, job)


def model_is_installed(shift: Shift) -> bool:
    return shift.model is not None


def model_is_new(shift: Shift) -> None:
    """Ask for vectors when the store has none of this model; later each change asks for its own."""
    model = shift.model
    if (
        model
        and not jobs.is_known(shift.store, "embed")
        and not embeddings.has_any(shift.store, model.id)
        and embeddings.any_waiting(shift.store, model.id)
    ):
        jobs.queue(shift.store, "embed", "project", shift.now())


def sweep(shift: Shift, _job: Job) -> None:
    """Age the store, unless somebody did since it was asked for."""
    from ademem.synthesis import sweeping

    if not schedule.sweep_is_due(shift):
        return
    swept = sweeping.sweep_locked(shift.runtime, shift.now(), trigger="schedule")
    shift.figures |= {name: getattr(swept, name) for name in ageing.COUNTED}
    if schedule.is_crowded(shift.store, shift.runtime.settings.lifecycle):
        jobs.plan(shift.store, CROWDED, shift.now(), period=schedule.consolidation_period(shift))


def sweep_is_due(shift: Shift) -> None:
    if schedule.sweep_is_due(shift):
        jobs.plan(shift.store, "sweep", shift.now(), period=schedule.sweep_period(shift))


def extract(shift: Shift, job: Job) -> None:
    """Keep what a session called a finding."""
    from ademem.synthesis.extraction import extract

    shift.figures["kept"] = extract(job.key, shift.runtime)


def episode(shift: Shift, job: Job) -> None:
    """Keep what a session did; what it used of memory is counted next."""
    from ademem.synthesis.episode_building import build_session_episode

    jobs.queue(shift.store, "uses", job.key.partition(" ")[0], shift.now())
    if made := build_session_episode(job.key, shift.runtime, shift.now()):
        jobs.queue(shift.store, "procedures", "project", shift.now())
        if made.mission_id:
            jobs.queue(shift.store, "mission", made.mission_id, shift.now())


def mission(shift: Shift, job: Job) -> None:
    """Keep what a mission was that is over."""
    from ademem.synthesis.episode_building import build_mission_episode

    build_mission_episode(job.key, shift.runtime, shift.now())


def consolidate(shift: Shift, job: Job) -> None:
    """Merge what means the same, unless somebody did since it was asked for."""
    from ademem.search.embedding import model_id
    from ademem.synthesis import consolidation

    crowded = job.kind == CROWDED
    if not crowded and not schedule.consolidation_is_due(shift):
        return
    run = consolidation.Run(
        store=shift.store,
        settings=shift.runtime.settings,
        model=shift.model.id if shift.model else model_id(shift.runtime.settings.embed),
        write=consolidation.ai_writer(shift.runtime),
        trigger="auto" if crowded else "schedule",
    )
    done = consolidation.consolidate_locked(shift.runtime, run, shift.now)
    shift.figures |= {"clusters": done.clusters, "merged": done.merged, "created": done.created}


def consolidation_is_due(shift: Shift) -> None:
    if schedule.consolidation_is_due(shift):
        jobs.plan(
            shift.store, "consolidate", shift.now(), period=schedule.consolidation_period(shift)
        )


def uses(shift: Shift, job: Job) -> None:
    """See what a session did with the memories it was shown."""
    from ademem.synthesis import usage

    shift.figures["used"] = usage.count(job.key, shift.runtime, shift.now())


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
"""All there is to do, in the order in which it is done; each has its rows in `jobs`."""
