"""What is written stands beside what is known, whose relation somebody judges."""

from __future__ import annotations

import json

import pytest

from ademem.core.memory import Category, Draft, Origin, Status, Trust
from ademem.operations import curation, files, searching, upkeep, writing
from ademem.store import relations

EARLIER, LATER = "yarn is the package manager", "We switched to pnpm"


@pytest.fixture
def write(world):
    """Write a confirmed text through the gate, by default as a person types it."""

    def write(text, trust=Trust.USER, **changes):
        origin = Origin(trust=trust, source_type=str(trust))
        draft = Draft(content=text, category=Category.FACT, origin=origin, promoted=True, **changes)
        with world.memories() as memories:
            return writing.write(memories, draft)

    return write


def undo_last(memories, _id):
    (event,) = memories.store.db.execute(
        "select event_id from memory_revisions order by rowid desc limit 1"
    ).fetchone()
    curation.undo(memories, event)


def contested(world):
    """Pairs in which somebody said that one of the two does not hold."""
    return world.rows("select 1 from memory_relations where relation <> 'related'")


def replaced(world):
    return world.rows("select 1 from unified_memories where superseded_by is not null")


@pytest.mark.parametrize("trust", [Trust.USER, Trust.AGENT])
@pytest.mark.parametrize("later", [LATER, f"{EARLIER} no longer", "npm is the package manager"])
def test_what_is_written_replaces_hides_and_marks_nothing(world, write, later, trust):
    old = write(EARLIER).memory
    write(later, trust)
    with world.memories() as memories:
        upkeep.work(memories)
        hits = searching.search(memories, EARLIER).hits

    assert (contested(world), replaced(world)) == ([], [])
    assert hits[0].memory.id == old.id
    assert hits[0].mark == ""


def test_the_answer_to_a_write_names_what_is_nearest(write):
    old = write(EARLIER).memory
    write("The press officer answers within a day")
    (nearest, *_) = write("pnpm is the package manager").nearest

    assert nearest.id == old.id


@pytest.mark.parametrize(
    ("text", "is_proposed"),
    [
        pytest.param("The turnstile stops when the lighthouse is dark", True, id="two"),
        pytest.param("Paint the lighthouse in spring", False, id="one"),
        pytest.param("No harbour service speaks French", False, id="words of many memories"),
    ],
)
def test_a_relation_waits_where_two_words_are_shared_that_few_memories_have(
    world, write, text, is_proposed
):
    for place in ("north", "south", "east", "west"):
        write(f"The harbour service of the {place} is slow")
    write("The harbour service behind the lighthouse counts each turnstile")
    new = write(text)
    ids = {row["source_id"] for row in world.rows("select source_id from memory_relations")}

    assert bool(new.candidates) is is_proposed
    assert (new.memory.sync_id in ids) is is_proposed


@pytest.mark.parametrize("earlier_is_kept", [True, False])
def test_a_decision_that_is_taken_back_leaves_both_to_be_decided(world, write, earlier_is_kept):
    old = write(EARLIER).memory
    new = write(LATER, Trust.AGENT).memory
    kept, gone = (old, new) if earlier_is_kept else (new, old)
    with world.terminal() as memories:
        curation.supersede(memories, gone.id, kept.id)
        undo_last(memories, gone.id)
        hits = searching.search(memories, "which package manager").hits
        (pair,) = curation.list_conflicts(memories)

    assert [hit.memory.id for hit in hits] == [new.id, old.id]
    assert [hit.later and hit.later.flag for hit in hits] == [None, f"contradicted-by-{new.id}"]
    assert (pair.left, pair.right, pair.relation) == (old.id, new.id, "conflicts_with")


@pytest.fixture
def bring(world):
    """Import the later of two facts after the earlier, which is important."""

    def bring():
        lines = [
            json.dumps(
                {
                    "content": text,
                    "status": Status.PROMOTED,
                    "created_at": f"{day}T09:00:00Z",
                    "importance": importance,
                }
            )
            for text, day, importance in (
                (EARLIER, "2026-01-01", "high"),
                (LATER, "2026-01-08", "normal"),
            )
        ]
        with world.memories() as memories:
            files.import_lines(memories, lines)

    return bring


def test_what_is_imported_replaces_hides_and_marks_nothing(world, bring):
    bring()
    with world.memories() as memories:
        upkeep.work(memories)

    assert (contested(world), replaced(world)) == ([], [])


def test_the_order_of_lines_in_files_depends_on_no_relation(world, bring):
    bring()
    with world.terminal() as memories:
        files.refresh_files(memories)
        before = (world.root / ".ade/memory/facts.md").read_text()
        pair = searching.list_memories(memories)
        given = {"score": 1.0, "reason": "", "actor": "user", "now": memories.clock()}
        relations.add(memories.store, *pair, relations.CONFLICT, **given)
        files.refresh_files(memories, force=True)
    after = (world.root / ".ade/memory/facts.md").read_text()

    assert after == before
    assert after.index(EARLIER) < after.index(LATER)
