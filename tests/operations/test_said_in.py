"""A memory of the person is told where it was said; elsewhere only what a person confirmed."""

import json

import pytest

from ademem.core.memory import Draft, Scope
from ademem.operations import browsing, curation, files, searching, writing
from ademem.search.engine import UNARCHIVED, Filters
from tests.builders import insert, memory
from tests.world import World

ORDER = "Quokka deploys always skip the staging checks"
QUESTION = "Do deploys always skip the staging checks?"


@pytest.fixture
def here(tmp_path):
    (tmp_path / "here").mkdir()
    return World(tmp_path / "here")


@pytest.fixture
def elsewhere(here, tmp_path):
    (tmp_path / "elsewhere").mkdir()
    return World(tmp_path / "elsewhere", home=tmp_path / "home")


def say(world, scope="personal", text=ORDER, **changes):
    with world.memories() as memories:
        draft = Draft(content=text, category="preference", **changes)
        return writing.write(memories, writing.place_draft(memories, draft, scope)).memory.id


def briefing(world):
    return world.context("session_start", source="startup")


def prompt(world, text=QUESTION):
    return world.context("user_prompt_submit", prompt=text, prompt_id="p1")


def on(read):
    def ask(world):
        with world.memories() as memories:
            return str(read(memories))

    return ask


def context(memories):
    return browsing.get_context(memories)["text"]


UNBRIEFED = ("briefing", "context")
"""Doors that tell what a person confirmed, and nothing else."""
CANDIDATES = Filters(statuses=UNARCHIVED)
DOORS = {
    "briefing": briefing,
    "prompt": prompt,
    "recall": on(lambda memories: searching.recall(memories, QUESTION, CANDIDATES).hits),
    "search": on(lambda memories: browsing.find(memories, QUESTION, CANDIDATES)["memories"]),
    "list": on(searching.list_memories),
    "context": on(context),
    "a past moment": on(lambda memories: curation.list_at(memories, memories.clock()).memories),
}


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("scope", ["personal", "user", "global", "agent"])
def test_what_an_agent_saves_for_the_person_or_itself_is_told_in_no_other_project(
    here, elsewhere, scope, door
):
    say(here, scope)
    say(elsewhere, "project", "The deploys here need a lock")

    assert "Quokka" not in DOORS[door](elsewhere)


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("scope", ["personal", "agent"])
def test_it_is_told_where_it_was_said(here, scope, door):
    say(here, scope)

    assert ("Quokka" in DOORS[door](here)) == (door not in UNBRIEFED)


@pytest.mark.parametrize("door", DOORS)
def test_what_a_person_confirmed_is_told_everywhere(here, elsewhere, door):
    id = say(here)
    with here.terminal() as memories:
        curation.promote(memories, id)

    assert "Quokka" in DOORS[door](elsewhere)


def test_it_is_labelled_as_unconfirmed_where_it_was_said(here):
    say(here)

    (entry,) = (line for line in prompt(here).splitlines() if "Quokka" in line)
    assert "unconfirmed" in entry


def test_it_waits_in_the_review_of_its_project_alone(here, elsewhere):
    id = say(here)
    with here.memories() as memories:
        assert [each.id for each in curation.review(memories)] == [id]
        assert curation.count_queue(memories) == {"personal": 1}
    with elsewhere.memories() as memories:
        assert curation.review(memories) == []
        assert curation.count_queue(memories) == {}


def test_the_same_text_said_in_a_second_project_is_one_memory_that_is_told_in_both(here, elsewhere):
    one, other = say(here), say(elsewhere)

    assert one == other
    assert "Quokka" in prompt(here)
    assert "Quokka" in prompt(elsewhere)


def test_a_text_that_replaces_another_projects_is_told_where_it_was_said(here, elsewhere):
    say(here, topic_key="deploys")
    say(elsewhere, text="Wombat deploys need two reviews", topic_key="deploys")

    question = "Do wombat deploys need two reviews?"
    assert "Wombat" in prompt(elsewhere, question)
    assert "Wombat" not in prompt(here, question)


def test_what_the_agent_keeps_for_itself_stays_in_its_project(here):
    id = say(here, "agent")
    with here.memories() as memories:
        found = searching.get(memories, id)

        assert (found.scope, found.scope_owner_id) == (Scope.AGENT, "main")
        assert memories.open_personal() is None


@pytest.mark.parametrize("where", ["here", "elsewhere"])
def test_imported_personal_memories_are_told_nowhere_before_a_review(here, elsewhere, where):
    with here.memories() as memories:
        line = json.dumps({"content": ORDER, "scope": "personal", "category": "preference"})
        assert files.import_lines(memories, [line]).inserted == 1
    world = {"here": here, "elsewhere": elsewhere}[where]
    for door, read in DOORS.items():
        assert "Quokka" not in read(world), door
    with world.memories() as memories:
        (waiting,) = curation.review(memories)
    with world.terminal() as memories:
        curation.promote(memories, waiting.id)

    assert "Quokka" in DOORS["list"](elsewhere)


def test_a_personal_candidate_from_before_places_were_noted_waits_for_a_review(here):
    with here.memories() as memories:
        own = memories.open_personal(create=True).store
        own.show_all()
        row = {"scope": Scope.AGENT, "status": "candidate", "promoted_at": None}
        insert(own, memory(ORDER, **row))

    assert "Quokka" not in briefing(here)
    with here.memories() as memories:
        assert [each.content for each in curation.review(memories)] == [ORDER]
