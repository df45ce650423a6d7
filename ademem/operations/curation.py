"""Decide about memories: review, confirm, edit, archive, delete; list the acts and undo them."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import chain
from typing import Any, NamedTuple

from ademem.capture import provenance
from ademem.core import anchor, client, who
from ademem.core.clock import datetime, parse, stamp
from ademem.core.errors import Conflict, NoSuchMemory, NotFound, UsageError
from ademem.core.memory import Memory, Status, Trust
from ademem.core.redaction import redact
from ademem.core.settings import GateSettings
from ademem.core.text import clean, fold, preview
from ademem.core.value import Value, replace
from ademem.store import (
    Store,
    memories,
    memory_queries,
    neighbours,
    receipts,
    relations,
    review_queue,
    revisions,
    transitions,
)
from ademem.store.database import MISREAD, read_list, write_list
from ademem.store.runtime import Runtime, on_store
from ademem.store.transitions import Act, CannotDo, OfPerson

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ademem.core.memory import Origin
    from ademem.store.kept_copies import Changed
    from ademem.sync.proposal import Proposal
    from ademem.synthesis.anchoring import Doubt


def act(runtime: Runtime) -> Act:
    return Act(
        store=runtime.store,
        now=runtime.clock(),
        actor=get_speaker(runtime),
        session_id=client.session_of(runtime.environment) or None,
        branch=runtime.branch,
    )


def get_speaker(runtime: Runtime) -> Trust:
    return provenance.trust_of_caller(runtime)


CONFLICT_CHARS = 500


class Selection(Value):
    category: str | None = None
    type: str | None = None
    """A category or a tag."""
    before: datetime | None = None
    words: str = ""
    """Each is in the text, the title or the tags."""

    def matches(self, memory: Memory) -> bool:
        text = fold(" ".join((memory.title or "", memory.content, *memory.tags)))
        return (
            self.category in (None, memory.category)
            and self.type in (None, memory.category, *memory.tags)
            and (self.before is None or memory.created_at < self.before)
            and all(word in text for word in fold(self.words).split())
        )


EVERYTHING = Selection()
_POSITION = "review_place"
"""Name in `store_values`: where a review stopped."""


def review(
    runtime: Runtime, limit: int | None = 100, selection: Selection = EVERYTHING
) -> list[Memory]:
    """List memories that wait for review: quarantined ones, then candidates, oldest first."""
    most = limit if selection == EVERYTHING else None
    queues = (memory_queries.in_review(each.store, limit=most) for each in runtime.with_own())
    return list(filter(selection.matches, chain.from_iterable(queues)))[:limit]


def list_kept_changes(runtime: Runtime) -> list[Changed]:
    """List what other people changed of what was stated here, the first change first."""
    from ademem.store import kept_copies

    return kept_copies.list_changes(runtime.store)


def take_change(runtime: Runtime, id: str) -> Memory | None:
    """Confirm the other person's version; None if it is a deletion for good."""
    from ademem.store import kept_copies

    return kept_copies.take(id, _decision(runtime, "give up"))


def keep_mine(runtime: Runtime, id: str) -> Memory:
    """Give what was stated here to everybody again."""
    from ademem.store import kept_copies

    return kept_copies.keep_mine(id, _decision(runtime, "insist on"))


def _decision(runtime: Runtime, verb: str) -> Act:
    who.require_person(runtime.by, f"to {verb} what you stated", f"/ademem:review {verb} ID")
    return act(runtime)


class Waiting(NamedTuple):
    """A memory in the queue of a review, by urgency, then belief, then age; thousands may wait."""

    urgency: int
    """0 quarantined, 1 contradictory, 2 unconfirmed, 3 near to another one, 4 misplaced."""
    doubt: float
    """The confidence, below zero."""
    created_at: str
    seq: int
    id: str
    other: str = ""
    conflict: str = ""
    place: str = ""
    """Where the memory may not belong."""

    @property
    def key(self) -> str:
        """The id of the memory, and the other one's or the place: it may be in several pairs."""
        if self.place:
            return f"{self.id}@{self.place}"
        return f"{self.id}~{self.other}" if self.other else self.id

    @property
    def position(self) -> list[Any]:
        """The place in the order of a review, which lasts when this one is decided."""
        return list(self[:4])


