"""What a session did becomes one episode, by the transcript that the client really writes."""

from __future__ import annotations

import json
from typing import Any

import pytest

from .product import Product
from .script import Call, bash, delegate, helper, model, person, write
from .session import Session
from .world import World

pytestmark = pytest.mark.e2e

TASK = "Fix the login bug in src/auth.py"
TEST = "python -m unittest discover -s tests"
PASSES = "import unittest\nclass T(unittest.TestCase):\n    def test_x(self):\n        pass\n"


def work(world: World) -> Session:
    world.write("tests/test_x.py", PASSES)
    return world.chat(
        person(TASK),
        model(bash('ademem recall "login"')),
        model(write(world.project / "src/auth.py"), bash("cat nothing.txt")),
        model(delegate("Look around")),
        helper(write(world.project / "src/helper.py")),
        helper("Written."),
        model(bash(TEST)),
        model("Decision: tokens expire in UTC, because servers differ."),
        person("no, use unittest instead of pytest"),
        model("I will."),
    )


def told(ademem: Product) -> list[dict[str, Any]]:
    ademem("work", "--once")
    episodes: list[dict[str, Any]] = json.loads(ademem("episodes", "--json"))["episodes"]
    return episodes


def test_a_session_is_told_as_it_was(world: World, ademem: Product) -> None:
    session = work(world)
    (episode,) = told(ademem)

    assert (episode["session_id"], episode["task"]) == (session.id, TASK)
    assert (episode["outcome"], episode["summarised_by"]) == ("succeeded", "rules")
    assert episode["files"] == ["src/auth.py", "src/helper.py"]
    assert [run["command"] for run in episode["tests"]] == [TEST]
    assert [(run["passed"], run["error"]) for run in episode["tests"]] == [(1, "")]
    assert episode["decisions"] == ["tokens expire in UTC, because servers differ."]
    assert episode["corrections"] == ["no, use unittest instead of pytest"]
    assert any("cat nothing.txt" in error for error in episode["errors"])
    assert {action["kind"] for action in episode["actions"]} >= {"search", "edit", "test"}


def test_a_resumed_and_compacted_session_extends_its_episode(world: World, ademem: Product) -> None:
    session = work(world)
    (first,) = told(ademem)
    world.chat(person("/compact"), resume=session)
    world.chat(
        person("Now add the logout"),
        model(bash('ademem recall "logout"')),
        model(write(world.project / "src/logout.py")),
        model("Added."),
        resume=session,
    )
    (second,) = told(ademem)

    assert second["memory_id"] == first["memory_id"]
    assert second["task"] == TASK
    assert second["files"] == [*first["files"], "src/logout.py"]
    assert not any("SUMMARY" in text for text in json.dumps(second).split())


def test_a_fork_tells_its_own_part(world: World, ademem: Product) -> None:
    session = work(world)
    world.options = ("--fork-session",)
    fork = world.chat(
        person("Now add the logout"),
        model(bash('ademem recall "logout"')),
        model(write(world.project / "src/logout.py")),
        model("Added."),
        resume=session,
    )
    files = {episode["session_id"]: episode["files"] for episode in told(ademem)}

    assert files[fork.id] == ["src/logout.py"]
    assert files[session.id] == ["src/auth.py", "src/helper.py"]


def test_episodes_reach_no_other_session_by_themselves(world: World, ademem: Product) -> None:
    work(world)
    (episode,) = told(ademem)
    later = world.chat(person("How does the login work?"), model("Like this."))

    assert episode["memory_id"] not in later.requests[0].text
    assert "episode" not in json.dumps(ademem.memories()).lower()


def test_the_client_tells_it_in_better_words(world: World, ademem: Product) -> None:
    world.program("claude", f'exec "{world.claude}" "$@"')
    world.configure('[ai]\nprovider = "claude"\n[jobs]\nauto = false\n')
    work(world)
    answer = {
        "task": "Repair the login",
        "summary": "The expiry was compared in local time.",
        "outcome": "failed",
        "decisions": [],
    }
    world.model.learn([model(Call("StructuredOutput", answer)), model("Done.")])
    (episode,) = told(ademem)

    assert (episode["task"], episode["outcome"]) == ("Repair the login", "succeeded")
    assert episode["summarised_by"] != "rules"
    memory = json.loads(ademem("get", episode["memory_id"], "--json"))
    assert "The expiry was compared in local time." in memory["content"]
    assert json.loads(ademem("cost", "--json"))["calls_today"] == 1
