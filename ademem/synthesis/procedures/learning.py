"""From what sessions did to procedures: new ones, better ones, and how the known ones fare."""

from __future__ import annotations

import math
from itertools import combinations

from ademem.core.memory import Trust
from ademem.core.value import Value
from ademem.store import ledger
from ademem.store import procedures as table
from ademem.synthesis.procedures import asking, confidence, gathering, rows, uses, wording
from ademem.synthesis.procedures.clusters import clusters, distinct, medoid
from ademem.synthesis.procedures.common_steps import distil, followed, same, telling
from ademem.synthesis.procedures.context import FAILED, SUCCEEDED, UNKNOWN
from ademem.synthesis.procedures.similarity import Likeness

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import datetime

    from ademem.store.runtime import Runtime
    from ademem.synthesis.procedures.context import Context, Step
    from ademem.synthesis.procedures.rows import Procedure

DISTILLED = 12
"""Newest sessions of a kind that say what its steps are."""
FEW = 5
"""Other sessions below which nobody can say what all do: then tasks have to be alike, too."""
OUTCOME = "procedure_outcome"
"""What the ledger calls the end of a session that counted for a procedure."""
OUTCOMES = {SUCCEEDED: confidence.SUCCESS, FAILED: confidence.FAILURE}


class Lesson(Value):
    """What is looked at in one go."""

    runtime: Runtime
    now: datetime
    contexts: tuple[Context, ...]
    likeness: Likeness
    learned: dict[str, list[str]]
    """Ids of the procedures that each was a source of before."""


def learn(runtime: Runtime, now: datetime, model: str | None = None) -> dict[str, int]:
    """Look at what sessions did; how many procedures were new, took an old one's place, were used.

    *model* names the vectors that tell what tasks mean; without it, and for sessions that have
    none, words do.
    """
    store, settings = runtime.store, runtime.settings.procedures
    figures = {"edited": rows.settle(store, now), "new": 0, "superseded": 0, "outcomes": 0}
    for contexts in (
        gathering.of_sessions(store, settings),
        gathering.of_reviews(store, settings),
    ):
        likeness = Likeness(contexts, gathering.meant(contexts, store, model))
        lesson = Lesson(
            runtime=runtime,
            now=now,
            contexts=tuple(contexts),
            likeness=likeness,
            learned=table.learned_from(store),
        )
        figures["outcomes"] += _count_uses(lesson)
        busy = [context for context in contexts if context.steps or context.review]
        for cluster in clusters(busy, likeness, settings.alike):
            for name in _learn(cluster, lesson):
                figures[name] += 1
    return figures


def _learn(cluster: list[Context], lesson: Lesson) -> list[str]:
    """What came of it, as names of figures."""
    store = lesson.runtime.store
    owners = _owners(cluster, lesson)
    if not owners:
        made = _new(cluster, lesson)
        return ["new"] if made else []
    known = next((owner for owner in owners if owner.memory.live), None)
    if known is None:  # a person, or its failures, did away with it
        return []
    news = _unlinked(cluster, known, lesson)
    table.link(store, known.memory.id, [context.id for context in news], lesson.now)
    counted = [
        "outcomes" for context in news if _count(known, context, "a session like it", lesson)
    ]
    return counted + (["superseded"] if _renew(cluster, known, lesson) else [])


def _owners(cluster: Iterable[Context], lesson: Lesson) -> list[Procedure]:
    """The procedures learned from any of these, the newest first, whatever became of them."""
    wanted = {id for context in cluster for id in lesson.learned.get(context.id, ())}
    if not wanted:
        return []
    found = [each for each in rows.ever(lesson.runtime.store) if each.id in wanted]
    return sorted(found, key=lambda each: each.details.created_at, reverse=True)


def _unlinked(cluster: Iterable[Context], procedure: Procedure, lesson: Lesson) -> list[Context]:
    return [
        context for context in cluster if procedure.id not in lesson.learned.get(context.id, ())
    ]


def _new(cluster: list[Context], lesson: Lesson) -> Procedure | None:
    """None while too few did it, or what they have in common is what everybody does."""
    if distinct(cluster) < lesson.runtime.settings.procedures.contexts:
        return None
    if cluster[0].review:
        said = wording.of_reviews(cluster, medoid(cluster, lesson.likeness))
        return _insert(said, cluster, lesson)
    steps = _steps(cluster, lesson)
    if not _is_telling(steps, cluster, lesson) or gathering.has_skill(steps, lesson.runtime.store):
        return None
    return _insert(_worded(cluster, steps, lesson), cluster, lesson)