def list_queue(runtime: Runtime, *, with_skipped: bool = False) -> list[Waiting]:
    """List pairs and single memories in the order of a review, but none skipped until tomorrow."""
    skipped = set() if with_skipped else set(list_skipped(runtime))
    pairs = [pair for pair in list_conflicts(runtime) if pair.right not in skipped]
    near = [pair for pair in list_neighbours(runtime) if pair.right not in skipped]
    found = [
        *(_wait_as_pair(runtime, pair, f"contradictory: {pair.reason}", 1, 0) for pair in pairs),
        *(_wait_as_pair(runtime, pair, pair.reason, 3, 3) for pair in near),
    ]
    elsewhere = skipped.union(pair.right for pair in pairs)
    alone = (each for each in _list_alone(runtime) if each.id not in elsewhere)
    return sorted([*found, *alone])


def _list_alone(runtime: Runtime) -> Iterator[Waiting]:
    for each in runtime.with_own():
        for reason, confidence, created_at, seq, id in memory_queries.list_waiting(each.store):
            urgency = 0 if reason == "quarantined" else 2
            yield Waiting(urgency, -confidence, created_at, seq, id)


def _wait_as_pair(
    runtime: Runtime, pair: relations.Conflict, why: str, urgency: int, if_quarantined: int
) -> Waiting:
    memory = memories.get(runtime.store, pair.right)
    order = (-memory.confidence, stamp(memory.created_at), memory.seq)
    urgency = if_quarantined if memory.quarantine_reason else urgency
    return Waiting(urgency, *order, memory.id, pair.left, why)


count_queue = review_queue.count_by_reason


def review_imported(
    runtime: Runtime, limit: int | None = 100, selection: Selection = EVERYTHING
) -> list[Memory]:
    found = memory_queries.list_claimed(runtime.store, limit=None)
    return list(filter(selection.matches, found))[:limit]


def continue_review(runtime: Runtime, queue: Sequence[Waiting]) -> list[Waiting]:
    position = read_list(runtime.store.db, _POSITION)
    rest = [each for each in queue if position and each.position >= position]
    return [*rest, *(each for each in queue if each not in rest)]


def stop_review(runtime: Runtime, at: Waiting | None) -> None:
    write_list(runtime.store.db, _POSITION, at.position if at else [])


list_skipped = review_queue.list_skipped


def skip(runtime: Runtime, id: str, *, lift: bool = False) -> None:
    with runtime.store.transaction():
        others = [each for each in list_skipped(runtime) if each != id]
        skipped = others if lift else [*others, id]
        today = review_queue.day_of(runtime.clock())
        write_list(runtime.store.db, review_queue.SKIPPED, [today, *skipped])


unskip = partial(skip, lift=True)


DECISIONS: dict[str, Callable[..., Memory]] = {
    "promote": transitions.promote,
    "reject": transitions.refuse,
    "archive": transitions.archive,
    "promote-pinned": partial(transitions.promote, pinned=True),
    "pin": transitions.pin,
    "delete": transitions.delete,
}
APPROVING = ("promote", "promote-pinned", "pin")
"""Decisions that a quarantined memory needs alone: it is read before it is approved."""


def decide_all(
    runtime: Runtime, found: Sequence[Memory], decision: str
) -> tuple[str, list[Memory]]:
    """Return the event and what changed; approves none in quarantine, and may raise Conflict."""
    decided = [each for each in found if not (decision in APPROVING and each.quarantine_reason)]
    done = replace(act(runtime), event_id=memories.new_event())
    with runtime.store.transaction():
        for memory in decided:
            require_revision(memories.get(runtime.store, memory.id), memory.revision_count)
        changed = [DECISIONS[decision](memory.id, done) for memory in decided]
    for memory in changed if decision in APPROVING else ():
        note_receipt(runtime, "confirmed", memory.id)
    return done.event_id, changed


