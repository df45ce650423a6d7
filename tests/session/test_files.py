"""What people and git did to the files reaches the memory of the session that starts."""

from ademem.operations import files, upkeep
from ademem.store import jobs

FACTS = ".ade/memory/facts.md"
NOTHING = "Nothing here yet."


def edit(world, old, new):
    page = world.root / FACTS
    text = page.read_text() if page.exists() else NOTHING
    page.write_text(text.replace(old, new))


def forget_database(world):
    for path in (world.root / ".ade").glob("ade.db*"):
        path.unlink()


def test_what_was_typed_into_a_file_is_in_the_next_briefing(world):
    world.fire("session_start", source="startup")
    edit(world, NOTHING, "- Deploys go through the staging branch")
    said = world.context("session_start", source="startup", session_id="s2")

    (row,) = world.live()
    assert "Deploys go through the staging branch" in said
    assert f"1 memory from git and hand edits: added {row.id}." in said
    assert "hand edits" not in world.context("session_start", source="startup", session_id="s3")


def test_a_session_that_starts_leaves_writing_to_the_worker(world):
    world.fire("session_start", source="startup")
    edit(world, NOTHING, "- Deploys go through the staging branch")
    page = world.root / FACTS
    typed = page.read_text()
    world.fire("session_start", source="startup", session_id="s2")
    assert page.read_text() == typed

    world.work()

    (row,) = world.live()
    assert f"<!-- {row.id} -->" in page.read_text()


def test_the_first_session_of_a_fresh_clone_knows_what_the_files_know(world):
    world.know("Deploys go through the staging branch")
    with world.memories() as memories:
        files.refresh_files(memories)
    forget_database(world)
    (world.root / ".ade/run/files.seen").unlink()
    said = world.context("session_start", source="startup")

    assert "Deploys go through the staging branch" in said
    assert "1 memory from git" in said


def test_the_next_session_after_the_database_was_deleted_knows_what_the_files_know(world):
    world.know("Deploys go through the staging branch")
    with world.memories() as memories:
        files.refresh_files(memories)
    world.fire("session_start", source="startup")
    forget_database(world)
    world.fire("user_prompt_submit", prompt="remember: tabs are forbidden", prompt_id="p1")
    said = world.context("session_start", source="startup", session_id="s2")

    assert "Deploys go through the staging branch" in said
    assert len(world.live()) == 2


def test_files_of_a_lost_database_are_not_emptied(world):
    world.know("Deploys go through the staging branch")
    with world.memories() as memories:
        files.refresh_files(memories)
    forget_database(world)
    with world.memories() as memories:
        files.refresh_files(memories)

    assert [row.content for row in world.live()] == ["Deploys go through the staging branch"]


def test_an_edit_is_due_work_when_the_turn_ends(world):
    world.fire("session_start", source="startup")
    edit(world, NOTHING, "- Deploys go through the staging branch")
    world.fire("stop")

    with world.memories() as memories:
        assert jobs.list_due(memories.store, "mirror", world.now)
        upkeep.work(memories)
    assert [row.content for row in world.live()] == ["Deploys go through the staging branch"]


def test_a_ticked_candidate_is_in_the_next_briefing(world):
    world.environment["ADEMEM_MIRROR_CANDIDATES"] = "true"
    world.fire("session_start", source="startup")
    world.fire("stop", last_assistant_message="## Key learnings\n\n1. Deploys go through staging.")
    with world.memories() as memories:
        files.refresh_files(memories)
    sheet = world.root / ".ade/memory/candidates.md"
    sheet.write_text(sheet.read_text().replace("- [ ] Deploys", "- [x] Deploys"))
    said = world.context("session_start", source="startup", session_id="s2")

    (row,) = world.live()
    assert f"1 memory from git and hand edits: promoted {row.id}." in said
    assert row.status == "promoted"
