"""The episode of a mission: one for all of its sessions, when it is over."""

from __future__ import annotations

import pytest

from ademem.core.memory import Draft
from ademem.core.value import replace
from ademem.operations import curation, upkeep, writing
from ademem.plugins.procedures import learning, operations
from ademem.store import episodes, jobs
from ademem.synthesis.episode_building import build_mission_episode
from tests.capture.talk import Talk


@pytest.fixture
def mission(world):
    """Two sessions worked for it: one edited and decided, one failed its tests."""
    operations.start_mission(world.memories, "Ship passkeys", id="passkeys")
    first = Talk().types("Add the passkey route").edits("/p/src/route.py")
    world.session(first.says("Decision: tokens expire in UTC, because servers differ."), "s1")
    world.build("s1 passkeys")
    second = Talk().types("Test the passkey route").edits("/p/src/test.py")
    world.session(second.runs("pytest -q", "1 failed"), "s2")
    world.build("s2 passkeys")
    return world


def end(world, outcome="success", reason=""):
    operations.end_mission(world.memories, "passkeys", outcome, reason=reason)
    return build_mission_episode("passkeys", world.runtime, world.now)


def test_a_running_mission_is_not_described_yet(mission):
    assert build_mission_episode("passkeys", mission.runtime, mission.now) is None
    assert build_mission_episode("unheard of", mission.runtime, mission.now) is None


def test_its_end_is_described_in_one_episode_of_the_project(mission):
    episode = end(mission)
    memory = mission.memory(episode)

    assert (episode.session_id, episode.mission_id) == ("", "passkeys")
    assert (episode.task, episode.outcome) == ("Ship passkeys", "succeeded")
    assert episode.files == ("src/route.py", "src/test.py")
    assert episode.decisions == ("tokens expire in UTC, because servers differ.",)
    assert [run.command for run in episode.tests] == ["pytest -q"]
    assert (memory.scope, memory.category, memory.confidence) == ("project", "episode", 0.5)
    assert memory.content.splitlines()[:3] == [
        "Task: Ship passkeys",
        "Outcome: succeeded.",
        "Sessions: Add the passkey route (unknown); Test the passkey route (partial)",
    ]


@pytest.mark.parametrize(
    ("outcome", "told", "scope"),
    [
        pytest.param("success", "succeeded", "project", id="success"),
        pytest.param("failure", "failed", "project", id="failure"),
        pytest.param("cancelled", "unknown", "mission", id="cancelled: nothing leaves it"),
    ],
)
def test_its_outcome_is_the_given_one(mission, outcome, told, scope):
    episode = end(mission, outcome, "the library is not maintained")

    assert episode.outcome == told
    assert mission.memory(episode).scope == scope
    assert ("the library is not maintained" in episode.errors) == (outcome != "success")


def test_it_is_described_once_and_anew_when_something_came_of_it_since(mission):
    first = end(mission)
    history = curation.list_revisions(mission.memories, first.memory_id)
    assert end(mission) == first
    assert curation.list_revisions(mission.memories, first.memory_id) == history

    mission.session(Talk().types("Write the docs").edits("/p/docs/passkeys.md"), "s3")
    mission.build("s3 passkeys")
    again = build_mission_episode("passkeys", mission.runtime, mission.now)
    assert again.memory_id == first.memory_id
    assert {*again.files} == {*first.files, "docs/passkeys.md"}
    assert end(mission, "failure").outcome == "failed"
    (whole,) = (each for each in episodes.list_all(mission.store) if not each.session_id)
    assert whole.outcome == "failed"


def test_what_a_person_took_out_of_memory_stays_away(mission):
    first = end(mission)
    curation.delete(mission.memories, first.memory_id)

    assert end(mission, "failure") is None
    assert all(each.session_id for each in episodes.list_all(mission.store))


def test_a_mission_without_sessions_is_described_by_what_it_learned(world):
    operations.start_mission(world.memories, "Ship passkeys", id="passkeys")
    draft = Draft(content="Use WebAuthn, as Safari has it", category="decision", scope="mission")
    writing.write(world.memories, replace(draft, owner="passkeys"))

    assert end(world).decisions == ("Use WebAuthn, as Safari has it",)


def test_a_mission_of_which_nothing_is_known_is_not_described(world):
    operations.start_mission(world.memories, "Ship passkeys", id="passkeys")

    assert end(world) is None
    assert episodes.list_all(world.store) == []


def test_an_ai_hears_of_all_sessions_and_does_not_change_how_it_ended(mission, monkeypatch):
    answer = {
        "task": "Ship passkeys for all",
        "summary": "First the route, then its tests.",
        "outcome": "failed",
        "decisions": ["Docs come later"],
    }
    asked = mission.answers(monkeypatch, answer)
    episode = end(mission)

    assert (episode.task, episode.outcome) == ("Ship passkeys for all", "succeeded")
    assert "Docs come later" in episode.decisions
    assert "First the route, then its tests." in mission.memory(episode).content
    (_, prompt, _) = asked[-1]
    assert "Task: Add the passkey route" in prompt
    assert "Task: Test the passkey route" in prompt
    assert end(mission) == episode
    assert len(asked) == 1


def test_a_mission_is_no_further_context_of_a_procedure(mission):
    before = learning.session_works(mission.store)
    end(mission)

    assert learning.session_works(mission.store) == before


def test_the_end_of_a_mission_and_of_a_late_session_of_it_make_it_due(mission):
    operations.end_mission(mission.memories, "passkeys", "success")
    assert "mission" in upkeep.work(mission.memories)
    assert [
        each.mission_id for each in episodes.list_all(mission.store) if not each.session_id
    ] == ["passkeys"]

    mission.session(Talk().types("Write the docs").edits("/p/docs/passkeys.md"), "s3")
    jobs.queue(mission.store, "episode", "s3 passkeys", mission.now)
    assert {"episode", "mission"} <= set(upkeep.work(mission.memories))
    (whole,) = (each for each in episodes.list_all(mission.store) if not each.session_id)
    assert "docs/passkeys.md" in whole.files


def test_what_a_session_read_on_the_web_has_not_the_agent_s_trust(mission):
    mission.store.db.execute(
        "update unified_memories set trust = 'web' where source_session_id = 's2'"
    )

    assert mission.memory(end(mission)).trust == "web"
