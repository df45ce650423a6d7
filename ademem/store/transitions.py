"""What a person does to a memory that is there: each act one revision, and the files are due."""

from __future__ import annotations

import sqlite3

from ademem.core.errors import AdememError
from ademem.core.memory import Memory, Status, Tier, Trust
from ademem.core.redaction import redact
from ademem.core.text import bounded, bounded_bytes, clean, dedupe_key, unique
from ademem.core.untrusted import came_with_files
from ademem.core.value import Value, replace
from ademem.guard.injection import order_of
from ademem.store import jobs, memories, memory_queries
from ademem.store.memories import Change

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import datetime
    from typing import Any

    from ademem.core.settings import GateSettings
    from ademem.store import Store


BY_PERSON = "a person reads it with `ademem review` in a terminal of their own"


class CannotDo(AdememError):
    """The memory is not in a state that allows the act."""


class Act(Value):
    """Who acts, and when."""

    store: Store
    now: datetime
    actor: str = "user"
    session_id: str | None = None
    said_by: str = ""
    """Whose text an edit brings, if not the actor's own."""
    claimed_author: str | None = None
    """Who did it, as the files claim in which it was found; None: it was done here."""
    branch: str | None = None
    """Where it is done, if not on the default branch."""
    event_id: str = ""
    """Shared by all that is done in one go; empty: each is an act of its own."""


def promote(id: str, act: Act, *, pinned: bool = False) -> Memory:
    """Confirm a candidate; a quarantined one is approved by a person's word only.

    It goes on waiting for its branch if it is confirmed there.
    """
    memory = memories.get(act.store, id)
    _check_held(memory, act)
    if memory.status is Status.ARCHIVED or memory.deleted_at:
        raise CannotDo(f"{memory.id} is {_state(memory)}", "`ademem restore` brings it back first")
    if memory.status is Status.PROMOTED and memory.claimed_author is not None and not pinned:
        return accept(memory, act)
    pinned = pinned or memory.pinned
    tier = Tier.PINNED if pinned else Tier.ACTIVE
    return _change(
        memory,
        act,
        "promote",
        status=Status.PROMOTED,
        tier=tier,
        pinned=pinned,
        confidence=max(memory.confidence, 0.9),
        quarantine_reason=None,
        write_gate_reason=None if memory.forsaken else memory.write_gate_reason,
        source_branch=memory.source_branch if memory.source_branch == act.branch else None,
        claimed_author=_claimed_author(memory, act),
        promoted_at=memory.promoted_at or act.now,
    )


def accept(memory: Memory, act: Act) -> Memory:
    """Take over what came with the files as it is; its line in the files stays the same."""
    change = Change(
        operation="promote",
        actor=act.actor,
        at=act.now,
        session_id=act.session_id,
        event_id=act.event_id,
    )
    accepted = replace(memory, claimed_author=_claimed_author(memory, act))
    return memories.put_back(act.store, accepted, change) if accepted != memory else memory


def accept_all(act: Act) -> int:
    """Take over all that came with the files, but for what is quarantined; return how many."""
    with act.store.transaction():
        found = memory_queries.claimed_and_not_quarantined(act.store)
        for memory in found:
            accept(memory, act)
    return len(found)


def reject(id: str, act: Act) -> Memory:
    """Archive a candidate that is not worth keeping; no machine brings it back."""
    memory = memories.get(act.store, id)
    if memory.status is not Status.CANDIDATE:
        raise CannotDo(
            f"{memory.id} is {_state(memory)}, not a candidate", "`ademem archive` takes any memory"
        )
    return _archived(memory, act, "reject", rejected_at=act.now)


def archive(id: str, act: Act) -> Memory:
    """Take it out of recall, files and briefings; `restore` brings it back."""
    return _archived(memories.get(act.store, id), act, "archive")


def restore(id: str, act: Act) -> Memory:
    """Bring an archived or deleted memory back as what it was."""
    memory = memories.get(act.store, id)
    if memory.live:
        raise CannotDo(f"{memory.id} is not archived", "nothing to do")
    if memory.promoted_at:
        _check_held(memory, act)
    status = Status.PROMOTED if memory.promoted_at else Status.CANDIDATE
    tier = Tier.ACTIVE if memory.promoted_at else Tier.FADING
    return _change(
        memory,
        act,
        "restore",
        status=status,
        tier=tier,
        deleted_at=None,
        rejected_at=None,
        superseded_by=None,
    )


def delete(id: str, act: Act, *, hard: bool = False) -> Memory:
    """Hide it from everything; *hard* leaves no byte of it in the database."""
    memory = memories.get(act.store, id)
    if not hard:
        return _change(memory, act, "delete", deleted_at=act.now, pinned=False)
    with act.store.transaction():
        memories.delete(act.store, memory, Change(operation="delete", actor=act.actor, at=act.now))
        jobs.follow(act.store, act.now)
    _scrub(act.store)
    return replace(memory, deleted_at=act.now)


def pin(id: str, act: Act, *, pinned: bool = True) -> Memory:
    """Always in the briefing, or no longer so; an archived memory cannot be pinned."""
    memory = memories.get(act.store, id)
    if pinned:
        _check_held(memory, act)
    if not memory.live:
        raise CannotDo(f"{memory.id} is {_state(memory)}", "`ademem restore` brings it back first")
    calm = Tier.ACTIVE if memory.status is Status.PROMOTED else Tier.FADING
    return _change(
        memory,
        act,
        "pin" if pinned else "unpin",
        pinned=pinned,
        claimed_author=_claimed_author(memory, act) if pinned else memory.claimed_author,
        tier=Tier.PINNED if pinned else calm,
    )


