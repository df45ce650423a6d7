"""The gate for records that come from other copies of a store."""

from __future__ import annotations

from ademem.capture.gate import Gate, form, judge
from ademem.capture.gate.rules import instruction_beside, instruction_shaped
from ademem.capture.gate.writing import StoreLookup
from ademem.core.memory import Draft, Origin, Status, Trust
from ademem.core.value import replace
from ademem.store import transitions

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import datetime

    from ademem.core.memory import Memory
    from ademem.core.settings import GateSettings
    from ademem.store import Store
    from ademem.store.replication import Admit

RULES = (form.length, instruction_shaped, instruction_beside)
"""Rules of the gate for text that was redacted and is as untrusted as any file."""

_TEXTS = (
    *("title", "content", "file_scope_pattern", "tags", "anchors", "topic_key", "knowledge_key"),
    *("bead", "agent_id"),
)
"""Fields that may hold an instruction."""


def admission(
    store: Store,
    settings: GateSettings,
    now: datetime,
    author: str | None,
    *,
    promotes: bool = True,
) -> Admit:
    """Return the rule that admits rows; *author* is the claimed one, None for trusted files.

    Unless it *promotes*, what is confirmed elsewhere is a candidate here.

    What they say, confirm or pin is labelled with the author. An instruction is quarantined, also
    where another store confirmed it, unless a person approved the same text here.
    """
    gate = Gate(lookup=StoreLookup(store), settings=settings, now=now)

    def admit(row: Memory, before: Memory | None) -> Memory:
        if before is None or any(getattr(row, name) != getattr(before, name) for name in _TEXTS):
            row = replace(row, quarantine_reason=_reason_against(row, gate))
        if before is None or _claims(row) != _claims(before):
            row = replace(row, claimed_author=author)
        confirms = row.status == Status.PROMOTED and not promotes
        confirms = confirms and (before is None or before.status != Status.PROMOTED)
        if (row.quarantine_reason or confirms) and row.live:
            row = replace(
                row, pinned=False, promoted_at=None, **transitions.initial(promoted=False)
            )
        return row

    return admit


def _claims(memory: Memory) -> tuple[object, ...]:
    names = (*_TEXTS, "category", "status", "pinned")
    return tuple(getattr(memory, name) for name in names)


def _reason_against(row: Memory, gate: Gate) -> str | None:
    draft = Draft(
        content=row.content,
        title=row.title,
        tags=(" ".join(row.tags),),  # a row has the words of a tag apart
        path=row.file_scope_pattern,
        anchors=row.anchors,
        topic_key=row.topic_key,
        knowledge_key=row.knowledge_key,
        bead=row.bead,
        origin=Origin(trust=Trust.IMPORT, agent_id=row.agent_id),
    )
    reviewed = judge(draft, gate, RULES).verdict.draft
    if reviewed.content != row.content:
        return "is longer than a memory may be"
    return reviewed.quarantine_reason
