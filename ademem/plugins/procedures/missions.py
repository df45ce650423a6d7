"""Start and end missions, and copy what they learned to the project."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ademem.capture import gate
from ademem.core.errors import NotFound, UsageError
from ademem.core.memory import Category, Draft, Memory, Origin, Scope, Status, Trust
from ademem.core.redaction import redact
from ademem.core.settings import Settings
from ademem.core.text import clean, counted, slug
from ademem.core.value import Value, replace
from ademem.guard.injection import instruction_in_fields
from ademem.store import Store, jobs, ledger, memories, memory_queries, missions
from ademem.store.memories import new_event
from ademem.store.missions import Mission
from ademem.store.transitions import Act, CannotDo

OUTCOMES = {"success": "succeeded", "failure": "failed", "cancelled": "cancelled"}
LASTING = frozenset("fact preference pattern decision gotcha convention".split())
COPIED_CONFIDENCE = 0.6
"""Confidence from which a memory of a successful mission is copied to the project."""
PROMOTION = "mission_promotion"
FAILURE = "mission_failure"
"""Source types of copies, which are also their kinds in the ledger."""
ID_CHARS = 40


class NoSuchMission(NotFound):
    hint = "`ademem mission list` shows them"

    def __init__(self, id: str) -> None:
        super().__init__(f"no mission has the id {id!r}")


class Ended(Value):
    mission: Mission
    event: str
    """The event for `ademem undo`; empty when nothing was copied."""
    copied: tuple[Memory, ...]
    """Memories of the project that were created or confirmed."""
    kept: int
    """Number of live memories of the mission; they stay unchanged."""


def start(goal: str, act: Act, *, id: str = "") -> Mission:
    goal = clean(redact(goal).text)
    wanted = clean(redact(id).text) or slug(goal, ID_CHARS)
    if not wanted:
        raise UsageError("a mission needs a goal", "say in a few words what is to be done")
    if act.actor != Trust.USER and (found := instruction_in_fields([wanted], goal)):
        raise CannotDo(
            f"the goal or the id {found}", "a person begins such a mission in a terminal"
        )
    name, number = wanted, 2
    while not missions.start(act.store, name, goal, act.now):
        if id:
            raise CannotDo(f"there is a mission {name} already", "choose another --id")
        name, number = f"{wanted}-{number}", number + 1
    return get_mission(act.store, name)


def get_mission(store: Store, id: str) -> Mission:
    mission = missions.get(store, id)
    if mission is None:
        raise NoSuchMission(id)
    return mission


def restore(id: str, mission: Mission | None, present: Mission | None, act: Act) -> None:
    """Put *mission*, None before its start, in the place of *present*; raises CannotDo."""
    with act.store.transaction():
        if missions.get(act.store, id) != present:
            raise CannotDo(f"the mission {id} was changed since", "take that back first")
        if mission is None and (own := memory_queries.of_mission(act.store, id=id)):
            raise CannotDo(f"{id} has {counted(len(own), 'memory')} by now", "end it as cancelled")
        missions.put(act.store, id, mission)


def end(id: str, outcome: str, reason: str, act: Act, settings: Settings) -> Ended:
    """Copy lessons of a success, or pitfalls of a failure, to the project, each only once."""
    reason = clean(reason)
    act = replace(act, event_id=new_event())
    with act.store.transaction():
        own = memory_queries.of_mission(act.store, id=id)
        if own:  # a mission that was never started has memories all the same
            missions.start(act.store, id, "", act.now)
        mission = get_mission(act.store, id)
        missions.end(act.store, id, OUTCOMES[outcome], reason or None, act.now)
        made: list[Memory | None] = []
        usable = [memory for memory in own if not memory.quarantine_reason]
        if outcome == "success":
            made += _copy_lessons(usable, act, settings)
        elif outcome == "failure":
            made += _copy_pitfalls(usable, mission, reason, act, settings)
        copied = tuple(memory for memory in made if memory)
        jobs.queue(act.store, "mission", id, act.now)
    return Ended(
        mission=get_mission(act.store, id),
        event=act.event_id if copied else "",
        copied=copied,
        kept=len(own),
    )


def _copy_lessons(
    usable: Iterable[Memory], act: Act, settings: Settings
) -> Iterator[Memory | None]:
    # a pitfall captured by a machine has too little confidence: the mission overcame it
    for memory in usable:
        if memory.category in LASTING and memory.confidence >= COPIED_CONFIDENCE:
            yield _copy(memory, act, settings, promoted=memory.status is Status.PROMOTED)


def _copy_pitfalls(
    usable: Iterable[Memory], mission: Mission, reason: str, act: Act, settings: Settings
) -> Iterator[Memory | None]:
    for memory in usable:
        if memory.category is Category.GOTCHA:
            yield _copy(memory, act, settings, promoted=False)
    if reason:
        yield _write(_make_pitfall(mission, reason, act), mission.id, act, settings)


def _make_pitfall(mission: Mission, reason: str, act: Act) -> Draft:
    origin = Origin(
        trust=Trust(act.actor),
        source_type=FAILURE,
        source_id=mission.id,
        session_id=act.session_id,
    )
    content = f"{mission.goal}: {reason}" if mission.goal else reason
    return Draft(content=content, category=Category.GOTCHA, importance="high", origin=origin)


def promote(id: str, act: Act, settings: Settings) -> Memory:
    with act.store.transaction():
        memory = memories.get(act.store, id)
        if memory.scope is not Scope.MISSION or not memory.live:
            raise CannotDo(
                f"{memory.id} is not a live memory of a mission", "`ademem mission list`"
            )
        if memory.quarantine_reason:
            raise CannotDo(f"{memory.id} is quarantined", "`ademem promote` approves it first")
        confirmed = memory.status is Status.PROMOTED or act.actor == Trust.USER
        made = _copy(memory, replace(act, event_id=new_event()), settings, promoted=confirmed)
        if made is None and (earlier := ledger.memory_of(act.store, PROMOTION, _key(memory))):
            made = memories.get(act.store, earlier)
    if made is None:
        raise CannotDo(
            f"the gate refused the text of {memory.id}", "`ademem log --refused` tells why"
        )
    return made


def _copy(memory: Memory, act: Act, settings: Settings, *, promoted: bool) -> Memory | None:
    origin = Origin(
        trust=memory.trust,
        source_type=PROMOTION,
        source_id=memory.scope_owner_id,
        run_id=memory.source_run_id,
        agent_id=memory.agent_id,
        branch=act.branch,
        claimed_author=memory.claimed_author,
    )
    draft = replace(
        gate.draft_change(memory, {}, origin),
        scope=Scope.PROJECT,
        owner=None,
        confidence=memory.confidence,
        pinned=memory.pinned and promoted,
        promoted=promoted,
        bead=memory.bead,
        created_at=memory.created_at,
    )
    return _write(draft, _key(memory), act, settings)


def _write(draft: Draft, key: str, act: Act, settings: Settings) -> Memory | None:
    kind = draft.origin.source_type
    if not ledger.claim(act.store, kind, key, act.now):
        return None
    written = gate.write(draft, act.store, settings.gate, act.now, event_id=act.event_id)
    if written.memory:
        ledger.credit(act.store, kind, key, written.memory.id)
    return written.memory


def _key(memory: Memory) -> str:
    return f"{memory.scope_owner_id}:{memory.sync_id}"
