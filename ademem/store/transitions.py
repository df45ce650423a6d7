"""The states of a memory and the changes between them: promote, archive, restore, supersede, pin.

The functions `promoted` to `quarantined` say which fields a state consists of; code that changes a
row for other reasons as well takes them from here. The others are acts on one stored memory: each
is one revision, and the files are due.
"""

from __future__ import annotations

from ademem.core import registers
from ademem.core.errors import FORBIDDEN, AdememError, suppress
from ademem.core.memory import LOST_BRANCH, MAX_TITLED_BYTES, Memory, Stage, Status, Tier, Trust
from ademem.core.redaction import redact
from ademem.core.text import clean, dedupe_key, in_one_line, truncate, truncate_bytes, unique
from ademem.core.untrusted import import_label
from ademem.core.value import Value, replace
from ademem.core.who import remedy
from ademem.store import Store, jobs, judged_texts, memories, relations
from ademem.store.database import sqlite3
from ademem.store.memories import Change

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime
    from typing import Any

    from ademem.core.registers import Commit
    from ademem.core.settings import GateSettings

BY_PERSON = "a person reads it with `ademem review` in their own terminal"
RESTORE_FIRST = "`ademem restore` brings it back first"


class CannotDo(AdememError):
    """The memory is not in a state that allows the act."""


class OfPerson(CannotDo):
    def __init__(self, memory: Memory, verb: str, done: str = "said or confirmed") -> None:
        super().__init__(f"{memory.id} was {done} by a person", remedy(verb, memory.id))


class Act(Value):
    store: Store
    now: datetime
    actor: str = "user"
    session_id: str | None = None
    said_by: str = ""
    """Author of the text that an edit brings, if not the actor."""
    claimed_author: str | None = None
    """Author claimed by the files in which it was found; None: it was done here."""
    by_other: bool = False
    """A commit of another person brought it: what this one stated stays in force."""
    vouched: str | None = None
    """Author claimed by trusted files in which it was found."""
    branch: str | None = None
    """Branch of the act, if not the default one."""
    reason: str = ""
    event_id: str = ""
    made: Commit | None = None

    @property
    def by_agent(self) -> bool:
        return self.actor in (Trust.AGENT, Trust.TOOL, Trust.WEB)

    def change(self, operation: str) -> Change:
        return Change(
            operation=operation,
            actor=self.actor,
            at=self.now,
            session_id=self.session_id,
            reason=self.reason or None,
            event_id=self.event_id,
            made=self.made,
            author=self.claimed_author if self.by_other else None,
            vouched=self.vouched if self.by_other else None,
        )


def tier_of(status: Status, *, pinned: bool = False) -> Tier:
    if pinned:
        return Tier.PINNED
    return Tier.ACTIVE if status is Status.PROMOTED else Tier.FADING


def initial(*, promoted: bool, pinned: bool = False) -> dict[str, Any]:
    status = Status.PROMOTED if promoted else Status.CANDIDATE
    return {"status": status, "tier": tier_of(status, pinned=pinned)}


def promoted(memory: Memory, now: datetime) -> dict[str, Any]:
    return initial(promoted=True, pinned=memory.pinned) | {"promoted_at": memory.promoted_at or now}


def archived(superseded_by: str | None = None) -> dict[str, Any]:
    fields = {"status": Status.ARCHIVED, "tier": Tier.FADING, "pinned": False}
    return fields | ({"superseded_by": superseded_by} if superseded_by else {})


def restored(memory: Memory) -> dict[str, Any]:
    return initial(promoted=memory.promoted_at is not None, pinned=memory.pinned)


def left_without_branch(memory: Memory) -> dict[str, Any]:
    return initial(promoted=False, pinned=memory.pinned) | {"write_gate_reason": LOST_BRANCH}


def superseded(heir_id: str) -> dict[str, Any]:
    return {"superseded_by": heir_id, "pinned": False}


def aged(memory: Memory, status: Status, tier: Tier, now: datetime) -> dict[str, Any]:
    promoted_at = memory.promoted_at or (now if status is Status.PROMOTED else None)
    return {"status": status, "tier": tier, "promoted_at": promoted_at}


def raised(
    memory: Memory, status: Status, tier: Tier, now: datetime, *, pinned: bool
) -> dict[str, Any]:
    reached = status if status is Status.PROMOTED else memory.status
    fields = aged(memory, reached, min(memory.tier, tier), now)
    return fields | {"pinned": memory.pinned or pinned}


