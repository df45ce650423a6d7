"""Rules about text that would rather be obeyed than known."""

from __future__ import annotations

from ademem.capture.gate.form import noted
from ademem.core.value import replace
from ademem.guard.injection import instruction_in, order_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ademem.capture.gate.verdict import Gate, Reviewed


def instruction_shaped(draft: Reviewed, gate: Gate) -> Reviewed:
    """An order that no person typed waits for one, unseen by any search.

    An agent's words may be those of the file or page it read last.
    """
    return _held(draft, None if draft.by_person else order_of(draft.title, draft.content))


def instruction_beside(draft: Reviewed, gate: Gate) -> Reviewed:
    """The same for what stands beside the text: tags, path, places, keys and names."""
    if draft.by_person or draft.quarantine_reason:
        return draft
    named = (draft.path, draft.topic_key, draft.knowledge_key, draft.bead, draft.origin.agent_id)
    beside = "\n".join((*draft.tags, *draft.anchors, *filter(None, named)))
    return _held(draft, instruction_in(beside) if beside else None)


def _held(draft: Reviewed, found: str | None) -> Reviewed:
    if not found:
        return draft
    draft = replace(draft, quarantine_reason=found, promoted=False, pinned=False, strict=False)
    return noted(draft, f"quarantined, as it {found}; a person approves it with `ademem promote`")
