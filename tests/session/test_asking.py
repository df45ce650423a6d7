"""The question beside a prompt that may state what outlives its task, and its answer."""

from __future__ import annotations

import re

import pytest

from ademem.core.memory import Stage
from ademem.operations import writing
from ademem.session import asking
from ademem.store import evidence, memories, relations
from tests import persons
from tests.builders import memory

SENTENCE = "feature flags live in flags.toml"
MANY = tuple(f"the {name} service is owned by team {name}" for name in "abcdefgh")


def say(world, prompt=SENTENCE, prompt_id="p1", session_id="s1", **given):
    keys = {"prompt": prompt, "prompt_id": prompt_id, "session_id": session_id}
    return world.context("user_prompt_submit", **keys, **given)


def rows(world, where="true"):
    with world.memories() as found:
        return memories.find(found.store, where)


def said_of(world, row):
    with world.memories() as found:
        return evidence.list_of(found.store, row.id)


def test_a_statement_is_heard_and_asked_about_in_the_same_request(world):
    question = say(world)

    (row,) = rows(world)
    assert (row.content, row.stage, row.status) == (SENTENCE, Stage.HEARD, "candidate")
    assert row.trust == "agent"
    (said,) = said_of(world, row)
    assert (said.kind, said.session_id, said.prompt_id, said.quote) == (
        *("said", "s1", "p1"),
        SENTENCE,
    )
    assert question.startswith("ademem: this prompt may state what outlives the task:")
    assert f'"{SENTENCE}"' in question
    assert f"--heard {row.id[:6]}." in question
    assert question.endswith("If it is only for now, do nothing. Do not mention this.")


def test_the_question_names_what_comes_near(world):
    world.know("Feature flags are read from the environment")
    question = say(world)

    assert "Nearest known: (" in question
    assert "Feature flags are read from the environment" in question


@pytest.mark.parametrize("program", ["ademem", "/opt/a/rather/deep/folder/of/tools/bin/ademem"])
@pytest.mark.parametrize("length", [5, 60, 400])
def test_the_question_has_at_most_450_characters(program, length):
    near = tuple(memory(f"{n} {'flags ' * length}") for n in range(3))
    found = asking.Statement(sentence="x " * length, waiting=near[0], nearest=near)
    text = asking.compose(found, "7f3a00112233", program)

    assert len(text) <= 450
    assert f'run before you go on: {program} add "<one sentence>"' in text
    assert text.endswith("Do not mention this.")


def test_a_sentence_is_asked_about_once(world):
    assert "--heard" in say(world)
    assert "--heard" not in say(world, prompt_id="p2")
    assert "--heard" not in say(world, prompt_id="p3", session_id="s2")

    (row,) = rows(world)
    assert len(said_of(world, row)) == 3
    assert row.stage is Stage.SUPPORTED  # said in two sessions


def test_a_session_is_asked_at_most_five_questions(world):
    asked = ["--heard" in say(world, text, f"p{at}") for at, text in enumerate(MANY)]

    assert asked == [True] * 5 + [False] * 3
    assert "--heard" in say(world, "releases are cut from main on Mondays", session_id="s2")


def test_a_second_statement_names_the_row_that_waits(world):
    say(world)
    (row,) = rows(world)
    question = say(world, "no, all feature flags are in flags.toml here", "p2", "s2")

    assert f"Said before: ({row.id[:6]}) feature flags" in question


def test_an_answer_goes_into_the_row_and_is_supported(world):
    question = say(world)
    heard = re.search(r"--heard (\w+)\.", question)[1]
    world.environment |= {"CLAUDECODE": "1", "CLAUDE_CODE_SESSION_ID": "s1"}
    with world.memories() as found:
        stated = writing.Stated(heard=heard)
        draft = writing.Draft(content="Feature flags live in flags.toml, not in env")
        written = writing.write(found, draft, stated)

    (row,) = rows(world)
    assert (row.id, row.stage) == (written.memory.id, Stage.SUPPORTED)
    assert [each.kind for each in said_of(world, row)] == ["said", "claude_add"]


