"""What a person decides in a review: the question, both sides of a pair, what speaks for each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from ademem.core import anchor
from ademem.core.clock import parse, tell_day, tell_time
from ademem.core.memory import Memory, Status
from ademem.core.text import counted, fold
from ademem.core.value import Value, replace
from ademem.doors.cards import Card, read_cards
from ademem.operations import searching
from ademem.session.denials import describe_owner
from ademem.store.transitions import waits_for

if TYPE_CHECKING:
    from datetime import datetime

    from ademem.store.evidence import Evidence
    from ademem.store.runtime import Runtime

MOST_EVIDENCE = 3
FOR, AGAINST, NEITHER = "for", "against", ""


class Point(Value):
    speaks: str
    """for | against, or empty for what only informs."""
    text: str

    @property
    def sign(self) -> str:
        return {FOR: "+", AGAINST: "−"}.get(self.speaks, "·")


class Side(Value):
    """A memory to decide about, with what speaks for and against it."""

    card: Card
    said: str
    """When it was stated: “today 13:20”, “3 Mar”."""
    age: str
    """older | newer; empty for a memory that is no side of a pair."""
    points: tuple[Point, ...]
    is_stronger: bool = False
    """More speaks for it than for the other one; that decides nothing."""

    @property
    def memory(self) -> Memory:
        return self.card.memory

    @property
    def occasions(self) -> tuple[str, ...]:
        return self.card.occasions

    @property
    def weight(self) -> int:
        signs = [point.speaks for point in self.points]
        return signs.count(FOR) - signs.count(AGAINST)


def ask_question(memory: Memory, *, is_pair: bool, is_misplaced: bool) -> str:
    """Return what a person is asked about a memory, as the title of its card."""
    if memory.quarantine_reason:
        return "May this be shown to Claude?"
    if is_misplaced:
        return "Does it belong here?"
    return "Which one is true now?" if is_pair else "Keep this?"


def describe_waiting(memory: Memory, conflict: str, now: datetime) -> str:
    """Return the line below the question: why it is asked, or since when the memory waits."""
    if conflict:
        return conflict.removeprefix("contradictory: ")
    if memory.quarantine_reason:
        return waits_for(memory)
    return f"learned {tell_time(memory.created_at, now)}, {describe_owner(memory, now)}"


def read_sides(memories: Runtime, found: Sequence[Memory]) -> list[Side]:
    """Return one memory, or the two of a pair, the older first; of one age as they come."""
    ordered = sorted(found, key=lambda memory: memory.created_at)
    drifted = searching.find_drifted(memories, ordered)
    proof = searching.map_evidence(memories, ordered)
    now = memories.clock()
    sides = [
        Side(
            card=card,
            said=tell_time(card.memory.created_at, now),
            age=("" if len(ordered) < 2 else "newer" if at else "older"),
            points=tuple(_points(card, proof.get(card.memory.id, ()), drifted, now)),
        )
        for at, card in enumerate(read_cards(memories, ordered, drifted))
    ]
    if len(sides) == 2 and sides[0].weight != sides[1].weight:
        strongest = max(sides, key=lambda side: side.weight)
        sides = [replace(side, is_stronger=side is strongest) for side in sides]
    return sides


def _points(
    card: Card, proof: Sequence[Evidence], drifted: Mapping[str, str], now: datetime
) -> list[Point]:
    memory = card.memory
    state = "" if memory.status is Status.PROMOTED else ", not confirmed"
    points = [Point(speaks=NEITHER, text=f"{card.owner}{state}")]
    if card.effect:
        points.append(Point(speaks=FOR, text=f"{card.effect}, {card.when}"))
    elif card.shown:
        points.append(Point(speaks=NEITHER, text=f"{card.when}, nothing came of it"))
    points += [
        Point(speaks=FOR, text=tell_proof(each, memory, now)) for each in proof[:MOST_EVIDENCE]
    ]
    if memory.observation_count > 1:
        seen = counted(memory.observation_count, "time")
        points.append(Point(speaks=FOR, text=f"it was said {seen}"))
    if (state := drifted.get(memory.id, "")) in ("changed", "gone"):
        gone = "is gone" if state == "gone" else "has changed since"
        points.append(Point(speaks=AGAINST, text=f"the code it names {gone}"))
    elif not state and any(map(anchor.place, memory.anchors)):
        points.append(Point(speaks=FOR, text="the code it names is as noted"))
    return points


def tell_proof(evidence: Evidence, memory: Memory, now: datetime) -> str:
    """Tell what speaks for a memory: “Claude wrote it down, 21 Nov: “wait for it””.

    A quote that is the text of the memory is not repeated.
    """
    at = f", {tell_day(parse(evidence.at), now)}" if evidence.at else ""
    read = " (after reading an outside source)" if evidence.tainted else ""
    is_same = fold(evidence.quote) == fold(memory.content)
    quote = f": “{evidence.quote}”" if evidence.quote and not is_same else ""
    return f"{evidence.what}{at}{read}{quote}"
