"""The work of making episodes: of a session that ended, or that nobody ever ended."""

from __future__ import annotations

import os
from contextlib import suppress

from ademem.capture import gate, provenance, transcript
from ademem.capture.transcript import Prompt
from ademem.core.memory import EPISODE, Category, Draft, Origin
from ademem.core.value import replace
from ademem.store import ai_calls, episodes, ledger, memories, sessions
from ademem.store.episodes import Episode
from ademem.store.mission_binding import VARIABLE, bound
from ademem.synthesis import ai
from ademem.synthesis.episodes import description
from ademem.synthesis.episodes.gathering import Gathering

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from ademem.core.memory import Trust
    from ademem.store.runtime import Runtime
    from ademem.store.sessions import Session
    from ademem.synthesis.episodes.description import Told

PURPOSE = "episode"


def key_of(session_id: str, mission_id: str = "") -> str:
    """The name of the work in `jobs`."""
    return f"{session_id} {mission_id}".strip()


def build(key: str, runtime: Runtime, now: datetime) -> Episode | None:
    """Make or extend the episode that the job's *key* names; None when there is nothing to tell.

    What was made from the same part of a transcript stays as it is, and so does what a person took
    out of memory.
    """
    session_id, _, mission_id = key.partition(" ")
    known = episodes.of_session(runtime.store, session_id, mission_id)
    if known and not memories.get(runtime.store, known.memory_id).live:
        return None
    session = sessions.get(runtime.store, session_id)
    size = _size(session)
    if session is None or (known and size <= known.transcript_offset):
        return known
    gathered = _gathered(session, runtime)
    if gathered.is_empty:
        return None
    made = _episode(gathered, session, mission_id, size)
    trust = provenance.trust_of_session(session_id, runtime.store)
    said = told(made, description.of_conversation(made, gathered), runtime)
    return keep(said, trust, mission_id, runtime, now)


def _size(session: Session | None) -> int:
    """Of the transcript, in bytes; 0: it is gone, or nobody said where it is."""
    with suppress(OSError):
        return os.path.getsize(session.transcript) if session and session.transcript else 0
    return 0


def _gathered(session: Session, runtime: Runtime) -> Gathering:
    """From the transcript, and from what hooks stored where that is gone or tells no task."""
    settings = runtime.settings
    roots = (runtime.project.root, session.directory)
    gathered = Gathering(roots, settings.guard, prompts=settings.capture.prompts)
    with suppress(OSError):
        for event in transcript.whole(session.transcript, since=session.own_since):
            gathered.take(event)
    if not gathered.task:
        for text, at in sessions.prompts(runtime.store, session.id):
            gathered.take(Prompt(text=text, at=at))
    for memory in memories.find(
        runtime.store, "source_session_id = :id", "order by seq", id=session.id
    ):
        gathered.learned(memory)
    return gathered


def _episode(gathered: Gathering, session: Session, mission_id: str, size: int) -> Episode:
    return Episode(
        memory_id="",
        session_id=session.id,
        mission_id=mission_id,
        task=gathered.task or _named_by_deeds(gathered),
        outcome=gathered.outcome,
        started_at=gathered.started_at or session.started_at,
        ended_at=gathered.ended_at or session.ended_at or session.started_at,
        actions=tuple(gathered.actions),
        files=tuple(gathered.files),
        tests=tuple(gathered.tests),
        errors=tuple(gathered.errors),
        decisions=tuple(gathered.decisions.values()),
        corrections=tuple(gathered.corrections.values()),
        transcript_offset=size,
    )


def _named_by_deeds(gathered: Gathering) -> str:
    """What a session was about that did not keep its prompts."""
    if gathered.files:
        return f"Change {', '.join(list(gathered.files)[:3])}"
    return f"Run {gathered.actions[0].target}" if gathered.actions else "Talk about the project"


def told(episode: Episode, beside: Iterable[str], runtime: Runtime) -> Told:
    """In the words of an AI that hears what was said *beside*; never lost because none answered."""
    if not ai.is_available(runtime):
        return description.by_rules(episode)
    answer = ai.ask(runtime, PURPOSE, description.question(episode, beside), description.SCHEMA)
    if answer is None:
        return description.by_rules(episode)
    call = ai_calls.last(runtime.store)
    return description.by_model(episode, answer, call["model"] if call else "")


def keep(told: Told, trust: Trust, home: str, runtime: Runtime, now: datetime) -> Episode | None:
    """Text and data in one transaction, in the mission *home* if any; the gate's word is final."""
    episode, store = told.episode, runtime.store
    source = key_of(episode.session_id or "mission", episode.mission_id)
    draft = Draft(
        content=told.text,
        title=told.title,
        category=Category.EPISODE,
        confidence=told.confidence,
        topic_key=f"episode/{source}",
        origin=Origin(
            trust=trust,
            source_type=EPISODE,
            source_id=episode.session_id or episode.mission_id,
            session_id=episode.session_id or None,
        ),
    )
    with store.transaction():
        draft = bound(draft, {VARIABLE: home}, store, now)
        written = gate.write(draft, store, runtime.settings.gate, now)
        if written.memory is None:
            return None
        ledger.claim(store, PURPOSE, source, now)
        ledger.credit_episode(store, PURPOSE, source, written.memory.id)
        kept = replace(episode, memory_id=written.memory.id)
        episodes.put(store, kept, now)
    return kept
