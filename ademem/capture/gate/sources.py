"""Who said it: every origin of a memory stays in its history."""

from __future__ import annotations

from ademem.core.memory import Origin, Trust
from ademem.store import revisions

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ademem.core.memory import Memory
    from ademem.store import Store


def has_said(store: Store, memory: Memory, origin: Origin) -> bool:
    """Whether one of the memory's revisions came from this origin."""
    first = Origin(
        trust=memory.trust,
        source_type=memory.source_type,
        source_id=memory.source_id,
        session_id=memory.source_session_id,
    )
    if source(first) == source(origin):
        return True
    return revisions.has_reason(store, memory.id, said_by(origin))


def said_by(origin: Origin) -> str:
    """How the reason of a revision begins, so that every origin is kept."""
    return f"from {source(origin)}: "


def source(origin: Origin) -> str:
    """Who says so; an import is its source's word, whichever session ran it."""
    session = None if origin.trust is Trust.IMPORT else origin.session_id
    return "/".join(filter(None, (origin.source_type, origin.source_id, session)))
