"""What a conversation taught by its own words, as candidates: before a compaction drops it."""

from __future__ import annotations

from contextlib import suppress

from ademem.capture import provenance, record, transcript
from ademem.capture.corrections import corrections
from ademem.capture.findings import findings
from ademem.capture.passive import learnings
from ademem.capture.record import category_of
from ademem.capture.transcript import Message, Prompt
from ademem.core.digest import sha256_hex
from ademem.core.memory import Category, Draft, Origin, Trust
from ademem.core.text import dedupe_key
from ademem.store import memory_queries, sessions
from ademem.synthesis.episodes.location import Place

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from ademem.store import Store
    from ademem.store.runtime import Runtime

MOST = 30
"""Candidates from one look at one session."""

Found = tuple[Trust | None, str, Category, str]
"""Whose word, the source type, the category, the text; nobody's: the session's own."""


def extract(key: str, runtime: Runtime) -> int:
    """How many new candidates came of a session's transcript; a second look adds nothing."""
    place = Place.of(key)
    session = sessions.get(runtime.store, place.session_id)
    if session is None:
        return 0
    own = provenance.trust_of_session(session.id, runtime.store)
    kept = 0
    with suppress(OSError):
        for trust, source_type, category, text in _found(session, runtime):
            kept += _keep(trust or own, source_type, category, text, place, runtime)
            if kept >= MOST:
                break
    return kept


def _found(session: sessions.Session, runtime: Runtime) -> Iterator[Found]:
    """What is typed into a running turn reaches no hook in some clients."""
    capture = runtime.settings.capture
    for event in transcript.events(session.transcript, since=session.own_since):
        if isinstance(event, Message) and capture.learnings:
            for text in learnings(event.text):
                yield None, "passive", category_of(text), text
            for category, text in findings(event.text):
                yield None, "passive", category, text
        elif isinstance(event, Prompt) and event.queued and capture.corrections:
            for text in corrections(event.text):
                category = category_of(text)
                fact = category is Category.FACT
                yield Trust.USER, "intervention", Category.CONVENTION if fact else category, text


def _keep(
    trust: Trust, source_type: str, category: Category, text: str, place: Place, runtime: Runtime
) -> bool:
    """Whether it was news: what the session's hooks captured already is not counted once more."""
    if _captured(text, place.session_id, runtime.store):
        return False
    origin = Origin(trust=trust, source_type=source_type, session_id=place.session_id)
    draft = Draft(content=text, category=category, origin=origin)
    source_key = f"{place.session_id}:{sha256_hex(text)}"
    written = record.once(draft, source_key, runtime, place.home)
    return written is not None and written.accepted and not written.deduped


def _captured(text: str, session_id: str, store: Store) -> bool:
    return memory_queries.has_session_text(store, session_id, dedupe_key(text))
