"""The project's memories and the person's share row numbers, and every door keeps them apart."""

import json
import random

import pytest

from ademem.core import untrusted
from ademem.core.memory import Scope
from ademem.doors.views import session as session_view
from ademem.operations import reports, searching, sessions
from ademem.session import hint_events
from ademem.store import relations
from tests.builders import NOW, insert, memory
from tests.world import World

OWN = {"scope": Scope.AGENT, "scope_owner_id": None, "category": "preference"}


@pytest.fixture
def world(tmp_path):
    root = tmp_path / "project"
    root.mkdir()
    return World(root)


def fill(memories, seed):
    """Give both stores rows of the same numbers, of which some replaced or contradict others."""
    dice = random.Random(seed)
    filled = []
    for store, changes in (
        (memories.store, {}),
        (memories.open_personal(create=True).store, OWN),
    ):
        kind = "own" if changes else "shared"
        rows = [
            memory(f"{kind} note {number} on topic {dice.randrange(99)}", **changes)
            for number in range(dice.randint(4, 9))
        ]
        for at, row in enumerate(rows[:-1]):
            if dice.random() < 0.3:
                rows[at] = memory(row.content, **changes, superseded_by=rows[-1].id)
        rows = insert(store, *rows)
        pairs = [(one, rows[-1]) for one in rows[:-1] if dice.random() < 0.4]
        for one, other in pairs:
            given = {"score": 1.0, "reason": "", "actor": "system", "now": NOW}
            relations.add(store, one, other, relations.CONFLICT, **given)
        filled.append(rows)
    return filled


def later_of(rows, memories):
    return {id: each.id for id, each in searching.find_later(memories, rows).items()}


@pytest.mark.parametrize("seed", range(12))
def test_every_door_tells_of_a_memory_what_it_tells_without_the_other_store(world, seed):
    with world.memories() as memories:
        shared, own = fill(memories, seed)
        personal = memories.open_personal()
        assert {row.seq for row in shared} & {row.seq for row in own}

        assert later_of([*own, *shared], memories) == (
            {id: each.id for id, each in relations.find_later(memories.store, shared).items()}
            | {id: each.id for id, each in relations.find_later(personal.store, own).items()}
        )
        live = [row for row in (*shared, *own) if row.live]
        theirs = [row for row in live if not row.is_personal]
        assert hint_events.format_entries(live, memories.store, 200) == [
            *hint_events.format_entries(theirs, memories.store, 200),
            *(untrusted.entry(row, 200) for row in live[len(theirs) :]),
        ]
        assert {row.id: row for row in (*shared, *own)} == memories.list_by_ids(
            row.id for row in (*shared, *own)
        )
        for row in (*shared, *own):
            assert searching.get(memories, row.id) == row
        listed = searching.list_memories(memories, limit=None)
        assert {row.id for row in listed} == {row.id for row in live}


def test_a_living_personal_memory_is_not_called_superseded_by_one_of_the_project(world):
    with world.memories() as memories:
        later = memory("The build needs Node 20")
        insert(memories.store, memory("The build needs Node 18", superseded_by=later.id), later)
        pair = {"score": 1.0, "reason": "", "actor": "system", "now": NOW}
        one, other = insert(memories.store, memory("Port 80"), memory("Port 81"))
        relations.add(memories.store, one, other, relations.CONFLICT, **pair)
        own = memories.open_personal(create=True).store
        (mine, *_) = insert(own, *(memory(f"I like tabs {at}", **OWN) for at in range(4)))

        assert searching.find_later(memories, searching.list_memories(memories)).keys() == {one.id}
        assert searching.find_later(memories, [mine]) == {}


def test_the_cost_of_a_personal_memory_names_it(world):
    with world.memories() as memories:
        own = memories.open_personal(create=True).store
        (mine,) = insert(own, memory("I review in the morning", **OWN, pinned=True))
    world.fire("session_start", source="startup")
    with world.memories() as memories:
        ledger = reports.get_ledger(memories)
        (row,) = session_view.spent_json(ledger, lambda memory: False)["by_memory"]
        (sent, *_) = sessions.list_sent(memories, "s1")[1]
        shown = json.dumps(session_view.to_json(sent, lambda memory: False))

    assert (row["id"], row["deleted"], row["text"]) == (mine.id, False, mine.content)
    assert f'"id": "{mine.id}"' in shown
    assert '"deleted": true' not in shown