def undecided() -> dict[str, Any]:
    ends = ("promoted_at", "superseded_by", "rejected_at", "deleted_at")
    return initial(promoted=False) | {"pinned": False} | dict.fromkeys(ends)


def as_recorded(
    memory: Memory, life: str, status: Status, at: datetime, *, pinned: bool
) -> dict[str, Any]:
    kind, _, heir = life.partition(" ")
    is_archived = kind in (registers.ARCHIVED, registers.REJECTED)
    return {
        "status": Status.ARCHIVED if is_archived else status,
        "tier": tier_of(status, pinned=pinned),
        "promoted_at": (memory.promoted_at or at) if status is Status.PROMOTED else None,
        "superseded_by": heir or None,
        "rejected_at": (memory.rejected_at or at) if kind == registers.REJECTED else None,
        "deleted_at": (memory.deleted_at or at) if kind == registers.DELETED else None,
    }


def quarantined(reason: str) -> dict[str, Any]:
    return initial(promoted=False) | {
        "quarantine_reason": reason,
        "pinned": False,
        "promoted_at": None,
    }


def promote(id: str, act: Act, *, pinned: bool = False) -> Memory:
    """Confirm a candidate; only a person can confirm a quarantined one.

    Confirmed on its branch, it still waits for the merge of that branch.
    """
    memory = memories.get(act.store, id)
    _check_held(memory, act)
    if memory.status is Status.ARCHIVED or memory.deleted_at:
        raise CannotDo(f"{memory.id} is {_state(memory)}", RESTORE_FIRST)
    if memory.status is Status.PROMOTED and memory.claimed_author is not None and not pinned:
        return accept(memory, act)
    confirmed = replace(memory, pinned=pinned or memory.pinned)
    if act.actor == Trust.USER and memory.status is Status.CANDIDATE:
        return _confirm(confirmed, memory, act)
    return _promote(confirmed, memory, act)


def _confirm(confirmed: Memory, memory: Memory, act: Act) -> Memory:
    """Confirm a candidate, and with it that it replaces what it was stated to replace."""
    with act.store.transaction():
        event = act.event_id or memories.new_event()
        act = replace(act, event_id=event)
        done = _promote(confirmed, memory, act)
        for id in relations.list_replaced(act.store, done):
            with suppress(CannotDo):  # of another scope
                supersede(id, act, done.id)
    return done


def _promote(confirmed: Memory, memory: Memory, act: Act) -> Memory:
    return _change(
        memory,
        act,
        "promote",
        **promoted(confirmed, act.now),
        pinned=confirmed.pinned,
        confidence=max(memory.confidence, 0.9),
        quarantine_reason=None,
        write_gate_reason=None
        if memory.has_lost_branch or memory.has_unseen_branch
        else memory.write_gate_reason,
        source_branch=memory.source_branch if memory.source_branch == act.branch else None,
        claimed_author=_claimed_author(memory, act),
    )


def release(id: str, act: Act) -> Memory:
    """Take a memory out of quarantine, whose text is held no more; it stays unconfirmed.

    Only for a person: the caller makes sure of it.
    """
    memory = memories.get(act.store, id)
    if not memory.quarantine_reason:
        raise CannotDo(f"{memory.id} is not in quarantine")
    with act.store.transaction():
        judged_texts.note_harmless(act.store, memory.title, memory.content, act.now)
        return _change(memory, act, "release", quarantine_reason=None)


def accept(memory: Memory, act: Act) -> Memory:
    changed = replace(memory, claimed_author=_claimed_author(memory, act))
    if changed == memory:
        return memory
    return memories.put_back(act.store, changed, act.change("promote"))


def accept_all(found: Iterable[Memory], act: Act) -> int:
    with act.store.transaction():
        return len([accept(memory, act) for memory in found])


def reject(id: str, act: Act) -> Memory:
    """Archive a candidate that is not worth keeping; no machine brings it back."""
    memory = memories.get(act.store, id)
    if memory.status is not Status.CANDIDATE:
        raise CannotDo(
            f"{memory.id} is {_state(memory)}, not a candidate", "`ademem archive` takes any memory"
        )
    return _archive(memory, act, "reject", rejected_at=act.now)


