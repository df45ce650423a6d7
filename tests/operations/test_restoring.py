"""What databases that were set aside say is imported where a person asks for it."""

import os
import sqlite3
from contextlib import closing

import pytest

from ademem.core import project
from ademem.operations import doctor, recovery
from tests.store import ade_file, foreign
from tests.store.ade.test_adoption import ORDERS

TEXTS = ("Tabs are forbidden in this code", "Deploys go through the staging cluster")


@pytest.fixture
def restored(world):
    """What a person is told, and the live memories, after such a database was set aside."""

    def restored(script="", **rows):
        path = world.root / ".ade/ade.db.foreign-1"
        with closing(sqlite3.connect(path)) as db, db:
            ade_file.fill(db, **rows)
            db.executescript(script)
        done = recovery.import_foreign(project.at(str(world.root)), world.environment, world.now)
        return done, world.live()

    return restored


def test_its_memories_are_imported(restored):
    rows = [ade_file.memory(text[:4], text, source_type="user", pinned=1, tier=1) for text in TEXTS]
    done, live = restored(unified_memories=rows)

    assert done == ["imported 2 memories from ade.db.foreign-1, 0 of them held back for review"]
    assert {memory.content for memory in live} == set(TEXTS)
    assert {(memory.trust, memory.pinned) for memory in live} == {("import", False)}


def test_orders_to_a_model_are_held_back(restored, world):
    rows = [ade_file.memory(str(at), text) for at, text in enumerate(ORDERS)]
    restored(unified_memories=rows)
    held = world.rows("select quarantine_reason from unified_memories")

    assert len(held) == len(ORDERS)
    assert all(row["quarantine_reason"] for row in held)


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param({"status": "archived"}, id="archived"),
        pytest.param({"scope": "agent", "scope_owner_id": "ann"}, id="an agent's own"),
        pytest.param({"content": None}, id="without a text"),
    ],
)
def test_what_is_not_for_all_or_not_live_is_left(restored, changes):
    _, live = restored(unified_memories=[ade_file.memory("m", TEXTS[0]) | changes])

    assert live == []


def test_no_code_of_it_runs(restored):
    view = f"drop table unified_memories; create view unified_memories as {foreign.ENDLESS}"
    done, live = restored(view, memories=[ade_file.legacy("old", content=TEXTS[0])])

    assert [memory.content for memory in live] == [TEXTS[0]]
    assert len(done) == 1


def test_a_link_is_left_alone(world, tmp_path):
    elsewhere = foreign.build(tmp_path / "elsewhere.db")
    os.symlink(elsewhere, world.root / ".ade/ade.db.foreign-1")
    done = recovery.import_foreign(project.at(str(world.root)), world.environment, world.now)

    assert done == ["left ade.db.foreign-1 alone, which is not a regular file"]


def test_the_doctor_names_it_until_it_was_imported(world):
    patient = doctor.Patient(
        project=project.at(str(world.root)), environment=world.environment, now=world.now
    )
    (world.root / ".ade/ade.db").unlink()
    foreign.build(world.root / ".ade/ade.db", foreign.SCRIPTS["a table beside ours"])
    world.live()
    before = doctor.database_was_made_here(patient)
    recovery.import_foreign(patient.project, world.environment, world.now)
    after = doctor.database_was_made_here(patient)

    assert "ade.db.foreign-1" in before.message
    assert "--import-foreign" in before.hint
    assert after.message == "the database was made here"


def test_the_doctor_finds_a_database_that_git_tracks(world):
    patient = doctor.Patient(
        project=project.at(str(world.root)), environment=world.environment, now=world.now
    )
    foreign.git(world.root, "init", "-q", ".")
    foreign.commit(world.root, ".ade/ade.db")

    assert not doctor.database_was_made_here(patient).ok
