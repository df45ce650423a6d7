"""Acts on memories as the page and the terminal offer them, each with its inverse."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from ademem.core import anchor, who
from ademem.core.actor import Who
from ademem.core.clock import stamp
from ademem.core.errors import AdememError, Conflict, NoSuchMemory, UsageError
from ademem.core.memory import Memory
from ademem.core.text import counted, preview
from ademem.core.value import Value, as_dict, replace
from ademem.operations import curation, placing, searching
from ademem.operations.curation import DECISIONS
from ademem.search import binding
from ademem.store.runtime import Runtime
from ademem.store.transitions import waits_for

LABEL_CHARS = 48
UNFORESEEN = "an unexpected error; the log has its message"


class NotAllowed(AdememError):
    rule = "read_only"
    hint = "decide with `ademem review` in your own terminal"


def forbid_reason(by: Who) -> str:
    """Return why nothing is decided in this shell; empty in one of a person's."""
    return "" if by.is_person else f"deciding is for a person, and {who.describe(by)}"


INVERSES: dict[str, Callable[..., Done]] = {}
"""Inverses by their names, under which an act is stored."""
Inverse = TypeVar("Inverse", bound="Callable[..., Done]")


def inverse(function: Inverse) -> Inverse:
    """Register a function of the memories and of values of JSON that undoes acts."""
    INVERSES[function.__name__] = function
    return function


IN_WORDS = {
    "promote": "kept",
    "pin": "kept and pinned",
    "reject": "dropped",
    "merge into": "merged into",
    "archive": "archived",
    "restore": "brought back",
    "delete": "deleted",
    "unpin": "unpinned",
    "tag": "tagged",
    "edit": "edited",
    "add": "added",
    "resolve": "kept both sides of",
    "place": "changed where it comes up:",
    "only tell": "from now on only told:",
    "leave in its place": "left where it is:",
    "leave as it is": "left as it was:",
    "skip": "left for later:",
}
"""What was done, by the verb of an act's label."""


class Done(Value):
    """An act and its inverse, which is an act as well."""

    label: str
    way: str
    """Name in INVERSES."""
    given: dict[str, Any]
    """Arguments of the inverse."""
    is_undone: bool = False
    refusal: str = ""
    in_log: bool = False
    """The log of the memory has all of it, and its undo."""
    memory: str = ""
    """The memory that the label names."""
    number: int = 0
    at: str = ""

    @property
    def in_words(self) -> str:
        """What was done, as a bar tells it: “kept “Use pnpm””."""
        verb = next((each for each in IN_WORDS if self.label.startswith(f"{each} ")), "")
        return f"{IN_WORDS[verb]}{self.label[len(verb) :]}" if verb else f"done: {self.label}"

    def undo(self, memories: Runtime) -> Done:
        done = INVERSES[self.way](memories, **self.given)
        return replace(done, label=done.label or self.label, is_undone=not self.is_undone)


def record(memories: Runtime, done: Done) -> Done:
    """Return an act of now with its number; keep it where the log of memories does not have it."""
    done = replace(done, number=time.time_ns(), at=stamp(memories.clock()))
    if not done.in_log:
        with memories.store.transaction():
            curation.put_acts(memories, [*curation.list_acts(memories), as_dict(done)])
    return done


def list_recorded(memories: Runtime) -> list[Done]:
    return [Done(**row) for row in reversed(curation.list_acts(memories))]


def reverse(memories: Runtime, done: Done) -> Done:
    """Undo an act, or do it again; the act of that has its number and its place."""
    try:
        turned = replace(done.undo(memories), number=done.number, at=stamp(memories.clock()))
    except Exception as error:
        _keep_instead(memories, refused(done, error))
        raise
    _keep_instead(memories, turned)
    return turned


def refused(done: Done, error: Exception) -> Done:
    return replace(done, refusal=str(error) if isinstance(error, AdememError) else UNFORESEEN)


def _keep_instead(memories: Runtime, done: Done) -> None:
    if done.in_log:
        return
    with memories.store.transaction():
        rows = curation.list_acts(memories)
        put = [as_dict(done) if row["number"] == done.number else row for row in rows]
        curation.put_acts(memories, put)


@inverse
def undo_event(memories: Runtime, event: str, label: str, memory: str) -> Done:
    restored = curation.undo(memories, event)
    binding.refresh(memories)  # so that the next look finds where they apply
    return by_event(label, last_event(memories, restored[0].id), memory)


def by_event(label: str, event: str, memory: str = "") -> Done:
    given = {"event": event, "label": label, "memory": memory}
    return Done(label=label, way=undo_event.__name__, given=given, in_log=True, memory=memory)


