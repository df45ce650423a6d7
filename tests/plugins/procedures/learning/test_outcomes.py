"""Outcomes that people tell, and take back."""

import pytest

from ademem.core.memory import Status
from ademem.operations import curation
from ademem.plugins.procedures import operations
from ademem.store import procedures as table


@pytest.fixture
def learned(world):
    """One procedure of three sessions that went well."""
    world.releases(3)
    world.learn()
    return world


def standing(world):
    """What the procedure's memory, counts and history say."""
    found = world.procedure()
    counts = (found.details.success_count, found.details.failure_count)
    history = [row["outcome"] for row in table.history(world.store, found.id)]
    return round(found.memory.confidence, 6), counts, history, found.details.last_used_at


def tell(world, outcome):
    operations.record_outcome(world.memories, world.procedure().id, outcome)
    return curation.list_events(world.memories, 1)[0].id


@pytest.mark.parametrize("outcome", ["success", "failure"])
def test_an_outcome_that_is_taken_back_counts_no_more(learned, outcome):
    before = standing(learned)
    event = tell(learned, outcome)
    assert standing(learned) != before

    curation.undo(learned.memories, event)
    assert standing(learned) == before


def test_taking_it_back_is_taken_back_too(learned):
    event = tell(learned, "failure")
    told = standing(learned)
    undone = curation.undo(learned.memories, event)
    again = curation.list_events(learned.memories, 1)[0].id
    curation.undo(learned.memories, again)

    assert undone
    assert standing(learned) == told


def test_of_two_outcomes_the_one_that_stands_is_counted(learned):
    tell(learned, "success")
    one = standing(learned)
    curation.undo(learned.memories, tell(learned, "failure"))

    assert standing(learned) == one
    assert one[1] == (4, 0)


def test_outcomes_confirm_nothing_and_are_taken_back_one_by_one(learned):
    events = [tell(learned, "success") for _ in range(6)]
    assert learned.procedure().memory.status is Status.CANDIDATE

    for event in reversed(events):
        curation.undo(learned.memories, event)
    assert learned.procedure().memory.status is Status.CANDIDATE
    assert standing(learned)[1:3] == ((3, 0), [])
