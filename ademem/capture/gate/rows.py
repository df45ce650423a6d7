"""Build the row of a new, merged or revised memory."""

from __future__ import annotations

from ademem.core.clock import datetime, timedelta
from ademem.core.memory import STATED, Category, Importance, Memory, Scope, Stage, Status, Trust
from ademem.core.text import dedupe_key, sha256_hex, unique, words
from ademem.core.value import replace
from ademem.store import Store, memory_queries, transitions

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from ademem.capture.gate.form import Reviewed

TRUSTED_CONFIDENCE = 0.6
UNTRUSTED_CONFIDENCE = 0.5
"""Confidence of a candidate whose writer gives none."""

MERGE_GAIN = 0.05
"""Share of the missing confidence that a second, different origin adds."""

REVIEW_DAYS = {Category.DECISION: 182, Category.PREFERENCE: 91}
POLICY, POLICY_DAYS = "policy", 365

RANK = {Trust.USER: 2, Trust.AGENT: 1, Trust.TOOL: 0, Trust.WEB: 0, Trust.IMPORT: 0}
"""Rank by which one writer's text may replace another's."""


def is_vouched(draft: Reviewed) -> bool:
    is_stated = draft.by_person and (draft.pinned or draft.origin.source_type == STATED)
    return not draft.quarantine_reason and (draft.promoted or is_stated)


def initial_state(draft: Reviewed) -> tuple[dict[str, Any], float]:
    """Return status and tier, and confidence; promoted is what a person states or confirms."""
    vouched = is_vouched(draft)
    usual = 1.0 if vouched else TRUSTED_CONFIDENCE if draft.trusted else UNTRUSTED_CONFIDENCE
    confidence = usual if draft.confidence is None else draft.confidence
    status = transitions.initial(promoted=vouched, pinned=draft.pinned and vouched)
    return status, min(1.0, max(0.0, confidence))


def identity(draft: Reviewed) -> tuple[str, str, str]:
    """Return scope, owner, and topic or text: drafts that share them are one memory."""
    return draft.scope, draft.owner or "", draft.topic_key or draft.dedupe_key


def sync_id(*parts: str, ordinal: int = 0) -> str:
    """Return the same id for the same parts on every machine."""
    return sha256_hex(*parts, str(ordinal))[:32]


def free_sync_id(store: Store, *parts: str) -> str:
    """Return the first id of *parts* that no memory has, or had before it was deleted for good."""
    ordinal = 0
    while memory_queries.is_id_used(store, id_of(free := sync_id(*parts, ordinal=ordinal)), free):
        ordinal += 1
    return free


def id_of(sync_id: str) -> str:
    return sync_id[:12]


def build_row(draft: Reviewed, sync_id: str, project_id: str, now: datetime) -> Memory:
    status, confidence = initial_state(draft)
    return Memory(
        **status,
        id=id_of(sync_id),
        sync_id=sync_id,
        project_id=project_id,
        scope=Scope(draft.scope),
        scope_owner_id=draft.owner,
        category=Category(draft.category),
        title=draft.title,
        content=draft.content,
        importance=Importance(draft.importance),
        confidence=confidence,
        trust=draft.origin.trust,
        source_type=draft.origin.source_type,
        source_id=draft.origin.source_id,
        source_session_id=draft.origin.session_id,
        source_run_id=draft.origin.run_id,
        source_branch=draft.origin.branch if draft.scope == Scope.PROJECT else None,
        file_scope_pattern=draft.path,
        anchors=draft.anchors,
        agent_id=draft.origin.agent_id,
        pinned=draft.pinned and is_vouched(draft),
        tags=draft.tags,
        topic_key=draft.topic_key,
        knowledge_key=draft.knowledge_key,
        bead=draft.bead,
        access_score=_seed(draft, confidence),
        quarantine_reason=draft.quarantine_reason,
        claimed_author=draft.origin.claimed_author,
        dedupe_key=draft.dedupe_key,
        stage=draft.stage,
        created_at=draft.created_at or now,
        updated_at=now,
        last_accessed_at=now,
        promoted_at=now if status["status"] is Status.PROMOTED else None,
        review_after=review_date(draft.category, draft.tags, now),
    )


def review_date(category: str, tags: Iterable[str], now: datetime) -> datetime | None:
    days = POLICY_DAYS if POLICY in tags else REVIEW_DAYS.get(Category(category))
    return now + timedelta(days=days) if days else None


def _better_text(memory: Memory, draft: Reviewed, *, may_change: bool) -> tuple[str, Trust]:
    """Return the text with more words, if it is of no lower rank, and the trust in it."""
    content, trust, theirs = memory.content, memory.trust, draft.origin.trust
    if memory.dedupe_key == draft.dedupe_key:
        return content, max(trust, theirs, key=RANK.__getitem__)
    is_trusted = may_change and RANK[theirs] >= RANK[trust]
    if is_trusted and len(words(draft.content)) > len(words(content)):
        return draft.content, theirs
    return content, trust


