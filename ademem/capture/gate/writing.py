"""Write drafts through the gate, in one transaction, and look up what they are compared with."""

from __future__ import annotations

from ademem.capture.gate import rows
from ademem.capture.gate.form import (
    Gate,
    Insert,
    Merge,
    Reject,
    Reviewed,
    Revise,
    RuleEffect,
    cut_notes,
)
from ademem.capture.gate.rules import judge, load_rules, steps
from ademem.core import regex
from ademem.core.memory import Draft, Memory, Origin, Status, Trust
from ademem.core.redaction import redact
from ademem.core.text import clean, fold, have_same_words, is_cjk, preview, sha256_hex
from ademem.core.value import Value, replace
from ademem.store import Store, jobs, judged_texts, memories, memory_queries, relations
from ademem.store.memories import Change
from ademem.store.memory_queries import Home

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime
    from typing import Any

    from ademem.core.registers import Commit
    from ademem.core.settings import GateSettings
    from ademem.store.memory_queries import Index, Key


def source(origin: Origin) -> str:
    session = None if origin.trust is Trust.IMPORT else origin.session_id
    return "/".join(filter(None, (origin.source_type, origin.source_id, session)))


PREVIEW_CHARS = 120


class Candidate(Value):
    """A memory on the same subject, with the relation that waits for a verdict."""

    memory: Memory
    judgment_id: str
    score: float


class Written(Value):
    accepted: bool
    durability: str
    """candidate | promoted | rejected."""
    memory: Memory | None
    rule: str
    """The rule that decided; `insert` if none did."""
    reason: str | None
    """Why it is not a new memory, or not found by a search yet."""
    deduped: bool = False
    merged_into_id: str | None = None
    notes: tuple[str, ...] = ()
    candidates: tuple[Candidate, ...] = ()
    unanswered: str = ""
    """Id of a question that the text was to answer, and that no longer waits."""
    nearest: tuple[Memory, ...] = ()
    """Live memories that come nearest to it, best first."""

    @property
    def is_cut(self) -> bool:
        return bool(cut_notes(self.notes))


def write(
    draft: Draft,
    store: Store,
    settings: GateSettings,
    now: datetime,
    *,
    event_id: str = "",
    made: Commit | None = None,
) -> Written:
    """Judge the draft and store the result; a rejection is logged, never raised.

    *event_id* groups several changes; empty for a single one. *made* is the commit that brought
    the text into the files, if one did.
    """
    gate = Gate(lookup=StoreLookup(store), settings=settings, now=now)
    with store.transaction():
        judged = judge(draft, gate, load_rules())
        match judged.verdict:
            case Reject(draft=refused, why=why):
                return _log_refusal(refused, judged.rule, why, store, now)
            case Merge(draft=reviewed, into=target):
                memory = _merge(target, reviewed, judged.rule, store, gate, event_id)
            case Revise(draft=reviewed, memory=target, why=why):
                row = rows.revise_row(target, reviewed, now)
                change = replace(_change("revise", reviewed, why, now, event_id), made=made)
                memory = memories.update(store, row, change)
            case Insert(draft=reviewed):
                name = rows.free_sync_id(store, *rows.identity(reviewed))
                row = rows.build_row(reviewed, name, store.project_id, now)
                change = replace(_change("insert", reviewed, "insert", now, event_id), made=made)
                memory = memories.insert(store, row, change)
        jobs.follow(store, now)
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


def fill(
    memory: Memory,
    draft: Draft,
    store: Store,
    settings: GateSettings,
    now: datetime,
    *,
    event_id: str = "",
) -> Written:
    """Judge the draft and put it into a row that waits for its text; what is known is merged."""
    gate = Gate(lookup=StoreLookup(store, memory.id), settings=settings, now=now)
    with store.transaction():
        judged = judge(draft, gate, load_rules())
        match judged.verdict:
            case Reject(draft=refused, why=why):
                return _log_refusal(refused, judged.rule, why, store, now)
            case Merge(draft=reviewed, into=target):
                filled = _merge(target, reviewed, judged.rule, store, gate, event_id)
            case Insert(draft=reviewed) | Revise(draft=reviewed):
                row = rows.revise_row(memory, reviewed, now)
                row = replace(row, quarantine_reason=reviewed.quarantine_reason)
                change = _change("revise", reviewed, "answer", now, event_id)
                filled = memories.update(store, row, change)
        jobs.follow(store, now)
    merged = isinstance(judged.verdict, Merge)
    return Written(
        accepted=True,
        durability=filled.status.value,
        memory=filled,
        rule=judged.rule,
        reason=filled.quarantine_reason,
        deduped=merged,
        merged_into_id=filled.id if merged else None,
        notes=judged.verdict.draft.notes,
    )


