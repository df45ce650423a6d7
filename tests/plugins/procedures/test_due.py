"""When skills are read again."""

from ademem.operations import upkeep


def test_a_session_makes_the_index_of_skills_due_when_a_file_changed(world):
    due = "select count(*) from jobs where kind = 'skills'"
    world.fire("session_start", source="startup")
    assert world.row(due)[0] == 0

    page = world.root / ".claude/commands/review.md"
    page.parent.mkdir(parents=True)
    page.write_text("Look for what is risky.")
    world.fire("session_start", source="startup", session_id="s2")
    assert world.row(due)[0] == 1

    with world.memories() as memories:
        assert "skills" in upkeep.work(memories)
    world.fire("session_start", source="startup", session_id="s3")
    assert world.row(due)[0] == 0
    said = world.context("session_start", source="startup", session_id="s4")
    assert "risky" not in said
    assert "more: `" not in said
