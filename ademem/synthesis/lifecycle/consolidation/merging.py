"""One memory out of several: its text, its row, and what becomes of the others."""

from __future__ import annotations

from ademem.capture.gate import distinctions
from ademem.capture.gate.distinctions import said
from ademem.capture.gate.lookup import is_taken
from ademem.capture.gate.persistence import id_of, least_trusted
from ademem.core.anchor import joined
from ademem.core.digest import sha256_hex
from ademem.core.memory import Memory, Status, Tier
from ademem.core.redaction import redact
from ademem.core.text import clean, dedupe_key, unique
from ademem.core.value import replace
from ademem.guard.injection import instruction_in, order_in
from ademem.store import memories, memory_queries
from ademem.store.ageing import ADEMEM
from ademem.store.memories import Change
from ademem.synthesis.lifecycle.consolidation.pairs import conflict

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from ademem.core.settings import GateSettings
    from ademem.store import Store
    from ademem.synthesis.lifecycle.consolidation.plan import Merge

SOURCE = "consolidation"


def written(text: str | None, members: Sequence[Memory], settings: GateSettings) -> str | None:
    """The text that somebody wrote for all of them, unless it leaves out or makes up a name,
    contradicts one of them, orders a model about, or is too long."""
    text = clean(redact(text or "").text)
    if not text or len(text) > settings.max_chars or instruction_in(text):
        return None
    for memory in members:
        named, told = (set(names) for names in distinctions.names(said(memory), text))
        if named - told or conflict(said(memory), text):
            return None
    together = "\n".join(map(said, members))
    known, told = (set(names) for names in distinctions.names(together, text))
    return None if told - known else text


def merge(
    merge: Merge, text: str | None, run: str, store: Store, now: datetime
) -> tuple[Memory, Sequence[Memory]] | None:
    """The new memory and those that became it; None when one of them is not as it was.

    Without a *text* of its own the first member speaks for all, and what names more stays as it is.
    """
    members = (*merge.members, *merge.lesser)
    if text is None or _is_said_elsewhere(text, members, store):
        text, members = None, merge.members
    if any(not _is_as_it_was(memory, store) or order_in(memory) for memory in members):
        return None
    row = _row(members, text, run, store, now)
    ids = " ".join(memory.id for memory in members)
    for memory in members:
        gone = replace(
            memory,
            status=Status.ARCHIVED,
            tier=Tier.FADING,
            superseded_by=row.id,
            last_accessed_at=memory.last_accessed_at,
        )
        memories.update(store, gone, _change("supersede", f"merged into {row.id}", run, now))
    kept = memories.insert(store, row, _change("insert", f"merged from {ids}", run, now))
    return kept, members


def _row(
    members: Sequence[Memory], text: str | None, run: str, store: Store, now: datetime
) -> Memory:
    """The best of each: first learned, best believed, most important; trusted like the least."""
    first = members[0]
    content = text or first.content
    sync_id = _free_name(members, content, store)
    return replace(
        first,
        seq=0,
        id=id_of(sync_id),
        sync_id=sync_id,
        content=content,
        title=None if text else first.title,
        dedupe_key=dedupe_key(content),
        tier=min(memory.tier for memory in members),
        importance=max((memory.importance for memory in members), key=lambda each: each.weight),
        confidence=max(memory.confidence for memory in members),
        observation_count=sum(memory.observation_count for memory in members),
        trust=least_trusted(memory.trust for memory in members),
        claimed_author=max(
            (each.claimed_author for each in members if each.claimed_author is not None),
            default=None,
        ),
        source_type=SOURCE,
        source_id=run,
        source_session_id=None,
        source_run_id=None,
        anchors=joined((), [place for memory in members for place in memory.anchors]),
        tags=unique(tag for memory in members for tag in memory.tags),
        revision_count=1,
        access_score=max(memory.used for memory in members),
        base_score=None,
        access_count=sum(memory.access_count for memory in members),
        last_accessed_at=max(memory.last_accessed_at for memory in members),
        created_at=min(memory.created_at for memory in members),
        updated_at=now,
        promoted_at=min(memory.promoted_at or now for memory in members),
    )


def _free_name(members: Sequence[Memory], content: str, store: Store) -> str:
    """The same on every machine that merges the same."""
    ids = sorted(memory.sync_id for memory in members)
    ordinal = 0
    while is_taken(store, name := sha256_hex(SOURCE, content, *ids, str(ordinal))[:32]):
        ordinal += 1
    return name


def _is_as_it_was(memory: Memory, store: Store) -> bool:
    return memory_queries.is_unchanged(store, memory)


def _is_said_elsewhere(text: str, members: Sequence[Memory], store: Store) -> bool:
    """Whether another live memory of the same home has this very text."""
    home = members[0]
    found = memory_queries.live_by_text(
        store, dedupe_key(text), scope=home.scope, owner=home.scope_owner_id
    )
    return any(memory.id not in {member.id for member in members} for memory in found)


def _change(operation: str, reason: str, run: str, now: datetime) -> Change:
    return Change(operation=operation, actor=ADEMEM, at=now, reason=reason, event_id=run)