def by_memory(verb: str, memories: Runtime, memory: Memory) -> Done:
    label = f"{verb} “{_name(memory)}”"
    return by_event(label, last_event(memories, memory.id), memory.id)


def name_again(done: Done, memories: Runtime) -> Done:
    """Return the act with the name that its memory has by now, none after a hard delete."""
    verb, mark, _ = done.label.partition(" “")
    if not (mark and done.memory):
        return done
    try:
        return replace(done, label=f"{verb}{mark}{_name(searching.get(memories, done.memory))}”")
    except NoSuchMemory:
        return replace(done, label=verb)


def _name(memory: Memory) -> str:
    if memory.quarantine_reason:  # a label stands on pages that an agent reads, too
        return memory.id
    return preview(memory.title or memory.content, LABEL_CHARS)


def last_event(memories: Runtime, id: str) -> str:
    return str(curation.list_revisions(memories, id)[-1]["event_id"])


def in_order(label: str, *done: Done) -> Done:
    """Return several acts as one, which is undone from its end, all of it or none."""
    given = {"label": label, "acts": list(map(as_dict, done))}
    memory = next((each.memory for each in done), "")
    in_log = all(each.in_log for each in done)
    return Done(label=label, way=back_in_order.__name__, given=given, in_log=in_log, memory=memory)


@inverse
def back_in_order(memories: Runtime, label: str, acts: Sequence[dict[str, Any]]) -> Done:
    undone: list[Done] = []
    try:
        for each in reversed(acts):
            undone.insert(0, Done(**each).undo(memories))
    except AdememError:
        for done in undone:
            done.undo(memories)
        raise
    return in_order(label, *reversed(undone))


# Acts on one memory raise Conflict where it is not at the *revision* that the person saw.


def promote(memories: Runtime, id: str, revision: int | None, *, pinned: bool = False) -> Done:
    memory = curation.promote(memories, id, pinned=pinned, revision=revision)
    return by_memory("pin" if pinned else "promote", memories, memory)


def act_on(verb: str, do: Callable[..., Memory]) -> Callable[..., Done]:
    def act(memories: Runtime, id: str, revision: int | None, **given: Any) -> Done:
        return by_memory(verb, memories, do(memories, id, revision=revision, **given))

    return act


reject = act_on("reject", curation.refuse)
merge = act_on("merge into", curation.merge)


def supersede(memories: Runtime, id: str, revision: int | None, by: str) -> Done:
    """Archive one memory of a contradiction, and confirm the other, which a person kept."""
    archived = by_memory(
        "archive", memories, curation.supersede(memories, id, by, revision=revision)
    )
    return _confirm_waiting(memories, archived, by)


def _confirm_waiting(memories: Runtime, done: Done, *ids: str) -> Done:
    """Confirm those of the memories that wait and are not in quarantine, as one act with *done*."""
    kept = [searching.get(memories, id) for id in ids]
    waiting = [each for each in kept if waits_for(each) and not each.quarantine_reason]
    confirmed = [promote(memories, each.id, None) for each in waiting if each.live]
    return in_order(done.label, done, *confirmed) if confirmed else done


def edit(memories: Runtime, id: str, revision: int | None, **given: Any) -> Done:
    """Change a memory; a text in quarantine is read and approved, or rejected, before.

    *when* are its occasions. What is given as it was changes nothing.
    """
    edited = _edit(memories, id, revision, **given)
    return _as_one(edited) if edited else _left(memories, id)


def edit_and_promote(memories: Runtime, id: str, revision: int | None, **given: Any) -> Done:
    edited = _edit(memories, id, revision, **given)
    return _as_one([*edited, promote(memories, id, None if edited else revision)])


def _edit(
    memories: Runtime,
    id: str,
    revision: int | None,
    when: Sequence[str] | None = None,
    **fields: Any,
) -> list[Done]:
    memory = searching.get(memories, id)
    if memory.quarantine_reason:
        raise NotAllowed("a text in quarantine is approved before it is edited")
    changes = {
        name: value
        for name, value in fields.items()
        if (value or None) != (getattr(memory, name) or None)
    }
    choice = _choose_occasions(memory, when)
    done = []
    if changes:
        edited = curation.edit(memories, id, revision=revision, **changes)
        done.append(by_memory("edit", memories, edited))
    if choice.decides:
        if not done:
            curation.require_revision(memory, revision)
        done.append(by_memory("edit", memories, placing.place(memories, choice).memory))
    return done


