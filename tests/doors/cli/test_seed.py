"""What the seed documents say of commands, a test by statement."""

import pytest

from ademem.core import who
from ademem.core.memory import Status
from ademem.operations import searching
from ademem.store.filters import Filters
from tests.persons import AGENT


def test_a_recall_of_an_unknown_type_is_wrong_usage_and_names_the_types(ademem):
    said = ademem("recall", "crane", "--type", "nonsense")

    assert ademem.exit_code == 2
    assert "nonsense" in said
    for name in ("learned", "decision", "bugfix", "convention"):
        assert name in said


def test_a_type_that_is_a_tag_of_a_memory_is_none_of_these(ademem):
    ademem("add", "The harbour crane needs two keys", "--tags", "harbour")

    assert "crane" in ademem("recall", "crane", "--type", "harbour")


def test_a_recall_on_a_keyword_that_one_entry_has_prints_that_entry(ademem):
    ademem("add", "The harbour crane needs two keys")
    ademem("add", "Invoices are rounded half to even")

    assert "The harbour crane needs two keys" in ademem("recall", "harbour")
    assert ademem.exit_code == 0


def test_get_of_a_deleted_memory_says_so_and_prints_no_text(ademem):
    id = ademem.json("add", "The harbour crane needs two keys")["memory"]["id"]
    ademem("delete", id)
    said = ademem("get", id)

    assert f"{id} was deleted on " in said
    assert "crane" not in said
    assert (ademem.exit_code, f"ademem restore {id}" in said) == (1, True)
    assert "crane" in ademem("get", id, "--deleted")


@pytest.mark.parametrize(
    ("key", "value", "code"),
    [
        ("guard.mode", "strict", 0),
        ("guard.mode", "off", 4),
        ("embed.offline", "true", 0),
    ],
)
def test_what_makes_stricter_is_allowed_from_scripts(ademem, key, value, code):
    script = who.Who(by=who.By.UNKNOWN, why="no terminal belongs to this process")
    ademem.monkeypatch.setattr(who, "of_process", lambda *_: script)
    said = ademem("config", "set", key, value, "--local")

    assert ademem.exit_code == code, said
    ademem("config", "set", "guard.mode", "strict", "--user")
    assert ademem.exit_code == 4


def test_a_person_sets_persona_and_preferences_of_an_agent(ademem):
    ademem("agents", "set", "reviewer", "persona", "a strict reader of SQL")
    said = ademem("agents", "set", "reviewer", "user_preferences", '{"tone": "terse"}')

    assert ademem.exit_code == 0
    assert said.splitlines() == [
        "reviewer",
        "  persona: a strict reader of SQL",
        "  user preferences: tone: terse",
    ]
    assert ademem.json("agents", "show", "reviewer")["persona"] == {
        "text": "a strict reader of SQL"
    }
    assert "reviewer" in ademem("agents")


@pytest.mark.parametrize(
    ("arguments", "code", "answer"),
    [
        (("show", "nobody"), 1, "`ademem agents` lists those that worked here"),
        (("set", "reviewer", "shoes", "42"), 2, "profile, persona, tool_policy"),
        (("set", "reviewer", "persona", "{half"), 2, "give words, or a whole object"),
        (("set", "reviewer", "persona", "x" * 2001), 2, "a field holds 2000 characters"),
        (("set", " ", "persona", "strict"), 2, "an agent has a name"),
    ],
)
def test_what_no_agent_has_is_refused_with_the_next_step(ademem, arguments, code, answer):
    assert answer in ademem("agents", *arguments)
    assert ademem.exit_code == code
    assert ademem.json("agents", "show")["count"] == 0


def test_an_agent_cannot_say_what_it_is(ademem):
    ademem.monkeypatch.setattr(who, "of_process", lambda *_: AGENT)
    said = ademem("agents", "set", "reviewer", "persona", "one who may do anything")

    assert "is for a person to decide" in said
    assert ademem.exit_code == 4


def test_the_scope_user_is_the_agent_of_this_project_and_the_answer_says_so(ademem):
    said = ademem("add", "The harbour crane needs two keys", "--scope", "user")
    (memory,) = ademem.json("list", "--scope", "user")["memories"]

    assert "scope user is that of the agent 'main' here" in said
    assert (memory["scope"], memory["owner"]) == ("agent", "main")


def test_the_scope_lane_is_the_mission_and_the_answer_says_so(ademem):
    said = ademem("add", "The crane test runs at night", "--scope", "lane", "--owner", "crane")

    assert "scope lane is that of the mission 'crane' here" in said
    listed = ademem.json("list", "--scope", "lane", "--owner", "crane")["memories"]
    assert [each["owner"] for each in listed] == ["crane"]


def test_a_recall_as_json_has_a_bound_and_says_how_to_get_the_rest(ademem):
    for number in range(12):
        ademem("add", f"The harbour crane {number} needs key number {number}")
    first = ademem.json("recall", "harbour crane")
    whole = ademem.json("recall", "harbour crane", *first["next"].split()[:2])

    assert (first["count"], first["next"]) == (10, "--limit 20 shows more")
    assert (whole["count"], "next" in whole) == (12, False)


def test_a_session_starts_with_recent_knowledge_its_number_and_the_marker_of_each_kind(world):
    world.know("Deploys go through staging", "Invoices are rounded half to even")

    lines = world.context("session_start", source="startup").splitlines()
    at = lines.index("## Recent Knowledge (2 entries)")
    assert all(line.startswith(("- [convention] ", "- [fact] ")) for line in lines[at + 1 : at + 3])


FADED = "The harbour crane needs two keys"


def fade(world):
    """Let what is known be of tier 3, as if nobody had used it for long."""
    with world.memories() as memories, memories.store.transaction() as db:
        db.execute("update unified_memories set tier = 3")


def test_tier_3_answers_a_recall_with_nothing_better_and_a_deep_search(world):
    world.know(FADED)
    fade(world)
    with world.memories() as memories:
        (hit,) = searching.recall(memories, "harbour crane keys").hits
    world.know("The harbour crane keys hang in the office")
    with world.memories() as memories:
        hits = searching.recall(memories, "harbour crane keys").hits
        deep = searching.recall(memories, "harbour crane keys", Filters(statuses=tuple(Status)))

    assert hit.memory.content == FADED
    assert [hit.memory.content for hit in hits] == ["The harbour crane keys hang in the office"]
    assert FADED in [hit.memory.content for hit in deep.hits]


def test_tier_3_is_never_shown_unasked(world):
    world.know(FADED)
    said = world.context("user_prompt_submit", prompt="which keys does the harbour crane need?")
    assert FADED in said

    fade(world)
    said = world.context(
        "user_prompt_submit", prompt="the harbour crane needs which keys?", session_id="s2"
    )
    assert FADED not in said
