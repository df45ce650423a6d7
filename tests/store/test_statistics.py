"""Counts of memories."""

import random

import pytest

from ademem.core.memory import EPISODE, SKILL, Scope, Status
from ademem.store import memories, statistics
from tests.builders import NOW, insert, memory

HOMES = [
    (Scope.PROJECT, None),
    (Scope.PROJECT, None),
    (Scope.AGENT, None),
    (Scope.AGENT, "ada"),
    (Scope.MISSION, "m1"),
    (Scope.MISSION, "m2"),
]


@pytest.fixture
def held(store):
    """Memories of each kind, and their store."""
    choice = random.Random(5)
    for number in range(200):
        scope, owner = choice.choice(HOMES)
        insert(
            store,
            memory(
                f"fact {number}",
                scope=scope,
                scope_owner_id=owner,
                status=choice.choice(tuple(Status)),
                source_type=choice.choice(("agent", "user", SKILL, EPISODE)),
                pinned=choice.random() < 0.2,
                superseded_by=choice.choice((None, None, "another")),
                quarantine_reason=choice.choice((None, None, "an order")),
                deleted_at=choice.choice((None, None, NOW)),
            ),
        )
    return memories.find(store, "deleted_at is null"), store


def test_memories_are_counted_by_what_they_are(held):
    known, store = held
    live = [each for each in known if each.live]

    assert statistics.memories(store) == {
        "quarantined": sum(bool(each.quarantine_reason) for each in live),
        "archived": sum(each.status is Status.ARCHIVED for each in known),
        "pinned": sum(each.pinned for each in live),
    }
    of_agents = [
        [each.scope_owner_id for each in live if each.scope is Scope.AGENT].count(owner)
        for owner in (None, "ada")
    ]
    assert sorted(statistics.by_owner(store)["agent"]) == sorted(of_agents)


@pytest.mark.parametrize("mission", [None, "m1"])
def test_what_is_listed_is_counted_by_status(held, mission):
    known, store = held
    listed = [
        each.status
        for each in known
        if (each.scope, each.scope_owner_id) in {*HOMES[:3], (Scope.MISSION, mission)}
        and not each.superseded_by
        and not each.quarantine_reason
        and not each.hidden
    ]

    found = statistics.listed(store, mission)
    assert found == {status: listed.count(status) for status in Status}


def test_what_is_above_a_limit_is_counted_without_skills_and_running_missions(held):
    known, store = held
    aging = [
        (each.scope, each.scope_owner_id)
        for each in known
        if each.live and each.source_type != SKILL and each.scope_owner_id != "m1"
    ]
    over = {}
    for home in set(aging):
        over[home[0]] = over.get(home[0], 0) + max(0, aging.count(home) - 2)

    assert statistics.above(store, lambda _: 2, ["m1"]) == over
    assert statistics.above(store, lambda _: 0, []) == {}
