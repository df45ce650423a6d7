"""The gate around a store: one transaction from the look to the last row."""

from __future__ import annotations

from ademem.capture.gate import lookup, persistence, sources
from ademem.capture.gate.rules import judge, steps
from ademem.capture.gate.verdict import Gate, Insert, Merge, Reject, Reviewed, Revise
from ademem.core.digest import sha256_hex
from ademem.core.redaction import redact
from ademem.core.text import clean, fold, preview
from ademem.core.value import Value
from ademem.store import jobs, logs, memories
from ademem.store.memories import Change

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import datetime

    from ademem.capture.gate.verdict import Judged, Step
    from ademem.core.memory import Draft, Memory, Origin
    from ademem.core.settings import GateSettings
    from ademem.store import Store

PREVIEW = 120
"""Characters of a refused text that the log keeps."""


class Written(Value):
    """What became of a draft."""

    accepted: bool
    durability: str
    """candidate | promoted | rejected."""
    memory: Memory | None
    rule: str
    """The rule of the gate that decided; `insert` when none did."""
    reason: str | None
    """Why it is not a memory of its own, or not yet to be found."""
    deduped: bool = False
    merged_into_id: str | None = None
    notes: tuple[str, ...] = ()


def write(
    draft: Draft, store: Store, settings: GateSettings, now: datetime, *, event_id: str = ""
) -> Written:
    """Judge the draft and do as the gate decides; a refusal is logged, never raised.

    *event_id* names the act that this is a part of; empty: it is one of its own.
    """
    with store.transaction():
        judged = _judged(draft, store, settings, now)
        match judged.verdict:
            case Reject(draft=refused, why=why):
                return _refused(refused, judged.rule, why, store, now)
            case Merge(draft=reviewed, into=known):
                memory = _merged(known, reviewed, judged.rule, store, settings, now, event_id)
            case Revise(draft=reviewed, memory=known, why=why):
                row = persistence.revised(known, reviewed, settings, now)
                change = _change("revise", reviewed, why, now, event_id)
                memory = memories.update(store, row, change)
            case Insert(draft=reviewed):
                name = _free_sync_id(reviewed, store)
                row = persistence.inserted(reviewed, name, store.project_id, settings, now)
                change = _change("insert", reviewed, "insert", now, event_id)
                memory = memories.insert(store, row, change)
        jobs.follow(store, now)
    return _written(judged, memory)


def explain(draft: Draft, store: Store, settings: GateSettings, now: datetime) -> list[Step]:
    """What each rule would say to the draft; nothing is written."""
    return steps(_judged(draft, store, settings, now))


def corroborate(
    memory: Memory, origin: Origin, store: Store, settings: GateSettings, now: datetime
) -> Memory:
    """Count one more observation of the memory, made by *origin*; its text stays."""
    seen = Reviewed(
        content=memory.content,
        topic_key=memory.topic_key,
        importance=memory.importance,
        confidence=memory.confidence,
        origin=origin,
    )
    with store.transaction():
        memory = _merged(memory, seen, "corroborate", store, settings, now)
        jobs.follow(store, now)
    return memory


def _judged(draft: Draft, store: Store, settings: GateSettings, now: datetime) -> Judged:
    gate = Gate(shelf=lookup.StoreShelf(store, settings), settings=settings, now=now)
    return judge(draft, gate)


def _merged(
    memory: Memory,
    draft: Reviewed,
    rule: str,
    store: Store,
    settings: GateSettings,
    now: datetime,
    event_id: str = "",
) -> Memory:
    """The text that is not kept stays readable in the history."""
    merged = persistence.merged(
        memory,
        draft,
        rule=rule,
        corroborates=not sources.has_said(store, memory, draft.origin),
        settings=settings,
        now=now,
    )
    why = rule if draft.dedupe_key == merged.dedupe_key else f"{rule}: {draft.content}"
    return memories.update(store, merged, _change("merge", draft, why, now, event_id))


def _free_sync_id(draft: Reviewed, store: Store) -> str:
    ordinal = 0
    while lookup.is_taken(store, name := persistence.sync_id(draft, ordinal)):
        ordinal += 1
    return name


def _change(operation: str, draft: Reviewed, why: str, now: datetime, event_id: str) -> Change:
    return Change(
        operation=operation,
        actor=draft.origin.trust,
        at=now,
        session_id=draft.origin.session_id,
        reason=sources.said_by(draft.origin) + why,
        event_id=event_id,
    )


def _refused(draft: Reviewed, rule: str, why: str, store: Store, now: datetime) -> Written:
    text = redact(clean(draft.content)).text
    refusal = logs.Refusal(
        rule=rule,
        reason=why,
        category=preview(redact(clean(draft.category)).text, 40),
        text_hash=sha256_hex(fold(text)),
        preview=preview(text, PREVIEW),
        source_type=draft.origin.source_type,
        session_id=draft.origin.session_id,
    )
    logs.refused(store, refusal, now)
    return Written(
        accepted=False,
        durability="rejected",
        memory=None,
        rule=rule,
        reason=why,
        notes=draft.notes,
    )


def _written(judged: Judged, memory: Memory) -> Written:
    verdict = judged.verdict
    merged = isinstance(verdict, Merge)
    return Written(
        accepted=True,
        durability=memory.status.value,
        memory=memory,
        rule=judged.rule,
        reason=memory.quarantine_reason if isinstance(verdict, Insert) else verdict.why,
        deduped=merged,
        merged_into_id=memory.id if merged else None,
        notes=verdict.draft.notes,
    )
