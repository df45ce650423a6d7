"""What is said to be newer than a confirmed memory stands below it, wherever a session reads it."""

from __future__ import annotations

import pytest

from ademem.capture.stating import Stated
from ademem.core.memory import Draft, Origin, Trust
from ademem.operations import curation, writing
from ademem.store import evidence
from tests.builders import NOW

OLD, NEW = "Feature flags are read from the environment", "Feature flags live in flags.toml"
BY_PERSON = {"origin": Origin(trust=Trust.USER, source_type="user")}
LINE = f", not confirmed: {NEW} ("


@pytest.fixture
def proposed(world):
    """The ids of a confirmed memory and of the text that is to replace it."""
    world.know(OLD, anchors=("@ src/flags.py",), **BY_PERSON)
    with world.memories() as memories:
        (old,) = world.live()
        draft = Draft(content=NEW, origin=Origin(trust=Trust.AGENT, session_id="s0"))
        new = writing.write(memories, draft, Stated(relation="replaces", id=old.id)).memory
    return old.id, new.id


def briefing(world):
    return world.context("session_start", source="startup", session_id="s9")


def prompt(world):
    asked = "from where are the feature flags read?"
    return world.context("user_prompt_submit", prompt=asked, prompt_id="p1", session_id="s2")


def call(world):
    path = {"file_path": str(world.root / "src/flags.py"), "content": "x"}
    world.fire("user_prompt_submit", prompt="go on", prompt_id="p1", session_id="s3")
    return world.fire(
        "pre_tool_use",
        session_id="s3",
        prompt_id="p1",
        tool_name="Write",
        tool_input=path,
        tool_use_id="t1",
    )


def recall(world):
    return world.fire("user_prompt_submit", prompt="/ademem:recall feature flags environment")


@pytest.mark.parametrize("read", [briefing, prompt, call, recall])
def test_the_new_text_stands_below_the_old_one(world, proposed, read):
    said = read(world)

    assert "  newer, written on " in said
    assert said.index(OLD) < said.index(LINE)


@pytest.mark.parametrize("decide", [curation.promote, curation.reject])
def test_a_decision_of_a_person_ends_it(world, proposed, decide):
    _, new = proposed
    with world.terminal() as memories:
        decide(memories, new)

    assert "not confirmed" not in briefing(world)
    texts = {memory.content for memory in world.live() if memory.status == "promoted"}
    assert texts == ({NEW} if decide is curation.promote else {OLD})


def test_what_the_person_said_is_told_as_said(world, proposed):
    with world.memories() as memories:
        evidence.add(memories.store, proposed[1], "said", NOW, quote=NEW, session_id="s1")

    assert f"  newer, said on 2026-01-31{LINE}" in briefing(world)


def test_an_undo_of_the_decision_brings_the_old_text_back(world, proposed):
    with world.terminal() as memories:
        curation.promote(memories, proposed[1])
        event = curation.list_revisions(memories, proposed[1])[-1]["event_id"]
        curation.undo(memories, event)

    statuses = {memory.content: memory.status for memory in world.live()}
    assert statuses == {OLD: "promoted", NEW: "candidate"}
