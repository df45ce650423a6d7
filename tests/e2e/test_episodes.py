"""What a session did becomes one episode, by the transcript that the client really writes."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import pytest

from .product import Product
from .script import Call, Person, bash, delegate, helper, model, person, write
from .session import Session
from .world import World

pytestmark = pytest.mark.e2e

TASK = "Fix the login bug in src/auth.py"
CORRECTION = "no, use unittest instead of pytest"
TEST = "python -m unittest discover -s tests"
PASSES = "import unittest\nclass T(unittest.TestCase):\n    def test_x(self):\n        pass\n"


def work(world: World) -> Session:
    world.write("tests/test_x.py", PASSES)
    return world.chat(
        person(TASK),
        model(bash('ademem recall "login"')),
        model(write(world.project / "src/auth.py"), bash("cp nothing.txt something.txt")),
        model(delegate("Look around")),
        helper(write(world.project / "src/helper.py")),
        helper("Written."),
        model(bash(TEST)),
        model("Decision: tokens expire in UTC, because servers differ."),
        person(CORRECTION),
        model("I will."),
    )


def told(ademem: Product) -> dict[str, dict[str, Any]]:
    """The episodes by their session."""
    ademem("work", "--once")
    episodes = json.loads(ademem("log", "--episodes", "--json"))["episodes"]
    assert len({episode["session_id"] for episode in episodes}) == len(episodes)
    return {episode["session_id"]: episode for episode in episodes}


@dataclass(frozen=True)
class Worked:
    """One session after which others begin, and the episode that came of it."""

    ademem: Product
    session: Session
    episode: dict[str, Any]

    def add_logout(self, *options: str, before: tuple[Person, ...] = ()) -> Session:
        world = self.ademem.world
        world.options = options
        return world.chat(
            *before,
            person("Now add the logout"),
            model(bash('ademem recall "logout"')),
            model(write(world.project / "src/logout.py")),
            model("Added."),
            resume=self.session,
        )


@pytest.fixture(scope="module")
def worked(shared: Product) -> Worked:
    session = work(shared.world)
    return Worked(shared, session, told(shared)[session.id])


def test_an_episode_describes_the_session(worked: Worked) -> None:
    episode = worked.episode

    assert episode["task"] == TASK
    assert (episode["outcome"], episode["summarised_by"]) == ("succeeded", "rules")
    assert episode["files"] == ["src/auth.py", "src/helper.py"]
    assert [run["command"] for run in episode["tests"]] == [TEST]
    assert [(run["passed"], run["error"]) for run in episode["tests"]] == [(1, "")]
    assert episode["decisions"] == ["tokens expire in UTC, because servers differ."]
    assert episode["corrections"] == [CORRECTION]
    assert any("cp nothing.txt" in error for error in episode["errors"])
    assert {action["kind"] for action in episode["actions"]} >= {"search", "edit", "test"}


def test_episodes_reach_no_other_session_by_themselves(worked: Worked) -> None:
    later = worked.ademem.world.chat(person("How does the login work?"), model("Like this."))

    assert worked.episode["memory_id"] not in later.requests[0].text
    assert "episode" not in json.dumps(worked.ademem.memories()).lower()


def test_a_fork_tells_its_own_part(worked: Worked) -> None:
    fork = worked.add_logout("--fork-session")
    episodes = told(worked.ademem)

    assert episodes[fork.id]["files"] == ["src/logout.py"]
    assert episodes[worked.session.id]["files"] == worked.episode["files"]


def test_a_resumed_and_compacted_session_extends_its_episode(worked: Worked) -> None:
    worked.add_logout(before=(person("/compact"),))
    second = told(worked.ademem)[worked.session.id]

    assert second["memory_id"] == worked.episode["memory_id"]
    assert second["task"] == TASK
    assert second["files"] == [*worked.episode["files"], "src/logout.py"]
    assert not any("SUMMARY" in text for text in json.dumps(second).split())


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
    (episode,) = told(ademem).values()

    assert (episode["task"], episode["outcome"]) == ("Repair the login", "succeeded")
    assert episode["summarised_by"] != "rules"
    memory = json.loads(ademem("get", episode["memory_id"], "--json"))
    assert "The expiry was compared in local time." in memory["content"]
    assert json.loads(ademem("cost", "--json"))["calls_today"] == 1
