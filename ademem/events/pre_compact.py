"""PreCompact: plain words for whoever summarises the conversation."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ademem.client import Payload
    from ademem.runtime import Runtime

KEEP = (
    "In the summary keep, word for word where it matters: decisions and their reasons, "
    "what the person corrected or asked to be remembered, "
    "pitfalls met and how they were overcome, conventions agreed on, and what is still open. "
    "Leave out file listings, progress reports and anything the repository itself tells."
)


def handle(_payload: Payload, _runtime: Runtime) -> str:
    """The client appends the text to the summariser's instructions as it stands."""
    return KEEP
