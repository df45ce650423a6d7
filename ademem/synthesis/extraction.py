"""Extract candidates from a transcript before a compaction drops its text."""

from __future__ import annotations

from contextlib import suppress

from ademem.capture import provenance, record, transcript
from ademem.capture.message_lessons import findings, learnings
from ademem.capture.prompt_lessons import corrections
from ademem.capture.record import category_of
from ademem.capture.transcript import Message, Prompt
from ademem.core.digest import sha256_hex
from ademem.core.memory import Category, Draft, Origin, Trust
from ademem.core.text import dedupe_key
from ademem.store import memory_queries, sessions
from ademem.synthesis.session_location import SessionLocation

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from ademem.store.runtime import Runtime

MOST_CANDIDATES = 30
"""Most candidates of one run of the job."""


def extract(key: str, runtime: Runtime) -> int:
    """Return the number of new candidates from a session's transcript; a second run adds none."""
    location = SessionLocation.parse(key)
    session = sessions.get(runtime.store, location.session_id)
    if session is None:
        return 0
    trust = provenance.trust_of_session(session.id, runtime.store)
    stored = 0
    with suppress(OSError):
        for draft in _drafts(session, trust, runtime):
            stored += _store(draft, location, runtime)
            if stored >= MOST_CANDIDATES:
                break
    return stored


def _drafts(session: sessions.Session, trust: Trust, runtime: Runtime) -> Iterator[Draft]:
    """Some clients report no prompt that is typed into a running turn: read it from here."""
    capture = runtime.settings.capture
    for event in transcript.events(session.transcript, since=session.own_since):
        if isinstance(event, Message) and capture.learnings:
            origin = Origin(trust=trust, source_type="passive", session_id=session.id)
            for text in learnings(event.text):
                yield Draft(content=text, category=category_of(text), origin=origin)
            for category, text in findings(event.text):
                yield Draft(content=text, category=category, origin=origin)
        elif isinstance(event, Prompt) and event.queued and capture.corrections:
            origin = Origin(trust=Trust.USER, source_type="intervention", session_id=session.id)
            for text in corrections(event.text):
                category = category_of(text)
                if category is Category.FACT:
                    category = Category.CONVENTION
                yield Draft(content=text, category=category, origin=origin)


def _store(draft: Draft, location: SessionLocation, runtime: Runtime) -> bool:
    """Tell whether it is new; text that the session's hooks captured is not counted again."""
    text, session_id = draft.content, location.session_id
    if memory_queries.has_session_text(runtime.store, session_id, dedupe_key(text)):
        return False
    source_key = f"{session_id}:{sha256_hex(text)}"
    written = record.write_once(draft, source_key, runtime, location.assign)
    return written is not None and written.accepted and not written.deduped
