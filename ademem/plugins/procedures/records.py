"""Procedures in the database: each change in one transaction."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import datetime

from ademem.capture.gate.form import Reviewed
from ademem.capture.gate.rows import build_row, free_sync_id
from ademem.core.errors import NotFound, UsageError
from ademem.core.memory import MAX_TITLED_BYTES, PROCEDURE, Category, Memory, Origin, Trust
from ademem.core.redaction import redact
from ademem.core.settings import Settings
from ademem.core.text import clean, preview, truncate_bytes
from ademem.core.value import Value, replace
from ademem.guard.injection import instruction_in
from ademem.plugins.procedures.steps import (
    steps_of,
)
from ademem.store import Store, jobs, memories, memory_queries, transitions
from ademem.store import procedures as table
from ademem.store.memories import Change
from ademem.store.procedures import Details
from ademem.store.transitions import Act, CannotDo
from ademem.synthesis.steps import Step

ACTOR = "system"
SUCCESS, FAILURE = OUTCOMES = ("success", "failure")
MAX_MARKDOWN_BYTES = MAX_TITLED_BYTES // 2
START = 0.55
GAIN = 0.15
LOSS = 0.7
MOST_CONFIDENCE, LEAST_CONFIDENCE = 0.99, 0.01
TITLE_CHARS = 60
_CONTENT = re.compile(r"\AUse when (.*?)\.?\n\n(.*)\Z", re.DOTALL)
ARCHIVE_OUTCOMES = 5
ARCHIVE_CONFIDENCE = 0.3
"""A procedure with less confidence after so many outcomes is archived."""


class NoSuchProcedure(NotFound):
    hint = "`ademem procedures list` shows the ids"

    def __init__(self, id: str) -> None:
        super().__init__(f"{id} is not a procedure that was learned from sessions")


class Wording(Value):
    title: str
    trigger: str
    """The rest of a sentence that begins with "Use when"."""
    markdown: str
    """Numbered steps, then pitfalls."""

    @property
    def content(self) -> str:
        return f"Use when {self.trigger}.\n\n{self.markdown}"


def parse_content(title: str, content: str, trigger: str) -> Wording:
    """Read the wording of a memory; *trigger* stands in for a text that has none."""
    found = _CONTENT.match(content)
    if found is None:
        return Wording(title=title, trigger=trigger, markdown=content.strip())
    return Wording(title=title, trigger=found[1].strip(), markdown=found[2].strip())


class Procedure(Value):
    memory: Memory
    details: Details

    @property
    def id(self) -> str:
        return self.memory.id

    @property
    def wording(self) -> Wording:
        """Read its memory, which people edit; of an import from ADE, the details say more."""
        memory = self.memory
        if memory.source_type != PROCEDURE:
            title = memory.title or preview(self.details.trigger, TITLE_CHARS)
            markdown = self.details.procedure_markdown
            return Wording(title=title, trigger=self.details.trigger, markdown=markdown)
        return parse_content(memory.title or "", memory.content, self.details.trigger)

    @property
    def steps(self) -> tuple[Step, ...]:
        return steps_of(self.wording.markdown)

    @property
    def outcomes(self) -> int:
        return self.details.success_count + self.details.failure_count


def find_all(store: Store) -> list[Procedure]:
    """Return all procedures, deleted ones too, the oldest first."""
    rows = {memory.id: memory for memory in memory_queries.with_procedure_details(store)}
    return [
        Procedure(memory=rows[details.memory_id], details=details)
        for details in table.all_of(store)
        if details.memory_id in rows
    ]


def find_live(store: Store, *, archived: bool = False) -> list[Procedure]:
    """Sort them by confidence, then by use."""
    found = [
        procedure
        for procedure in find_all(store)
        if procedure.memory.live or (archived and not procedure.memory.deleted_at)
    ]
    return sorted(found, key=lambda each: (-each.memory.confidence, -each.outcomes))


def get(store: Store, id: str) -> Procedure:
    memory = memories.get(store, id)
    details = table.get(store, memory.id)
    if details is None:
        raise NoSuchProcedure(memory.id)
    return Procedure(memory=memory, details=details)


def insert(
    wording: Wording,
    store: Store,
    now: datetime,
    *,
    sources: Iterable[str],
    successes: int,
    failures: int,
    trust: Trust = Trust.AGENT,
) -> Procedure:
    wording = Wording(
        title=" ".join(clean(redact(wording.title).text).split()),
        trigger=" ".join(clean(redact(wording.trigger).text).split()),
        markdown=truncate_bytes(clean(redact(wording.markdown).text), MAX_MARKDOWN_BYTES),
    )
    sync_id = free_sync_id(store, PROCEDURE, wording.content)
    draft = Reviewed(
        content=wording.content,
        title=wording.title,
        category=Category.PROCEDURE,
        confidence=START,
        topic_key=f"{PROCEDURE}:{sync_id}",
        quarantine_reason=instruction_in(f"{wording.title}\n{wording.content}"),
        origin=Origin(trust=trust, source_type=PROCEDURE),
    )
    memory = build_row(draft, sync_id, store.project_id, now)
    details = _make_details(memory, wording, now)
    details = replace(details, success_count=successes, failure_count=failures)
    with store.transaction():
        memory = memories.insert(store, memory, _change("insert", "learned from sessions", now))
        table.put(store, details)
        table.link(store, memory.id, sources)
        jobs.follow(store, now)
    return Procedure(memory=memory, details=details)


def supersede(old: Procedure, new: Procedure, store: Store, now: datetime) -> None:
    """Give the new procedure the file of the old one, which was not confirmed."""
    event = memories.new_event()
    with store.transaction():
        memory = memories.get(store, old.id)
        details = replace(old.details, superseded_by_memory_id=new.id, updated_at=now)
        table.put(store, replace(details, exported_at=None))
        table.put(store, replace(new.details, exported_skill_path=old.details.exported_skill_path))
        change = _change("supersede", f"by {new.id}", now)
        superseded = replace(memory, **transitions.superseded(new.id))
        memories.update(store, superseded, replace(change, event_id=event))
        jobs.follow(store, now)


def adopt(memory: Memory, store: Store, now: datetime) -> Procedure:
    """Add details to a procedure from the project's files; its uses are counted from now on."""
    wording = parse_content(memory.title or "", memory.content, "this work comes up")
    details = _make_details(memory, wording, now)
    table.put(store, details)
    return Procedure(memory=memory, details=details)


