"""Who may see a memory: what the index tells, the database tells too."""

from __future__ import annotations

import tempfile
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ademem.core.memory import Scope, Status
from ademem.search import filters
from ademem.search.engine import Filters
from ademem.search.index import standing
from tests.builders import open_project
from tests.examples import examples
from tests.search.index.world import World

FIELDS = {
    "status": st.sampled_from(["candidate", "promoted", "archived"]),
    "scope": st.sampled_from([*Scope]).map(str),
    "scope_owner_id": st.sampled_from([None, "reviewer", "m1"]),
    "source_type": st.sampled_from(["user", "skill", "episode", "procedure"]),
    "source_branch": st.sampled_from([None, "feature", "other"]),
    "superseded_by": st.sampled_from([None, None, "m0"]),
    "quarantine_reason": st.sampled_from([None, None, "injection"]),
    "project_id": st.sampled_from([None, None, "another"]),
}
"""What a memory may have that decides it; a project of None is the one that is asked."""
ROWS = st.lists(st.fixed_dictionaries({}, optional=FIELDS), min_size=1, max_size=12)
ASKING = {
    "owner": st.sampled_from([None, "reviewer"]),
    "mission": st.sampled_from([None, "m1"]),
    "here": st.sampled_from([None, "feature"]),
    "elsewhere": st.booleans(),
    "faded": st.booleans(),
}
NARROWER = {
    "quarantined": st.booleans(),
    "categories": st.sampled_from([(), ("fact",)]),
    "branch": st.sampled_from([None, "feature"]),
}
STATUSES = st.sampled_from([(), ("promoted",), ("candidate", "archived")])


USUAL = dict.fromkeys(FIELDS) | {
    "status": "promoted",
    "scope": "project",
    "source_type": "agent",
}


def change(world, id, row):
    given = {"project_id": world.store.project_id, **row}
    given["project_id"] = given["project_id"] or world.store.project_id
    told = ", ".join(f"{name} = :{name}" for name in given)
    world.store.db.execute(f"update unified_memories set {told} where id = :id", given | {"id": id})


def by_index(world, asked, statuses):
    index = world.open()
    rows = index.where(np.array(list(world.sessions())))
    found = standing.open_to(rows, index, world.store, asked, statuses)
    return index.seqs(found).tolist()


@settings(deadline=None, max_examples=examples(60))
@given(
    ROWS,
    ROWS,
    st.fixed_dictionaries({}, optional=ASKING | {"statuses": STATUSES}),
    st.fixed_dictionaries({}, optional=NARROWER),
)
def test_the_index_and_the_database_open_the_same_rows(rows, later, asking, narrower):
    with tempfile.TemporaryDirectory() as folder, closing(open_project(Path(folder))) as store:
        world = World(store)
        world.embed(world.add("the first"))
        store.db.execute("insert into projects values ('another', '', '', '', '')")
        ids = [world.add(f"number {number}") for number in range(len(rows))]
        for id, row in zip(ids, rows, strict=True):
            change(world, id, row)
        world.build()
        for id, row in zip(ids, later, strict=False):
            change(world, id, row)

        asked = Filters(**asking, **narrower)
        for statuses in asked.stages:
            told = filters.eligible(store, asked, statuses)
            assert by_index(world, asked, statuses) == sorted(told)


@pytest.mark.parametrize(
    "closed",
    [
        pytest.param({"status": "candidate"}, id="another status"),
        pytest.param({"scope": "agent", "scope_owner_id": "reviewer"}, id="one's own"),
        pytest.param({"source_type": "skill"}, id="a skill"),
        pytest.param({"source_branch": "other"}, id="staged"),
        pytest.param({"superseded_by": "m0"}, id="superseded"),
        pytest.param({"quarantine_reason": "injection"}, id="quarantined"),
    ],
)
def test_what_closes_a_memory_or_opens_it_is_noticed(world, closed):
    world.embed(world.add("the first"))
    id = world.add("the second")
    before = {name: USUAL[name] for name in closed}
    world.build()
    asked = Filters(elsewhere=False)
    assert by_index(world, asked, ("promoted",)) == [1, 2]

    change(world, id, closed)
    assert by_index(world, asked, ("promoted",)) == [1]
    world.build()
    change(world, id, before)
    assert by_index(world, asked, ("promoted",)) == [1, 2]


def test_what_is_usual_is_not_asked_of_the_database(world, monkeypatch):
    for number in range(5):
        world.embed(world.add(f"number {number}", status=Status.PROMOTED))
    world.build()
    monkeypatch.setattr(standing, "may_be_seen", lambda *_, **__: pytest.fail("asked"))

    assert len(by_index(world, Filters(), ("promoted",))) == 5
