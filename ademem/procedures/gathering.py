"""What there is to learn from: episodes of sessions, and remarks of reviewers."""

from __future__ import annotations

import re

from ademem.clock import parse
from ademem.procedures.context import SUCCEEDED, Context, steps
from ademem.store import CURRENT, episodes, memories

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from ademem.model import Memory
    from ademem.settings import ProcedureSettings
    from ademem.store import Store
    from ademem.store.episodes import Episode

FEEDBACK = "pr_feedback"
"""The source type of a remark of a reviewer."""
_PULL = re.compile(r"^(.*/pull/\d+)")


def of_sessions(store: Store, settings: ProcedureSettings) -> list[Context]:
    """The newest sessions that changed or ran something."""
    found = (_of_episode(each) for each in episodes.listed(store, settings.newest))
    return [context for context in found if context.steps]


def of_reviews(store: Store, settings: ProcedureSettings) -> list[Context]:
    """The newest remarks; one a pull request counts however often it was made there."""
    found = memories.find(
        store,
        f"source_type = '{FEEDBACK}' and status <> 'archived' and {CURRENT}",
        "order by seq desc limit :limit",
        limit=settings.newest,
    )
    return [_of_remark(memory, settings.feedback_weight) for memory in found]


def sessions_of(store: Store) -> dict[str, str]:
    """The session that each episode tells of, by the id of its memory."""
    return {each.memory_id: each.session_id for each in episodes.listed(store)}


def meant(
    contexts: Iterable[Context], store: Store, model: str | None
) -> Callable[[str, str], float | None]:
    """Their likeness by meaning, as far as this model has given them vectors."""
    from ademem.store import embeddings

    wanted = [context.id for context in contexts]
    blobs = embeddings.blobs(store, model, wanted) if model else {}
    if not blobs:
        return lambda _one, _other: None
    from ademem.procedures.vectors import cosine_of

    return cosine_of(blobs)


def _of_episode(episode: Episode) -> Context:
    return Context(
        id=episode.memory_id,
        session=episode.mission_id or episode.session_id,
        task=episode.task,
        outcome=episode.outcome,
        at=parse(episode.ended_at),
        steps=steps(episode.actions),
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