def tag_all(runtime: Runtime, found: Sequence[Memory], tag: str) -> tuple[str, list[Memory]]:
    lacking = [memory for memory in found if tag not in memory.tags]
    done = replace(act(runtime), event_id=memories.new_event())
    with runtime.store.transaction():
        for memory in lacking:
            require_revision(memories.get(runtime.store, memory.id), memory.revision_count)
        return done.event_id, [
            transitions.edit(each.id, done, runtime.settings.gate, tags=(*each.tags, tag))
            for each in lacking
        ]


class Accepted(NamedTuple):
    """Memories from the files that are trusted now, and those that stay labelled."""

    accepted: int
    left: int


def trust_files(runtime: Runtime, authors: Sequence[str] = ()) -> Accepted:
    """Trust what *authors* (all of them if none is named) have in the remote's default branch."""
    from ademem.core import trust
    from ademem.core.repository import commit
    from ademem.store import briefs
    from ademem.sync import trusting
    from ademem.sync.provenance import provenance_of

    project, store, environment = runtime.project, runtime.store, runtime.environment
    remote, moment = provenance_of(runtime).remote, stamp(runtime.clock())
    given = (project.main, store.secret, commit(project.root) or "", moment, environment)
    trust.agree_to_files(*given, remote=remote.address, authors=authors)
    found = trusting.find_trusted(provenance_of(runtime))
    with store.transaction():
        briefs.accept(store)
        done = transitions.accept_all(found, replace(act(runtime), event_id=memories.new_event()))
    return Accepted(done, memory_queries.count_with_files(store, quarantined=False))


def list_claimed_briefs(runtime: Runtime) -> tuple[str, ...]:
    from ademem.files import project_brief
    from ademem.store import briefs

    store = runtime.store
    documents = (
        project_brief.load(store, name) for name in ("", *sorted(briefs.list_folders(store)))
    )
    return tuple(text for document in documents if document for text in document.claimed)


def _decide(
    decide: Callable[..., Memory],
    runtime: Runtime,
    id: str,
    *arguments: Any,
    revision: int | None = None,
    reason: str = "",
    event: str = "",
    **options: Any,
) -> Memory:
    """Decide about one memory, in an act of its own or as part of an *event*."""
    holder = runtime.holding(id)
    with holder.store.transaction():
        before = memories.get(holder.store, id)
        require_revision(before, revision)
        was_of_person = memories.is_of_person(holder.store, before)
        done = replace(act(holder), reason=reason, event_id=event)
        decided = decide(id, done, *arguments, **options)
    if was_of_person or decide in _CONFIRMING:
        unpins = decide is transitions.pin and not decided.pinned
        note_receipt(runtime, "unpinned" if unpins else _DONE.get(decide, "changed"), decided.id)
    return decided


def note_receipt(runtime: Runtime, done: str, id: str = "") -> None:
    """Let the next prompt tell what a person is known to have done outside the client."""
    if runtime.by.is_person and runtime.by.where:
        receipts.note(runtime.store, done, runtime.by.where, id, runtime.clock())


_CONFIRMING = (transitions.promote, transitions.pin, transitions.restore)
"""Acts on any memory that only a person may do, or that bring one back."""
_DONE: dict[Callable[..., Memory], str] = {
    transitions.promote: "confirmed",
    transitions.reject: "rejected",
    transitions.refuse: "removed",
    transitions.supersede: "replaced",
    transitions.archive: "archived",
    transitions.restore: "restored",
    transitions.pin: "pinned",
    transitions.delete: "deleted",
    transitions.edit: "edited",
    transitions.release: "released as harmless",
}
"""Words of a receipt."""


promote = partial(_decide, transitions.promote)
reject = partial(_decide, transitions.reject)
refuse = partial(_decide, transitions.refuse)
"""Reject a candidate, or archive a confirmed memory."""
supersede = partial(_decide, transitions.supersede)
archive = partial(_decide, transitions.archive)
restore = partial(_decide, transitions.restore)
pin = partial(_decide, transitions.pin)


def merge(
    runtime: Runtime, id: str, into: str, content: str, *, revision: int | None = None
) -> Memory:
    """Make one confirmed memory with this text of two; `undo` takes it back whole."""
    done, settings = replace(act(runtime), event_id=memories.new_event()), runtime.settings.gate
    with runtime.store.transaction():
        require_revision(memories.get(runtime.store, id), revision)
        require_length(content, memories.get(runtime.store, into).title, settings)
        return transitions.merge(id, done, into, content, settings)


