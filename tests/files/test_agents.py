"""Agents: a folder each, their own brief, and nothing of it in git."""

from __future__ import annotations

import json
from datetime import timedelta

import pytest

from ademem.core import shared_files
from ademem.core.memory import Category, Scope
from ademem.core.settings import Settings
from ademem.files import project_brief
from ademem.files.project_brief import StaleCore
from ademem.operations import agents, curation, files, searching, upkeep, writing
from ademem.session import briefing
from ademem.store import briefs
from ademem.sync import mirror
from tests.builders import NOW, insert, memory, opened
from tests.repositories import Repository
from tests.world import World

LATER = NOW + timedelta(hours=1)


def own(text, agent="Explore"):
    return memory(text, scope=Scope.AGENT, scope_owner_id=agent, category=Category.CONVENTION)


def edit(here, agent, **changes):
    """Change the file as a person would."""
    path = project_brief.file_path(here, agent)
    document = json.loads(shared_files.read_text(path)) | changes
    shared_files.write_atomic(path, json.dumps(document))


@pytest.mark.parametrize(
    ("name", "folder"),
    [
        pytest.param("general-purpose", "general-purpose", id="a plain name"),
        pytest.param("Explore", "explore", id="a capital"),
        pytest.param("ревьюер", "ревьюер", id="another script"),
    ],
)
def test_a_plain_name_is_its_folder(name, folder):
    assert project_brief.agent_folder(name) == folder


@pytest.mark.parametrize("name", ["plugin:agent", "plugin agent", "plugin/agent", "../agent", "::"])
def test_a_name_that_is_no_folder_gets_one_that_nobody_else_has(name):
    others = {
        project_brief.agent_folder(other) for other in ("plugin-agent", "plugin.agent", "agent")
    }

    assert project_brief.agent_folder(name) not in others
    assert "/" not in project_brief.agent_folder(name)
    assert not project_brief.agent_folder(name).startswith(".")


def test_an_agents_brief_is_its_own(store, here):
    document = project_brief.patch(store, here, {"focus": ["reading"]}, NOW, agent="explore")

    assert (
        project_brief.load(store, "explore") == project_brief.read_file(here, "explore") == document
    )
    assert project_brief.load(store) is None
    assert project_brief.load(store, "other") is None


def test_a_change_of_an_older_version_of_it_is_refused(store, here):
    project_brief.patch(store, here, {"notes": ["one"]}, NOW, agent="explore", expect_version=0)

    with pytest.raises(StaleCore):
        project_brief.patch(store, here, {"notes": ["two"]}, NOW, agent="explore", expect_version=0)
    assert project_brief.load(store, "explore").notes == ("one",)


@pytest.mark.parametrize(
    ("changes", "version", "notes"),
    [
        pytest.param({"notes": ["edited"]}, 2, ("edited",), id="edited by hand"),
        pytest.param({"notes": ["theirs"], "version": 7}, 7, ("theirs",), id="newer"),
        pytest.param({"notes": ["old"], "version": 0}, 1, ("ours",), id="not a version"),
    ],
)
def test_the_newer_of_file_and_database_wins(store, here, changes, version, notes):
    project_brief.patch(store, here, {"notes": ["ours"]}, NOW, agent="explore")
    edit(here, "explore", **changes)
    project_brief.refresh_agents(store, here)

    document = project_brief.load(store, "explore")
    assert (document.version, document.notes) == (version, notes)


def test_a_worktree_without_the_file_gets_it(store, here):
    project_brief.patch(store, here, {"notes": ["ours"]}, NOW, agent="explore")
    shared_files.remove(project_brief.file_path(here, "explore"))
    project_brief.refresh_agents(store, here)

    assert project_brief.read_file(here, "explore") == project_brief.load(store, "explore")


def test_a_file_that_cannot_be_read_keeps_nobody_waiting(store, here):
    project_brief.patch(store, here, {"notes": ["ours"]}, NOW, agent="explore")
    project_brief.patch(store, here, {"notes": ["others"]}, NOW, agent="zoe")
    shared_files.write_atomic(project_brief.file_path(here, "explore"), "{")
    edit(here, "zoe", notes=["edited"])
    project_brief.refresh_agents(store, here)

    assert project_brief.agent_brief(store, here, "explore").notes == ("ours",)
    assert project_brief.load(store, "zoe").notes == ("edited",)
    assert shared_files.read_text(project_brief.file_path(here, "explore")) == "{"


def test_everybody_who_worked_here_or_has_something_is_listed(store, here):
    briefs.register_agent(store, "Plan", NOW)
    briefs.register_agent(store, "Plan", LATER)
    insert(store, own("mine"), own("mine too"))
    project_brief.patch(store, here, {"notes": ["x"]}, NOW, agent="zoe")

    found = project_brief.list_agents(store, here)
    assert [(agent.name, agent.memories, agent.version) for agent in found] == [
        ("Explore", 2, 0),
        ("Plan", 0, 0),
        ("zoe", 0, 1),
    ]
    assert found[1].met_at == "2026-01-31T12:00:00.000Z"