def draft_change(memory: Memory, changes: Mapping[str, Any], origin: Origin) -> Draft:
    names = ("content", "title", "category", "importance", "tags", "anchors")
    return Draft(
        **{name: changes.get(name, getattr(memory, name)) for name in names},
        path=changes.get("file_scope_pattern", memory.file_scope_pattern),
        scope=memory.shown_scope,
        owner=memory.scope_owner_id,
        origin=origin,
    )


def propose(
    memory: Memory,
    draft: Draft,
    store: Store,
    settings: GateSettings,
    now: datetime,
    *,
    event_id: str = "",
) -> Written:
    """Write a change of what a person said or confirmed as a candidate beside it, for the review.

    Nothing is accepted where the gate refuses the text, or finds the same in memory.
    """
    with store.transaction():
        written = write(draft, store, settings, now, event_id=event_id)
        if written.memory is None or written.deduped:
            return replace(written, accepted=False)
        relations.add(
            store,
            memory,
            written.memory,
            relations.CONFLICT,
            score=1.0,
            reason="an agent proposes it as the new text",
            actor=draft.origin.trust,
            now=now,
            stated=True,
        )
    return written


def explain(
    draft: Draft, store: Store, settings: GateSettings, now: datetime, *, apart_from: str = ""
) -> list[RuleEffect]:
    """Return the verdict of each rule, as if the memory with the id *apart_from* were not there."""
    gate = Gate(lookup=StoreLookup(store, apart_from), settings=settings, now=now)
    return steps(judge(draft, gate, load_rules()))


def corroborate(
    memory: Memory,
    origin: Origin,
    store: Store,
    settings: GateSettings,
    now: datetime,
    *,
    event_id: str = "",
) -> Memory:
    seen = Reviewed(
        content=memory.content,
        topic_key=memory.topic_key,
        importance=memory.importance,
        confidence=memory.confidence,
        origin=origin,
    )
    gate = Gate(lookup=StoreLookup(store), settings=settings, now=now)
    with store.transaction():
        memory = _merge(memory, seen, "corroborate", store, gate, event_id)
        jobs.follow(store, now)
    return memory


def _merge(
    memory: Memory, draft: Reviewed, rule: str, store: Store, gate: Gate, event_id: str = ""
) -> Memory:
    """Merge the draft; a text that is not used stays in the history."""
    first = Origin(
        trust=memory.trust,
        source_type=memory.source_type,
        source_id=memory.source_id,
        session_id=memory.source_session_id,
    )
    name = source(draft.origin)
    is_known = name == source(first)
    if not is_known:
        from ademem.store import revisions

        is_known = revisions.has_reason(store, memory.id, f"from {name}: ")
    merged = rows.merge_row(
        memory,
        draft,
        rule=rule,
        corroborates=not is_known,
        may_change_text=draft.by_person or _may_change(memory, draft, store),
        now=gate.now,
    )
    why = rule if draft.dedupe_key == merged.dedupe_key else f"{rule}: {draft.content}"
    return memories.update(store, merged, _change("merge", draft, why, gate.now, event_id))


def _may_change(memory: Memory, draft: Reviewed, store: Store) -> bool:
    """True if the text is no person's, and no confirmed one that nobody confirms here."""
    is_open = draft.promoted or memory.status is not Status.PROMOTED
    return is_open and not memories.is_of_person(store, memory)