def refuse(id: str, act: Act) -> Memory:
    confirmed = memories.get(act.store, id).status is Status.PROMOTED
    return archive(id, act) if confirmed else reject(id, act)


def supersede(id: str, act: Act, by: str) -> Memory:
    memory, heir = memories.get(act.store, id), memories.get(act.store, by)
    _check_of_person(memory, act, "archive")
    homes = {(each.scope, each.scope_owner_id) for each in (memory, heir)}
    if memory.id == heir.id or len(homes) > 1:
        raise CannotDo(f"{memory.id} and {heir.id} are not two memories of one scope and owner")
    for each in (memory, heir):
        if not each.live:
            raise CannotDo(f"{each.id} is {_state(each)}", RESTORE_FIRST)
    with act.store.transaction():
        relations.mark_superseded(act.store, memory, heir, act.actor, act.now)
        return _change(memory, act, "supersede", **superseded(heir.id))


def merge(id: str, act: Act, into: str, content: str, settings: GateSettings) -> Memory:
    from ademem.core.anchor import merge_anchors

    memory, heir = supersede(id, act, into), memories.get(act.store, into)
    changes = {
        "tags": unique((*heir.tags, *memory.tags)),
        "anchors": merge_anchors(heir.anchors, memory.anchors),
        "observation_count": heir.observation_count + memory.observation_count,
    }
    edited = edit(heir.id, act, settings, **changes, content=content)
    return edited if edited.status is Status.PROMOTED else promote(heir.id, act)


def archive(id: str, act: Act) -> Memory:
    return _archive(memories.get(act.store, id), act, "archive")


def restore(id: str, act: Act) -> Memory:
    memory = memories.get(act.store, id)
    if memory.live:
        raise CannotDo(f"{memory.id} is not archived", "nothing to do")
    if memory.promoted_at:
        _check_held(memory, act)
    if act.by_agent and memories.is_removed_by_person(act.store, memory):
        raise OfPerson(memory, "restore", "removed")
    return _change(
        memory,
        act,
        "restore",
        **restored(replace(memory, pinned=False)),
        deleted_at=None,
        rejected_at=None,
        superseded_by=None,
    )


def delete(id: str, act: Act, *, hard: bool = False) -> Memory:
    """Hide it from everything; *hard* leaves no byte of it in the database."""
    memory = memories.get(act.store, id)
    if hard and act.by_agent:
        why = "deleting for good is for a person"
        raise CannotDo(why, f"a person: `ademem delete {memory.id} --hard`")
    _check_of_person(memory, act, "delete")
    if not hard:
        _check_not_deleted(memory)
        return _change(memory, act, "delete", deleted_at=act.now, pinned=False)
    from ademem.store.revisions import forget_acts  # no hook deletes for good

    with act.store.transaction():
        memories.delete(act.store, memory, Change(operation="delete", actor=act.actor, at=act.now))
        forget_acts(act.store)
        jobs.follow(act.store, act.now)
    scrub(act.store)
    return replace(memory, deleted_at=act.now)


def pin(id: str, act: Act, *, pinned: bool = True) -> Memory:
    memory = memories.get(act.store, id)
    if pinned:
        _check_held(memory, act)
    else:
        _check_of_person(memory, act, "pin --off")
    if not memory.live:
        raise CannotDo(f"{memory.id} is {_state(memory)}", RESTORE_FIRST)
    return _change(
        memory,
        act,
        "pin" if pinned else "unpin",
        pinned=pinned,
        claimed_author=_claimed_author(memory, act) if pinned else memory.claimed_author,
        tier=tier_of(memory.status, pinned=pinned),
    )


def renew(id: str, act: Act, review_after: datetime | None) -> Memory:
    memory = memories.get(act.store, id)
    _check_held(memory, act)
    _check_of_person(memory, act, "review --reviewed")
    return _change(memory, act, "edit", review_after=review_after)