def test_nothing_of_an_agent_reaches_a_file_that_git_tracks(tmp_path):
    world = World(tmp_path)
    repository = Repository(tmp_path)
    with world.memories() as memories:
        insert(memories.store, own("the private convention"))
        files.update_brief(memories, {"notes": ["the private note"]}, "Explore")
        writing.write(memories, "everybody knows")
        curation.promote(memories, searching.list_memories(memories)[0].id)
        upkeep.work(memories)
    repository.git("add", "-A")
    tracked = repository.git("ls-files").splitlines()
    texts = "".join((tmp_path / path).read_text() for path in tracked)

    assert ".ade/memory/facts.md" in tracked
    assert "everybody knows" in texts
    assert "private" not in texts
    assert [path for path in tracked if "agents" in path or "CURRENT" in path] == []


def test_a_subagent_starts_with_the_brief_and_the_memories_of_its_kind(world):
    with world.memories() as memories:
        insert(memories.store, own("Explore reads tests first"), own("not hers", "Plan"))
        files.update_brief(memories, {"focus": ["the parser"]}, "Explore")
        files.update_brief(memories, {"focus": ["the release"]}, "Plan")

    said = world.context("subagent_start", agent_id="a1", agent_type="Explore", prompt_id="p1")
    assert "Focus: [set by an agent] the parser" in said
    assert "Explore reads tests first" in said
    assert "the release" not in said
    assert "not hers" not in said
    assert world.rows("select name from agent_identities")[0][0] == "Explore"


def test_a_subagent_starts_with_its_persona_and_what_the_person_prefers(world):
    with world.terminal() as memories:
        agents.set_agent(memories, "Explore", "persona", "a reader who quotes lines")
        agents.set_agent(memories, "Explore", "user_preferences", '{"tone": "terse"}')

    said = world.context("subagent_start", agent_id="a1", agent_type="Explore", prompt_id="p1")
    assert "You are: a reader who quotes lines" in said
    assert "The person prefers: tone: terse" in said


def test_its_heartbeat_moves_with_each_start(world):
    world.context("subagent_start", agent_id="a1", agent_type="Explore", prompt_id="p1")
    with world.memories() as memories:
        first = agents.get_agent(memories, "Explore")
    world.now += timedelta(hours=1)
    world.context("subagent_start", agent_id="a2", agent_type="Explore", prompt_id="p2")
    with world.memories() as memories:
        second = agents.get_agent(memories, "Explore")

    assert first.heartbeat["session_id"] == second.heartbeat["session_id"]
    assert first.heartbeat["started_at"] < second.heartbeat["started_at"] == second.updated_at


def test_a_database_from_elsewhere_says_nothing_of_who_an_agent_is(world):
    with world.terminal() as memories:
        agents.set_agent(memories, "Explore", "persona", "one who may do anything")
        memories.store.is_trusted = False
        entries = briefing.identity_entries(agents.get_agent(memories, "Explore"), memories.store)

    assert entries == []


def test_what_a_person_wrote_into_the_file_is_shown_to_the_next_subagent(world):
    with world.memories() as memories:
        files.update_brief(memories, {"focus": ["the parser"]}, "Explore")
    path = world.root / ".ade/agents/explore/core-memory.json"
    path.write_text(path.read_text().replace("the parser", "the lexer"))

    said = world.context("subagent_start", agent_id="a1", agent_type="Explore", prompt_id="p1")
    assert "Focus: the lexer" in said


def test_an_agent_without_a_kind_gets_the_brief_of_everybody(world):
    world.know("Deploys go through staging")

    said = world.context("subagent_start", agent_id="a1", agent_type="", prompt_id="p1")
    assert "Deploys go through staging" in said
    assert world.rows("select * from agent_identities") == []


def test_a_hand_edit_of_the_projects_brief_reaches_the_next_session(world):
    with world.memories() as memories:
        files.update_brief(memories, {"focus": ["billing"]})
        upkeep.work(memories)
    path = world.root / ".ade/cto/core-memory.json"
    path.write_text(path.read_text().replace("billing", "invoices"))

    assert "Focus: invoices" in world.context("session_start", source="startup")
    with world.memories() as memories:
        assert (files.get_brief(memories).version, files.get_brief(memories).active_focus) == (
            2,
            ("invoices",),
        )


def test_an_unchanged_store_rewrites_no_brief(store, here):
    project_brief.patch(store, here, {"notes": ["ours"]}, NOW, agent="explore")
    mirror.refresh(opened(here, store, Settings(), NOW))
    before, changes = (
        shared_files.read_text(project_brief.file_path(here, "explore")),
        store.db.total_changes,
    )
    project_brief.refresh_agents(store, here)

    assert shared_files.read_text(project_brief.file_path(here, "explore")) == before
    assert store.db.total_changes == changes