def _make_details(memory: Memory, wording: Wording, now: datetime) -> Details:
    return Details(
        memory_id=memory.id,
        trigger=wording.trigger,
        procedure_markdown=wording.markdown,
        created_at=now,
        updated_at=now,
    )


def edit(procedure: Procedure, wording: Wording, act: Act, settings: Settings) -> Procedure:
    memory = transitions.edit(
        procedure.id, act, settings.gate, content=wording.content, title=wording.title
    )
    return get(act.store, memory.id)


def report_outcome(procedure: Procedure, outcome: str, reason: str, act: Act) -> Procedure:
    """Raises CannotDo, or UsageError for an unknown outcome."""
    if outcome not in OUTCOMES:
        raise UsageError(f"no outcome {outcome!r}", " or ".join(OUTCOMES))
    if not procedure.memory.live:
        raise CannotDo(f"{procedure.id} is not current", "`ademem procedures list` shows what is")
    return count_outcome(procedure, outcome, reason or f"reported by {act.actor}", act)


def count_outcome(procedure: Procedure, outcome: str, reason: str, act: Act) -> Procedure:
    """Count one use, and archive what failed often enough; a person confirms what succeeds."""
    store, now = act.store, act.now
    with store.transaction():
        procedure = get(store, procedure.id)
        memory, details = procedure.memory, procedure.details
        if not memory.live:
            return procedure
        succeeded = outcome == SUCCESS
        confidence = confidence_after(memory.confidence, outcome)
        details = replace(
            details,
            success_count=details.success_count + succeeded,
            failure_count=details.failure_count + (not succeeded),
            last_used_at=now,
            updated_at=now,
        )
        changed = replace(memory, confidence=confidence)
        has_many = details.success_count + details.failure_count >= ARCHIVE_OUTCOMES
        fails = not succeeded and has_many and confidence < ARCHIVE_CONFIDENCE
        if fails and not memory.pinned and not memory.quarantine_reason:
            changed = replace(changed, **transitions.archived())
        change = replace(_change(outcome, reason, now, act.actor), event_id=memories.new_event())
        table.put(store, details)
        table.record(store, memory.id, confidence, outcome, reason, now, event=change.event_id)
        memory = memories.update(store, changed, change)
        jobs.follow(store, now)
    return Procedure(memory=memory, details=details)


def confidence_after(confidence: float, outcome: str) -> float:
    if outcome == SUCCESS:
        return min(MOST_CONFIDENCE, confidence + (1 - confidence) * GAIN)
    return max(LEAST_CONFIDENCE, confidence * LOSS)


def _change(operation: str, reason: str, now: datetime, actor: str = ACTOR) -> Change:
    return Change(operation=operation, actor=actor, at=now, reason=redact(reason).text)