def delete(runtime: Runtime, id: str, *, hard: bool = False, revision: int | None = None) -> Memory:
    """Delete a memory; *hard* also deletes the backups that have it, and makes a new one."""
    from ademem.store import backups

    if not hard:
        return _decide(transitions.delete, runtime, id, revision=revision)
    outer, runtime = runtime, runtime.holding(id)
    require_revision(memories.get(runtime.store, id), revision)
    memory = transitions.delete(id, act(runtime), hard=True)  # which rewrites the whole file
    note_receipt(outer, "deleted for good")
    backups.forget(runtime.project, runtime.environment, memory.id, runtime.clock())
    return memory


def edit(
    runtime: Runtime,
    id: str,
    *,
    revision: int | None = None,
    find: str | None = None,
    replacement: str | None = None,
    event: str = "",
    **changes: Any,
) -> Memory:
    """Change content, title, category, importance, tags, topic_key, path or anchors.

    *find* is replaced wherever the text has it. Raises Conflict at another *revision*.
    """
    from ademem.operations import writing
    from ademem.synthesis import anchoring

    runtime = runtime.holding(id)
    with runtime.store.transaction():
        memory = memories.get(runtime.store, id)
        require_revision(memory, revision)
        _complete_text(memory, changes, find, replacement, runtime.settings.gate)
        if changes.get("topic_key"):
            changes["topic_key"] = writing.normalize_key(changes["topic_key"])
        if changes.keys() & {"anchors", "content", "title"}:
            changed = replace(memory, **changes)
            root, text = runtime.project.root, changed.whole_text
            if "anchors" in changes:
                changes["anchors"] = anchoring.resolve_anchors(
                    changed.anchors, root, os.getcwd(), text
                )
            elif changed.anchors:
                changes["anchors"] = anchoring.renew_values(changed.anchors, root, text)
        settings = runtime.settings.gate
        return _decide(transitions.edit, runtime, id, settings, event=event, **changes)


STATED = ("content", "title", "category", "importance", "tags", "topic_key", "file_scope_pattern")
"""What a person says in a memory, and `put_back` takes from an earlier revision."""


def put_back(runtime: Runtime, memory: Memory, number: int) -> Memory:
    """Bring a memory back as it was at an earlier revision, in one act.

    Raises NotFound for an unknown revision, and CannotDo for one in quarantine where the memory is
    in none: what a person confirmed since is another text.
    """
    snapshots = {row["revision"]: row["snapshot"] for row in list_revisions(runtime, memory.id)}
    if number not in snapshots:
        why = f"{memory.id} has no revision {number}"
        raise NotFound(why, f"`ademem get --history {memory.id}` lists them")
    earlier = memories.from_snapshot(snapshots[number])
    if earlier.quarantine_reason and not memory.quarantine_reason:
        why = f"revision {number} of {memory.id} is quarantined, as it {earlier.quarantine_reason}"
        raise CannotDo(why, "`ademem edit` writes a text of your own")
    before, after = ({name: getattr(each, name) for name in STATED} for each in (memory, earlier))
    changes = {name: after[name] for name in STATED if after[name] != before[name]}
    event = memories.new_event()
    if not memory.live:
        memory = restore(runtime, memory.id, event=event)
    return edit(runtime, memory.id, event=event, **changes) if changes else memory


def require_length(content: str, title: str | None, settings: GateSettings) -> None:
    if excess := transitions.describe_excess(content, title, settings):
        raise CannotDo(f"the text {excess}", "shorten it, or split it into several memories")


def require_revision(memory: Memory, revision: int | None) -> None:
    if revision not in (None, memory.revision_count):
        why = f"{memory.id} is at revision {memory.revision_count}, not {revision}"
        raise Conflict(
            why, f"its text is now: {preview(memory.content, CONFLICT_CHARS)}", memory.id
        )


