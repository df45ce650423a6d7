"""Personal memories live beside every project, and no byte of them in any."""

import json
import shutil
from pathlib import Path

import pytest

from ademem.core.memory import Draft, Scope
from ademem.operations import browsing, curation, files, relating, searching, upkeep, writing
from ademem.store.runtime import personal_project
from tests.builders import insert, memory
from tests.world import World

CANARY = "Quokka-7391 prefers tabs over spaces"


@pytest.fixture
def world(tmp_path):
    root = tmp_path / "project"
    root.mkdir()
    world = World(root)
    world.environment.pop("CLAUDE_CODE_SESSION_ID")
    return world


def write(world, text=CANARY, **changes):
    with world.memories() as memories:
        draft = Draft(content=text, scope="personal", category="preference", **changes)
        written = writing.write(memories, draft)
        assert written.accepted
        return written.memory.id


def bytes_below(folder):
    return b"".join(path.read_bytes() for path in Path(folder).rglob("*") if path.is_file())


@pytest.mark.parametrize("scope", ["personal", "global"])
def test_what_is_confirmed_and_has_no_owner_is_found_from_every_project(world, tmp_path, scope):
    with world.memories() as memories:
        writing.write(memories, Draft(content=CANARY, scope=scope, promoted=True))
    (tmp_path / "other").mkdir()
    other = World(tmp_path / "other", home=tmp_path / "home")
    other.environment.pop("CLAUDE_CODE_SESSION_ID")
    with other.memories() as memories:
        (row,) = browsing.find(memories, "Quokka tabs")["memories"]
        (hit,) = searching.recall(memories, "Quokka tabs").hits
        (listed,) = searching.list_memories(memories)

    assert row["scope"] == "personal"
    assert hit.memory.content == listed.content == CANARY


def test_no_byte_of_what_is_imported_of_it_stays_in_the_project(world):
    for _ in range(2):
        with world.memories() as memories:
            files.import_lines(memories, [json.dumps({"content": CANARY, "scope": "personal"})])
        assert b"Quokka" not in bytes_below(world.root)

    with world.memories() as memories:
        (waiting,) = curation.review(memories)
    assert waiting.content == CANARY


def test_a_list_of_a_past_moment_has_it_too(world):
    write(world)
    with world.memories() as memories:
        (listed,) = curation.list_at(memories, memories.clock()).memories

    assert listed.content == CANARY


def test_no_byte_of_it_is_in_the_project_whatever_is_written_there(world, tmp_path):
    with world.memories() as memories:
        writing.write(memories, Draft(content="Deploys need a lock", promoted=True))
    id = write(world, pinned=True, promoted=True)
    world.fire("session_start", source="startup")
    with world.memories() as memories:
        curation.edit(memories, id, content=CANARY + " and reviews in the morning")
        files.refresh_files(memories)
        browsing.find(memories, "tabs")
        exported = "".join(map(json.dumps, files.export_memories(memories)))
        journal = memories.store.db.execute("select count(*) from sync_mutations").fetchone()
        upkeep.work(memories)

    assert "Quokka" not in exported
    assert tuple(journal) == (0,)
    assert b"Quokka" not in bytes_below(world.root)
    own = personal_project(world.environment).home
    assert b"Quokka" in bytes_below(own)
    others = [path for path in tmp_path.rglob("*") if path.is_file() and own not in str(path)]
    assert not [path for path in others if b"Quokka" in path.read_bytes()]


def test_only_an_export_that_says_so_takes_it_along(world):
    write(world)
    with world.memories() as memories:
        records = list(files.export_memories(memories, include_personal=True))

    assert [record["content"] for record in records] == [CANARY]


def test_every_act_by_id_reaches_it(world):
    id = write(world)
    with world.memories() as memories:
        assert curation.edit(memories, id, find="tabs", replacement="blanks").revision_count == 2
        assert [row["revision"] for row in curation.list_revisions(memories, id)] == [1, 2]
        assert curation.promote(memories, id[:6]).status == "promoted"
        assert curation.pin(memories, id).pinned
        assert curation.archive(memories, id).status == "archived"
        assert curation.restore(memories, id).live
        assert browsing.timeline(memories, id)["focus"]["id"] == id
        curation.delete(memories, id)
        assert browsing.find(memories, "blanks")["memories"] == []


def test_a_pair_of_personal_memories_is_judged(world):
    write(world, "I review pull requests in the morning with coffee")
    with world.memories() as memories:
        later = Draft(content="I review pull requests in the evening with tea", scope="personal")
        (candidate,) = writing.write(memories, later).candidates
        judged = relating.judge(memories, "compatible", judgment_id=candidate.judgment_id)

        assert judged["status"] == "judged"
        rows = browsing.find(memories, "pull requests")["memories"]
    assert all(row["relations"]["compatible"] for row in rows)


def test_a_personal_candidate_waits_in_the_review(world):
    world.environment["CLAUDE_CODE_SESSION_ID"] = "s1"
    id = write(world)
    with world.memories() as memories:
        assert [each.id for each in curation.review(memories)] == [id]


def test_a_session_begins_with_it(world):
    write(world, pinned=True, promoted=True)
    write(world, "I review in the morning", promoted=True)

    briefing = world.context("session_start", source="startup")
    assert CANARY in briefing
    assert "I review in the morning" in briefing


def test_a_prompt_gets_it_in_any_project(world):
    world.fire("session_start", source="startup")
    write(world, promoted=True)

    said = world.context(
        "user_prompt_submit", prompt="Does Quokka-7391 prefer tabs over spaces?", prompt_id="p1"
    )
    assert CANARY in said


def test_memories_of_a_project_without_owner_move_there_once_with_their_history(world):
    with world.memories() as memories:
        stray = memory(CANARY, scope=Scope.AGENT, scope_owner_id=None, id="stray0000001")
        kept = memory("Ada's own", scope=Scope.AGENT, scope_owner_id="ada", id="ada000000001")
        insert(memories.store, stray, kept)
    with world.memories() as memories:
        found = searching.get(memories, "stray0000001")
        rows = memories.store.db.execute("select id from unified_memories").fetchall()

        assert found.content == CANARY
        assert len(curation.list_revisions(memories, "stray0000001")) == 1
        assert [row[0] for row in rows] == ["ada000000001"]
        assert browsing.find(memories, "Quokka")["total"] == 1
    assert b"Quokka" not in bytes_below(world.root / ".ade")


def test_nothing_moves_out_of_a_database_that_was_made_elsewhere(world, tmp_path):
    with world.memories() as memories:
        insert(memories.store, memory(CANARY, scope=Scope.AGENT, scope_owner_id=None))
    shutil.rmtree(tmp_path / "home")
    with world.memories() as memories:
        assert not memories.store.is_trusted
        assert memories.open_personal() is None


def test_pages_go_through_both_without_a_repetition(world):
    for topic in ("invoices", "uploads", "sessions"):
        write(world, f"I sort {topic} by lock")
        with world.memories() as memories:
            writing.write(memories, f"The {topic} need a lock")
    seen, cursor = [], ""
    while True:
        with world.memories() as memories:
            page = browsing.find(memories, "lock", limit=2, cursor=cursor)
        seen += [row["id"] for row in page["memories"]]
        cursor = page.get("next_cursor", "")
        if not cursor:
            break

    assert page["total"] == len(seen) == len(set(seen)) == 6