def edit(id: str, act: Act, settings: GateSettings, **changes: Any) -> Memory:
    memory = memories.get(act.store, id)
    _check_not_deleted(memory)
    _check_of_person(memory, act, "edit")
    if memory.quarantine_reason and act.actor != Trust.USER:
        raise CannotDo(f"{memory.id} is quarantined, as it {memory.quarantine_reason}", BY_PERSON)
    _clean_texts(changes, memory, settings)
    _clean_labels(changes)
    said_by = act.said_by or act.actor
    if said_by != Trust.USER:
        _check_labels(changes, memory)
    has_text = not changes.keys().isdisjoint(("content", "title"))
    if has_text:
        _judge_text(changes, memory, said_by, act.store)
    if act.claimed_author is not None or has_text:
        changes["claimed_author"] = _claimed_author(memory, act)
    topic_key = changes.get("topic_key", memory.topic_key)
    changes["dedupe_key"] = dedupe_key(changes.get("content", memory.content), topic_key)
    return _change(memory, act, "edit", **changes)


def _clean_texts(changes: dict[str, Any], memory: Memory, settings: GateSettings) -> None:
    """Redact, clean and shorten the texts among the changes, in place."""
    for name in ("content", "title", "file_scope_pattern"):
        if changes.get(name):
            changes[name] = clean(redact(changes[name]).text)
    if content := changes.get("content"):
        is_titled = changes.get("title") or memory.title
        changes["content"] = (
            truncate_bytes(content, MAX_TITLED_BYTES)
            if is_titled
            else truncate(content, settings.max_chars)
        )
    if not changes.get("content", memory.content):
        raise CannotDo("a memory needs a text", "`ademem delete` removes it")


def _clean_labels(changes: dict[str, Any]) -> None:
    if "anchors" in changes:
        changes["anchors"] = clean_anchors(changes["anchors"])
    if "tags" in changes:
        changes["tags"] = unique(redact(tag).text for tag in changes["tags"])


def clean_anchors(anchors: Iterable[str]) -> tuple[str, ...]:
    """Return anchors as they are stored: without secrets and hidden characters, each in a line."""
    return tuple(in_one_line(clean(redact(text).text)) for text in anchors)


def _judge_text(changes: dict[str, Any], memory: Memory, said_by: str, store: Store) -> None:
    """Note who said the new text; one that reads as an order is held back, unless a person did."""
    changes["trust"] = said_by
    if said_by == Trust.USER:
        return
    text = changes.get("title", memory.title), changes.get("content", memory.content)
    if found := judged_texts.find_instruction(store, *text, Trust(said_by)):
        changes |= quarantined(found)


def _check_labels(changes: dict[str, Any], memory: Memory) -> None:
    """Raises CannotDo where what stands beside the text would tell a model what to do."""
    if changes.keys().isdisjoint(("tags", "topic_key", "anchors", "file_scope_pattern")):
        return
    from ademem.guard.injection import instruction_in_fields

    words = (*changes.get("tags", ()), changes.get("topic_key"))
    texts = (*changes.get("anchors", ()), changes.get("file_scope_pattern"))
    if found := instruction_in_fields(words, *texts):
        why = f"{memory.id} stays as it is: what would stand beside its text {found}"
        raise CannotDo(why, "a person changes it: `ademem edit`")


def restate(memory: Memory, stated: Memory, act: Act) -> Memory:
    """Bring the memory back to what the person had *stated*, as a new write for everybody."""
    names = (
        *("content", "title", "tags", "anchors", "file_scope_pattern", "pinned", "trust"),
        *("status", "tier", "promoted_at"),
    )
    ends = dict.fromkeys(("deleted_at", "rejected_at", "superseded_by", "claimed_author"))
    fields = {name: getattr(stated, name) for name in names} | ends
    key = dedupe_key(stated.content, memory.topic_key)
    return _change(memory, act, "edit", **fields, dedupe_key=key, quarantine_reason=None)


def describe_excess(content: str, title: str | None, settings: GateSettings) -> str:
    content = clean(content)
    if title:
        size, most, unit = len(content.encode()), MAX_TITLED_BYTES, "bytes"
    else:
        size, most, unit = len(content), settings.max_chars, "characters"
    return f"has {size:,} {unit}; {most:,} is the most, shorten it" if size > most else ""


def waits_for(memory: Memory) -> str:
    if memory.quarantine_reason:
        return f"quarantined: it {memory.quarantine_reason}"
    if memory.claimed_author is not None and memory.status is Status.PROMOTED:
        return import_label(memory.claimed_author)
    if memory.status is not Status.CANDIDATE:
        return ""
    times = f", seen {memory.observation_count} times" if memory.observation_count > 1 else ""
    branch = memory.source_branch
    gone = (
        f"; its branch {branch} was deleted before it was merged" if memory.has_lost_branch else ""
    )
    stage = f" ({memory.stage})" if memory.stage in (Stage.HEARD, Stage.SUPPORTED) else ""
    return f"unconfirmed{stage}: {memory.sender}{times}{gone}"