def _choose_occasions(memory: Memory, when: Sequence[str] | None) -> placing.Choice:
    """Return the choice of occasions, or none for those that it has; raises UsageError."""
    told = anchor.occasions(memory.anchors)
    if when is None or tuple(when) == told:
        return placing.Choice(id=memory.id)
    placing.choose_occasions(when)
    return placing.Choice(id=memory.id, when=tuple(when), drop=() if when else told)


def _as_one(acts: Sequence[Done]) -> Done:
    return acts[0] if len(acts) == 1 else in_order(acts[0].label, *acts)


def _left(memories: Runtime, id: str) -> Done:
    return in_order(f"leave as it is “{_name(searching.get(memories, id))}”")


def _twin(memories: Runtime, verb: str, opposite: str, id: str, **given: Any) -> Done:
    label = f"{verb} “{_name(searching.get(memories, id))}”"
    return Done(label=label, way=opposite, given={"id": id} | given, memory=id)


@inverse
def settle(memories: Runtime, id: str, other: str) -> Done:
    """Keep both memories of a contradiction as true."""
    curation.settle_conflict(memories, id, other)
    return _twin(memories, "resolve", "reopen", id, other=other)


def keep_both(memories: Runtime, id: str, other: str) -> Done:
    """Keep both memories of a contradiction, and confirm those that wait."""
    return _confirm_waiting(memories, settle(memories, id, other), id, other)


@inverse
def accept_place(memories: Runtime, id: str, place: str) -> Done:
    """Say that a memory does belong where it was overruled."""
    found = placing.find_misplaced(memories, id, place)
    if found is None:
        raise Conflict("nothing is asked about this place any more", "load the page again")
    before = placing.accept_place(memories, found)
    given = {"place": place, "before": {str(row): outcome for row, outcome in before.items()}}
    return _twin(memories, "leave in its place", "doubt_place", id, **given)


@inverse
def doubt_place(memories: Runtime, id: str, place: str, before: dict[str, str]) -> Done:
    rows = {int(row): outcome for row, outcome in before.items()}
    placing.doubt_place(memories, id, place, rows)
    return _twin(memories, "leave in its place", "accept_place", id, place=place)


def only_tell(memories: Runtime, id: str, revision: int | None) -> Done:
    """Let a memory deny no call any more, which answers whether it belongs where it did."""
    memory = searching.get(memories, id)
    curation.require_revision(memory, revision)
    answered = _answer_doubts(memories, id)
    told = by_memory("only tell", memories, placing.only_tell(memories, memory))
    return in_order(told.label, *answered, told)


def place(memories: Runtime, id: str, revision: int | None, keys: Sequence[str]) -> Done:
    """Let a memory come up at these places alone; at none of them, only when a prompt asks."""
    before = searching.get(memories, id)
    curation.require_revision(before, revision)
    acts = _answer_doubts(memories, id)
    choice = placing.Choice(id=id, at=tuple(keys), nowhere=not keys)
    placed = placing.place(memories, choice).memory
    if placed.revision_count != before.revision_count:
        acts.append(by_memory("place", memories, placed))
    return in_order(acts[-1].label, *acts) if acts else _left(memories, id)


def _answer_doubts(memories: Runtime, id: str) -> list[Done]:
    found = [each for each in placing.list_misplaced(memories) if each.memory.id == id]
    return [accept_place(memories, id, each.place.place) for each in found]


@inverse
def reopen(memories: Runtime, id: str, other: str) -> Done:
    curation.reopen_conflict(memories, id, other)
    return _twin(memories, "resolve", "settle", id, other=other)


@inverse
def skip(memories: Runtime, id: str) -> Done:
    """Leave a memory out of the review until tomorrow."""
    curation.skip(memories, id)
    return _twin(memories, "skip", "unskip", id)


@inverse
def unskip(memories: Runtime, id: str) -> Done:
    curation.unskip(memories, id)
    return _twin(memories, "skip", "skip", id)


def decide_all(memories: Runtime, found: Sequence[Memory], verb: str, tag: str = "") -> Done:
    if verb not in (*DECISIONS, "tag"):
        raise UsageError(f"no decision {verb!r}", ", ".join(DECISIONS))
    if not found:
        raise UsageError("no memory is selected", "tick some first")
    if verb == "tag" and not tag:
        raise UsageError("there is no tag", "type one")
    if verb == "tag":
        event, decided = curation.tag_all(memories, found, tag)
    else:
        event, decided = curation.decide_all(memories, found, verb)
    if not decided:
        raise AdememError("none of them can be decided like this", "open one to see why")
    return by_event(f"{verb} {counted(len(decided), 'memory')}", event)
