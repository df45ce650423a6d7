"""An order to a model is held back also as a skill and through a mission."""

import pytest

from ademem.core.memory import Draft
from ademem.operations import writing
from ademem.plugins.procedures import operations
from ademem.store.transitions import CannotDo
from tests.test_quarantine import MARK, ORDER, check_held_back, written_files


def as_a_skill(world):
    folder = world.root / ".claude/skills/invoices"
    folder.mkdir(parents=True)
    head = "---\nname: invoices\ndescription: tests of invoices\n---\n"
    (folder / "SKILL.md").write_text(f"{head}\n{ORDER}\n")
    with world.memories() as memories:
        operations.reindex_skills(memories)


def as_the_goal_of_a_mission(world):
    with world.memories() as memories, pytest.raises(CannotDo):
        operations.start_mission(memories, ORDER, id="invoices")


def through_a_mission(world):
    world.environment["ADEMEM_MISSION"] = "invoices"
    with world.memories() as memories:
        draft = writing.place_draft(
            memories, Draft(content=ORDER, category="gotcha", promoted=True)
        )
        id = writing.write(memories, draft).memory.id
        with pytest.raises(CannotDo):
            operations.promote_from_mission(memories, id)
        operations.end_mission(memories, "invoices", "success")


def as_the_reason_of_a_failed_mission(world):
    with world.memories() as memories:
        operations.start_mission(memories, "invoices", id="invoices")
        operations.end_mission(memories, "invoices", "failure", reason=ORDER)


DOORS = (
    as_a_skill,
    as_the_goal_of_a_mission,
    through_a_mission,
    as_the_reason_of_a_failed_mission,
)


@pytest.mark.parametrize("door", DOORS, ids=lambda door: door.__name__.replace("_", " "))
def test_it_is_neither_promoted_nor_shown_nor_written(door, world):
    check_held_back(door, world)


@pytest.mark.parametrize("door", DOORS, ids=lambda door: door.__name__.replace("_", " "))
def test_it_reaches_no_file(door, world):
    world.environment["CLAUDE_CODE_SESSION_ID"] = "s1"
    door(world)
    with world.memories() as memories:
        operations.export_procedures(memories)

    assert [name for name, text in written_files(world) if MARK in text] == []
