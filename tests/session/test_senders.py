"""What is stored for a prompt depends on who sent it."""

import json

import pytest

from ademem.core import project
from ademem.core.actor import OTHER_CLIENT
from ademem.operations import curation, doctor, searching
from tests import persons

PROMPT = "remember: deploys need approval by two"


@pytest.mark.parametrize(
    ("by", "stored"),
    [
        pytest.param(persons.PERSON, ("user", "promoted"), id="a person"),
        pytest.param(persons.AGENT, ("agent", "candidate"), id="an agent"),
        pytest.param(persons.UNKNOWN, ("agent", "candidate"), id="a client that nobody attends"),
        pytest.param(OTHER_CLIENT, ("agent", "candidate"), id="Codex, Gemini CLI, OpenCode"),
        pytest.param(persons.UNPROVEN, None, id="a sender that is no client"),
    ],
)
def test_a_dictation_is_a_persons_a_candidate_or_nothing(world, by, stored):
    world.fire("user_prompt_submit", prompt=PROMPT, prompt_id="p1", by=by)
    with world.memories() as memories:
        found = [*searching.list_memories(memories), *curation.review(memories)]

    shown = {(memory.trust.value, memory.status.value) for memory in found}
    assert shown == ({stored} if stored else set())


def test_nothing_is_written_for_a_prompt_that_no_client_sent(world):
    world.know("Deploys need approval by two")
    said = world.fire("user_prompt_submit", prompt="how many approve deploys?", by=persons.UNPROVEN)

    assert "Deploys need approval" in said
    assert world.row("select count(*) from user_prompts")[0] == 0
    assert world.row("select count(*) from turns")[0] == 0


def test_a_candidate_of_a_prompt_comes_with_the_line_that_confirms_it(world):
    world.environment["ADEMEM_NOTICE_LEVEL"] = "all"
    said = json.loads(world.fire("user_prompt_submit", prompt=PROMPT, by=OTHER_CLIENT))

    assert "noted for review" in said["systemMessage"]
    assert "`ademem promote" in said["systemMessage"]


def test_the_start_says_once_that_a_client_is_not_recognised(world):
    first, second = (
        world.fire("session_start", source="startup", session_id=id, by=persons.UNPROVEN)
        for id in ("s1", "s2")
    )

    assert "this client is not recognised" in first
    assert "not recognised" not in second


def test_doctor_names_when_the_client_was_last_not_recognised(world):
    def found():
        patient = doctor.Patient(
            project=project.at(str(world.root)), environment=world.environment, now=world.now
        )
        return doctor.client_is_recognised(patient)

    world.fire("session_start", source="startup", session_id="s0", by=persons.PERSON)
    before = found()
    world.fire("session_start", source="startup", session_id="s1", by=persons.UNPROVEN)
    during = found()
    world.fire("session_start", source="startup", session_id="s2", by=persons.PERSON)
    after = found()

    assert (before.ok, during.ok, after.ok) == (True, False, True)
    assert "last not recognised at 20" in during.message
    assert persons.UNPROVEN.why in during.message
    assert after.message.startswith("recognised since 20")
    assert "last not recognised at 20" in after.message