def merge_row(
    memory: Memory,
    draft: Reviewed,
    *,
    rule: str,
    corroborates: bool,
    may_change_text: bool,
    now: datetime,
) -> Memory:
    """Count one more observation; *corroborates*: this origin is new."""
    if _only_counts(memory, draft, may_change_text=may_change_text):
        return replace(
            memory,
            observation_count=memory.observation_count + 1,
            write_gate_reason=rule,
            last_accessed_at=now,
        )
    from ademem.core.anchor import merge_anchors

    status, given = initial_state(draft)
    confidence = max(memory.confidence, given)
    if corroborates:
        confidence += (1 - confidence) * MERGE_GAIN
    if _may_promote(memory, draft):
        raised = transitions.raised(
            memory, **status, now=now, pinned=draft.pinned and is_vouched(draft)
        )
        memory = replace(memory, **raised, quarantine_reason=None)
    content, trust = _better_text(memory, draft, may_change=may_change_text)
    return replace(
        memory,
        content=content,
        trust=trust,
        dedupe_key=dedupe_key(content, memory.topic_key),
        title=memory.title or (draft.title if may_change_text else None),
        importance=max(
            memory.importance, Importance(draft.importance), key=lambda each: each.weight
        ),
        confidence=confidence,
        observation_count=memory.observation_count + 1,
        access_score=max(memory.access_score, _seed(draft, given)),
        base_score=None,
        tags=unique((*memory.tags, *draft.tags)),
        anchors=merge_anchors(memory.anchors, draft.anchors),
        file_scope_pattern=memory.file_scope_pattern or draft.path,
        knowledge_key=memory.knowledge_key or draft.knowledge_key,
        bead=memory.bead or draft.bead,
        source_branch=_branch(memory, draft),
        claimed_author=_claimed_author(memory, draft, content),
        write_gate_reason=rule,
        last_accessed_at=now,
        stage=_stage(memory, draft),
    )


def _only_counts(memory: Memory, draft: Reviewed, *, may_change_text: bool) -> bool:
    """Return True for what files of others or an agent say of a person's own memory."""
    is_strange = draft.origin.claimed_author is not None and memory.claimed_author is None
    by_agent = draft.origin.trust not in (Trust.USER, Trust.IMPORT)
    return is_strange or (by_agent and not may_change_text)


def revise_row(memory: Memory, draft: Reviewed, now: datetime) -> Memory:
    status, confidence = initial_state(draft)
    topic_key = memory.topic_key or draft.topic_key
    origin = draft.origin
    return replace(
        memory,
        **transitions.raised(memory, **status, now=now, pinned=draft.pinned and is_vouched(draft)),
        content=draft.content,
        dedupe_key=dedupe_key(draft.content, topic_key),
        topic_key=topic_key,
        title=draft.title or memory.title,
        category=Category(draft.category),
        importance=Importance(draft.importance),
        confidence=max(memory.confidence, confidence),
        access_score=max(memory.access_score, _seed(draft, confidence)),
        base_score=None,
        tags=unique((*memory.tags, *draft.tags)),
        anchors=draft.anchors or memory.anchors,
        file_scope_pattern=draft.path or memory.file_scope_pattern,
        knowledge_key=draft.knowledge_key or memory.knowledge_key,
        bead=draft.bead or memory.bead,
        trust=origin.trust,
        source_type=origin.source_type,
        source_id=origin.source_id,
        source_session_id=origin.session_id,
        source_run_id=origin.run_id,
        source_branch=_branch(memory, draft),
        agent_id=origin.agent_id,
        claimed_author=_claimed_author(memory, draft, draft.content),
        quarantine_reason=None,
        last_accessed_at=now,
        stage=_stage(memory, draft),
    )


def least_trusted(given: Iterable[Trust]) -> Trust:
    return min(given, key=RANK.__getitem__)


def _may_promote(memory: Memory, draft: Reviewed) -> bool:
    """True if the draft may promote the memory; only a person approves an instruction."""
    if draft.origin.trust is Trust.USER:
        return True
    from ademem.guard.injection import instruction_in_memory

    lifts = draft.promoted or draft.pinned
    return memory.quarantine_reason is None and not (lifts and instruction_in_memory(memory))


def _stage(memory: Memory, draft: Reviewed) -> Stage:
    """Return the stage of a memory that was only heard, if somebody wrote it now."""
    return draft.stage if memory.stage is Stage.HEARD else memory.stage


def _branch(memory: Memory, draft: Reviewed) -> str | None:
    return memory.source_branch if memory.source_branch == draft.origin.branch else None


def _claimed_author(memory: Memory, draft: Reviewed, content: str) -> str | None:
    """Return the claimed author; none for what a person writes personally."""
    theirs = draft.origin.claimed_author
    if draft.by_person and theirs is None:
        says_so = content == draft.content or memory.dedupe_key == draft.dedupe_key
        return None if says_so else memory.claimed_author
    return theirs if theirs is not None and content == draft.content else memory.claimed_author


def _seed(draft: Reviewed, confidence: float) -> float:
    return max(Importance(draft.importance).weight, confidence)
