"""Write a text with what its author states of it: a relation, or the question that it answers.

No relation is computed here. One to what a person confirmed is a proposal until a person decides.
"""

from __future__ import annotations

from ademem.capture import gate
from ademem.core.errors import NoSuchMemory, UsageError, suppress
from ademem.core.memory import SHORT_ID, Memory, Stage, Status, Trust
from ademem.core.text import preview
from ademem.core.value import Value, replace
from ademem.store import evidence, memories, memory_queries, relations, transitions, turns
from ademem.store.evidence import EvidenceKind
from ademem.store.transitions import Act, CannotDo

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from ademem.capture.gate import Written
    from ademem.core.memory import Draft
    from ademem.core.settings import GateSettings
    from ademem.store import Store

REPEATS, REPLACES, CONTRADICTS = "repeats", "replaces", "contradicts"
RELATIONS = (REPEATS, REPLACES, CONTRADICTS)
NEAR_CHARS = 100


class Stated(Value):
    relation: str = ""
    """repeats | replaces | contradicts; empty for none."""
    id: str = ""
    heard: str = ""
    """Id of the row whose question the text answers."""


def read_relation(**given: str | None) -> Stated:
    """Return the one relation that has an id; raises UsageError for several."""
    stated = [(name, id) for name, id in given.items() if id]
    if len(stated) > 1:
        why = f"{' and '.join(name for name, _ in stated)} together"
        raise UsageError(why, "state one relation of a text")
    return Stated(relation=stated[0][0], id=stated[0][1]) if stated else Stated()


def ask_relation(nearest: Iterable[Memory], command: str = "") -> tuple[str, list[str]]:
    """Return what asks a model how its text relates to the memories nearest to it, and a row each.

    *command* writes the text again with its relation; without one the model has just run it.
    """
    flags = ", ".join(f"--{name}" for name in RELATIONS)
    how = f'run {command} "<the text>" with' if command else "add"
    rows = [f"({each.id[:SHORT_ID]}) {preview(each.whole_text, NEAR_CHARS)}" for each in nearest]
    return f"nearest known; if one says the same or no longer holds, {how} {flags} ID:", rows


def find_heard(store: Store, id: str) -> Memory | None:
    """Return the row that waits for an answer; None where it has ended or never was."""
    with suppress(NoSuchMemory):
        memory = memories.get(store, id)
        if memory.live and memory.stage is Stage.HEARD:
            return memory
    return None


def write(
    draft: Draft, stated: Stated, store: Store, settings: GateSettings, now: datetime
) -> Written:
    """Write the draft, or what it repeats, in one act; *stated* changes other memories with it.

    Raises NoSuchMemory or CannotDo before anything is written.
    """
    act = _act(draft, store, now)
    with store.transaction():
        known = _find_known(store, stated)
        heard = find_heard(store, stated.heard) if stated.heard else None
        if known and stated.relation == REPEATS:
            written = _repeat(known, draft, settings, act)
        elif heard:
            written = gate.fill(heard, draft, store, settings, now, event_id=act.event_id)
        else:
            written = gate.write(draft, store, settings, now, event_id=act.event_id)
        memory = written.memory
        if memory is None:
            return written
        if heard and heard.id != memory.id:
            hand_over(heard, memory, store, act)
        _add_evidence(memory, draft, written.rule == REPEATS, store, now)
        if known and memory.id != known.id:
            relate(stated.relation, known, memory, act)
        memory = memories.get(store, memory.id)
    return replace(
        written,
        memory=memory,
        durability=memory.status.value,
        unanswered=stated.heard if heard is None else "",
    )


def _find_known(store: Store, stated: Stated) -> Memory | None:
    if not stated.relation:
        return None
    known = memories.get(store, stated.id)
    if not known.live:
        raise CannotDo(f"{known.id} is no longer live", "name the memory that took its place")
    return known


def _act(draft: Draft, store: Store, now: datetime) -> Act:
    origin = draft.origin
    return Act(
        store=store,
        now=now,
        actor=origin.trust,
        session_id=origin.session_id,
        branch=origin.branch,
        reason=f"stated by {origin.source_type}",
        event_id=memories.new_event(),
    )


def _repeat(known: Memory, draft: Draft, settings: GateSettings, act: Act) -> Written:
    """Count one more observation of the known text, which stays; a person's word confirms it."""
    store, event = act.store, act.event_id
    memory = gate.corroborate(known, draft.origin, store, settings, act.now, event_id=event)
    twins = memory_queries.unconfirmed_twins(store, content=draft.content, id=known.id)
    for each in twins:  # which was written before its author saw the known one
        hand_over(each, memory, store, act)
    return gate.Written(
        accepted=True,
        durability=memory.status.value,
        memory=memory,
        rule=REPEATS,
        reason=f"it repeats {memory.id}",
        deduped=True,
        merged_into_id=memory.id,
    )


def hand_over(memory: Memory, heir: Memory, store: Store, act: Act) -> None:
    """End a memory whose evidence speaks for another one from now on."""
    evidence.move(store, memory.id, heir.id)
    with suppress(CannotDo):  # a person's word on it, or another scope
        transitions.supersede(memory.id, act, heir.id)


def _add_evidence(
    memory: Memory, draft: Draft, is_repeated: bool, store: Store, now: datetime
) -> None:
    origin = draft.origin
    if origin.trust in (Trust.USER, Trust.IMPORT):
        return
    from ademem.guard.injection import instruction_in

    running = turns.latest(store, origin.session_id) if origin.session_id else None
    is_held = is_repeated and instruction_in(draft.content)
    evidence.add(
        *(store, memory.id, EvidenceKind.CLAUDE_ADD, now),
        quote="" if is_held else draft.content,
        session_id=origin.session_id or "",
        prompt_id=running.prompt_id if running else "",
        tainted=origin.trust is not Trust.AGENT,
    )


def relate(relation: str, known: Memory, memory: Memory, act: Act) -> None:
    """Store the relation; what replaces an unconfirmed memory takes its place at once."""
    is_person = act.actor == Trust.USER and memory.status is Status.PROMOTED
    if relation == REPLACES and (is_person or known.status is Status.CANDIDATE):
        with suppress(CannotDo):  # said by a person, or of another scope
            transitions.supersede(known.id, act, memory.id)
            return
    relations.add(
        *(act.store, known, memory),
        relations.SUPERSEDES if relation == REPLACES else relations.CONFLICT,
        score=1.0,
        reason=f"stated: it {relation} it",
        actor=act.actor,
        now=act.now,
        stated=True,
    )