def _change(operation: str, draft: Reviewed, why: str, now: datetime, event_id: str) -> Change:
    evidence = f" “{draft.evidence}”" if draft.evidence else ""
    return Change(
        operation=operation,
        actor=draft.origin.trust,
        at=now,
        session_id=draft.origin.session_id,
        reason=f"from {source(draft.origin)}: {why}{evidence}",
        event_id=event_id,
    )


def _log_refusal(draft: Reviewed, rule: str, why: str, store: Store, now: datetime) -> Written:
    from ademem.store import logs

    text = redact(clean(draft.content)).text
    logs.log_decision(
        store,
        "gate",
        now,
        decision=rule,
        reason=why,
        kind=preview(redact(clean(draft.category)).text, 40),
        text_hash=sha256_hex(fold(text)),
        subject=preview(text, PREVIEW_CHARS),
        source_type=draft.origin.source_type,
        session_id=draft.origin.session_id,
    )
    return Written(
        accepted=False, durability="rejected", memory=None, rule=rule, reason=why, notes=draft.notes
    )


SHOWN = 500
"""Newest rows of what a session was shown that are compared with what it says."""
POOL = 500
"""Newest memories compared of those that have the longest words of a draft."""
LONGEST = 8
"""Words by which texts of the same words are looked up."""


class StoreLookup:
    """Lookup in the draft's scope and owner; each method is one indexed query."""

    def __init__(self, store: Store, apart_from: str = "") -> None:
        self._store, self._apart_from = store, apart_from

    def same(self, draft: Reviewed, key: Key = "dedupe_key") -> Memory | None:
        """Find a live memory with the text of the draft, or its value for another *key*."""
        found = Home(self._store, draft.scope, draft.owner).live_by(key, getattr(draft, key))
        return found if found and found.id != self._apart_from else None

    def is_of_person(self, memory: Memory) -> bool:
        return memories.is_of_person(self._store, memory)

    def find_instruction(self, draft: Reviewed) -> str | None:
        text = draft.title, draft.content
        return judged_texts.find_instruction(self._store, *text, draft.origin.trust)

    def previous_text(self, draft: Reviewed) -> str:
        """Return what the same source wrote last in the session; empty if it wrote nothing."""
        found = memory_queries.latest_of_source(self._store, draft.origin)
        return found.whole_text if found and found.id != self._apart_from else ""

    def rejected(self, draft: Reviewed) -> list[Memory]:
        if not memory_queries.has_rejected(self._store):
            return []
        home = Home(self._store, draft.scope, draft.owner)
        same = home.rejected_by("dedupe_key", draft.dedupe_key)
        if draft.knowledge_key:
            same += home.rejected_by("knowledge_key", draft.knowledge_key)
        return [*same, *self.near(draft, rejected=True)]

    def shown(self, draft: Reviewed) -> list[Memory]:
        """Return memories of any owner."""
        return memory_queries.list_shown(self._store, draft.origin.session_id, SHOWN)

    def near(self, draft: Reviewed, *, rejected: bool = False) -> list[Memory]:
        """Find memories of the same words, newest first, without quarantined ones."""
        text = draft.whole_text
        index, telling = _probe(text)
        if not telling:
            return []
        home = Home(self._store, draft.scope, draft.owner)
        texts = home.matching_texts(index, " AND ".join(telling), POOL, rejected=rejected)
        near = [seq for seq in sorted(texts, reverse=True) if have_same_words(text, texts[seq])]
        found = memories.list_by_number(self._store, near)
        return [memory for memory in found if memory.id != self._apart_from]


def _probe(text: str) -> tuple[Index, list[str]]:
    """Return an index and the longest words of the text, quoted: they are rare."""
    tokens = list({token.lower(): token for token in regex.findall(r"[^\W_]\w*", text)}.values())
    index: Index = "unified_memories_fts"
    if is_cjk(text):  # no blanks: the trigram index knows pieces of three signs
        tokens = [token[at : at + 3] for token in tokens for at in range(0, len(token) - 2, 3)]
        index = "unified_memories_trigram"
    tokens.sort(key=len, reverse=True)
    return index, [f'"{token}"' for token in tokens[:LONGEST]]