def _insert(said: wording.Wording, cluster: Sequence[Context], lesson: Lesson) -> Procedure:
    """Its sources are its first uses; they are counted here and never again."""
    store = lesson.runtime.store
    said = asking.reworded(said, cluster, lesson.runtime)
    with store.transaction():
        made = rows.insert(
            said,
            store,
            lesson.runtime.settings,
            lesson.now,
            sources=[context.id for context in cluster],
            successes=sum(context.outcome == SUCCEEDED for context in cluster),
            failures=sum(context.outcome == FAILED for context in cluster),
            trust=Trust.TOOL if cluster[0].review else Trust.AGENT,
        )
        for context in cluster:
            ledger.claim(store, OUTCOME, _key(made, context), lesson.now)
    return made


def _renew(cluster: Sequence[Context], old: Procedure, lesson: Lesson) -> bool:
    """Whether those that came after it do it another way, and it was superseded by that."""
    settings = lesson.runtime.settings.procedures
    later = [
        context
        for context in cluster
        if context.at > old.details.created_at and context.outcome != FAILED
    ][-max(2, math.ceil(settings.contexts)) :]
    if old.memory.trust is Trust.USER or cluster[0].review or distinct(later) < settings.contexts:
        return False
    steps = _steps(later, lesson)
    if same(steps, old.steps) >= settings.outdated or not _is_telling(steps, later, lesson):
        return False
    new = _insert(_worded(later, steps, lesson), later, lesson)
    rows.supersede(old, new, lesson.runtime.store, lesson.now)
    return True


def _steps(cluster: Sequence[Context], lesson: Lesson) -> tuple[Step, ...]:
    """What those have in common that did not fail."""
    good = [context.steps for context in cluster if context.outcome != FAILED]
    return distil(good[-DISTILLED:], lesson.runtime.settings.procedures.share)


def _is_telling(steps: tuple[Step, ...], cluster: Sequence[Context], lesson: Lesson) -> bool:
    """Whether it has steps enough that are not what every session does."""
    settings = lesson.runtime.settings.procedures
    ours = {context.id for context in cluster}
    others = [context.steps for context in lesson.contexts if context.id not in ours]
    if len(others) >= FEW:
        return len(telling(steps, others, settings.rare)) >= settings.steps
    pairs = [lesson.likeness.task(*pair) for pair in combinations(cluster, 2)]
    return len(steps) >= settings.steps and sum(pairs) >= settings.alike * len(pairs)


def _worded(cluster: Sequence[Context], steps: tuple[Step, ...], lesson: Lesson) -> wording.Wording:
    return wording.of_sessions(cluster, medoid(cluster, lesson.likeness), steps)


def _count_uses(lesson: Lesson) -> int:
    """Count how sessions ended that loaded a procedure, or were shown it and took its steps."""
    store = lesson.runtime.store
    counted = 0
    for procedure in rows.listed(store):
        for context in lesson.contexts:
            if _name(procedure) in context.skills:
                counted += _count(procedure, context, "loaded as a skill", lesson)
    by_session = _by_session(lesson)
    for use in table.uses(store):
        context_ = by_session.get(use.session_id)
        shown = rows.live(store, use.procedure_id)
        if context_ and shown and _took(use, shown, context_, lesson):
            counted += _count(shown, context_, "shown to a session, and followed", lesson)
    return counted


def _by_session(lesson: Lesson) -> dict[str, Context]:
    by_memory = {context.id: context for context in lesson.contexts}
    sessions = gathering.sessions_of(lesson.runtime.store)
    return {session: by_memory[id] for id, session in sessions.items() if id in by_memory}


def _name(procedure: Procedure) -> str:
    """Of its skill; empty while it has none."""
    path = procedure.details.exported_skill_path or ""
    return path.rpartition("/")[2].removesuffix(".md")


def _took(use: table.Use, procedure: Procedure, context: Context, lesson: Lesson) -> bool:
    """An answer counts from the first step that was taken, a briefing from a good part of them."""
    share = followed(procedure.steps, context.steps)
    return share >= lesson.runtime.settings.procedures.followed or (use.asked and share > 0)


def _count(procedure: Procedure, context: Context, why: str, lesson: Lesson) -> bool:
    """Whether the end of the session is news; one that nobody can tell is none yet."""
    if context.outcome == UNKNOWN:
        return False
    store = lesson.runtime.store
    with store.transaction():
        if not ledger.claim(store, OUTCOME, _key(procedure, context), lesson.now):
            return False
        uses.record(
            procedure,
            OUTCOMES[context.outcome],
            f"{why}: {context.session}",
            store,
            lesson.runtime.settings.procedures,
            lesson.now,
        )
    return True


def _key(procedure: Procedure, context: Context) -> str:
    return f"{procedure.id}:{context.session}:{context.outcome}"