def edit(id: str, act: Act, settings: GateSettings, **changes: Any) -> Memory:
    """Change some fields, within the bounds and the redaction that a new memory meets."""
    memory = memories.get(act.store, id)
    if memory.quarantine_reason and act.actor != Trust.USER:
        raise CannotDo(f"{memory.id} is quarantined, as it {memory.quarantine_reason}", BY_PERSON)
    for name in ("content", "title"):
        if changes.get(name) is not None:
            changes[name] = clean(redact(changes[name]).text)
    if changes.get("content"):
        if changes.get("title") or memory.title:
            changes["content"] = bounded_bytes(changes["content"], settings.max_bytes_titled)
        else:
            changes["content"] = bounded(changes["content"], settings.max_chars)
    if not changes.get("content", memory.content):
        raise CannotDo("a memory needs a text", "`ademem delete` removes it")
    if changes.get("file_scope_pattern"):
        changes["file_scope_pattern"] = clean(redact(changes["file_scope_pattern"]).text)
    if "anchors" in changes:
        changes["anchors"] = tuple(clean(redact(text).text) for text in changes["anchors"])
    if "tags" in changes:
        changes["tags"] = unique(redact(tag).text for tag in changes["tags"])
    if changes.get("file_scope_pattern"):
        changes["file_scope_pattern"] = redact(changes["file_scope_pattern"]).text
    if "content" in changes or "title" in changes:
        changes |= _provenance(memory, act, changes)
    if act.claimed_author is not None or "content" in changes or "title" in changes:
        changes["claimed_author"] = _claimed_author(memory, act)
    changes["dedupe_key"] = dedupe_key(changes.get("content", memory.content), memory.topic_key)
    return _change(memory, act, "edit", **changes)


def waits_for(memory: Memory) -> str:
    """Why a memory needs a person's word."""
    if memory.quarantine_reason:
        return f"quarantined: it {memory.quarantine_reason}"
    if memory.claimed_author is not None and memory.status is Status.PROMOTED:
        return came_with_files(memory.claimed_author)
    times = f", seen {memory.observation_count} times" if memory.observation_count > 1 else ""
    branch = memory.source_branch
    gone = f"; its branch {branch} was deleted before it was merged" if memory.forsaken else ""
    return f"unconfirmed: {memory.trust} by {memory.source_type}{times}{gone}"


def _check_held(memory: Memory, act: Act) -> None:
    """Raise CannotDo where a person has to confirm it, and the act is another's."""
    if act.actor == Trust.USER:
        return
    reason = memory.quarantine_reason or order_of(memory.title, memory.content)
    if reason:
        held = "is quarantined, as it" if memory.quarantine_reason else "needs a person, as it"
        raise CannotDo(f"{memory.id} {held} {reason}", BY_PERSON)


def _provenance(memory: Memory, act: Act, changes: dict[str, Any]) -> dict[str, Any]:
    """Whoever wrote the new text is who says it; an order that no person typed is held."""
    title, content = changes.get("title", memory.title), changes.get("content", memory.content)
    trust = act.said_by or act.actor
    found = None if trust == Trust.USER else order_of(title, content)
    if not found:
        return {"trust": trust}
    return {
        "trust": trust,
        "quarantine_reason": found,
        "status": Status.CANDIDATE,
        "tier": Tier.FADING,
        "pinned": False,
        "promoted_at": None,
    }


def _claimed_author(memory: Memory, act: Act) -> str | None:
    """What a person confirms or writes is theirs; what the files bring is whose they claim."""
    if act.claimed_author is not None:
        return act.claimed_author
    return None if (act.said_by or act.actor) == Trust.USER else memory.claimed_author


def _archived(memory: Memory, act: Act, operation: str, **changes: Any) -> Memory:
    if memory.status is Status.ARCHIVED:
        raise CannotDo(f"{memory.id} is archived already", "`ademem restore` brings it back")
    gone = {"status": Status.ARCHIVED, "tier": Tier.FADING, "pinned": False}
    return _change(memory, act, operation, **gone, **changes)


def _change(memory: Memory, act: Act, operation: str, **changes: Any) -> Memory:
    """What is handled is in use: it begins to age anew."""
    change = Change(
        operation=operation,
        actor=act.actor,
        at=act.now,
        session_id=act.session_id,
        event_id=act.event_id,
    )
    try:
        with act.store.transaction():
            changed = memories.update(
                act.store, replace(memory, **changes, last_accessed_at=act.now), change
            )
            jobs.follow(act.store, act.now)
    except sqlite3.IntegrityError as error:
        raise CannotDo("another live memory says the same", "`ademem search` finds it") from error
    return changed


def _state(memory: Memory) -> str:
    return "deleted" if memory.deleted_at else memory.status.value


def _scrub(store: Store) -> None:
    """Rewrite the file so that freed pages, the word index and the log hold no old text."""
    for index in ("unified_memories_fts", "unified_memories_trigram"):
        store.db.execute(f"insert into {index}({index}) values ('optimize')")
    store.db.execute("vacuum")
    store.db.execute("pragma wal_checkpoint(truncate)")
