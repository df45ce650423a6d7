"""Procedures in the database: each change of one in one transaction, by its id."""

from __future__ import annotations

from ademem.capture.gate.lookup import is_taken
from ademem.capture.gate.persistence import id_of
from ademem.core.digest import sha256_hex
from ademem.core.errors import AdememError
from ademem.core.memory import PROCEDURE, Category, Importance, Memory, Scope, Status, Tier, Trust
from ademem.core.redaction import redact
from ademem.core.text import bounded_bytes, clean, dedupe_key, preview
from ademem.core.value import Value, replace
from ademem.guard.injection import instruction_in
from ademem.store import jobs, memories, memory_queries, transitions
from ademem.store import procedures as table
from ademem.store.memories import Change
from ademem.store.procedures import Details
from ademem.synthesis.procedures import wording
from ademem.synthesis.procedures.wording import Wording, steps_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from ademem.core.settings import Settings
    from ademem.store import Store
    from ademem.store.transitions import Act
    from ademem.synthesis.procedures.context import Step

ACTOR = "system"


class NoSuchProcedure(AdememError):
    hint = "`ademem procedures list` shows the ids"

    def __init__(self, id: str) -> None:
        super().__init__(f"{id} is no procedure that was learned from sessions")


class Procedure(Value):
    """A procedure as it stands."""

    memory: Memory
    details: Details

    @property
    def id(self) -> str:
        return self.memory.id

    @property
    def wording(self) -> Wording:
        """As its memory says it, which people edit; of one that ADE left, its details say more."""
        memory = self.memory
        if memory.source_type != PROCEDURE:
            title = memory.title or preview(self.details.trigger, wording.TITLE_CHARS)
            markdown = self.details.procedure_markdown
            return Wording(title=title, trigger=self.details.trigger, markdown=markdown)
        return wording.read(memory.title or "", memory.content, self.details.trigger)

    @property
    def steps(self) -> tuple[Step, ...]:
        return steps_of(self.wording.markdown)

    @property
    def outcomes(self) -> int:
        return self.details.success_count + self.details.failure_count


def listed(store: Store, *, archived: bool = False) -> list[Procedure]:
    """The most believed first, then the most used; with *archived* also what was given up."""
    found = [
        procedure
        for procedure in ever(store)
        if procedure.memory.live or (archived and not procedure.memory.deleted_at)
    ]
    return sorted(found, key=lambda each: (-each.memory.confidence, -each.outcomes))


def ever(store: Store) -> list[Procedure]:
    """All that there were, the oldest first, those a person deleted among them."""
    behind = {memory.id: memory for memory in memory_queries.with_procedure_details(store)}
    return [
        Procedure(memory=behind[details.memory_id], details=details)
        for details in table.all_of(store)
        if details.memory_id in behind
    ]


def live(store: Store, id: str) -> Procedure | None:
    """None when it was given up, deleted or superseded."""
    found = memory_queries.live_by_id(store, id)
    details = table.get(store, id)
    return Procedure(memory=found, details=details) if found and details else None


def get(store: Store, id: str) -> Procedure:
    """Raises NoSuchMemory or NoSuchProcedure."""
    memory = memories.get(store, id)
    details = table.get(store, memory.id)
    if details is None:
        raise NoSuchProcedure(memory.id)
    return Procedure(memory=memory, details=details)


def insert(
    said: Wording,
    store: Store,
    settings: Settings,
    now: datetime,
    *,
    sources: Iterable[str],
    successes: int,
    failures: int,
    trust: Trust = Trust.AGENT,
) -> Procedure:
    """A new candidate and what it was learned from."""
    said = _tidy(said, settings)
    memory = _candidate(said, trust, store, settings.procedures.start, now)
    details = Details(
        memory_id=memory.id,
        trigger=said.trigger,
        procedure_markdown=said.markdown,
        success_count=successes,
        failure_count=failures,
        created_at=now,
        updated_at=now,
    )
    with store.transaction():
        memory = memories.insert(store, memory, change_of("insert", "learned from sessions", now))
        table.put(store, details)
        table.link(store, memory.id, sources, now)
        jobs.follow(store, now)
    return Procedure(memory=memory, details=details)