@pytest.mark.parametrize(
    "given",
    [
        pytest.param({"by": persons.AGENT}, id="an agent's"),
        pytest.param({"by": persons.UNKNOWN}, id="one that nobody attends"),
        pytest.param({"by": persons.UNPROVEN}, id="no client's"),
        pytest.param({"agent_id": "a1"}, id="a subagent's"),
        pytest.param({"prompt": f"<agent-message>\n{SENTENCE}"}, id="a machine's text"),
        pytest.param({"prompt": f"> {SENTENCE}"}, id="a quotation"),
        pytest.param({"prompt": "/ademem:why"}, id="a slash command"),
    ],
)
def test_only_what_a_person_typed_is_heard(world, given):
    keys = {"prompt": SENTENCE, "prompt_id": "p1", "session_id": "s1"} | given

    assert "--heard" not in world.fire("user_prompt_submit", **keys)
    assert rows(world, "source_type = 'intervention'") == []


def test_a_setting_turns_the_question_off(world):
    world.environment["ADEMEM_LEARN_ASK"] = "false"

    assert say(world) == ""
    assert rows(world) == []


def test_what_is_known_already_is_not_asked_about(world):
    world.know(SENTENCE)

    assert "--heard" not in say(world)
    assert len(rows(world)) == 1


def test_a_dictation_is_stored_and_needs_no_copy(world):
    said = say(world, f"remember: {SENTENCE}")

    (row,) = rows(world)
    assert row.stage is Stage.CONFIRMED
    assert f"stored as {row.id}; no copy in your own memory is needed" in said
    assert f'ademem at {row.id[:6]} --when "…" --when "…"' in said
    assert "--heard" not in said


def test_a_dictation_names_what_comes_near_as_the_answer_to_an_agents_write_does(world):
    texts = [f"Feature flags of the {name} are read from the environment" for name in "abcd"]
    world.know(*texts)
    known = {row.id: row.content for row in rows(world)}
    said = say(world, f"remember: {SENTENCE}")

    _, _, asked = said.partition("nearest known; if one says the same or no longer holds, run ")
    command, *shown = asked.splitlines()
    assert command.endswith('add "<the text>" with --repeats, --replaces, --contradicts ID:')
    assert len(shown) == asking.NEAREST + 2  # and the fence
    assert set(shown[1:-1]) < {f"({id[:6]}) {text}" for id, text in known.items()}


def test_a_relation_that_is_stated_of_a_dictation_is_one_of_what_is_stored(world):
    world.know("Feature flags are read from the environment")
    (known,) = rows(world)
    say(world, f"remember: {SENTENCE}")
    world.environment |= {"CLAUDECODE": "1", "CLAUDE_CODE_SESSION_ID": "s1"}
    with world.memories() as found:
        stated = writing.Stated(relation="replaces", id=known.id)
        written = writing.write(found, writing.Draft(content=SENTENCE), stated)

        assert written.deduped
        (pair,) = relations.list_conflicts(found.store)
    assert (pair.left, pair.right) == (known.id, written.memory.id)
    assert len(rows(world)) == 2


@pytest.mark.parametrize(
    "prompt", [f"remember: {SENTENCE}", f"remember:\n- {SENTENCE}\n- {SENTENCE}s"]
)
def test_a_dictation_is_not_near_to_itself(world, prompt):
    world.know(SENTENCE)

    assert "nearest known" not in say(world, prompt)


def test_of_several_dictated_texts_what_comes_near_to_each_is_named_once(world):
    world.know("Feature flags are read from the environment", "Deploys need a lock on Fridays")
    said = say(world, "remember: feature flags live in flags.toml\nremember: deploys need no lock")

    for row in rows(world, "content glob '* read *' or content glob '* on Fridays'"):
        assert said.count(f"({row.id[:6]}) {row.content}") == 1
    assert said.count("nearest known") == 1