def _complete_text(
    memory: Memory,
    changes: dict[str, Any],
    find: str | None,
    replacement: str | None,
    settings: GateSettings,
) -> None:
    if find is not None or replacement is not None:
        if find is None or replacement is None or "content" in changes:
            why = "a text to find needs one that replaces it, and no whole text beside it"
            raise UsageError(why, "give both parts, or the whole text alone")
        if not find or find not in memory.content:
            why = f"{memory.id} does not have the text to find"
            raise UsageError(why, "find another part of it")
        changes["content"] = memory.content.replace(find, replacement)
    if "content" in changes:
        require_length(changes["content"], changes.get("title", memory.title), settings)


# Changes that agents may make: never of what a person said or confirmed, and few pins.

PINS = 5
REASON_CHARS = 500


class Updated(Value):
    memory: Memory
    changed: tuple[str, ...]
    proposed_for: str = ""
    """Id of the unchanged memory, where *memory* is a candidate for the change."""


def update(
    runtime: Runtime,
    memory: Memory,
    origin: Callable[[], Origin],
    *,
    revision: int | None = None,
    **changes: Any,
) -> Updated:
    """Edit a memory as the person, or as an agent of that *origin*; without changes do nothing."""
    if not changes:
        require_revision(memory, revision)
        return Updated(memory=memory, changed=())
    if get_speaker(runtime) is Trust.USER:
        edited = edit(runtime, memory.id, revision=revision, **changes)
        return Updated(memory=edited, changed=tuple(changes))
    return update_by_agent(runtime, memory.id, origin(), revision=revision, **changes)


def update_by_agent(
    runtime: Runtime,
    id: str,
    origin: Origin,
    *,
    revision: int | None = None,
    find: str | None = None,
    replacement: str | None = None,
    **changes: Any,
) -> Updated:
    """Edit a memory; propose a candidate beside one that a person said or confirmed."""
    from ademem.capture import gate
    from ademem.operations import writing

    runtime = runtime.holding(id)
    memory = memories.get(runtime.store, id)
    if not memories.is_of_person(runtime.store, memory):
        edited = edit(runtime, id, revision=revision, find=find, replacement=replacement, **changes)
        before, after = memory.__dict__, edited.__dict__
        given = {*changes, *(["content"] if find is not None else [])}
        changed = sorted(name for name in given if before[name] != after[name])
        return Updated(memory=edited, changed=tuple(changed))
    require_revision(memory, revision)
    settings = runtime.settings.gate
    _complete_text(memory, changes, find, replacement, settings)
    if "content" not in changes:
        raise OfPerson(memory, "edit")
    draft = writing.complete_draft(runtime, gate.draft_change(memory, changes, origin))
    written = gate.propose(memory, draft, runtime.store, settings, runtime.clock())
    if written.memory is None or not written.accepted:
        why = f"{memory.id} was said or confirmed by a person, and says nearly the same"
        raise CannotDo(why, who.remedy("edit", memory.id))
    return Updated(memory=written.memory, changed=(), proposed_for=memory.id)


def remove_by_agent(
    runtime: Runtime,
    id: str,
    *,
    delete: bool = False,
    reason: str = "",
    revision: int | None = None,
) -> Memory:
    decide = transitions.delete if delete else transitions.archive
    return _decide(decide, runtime, id, reason=clean_reason(reason), revision=revision)


def clean_reason(reason: str) -> str:
    """Return a reason as it is stored; empty for one that instructs a model."""
    from ademem.guard.injection import instruction_in

    return "" if instruction_in(reason) else preview(clean(redact(reason).text), REASON_CHARS)


def pin_by_agent(runtime: Runtime, id: str, *, pinned: bool = True) -> Memory:
    runtime = runtime.holding(id)
    memory = memories.get(runtime.store, id)
    if memory.pinned is pinned:
        return memory
    if pinned and memory.status is not Status.PROMOTED:
        raise CannotDo(f"{memory.id} is not confirmed", who.remedy("promote", memory.id))
    with runtime.store.transaction():
        if pinned and memory_queries.count_pinned_by_agents(runtime.store) >= PINS:
            raise CannotDo(f"agents have pinned {PINS} memories", "unpin one of them first")
        return pin(runtime, id, pinned=pinned)


def list_due(runtime: Runtime, limit: int | None = 100) -> list[Memory]:
    return memory_queries.due_for_review(runtime.store, now=stamp(runtime.clock()), limit=limit)


