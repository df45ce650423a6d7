"""What there is to learn from: episodes of sessions, and remarks of reviewers."""

from __future__ import annotations

import re

from ademem.core.clock import parse
from ademem.store import episodes, memory_queries
from ademem.synthesis.procedures.context import SUCCEEDED, Context, in_folder, steps
from ademem.synthesis.procedures.wording import steps_in

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from ademem.core.memory import Memory
    from ademem.core.settings import ProcedureSettings
    from ademem.store import Store
    from ademem.store.episodes import Episode
    from ademem.synthesis.procedures.context import Step

KNOWN = 0.8
"""Share of the steps that a skill has to name so that there is nothing to learn."""
FEEDBACK = "pr_feedback"
"""The source type of a remark of a reviewer."""
SKILL_TOOL = "Skill"
"""With it the client loads one."""
_PULL = re.compile(r"^(.*/pull/\d+)")


def of_sessions(store: Store, settings: ProcedureSettings) -> list[Context]:
    """The newest sessions that changed or ran something; a mission as a whole did what they did."""
    told = episodes.listed(store, settings.newest)
    found = (_of_episode(each) for each in told if each.session_id)
    return [context for context in found if context.steps or context.skills]


def of_reviews(store: Store, settings: ProcedureSettings) -> list[Context]:
    """The newest remarks; one a pull request counts however often it was made there."""
    found = memory_queries.feedback(store, FEEDBACK, settings.newest)
    return [_of_remark(memory, settings.feedback_weight) for memory in found]


def has_skill(steps: tuple[Step, ...], store: Store) -> bool:
    """Whether a skill that people wrote names nearly all of the commands and files."""
    told = {in_folder(step).sign for step in steps}
    return any(
        len(told & {in_folder(step).sign for step in steps_in(memory.content)}) >= KNOWN * len(told)
        for memory in memory_queries.skills(store)
    )


def sessions_of(store: Store) -> dict[str, str]:
    """The session that each episode tells of, by the id of its memory."""
    return episodes.sessions_of(store)


def meant(
    contexts: Iterable[Context], store: Store, model: str | None
) -> Callable[[str, str], float | None]:
    """Their likeness by meaning, as far as this model has given them vectors."""
    from ademem.store import embeddings

    wanted = [context.id for context in contexts]
    blobs = embeddings.blobs(store, model, wanted) if model else {}
    if not blobs:
        return lambda _one, _other: None
    from ademem.synthesis.procedures.vectors import cosine_of

    return cosine_of(blobs)


def _of_episode(episode: Episode) -> Context:
    return Context(
        id=episode.memory_id,
        session=episode.mission_id or episode.session_id,
        task=episode.task,
        outcome=episode.outcome,
        at=parse(episode.ended_at),
        steps=steps(episode.actions),
        skills=tuple(action.target for action in episode.actions if action.tool == SKILL_TOOL),
        pitfalls=episode.corrections,
    )


def _of_remark(memory: Memory, weight: float) -> Context:
    """A remark that was merged with others was made as many times."""
    found = _PULL.match(memory.source_id or "")
    return Context(
        id=memory.id,
        session=found[1] if found else memory.source_id or memory.id,
        task=memory.content,
        outcome=SUCCEEDED,
        at=memory.created_at,
        weight=weight * memory.observation_count,
        review=True,
        files=memory.file_scope_pattern or "",
    )