def _candidate(
    said: Wording, trust: Trust, store: Store, confidence: float, now: datetime
) -> Memory:
    """An order to a model waits for a person's word, as it does anywhere."""
    sync_id = _free_sync_id(said, store)
    topic = f"{PROCEDURE}:{sync_id}"
    return Memory(
        id=id_of(sync_id),
        sync_id=sync_id,
        project_id=store.project_id,
        scope=Scope.PROJECT,
        tier=Tier.FADING,
        category=Category.PROCEDURE,
        title=said.title,
        content=said.content,
        importance=Importance.MEDIUM,
        confidence=confidence,
        status=Status.CANDIDATE,
        trust=trust,
        source_type=PROCEDURE,
        topic_key=topic,
        access_score=confidence,
        quarantine_reason=instruction_in(f"{said.title}\n{said.content}"),
        dedupe_key=dedupe_key(said.content, topic),
        created_at=now,
        updated_at=now,
        last_accessed_at=now,
    )


def supersede(old: Procedure, new: Procedure, store: Store, now: datetime) -> None:
    """The new way takes the place of the old, its file and its standing; history keeps the old."""
    act = memories.new_event()
    with store.transaction():
        memory = memories.get(store, old.id)
        gone = replace(memory, superseded_by=new.id, pinned=False)
        left = replace(old.details, superseded_by_memory_id=new.id, updated_at=now)
        table.put(store, replace(left, exported_at=None))
        table.put(store, replace(new.details, exported_skill_path=old.details.exported_skill_path))
        change = change_of("supersede", f"by {new.id}", now)
        memories.update(store, gone, replace(change, event_id=act))
        if memory.status is Status.PROMOTED and not new.memory.quarantine_reason:
            confirmed = {"status": memory.status, "tier": memory.tier, "promoted_at": now}
            taken = replace(memories.get(store, new.id), **confirmed)
            change = change_of("promote", f"in place of {old.id}", now)
            memories.update(store, taken, replace(change, event_id=act))
        jobs.follow(store, now)


def follow(store: Store, restored: Iterable[Memory]) -> None:
    """Let details and the name of the file go back with what was taken back."""
    for memory in restored:
        details = table.get(store, memory.id)
        if details is None or details.superseded_by_memory_id == memory.superseded_by:
            continue
        heir = table.get(store, memory.superseded_by or details.superseded_by_memory_id or "")
        file = details.exported_skill_path
        changed = replace(details, superseded_by_memory_id=memory.superseded_by)
        table.put(store, replace(changed, exported_at=None))
        if heir:
            handed = file if memory.superseded_by else None
            table.put(store, replace(heir, exported_skill_path=handed, exported_at=None))


def adopt(memory: Memory, store: Store, now: datetime) -> Procedure:
    """Give a procedure that came with the files of the project its details; uses start anew."""
    said = wording.read(memory.title or "", memory.content, "this work comes up")
    details = Details(
        memory_id=memory.id,
        trigger=said.trigger,
        procedure_markdown=said.markdown,
        created_at=now,
        updated_at=now,
    )
    table.put(store, details)
    return Procedure(memory=memory, details=details)


def settle(store: Store, now: datetime) -> int:
    """Let the details say what people made of the memories; how many had changed."""
    count = 0
    for memory in memory_queries.procedures_without_details(store):
        adopt(memory, store, now)
        count += 1
    for procedure in ever(store):
        said, details = procedure.wording, procedure.details
        told = {"trigger": said.trigger, "procedure_markdown": said.markdown}
        if any(getattr(details, name) != text for name, text in told.items()):
            table.put(store, replace(details, **told, updated_at=now))
            count += 1
    return count


def edit(procedure: Procedure, said: Wording, act: Act, settings: Settings) -> Procedure:
    """A new version in somebody's words, its standing as it was."""
    with act.store.transaction():
        memory = transitions.edit(
            procedure.memory.id, act, settings.gate, content=said.content, title=said.title
        )
        settle(act.store, act.now)
        return get(act.store, memory.id)


def _tidy(said: Wording, settings: Settings) -> Wording:
    """Without secrets, within bounds."""
    limit = settings.gate.max_bytes_titled // 2
    return Wording(
        title=" ".join(clean(redact(said.title).text).split()),
        trigger=" ".join(clean(redact(said.trigger).text).split()),
        markdown=bounded_bytes(clean(redact(said.markdown).text), limit),
    )


def _free_sync_id(said: Wording, store: Store) -> str:
    ordinal = 0
    while is_taken(store, found := sha256_hex(PROCEDURE, said.content, str(ordinal))[:32]):
        ordinal += 1
    return found


def change_of(operation: str, reason: str, now: datetime, actor: str = ACTOR) -> Change:
    return Change(operation=operation, actor=actor, at=now, reason=redact(reason).text)