def mark_reviewed(runtime: Runtime, id: str) -> Memory:
    from ademem.capture.gate.rows import review_date

    memory, now = memories.get(runtime.holding(id).store, id), runtime.clock()
    return _decide(transitions.renew, runtime, id, review_date(memory.category, memory.tags, now))


def correct(runtime: Runtime, doubt: Doubt, text: str) -> Memory:
    from ademem.synthesis import anchoring

    anchors = anchoring.verifier().correct_anchors(doubt, text, runtime.project.root)
    return edit(runtime, doubt.memory.id, content=text, anchors=anchors)


def asks_to_publish(runtime: Runtime) -> bool:
    """Tell whether skills were exported and nobody has said where they go."""
    from ademem.session import notices

    return notices.asks_to_publish(runtime)


def propose(runtime: Runtime, branch: str | None = None, *, dry_run: bool = False) -> Proposal:
    from ademem.sync import proposal

    return proposal.propose(runtime, branch or "", dry_run=dry_run)


list_conflicts = on_store(relations.list_conflicts)


list_neighbours = on_store(neighbours.list_proposals)
"""Pairs that are the nearest to each other in meaning, for a person to judge."""


def _settle(settle: Callable[..., bool], runtime: Runtime, id: str, other: str) -> bool:
    done = act(runtime)
    left, right = memories.get(runtime.store, id), memories.get(runtime.store, other)
    for one, its in ((left, right), (right, left)) if done.by_agent else ():
        if memories.is_of_person(runtime.store, one):
            raise OfPerson(one, f"review --settle {its.id}")
    if settle is relations.resolve and neighbours.is_proposed(runtime.store, left, right):
        relations.add(
            *(runtime.store, left, right, relations.RELATED),
            score=1.0,
            reason=relations.BY_MEANING,
            actor=done.actor,
            now=done.now,
        )
    return settle(runtime.store, left, right, done.actor, done.now)


settle_conflict = partial(_settle, relations.resolve)
"""Both memories are true. Return False where no conflict was known."""
reopen_conflict = partial(_settle, relations.reopen)
"""Return False where nothing was settled."""


list_acts = on_store(revisions.list_acts)
put_acts = on_store(revisions.put_acts)
"""Keep the acts of people that changed no memory, with their inverses."""


class Event(Value):
    id: str
    at: datetime
    actor: str
    session_id: str | None
    operations: dict[str, int]
    """How many memories it inserted, merged, archived, …"""
    memories: tuple[str, ...]
    text: str
    """Content of the first one after the act; empty when it was deleted for good."""
    undone_by: str = ""
    """The event that took it back."""
    changed: tuple[str, ...] = ()
    """What an edit, here or in a file, changed of the first one: text, tags, place, when, …"""


QUARANTINED = "(in quarantine; `ademem review` shows it)"


def list_revisions(runtime: Runtime, id: str) -> list[dict[str, Any]]:
    """Return all revisions of a memory, oldest first; of a hard-deleted one the end remains."""
    runtime = runtime.holding(id)
    try:
        id = memories.get(runtime.store, id).id
    except NoSuchMemory:
        if not memories.revisions(runtime.store, id):
            raise
    return memories.revisions(runtime.store, id)


def list_events(runtime: Runtime, limit: int = 20, before: str = "") -> list[Event]:
    return _read_events(runtime.store, revisions.newest_events(runtime.store, limit, before))


def find_last_act(runtime: Runtime) -> Event:
    """Return the last act of a person that was not taken back, also on their own memories."""
    found = [
        event
        for each in runtime.with_own()
        if (id := revisions.last_event_of_person(each.store))
        for event in _read_events(each.store, [id])
    ]
    if not found:
        raise NotFound("no act of a person can be taken back", "`ademem log` shows all acts")
    return max(found, key=lambda event: event.at)


