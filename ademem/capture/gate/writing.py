"""Write drafts through the gate, in one transaction."""

from __future__ import annotations

from ademem.capture.gate import lookup, rows
from ademem.capture.gate.rules import judge, steps
from ademem.capture.gate.verdict import Gate, Insert, Merge, Reject, Reviewed, Revise
from ademem.core.digest import sha256_hex
from ademem.core.memory import Origin, Trust
from ademem.core.redaction import redact
from ademem.core.text import clean, fold, preview
from ademem.core.value import Value
from ademem.store import jobs, logs, memories, revisions
from ademem.store.memories import Change

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import datetime

    from ademem.capture.gate.verdict import Ruling, Step
    from ademem.core.memory import Draft, Memory, Origin
    from ademem.core.settings import GateSettings
    from ademem.store import Store


def is_known_source(store: Store, memory: Memory, origin: Origin) -> bool:
    """True if one of the memory's revisions came from this origin."""
    first = Origin(
        trust=memory.trust,
        source_type=memory.source_type,
        source_id=memory.source_id,
        session_id=memory.source_session_id,
    )
    if source(first) == source(origin):
        return True
    return revisions.has_reason(store, memory.id, source_prefix(origin))


def source_prefix(origin: Origin) -> str:
    """Return the first part of a revision's reason, which keeps the origin."""
    return f"from {source(origin)}: "


def source(origin: Origin) -> str:
    """Name an origin; an import is named without its session."""
    session = None if origin.trust is Trust.IMPORT else origin.session_id
    return "/".join(filter(None, (origin.source_type, origin.source_id, session)))


PREVIEW = 120
"""Characters of a rejected text in the log."""


class Written(Value):
    """The result of a write."""

    accepted: bool
    durability: str
    """candidate | promoted | rejected."""
    memory: Memory | None
    rule: str
    """The rule that decided; `insert` if none did."""
    reason: str | None
    """Why it is no new memory, or not found by a search yet."""
    deduped: bool = False
    merged_into_id: str | None = None
    notes: tuple[str, ...] = ()


def write(
    draft: Draft, store: Store, settings: GateSettings, now: datetime, *, event_id: str = ""
) -> Written:
    """Judge the draft and store the result; a rejection is logged, never raised.

    *event_id* groups several changes; empty for a single one.
    """
    with store.transaction():
        judged = _judge_draft(draft, store, settings, now)
        match judged.verdict:
            case Reject(draft=refused, why=why):
                return _log_refusal(refused, judged.rule, why, store, now)
            case Merge(draft=reviewed, into=known):
                memory = _merge(known, reviewed, judged.rule, store, settings, now, event_id)
            case Revise(draft=reviewed, memory=known, why=why):
                row = rows.revise_row(known, reviewed, settings, now)
                change = _change("revise", reviewed, why, now, event_id)
                memory = memories.update(store, row, change)
            case Insert(draft=reviewed):
                name = _free_sync_id(reviewed, store)
                row = rows.build_row(reviewed, name, store.project_id, settings, now)
                change = _change("insert", reviewed, "insert", now, event_id)
                memory = memories.insert(store, row, change)
        jobs.follow(store, now)
    return _describe(judged, memory)


def explain(draft: Draft, store: Store, settings: GateSettings, now: datetime) -> list[Step]:
    """Return the effect of each rule on the draft without writing."""
    return steps(_judge_draft(draft, store, settings, now))


def corroborate(
    memory: Memory, origin: Origin, store: Store, settings: GateSettings, now: datetime
) -> Memory:
    """Count one more observation of the memory by *origin*."""
    seen = Reviewed(
        content=memory.content,
        topic_key=memory.topic_key,
        importance=memory.importance,
        confidence=memory.confidence,
        origin=origin,
    )
    with store.transaction():
        memory = _merge(memory, seen, "corroborate", store, settings, now)
        jobs.follow(store, now)
    return memory


def _judge_draft(draft: Draft, store: Store, settings: GateSettings, now: datetime) -> Ruling:
    gate = Gate(lookup=lookup.StoreLookup(store), settings=settings, now=now)
    return judge(draft, gate)


def _merge(
    memory: Memory,
    draft: Reviewed,
    rule: str,
    store: Store,
    settings: GateSettings,
    now: datetime,
    event_id: str = "",
) -> Memory:
    """Merge the draft; a text that is not used stays in the history."""
    merged = rows.merge_row(
        memory,
        draft,
        rule=rule,
        corroborates=not is_known_source(store, memory, draft.origin),
        settings=settings,
        now=now,
    )
    why = rule if draft.dedupe_key == merged.dedupe_key else f"{rule}: {draft.content}"
    return memories.update(store, merged, _change("merge", draft, why, now, event_id))


def _free_sync_id(draft: Reviewed, store: Store) -> str:
    ordinal = 0
    while lookup.is_taken(store, name := rows.sync_id(draft, ordinal)):
        ordinal += 1
    return name


def _change(operation: str, draft: Reviewed, why: str, now: datetime, event_id: str) -> Change:
    return Change(
        operation=operation,
        actor=draft.origin.trust,
        at=now,
        session_id=draft.origin.session_id,
        reason=source_prefix(draft.origin) + why,
        event_id=event_id,
    )


def _log_refusal(draft: Reviewed, rule: str, why: str, store: Store, now: datetime) -> Written:
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


def _describe(judged: Ruling, memory: Memory) -> Written:
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