def place(id: str, act: Act, anchors: tuple[str, ...]) -> Memory:
    """Store chosen places, which an agent may add to a memory that a person said, too."""
    memory = memories.get(act.store, id)
    anchors = clean_anchors(anchors)
    check_placing(memory, anchors, by_person=(act.said_by or act.actor) == Trust.USER)
    return _change(memory, act, "edit", anchors=anchors)


def check_placing(memory: Memory, anchors: Iterable[str], *, by_person: bool) -> None:
    """Raises CannotDo for a deleted memory, and for anchors that would tell a model what to do."""
    _check_not_deleted(memory)
    new = tuple(text for text in anchors if text not in memory.anchors)
    if by_person or not new:
        return
    from ademem.core.anchor import kind_of
    from ademem.guard.injection import instruction_in_fields, orders_in

    if found := instruction_in_fields((), *new):
        alone = orders_in(new)
        noun = "occasion" if {kind_of(text) for text in alone or new} == {"when"} else "place"
        what = f"the {noun}" if alone else f"together, what its {noun}s say"
        raise CannotDo(f"{memory.id} stays as it is: {what} {found}", BY_PERSON)


def _check_of_person(memory: Memory, act: Act, verb: str) -> None:
    if act.by_agent and memories.is_of_person(act.store, memory):
        raise OfPerson(memory, verb)


def _check_held(memory: Memory, act: Act) -> None:
    if act.actor == Trust.USER:
        return
    reason = memory.quarantine_reason or judged_texts.find_instruction(
        act.store, memory.title, memory.content
    )
    if reason:
        held = "is quarantined, as it" if memory.quarantine_reason else "needs a person, as it"
        raise CannotDo(f"{memory.id} {held} {reason}", BY_PERSON)


def _claimed_author(memory: Memory, act: Act) -> str | None:
    if act.claimed_author is not None:
        return act.claimed_author
    return None if (act.said_by or act.actor) == Trust.USER else memory.claimed_author


def _check_not_deleted(memory: Memory) -> None:
    if memory.deleted_at:
        raise CannotDo(f"{memory.id} is deleted", RESTORE_FIRST)


def _archive(memory: Memory, act: Act, operation: str, **changes: Any) -> Memory:
    _check_of_person(memory, act, "archive")
    _check_not_deleted(memory)
    if memory.status is Status.ARCHIVED:
        raise CannotDo(f"{memory.id} is archived already", "`ademem restore` brings it back")
    return _change(memory, act, operation, **archived(), **changes)


def _change(memory: Memory, act: Act, operation: str, **changes: Any) -> Memory:
    """Store the change, also one that repeats what holds: it is later than what others did."""
    if memory.kept_of:
        why = f"{memory.id} is your version of {memory.kept_of}, which another person changed"
        raise CannotDo(why, "`ademem review --changes` decides which of them holds")
    changed = replace(memory, **changes, last_accessed_at=act.now)
    try:
        with act.store.transaction():
            changed = memories.update(act.store, changed, act.change(operation))
            jobs.follow(act.store, act.now)
    except sqlite3.IntegrityError as error:
        if str(error) in FORBIDDEN:
            raise
        from ademem.store import conflict_candidates

        key = changes.get("dedupe_key", memory.dedupe_key)
        with act.store.transaction():
            if conflict_candidates.withdraw(act.store, key, memory.id):
                return _change(memory, act, operation, **changes)
        raise CannotDo("another live memory says the same", "`ademem recall` finds it") from error
    return changed


def _state(memory: Memory) -> str:
    if memory.superseded_by:
        return f"superseded by {memory.superseded_by}"
    return "deleted" if memory.deleted_at else memory.status.value


def scrub(store: Store) -> None:
    """Rewrite the file so that freed pages, the word index and the log hold no old text."""
    for index in ("unified_memories_fts", "unified_memories_trigram"):
        store.db.execute(f"insert into {index}({index}) values ('optimize')")
    store.vacuum()
    store.db.execute("pragma wal_checkpoint(truncate)")