def _read_events(store: Store, ids: Sequence[str]) -> list[Event]:
    undone = revisions.undone_since(store, ids[-1]) if ids else {}
    changes: dict[str, list[tuple[int, str, str]]] = {}
    for event, seq, memory, operation in revisions.list_changes(store, ids):
        changes.setdefault(event, []).append((seq, memory, operation))
    # An act may have changed all memories: of each only the first revision is read whole.
    firsts = revisions.by_seqs(store, (rows[0][0] for rows in changes.values()))
    first_of = {row.event_id: row for row in firsts}
    events = []
    for id, rows in changes.items():
        first = first_of.get(id) or next(iter(revisions.of_events(store, [id])), None)
        if first is None:  # none of them can be read
            continue
        quarantined = first.snapshot["quarantine_reason"]
        events.append(
            Event(
                id=id,
                at=parse(first.created_at),
                actor=first.actor,
                session_id=first.session_id,
                operations=dict(Counter(operation for _, _, operation in rows)),
                memories=tuple(dict.fromkeys(memory for _, memory, _ in rows)),
                text=QUARANTINED if quarantined else str(first.snapshot["content"]),
                undone_by=undone.get(id, ""),
                changed=_read_changed(store, first),
            )
        )
    return events[::-1]


_EDITS = ("edit", "import")
_NAMES = {"content": "text", "topic_key": "topic", "file_scope_pattern": "path"}


def _read_changed(store: Store, edit: revisions.Revision) -> tuple[str, ...]:
    try:
        before = revisions.before(store, edit) if edit.operation in _EDITS else None
    except MISREAD:
        return ()
    return list_changed(edit.operation, before.memory(), edit.memory()) if before else ()


def read_revision(row: dict[str, Any]) -> Memory | None:
    """Return the memory as it was at a row of `list_revisions`; None where it cannot be read."""
    try:
        return memories.from_snapshot(row["snapshot"])
    except MISREAD:
        return None


def list_changed(operation: str, before: Memory | None, after: Memory | None) -> tuple[str, ...]:
    """Return what an edit changed; places and occasions are told from the other anchors."""
    if operation not in _EDITS or before is None or after is None:
        return ()
    names = (name for name in STATED if getattr(before, name) != getattr(after, name))
    changed = set(before.anchors).symmetric_difference(after.anchors)
    return (
        *(_NAMES.get(name, name) for name in names),
        *sorted(set(map(anchor.kind_of, changed))),
    )


COUNTED = 1000
"""Memories of a past moment that are counted; one more stands for more."""


class Past(Value):
    memories: tuple[Memory, ...]
    total: int
    """At most COUNTED + 1."""
    has_more: bool = False


def list_at(runtime: Runtime, moment: datetime, limit: int | None = None, after: str = "") -> Past:
    """List the live memories of that moment, newest first, but no quarantined ones.

    *after* is the id of the last one of the page before.
    """
    at, mission = stamp(moment), client.mission_of(runtime.environment)
    stores = [each.store for each in runtime.with_own()]
    start = next(filter(None, (revisions.find_place(store, after) for store in stores)), None)
    most = -1 if limit is None else limit + 1
    listed = sorted(
        (
            (*place, of)
            for of, store in enumerate(stores)
            for place in revisions.list_then(store, at, mission, most, start)
        ),
        reverse=True,
    )
    page = listed[:limit]
    found = _read_then(stores, page)
    total = sum(len(revisions.list_then(store, at, mission, COUNTED + 1)) for store in stores)
    return Past(
        memories=tuple(found[id] for _, _, id, _, _ in page if id in found),
        total=min(total, COUNTED + 1),
        has_more=len(listed) > len(page),
    )


def _read_then(
    stores: Sequence[Store], page: Iterable[tuple[str, int, str, int, int]]
) -> dict[str, Memory]:
    """Map the ids of a page of `revisions.list_then` to the memories of then."""
    found: dict[str, Memory] = {}
    for number, store in enumerate(stores):
        rows = [row for *_, row, of in page if of == number]
        found |= {each.memory_id: each.memory() for each in revisions.by_seqs(store, rows)}
    return found


def undo(runtime: Runtime, event: str, *, dry_run: bool = False) -> list[Memory]:
    from ademem.synthesis.undoing import undo_event

    own = runtime.open_personal()
    holder = own if own and revisions.has_event(own.store, event) else runtime
    restored = undo_event(event, act(holder), dry_run=dry_run)
    for memory in () if dry_run else restored:
        if memories.is_of_person(holder.store, memory):
            note_receipt(runtime, "undone", memory.id)
    return restored
