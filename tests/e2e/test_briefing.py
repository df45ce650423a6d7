"""What a session is told that nobody wrote down, and what is counted of what it was told."""

from __future__ import annotations

import json

import pytest

from .product import Product
from .script import bash, delegate, helper, model, person, write
from .world import World

pytestmark = pytest.mark.e2e

TITLE = "## Committed outside of sessions\n"


def heard(text: str) -> str:
    """What a request tells of commits outside of sessions."""
    return text.partition(TITLE)[2].partition("\n## ")[0].partition("\n</ademem-memory>")[0]


def test_the_next_session_hears_once_of_what_people_committed_and_not_of_its_own(
    world: World, ademem: Product
) -> None:
    world.chat(
        person("Thanks!"),
        model(bash("echo one > ours.txt && git add ours.txt && git commit -qm 'Ours alone'")),
        model("Done."),
    )
    world.write("docs/login.md", "Log in with a passkey.\n")
    world.git("add", "docs")
    world.git("commit", "-q", "-m", "Say how to log in")
    second = world.chat(person("Hello"), model("Hello."))
    third = world.chat(person("Hello"), model("Hello."))

    told = heard(second.requests[0].text)
    assert "1 commit by" in told
    assert "Say how to log in" in told
    assert "Ours alone" not in told
    assert heard(third.requests[0].text) == ""


def test_what_a_session_did_with_a_memory_is_counted_when_it_has_ended(
    world: World, ademem: Product
) -> None:
    world.write(".ade/config.toml", "[jobs]\nauto = false\n")  # nobody else is at work then
    ademem.know("Tokens are read in src/auth.py alone")
    ademem.know("Nobody reads vendor/legacy.c any more")
    world.chat(
        person("Thanks!"),
        model(write(world.project / "src/auth.py")),
        model("Done."),
    )
    ademem("work")

    counts = json.loads(ademem("status", "impressions", "--json"))["by_memory"]
    used = {row["text"]: (row["shown"], row["used"]) for row in counts}
    assert used == {
        "Tokens are read in src/auth.py alone": (1, 1),
        "Nobody reads vendor/legacy.c any more": (1, 0),
    }


def test_a_subagent_hears_the_brief_of_its_kind(world: World, ademem: Product) -> None:
    ademem("core", "set", "--agent", "general-purpose", "focus", "the parser and its tests")
    session = world.chat(
        person("Thanks!"),
        model(delegate("Find out why people are logged out.")),
        helper("Nobody is."),
        model("Nobody is."),
    )

    assert "Focus: the parser and its tests" in session.helper_requests[0].text
    assert "Focus: the parser" not in session.requests[0].text
    assert "general-purpose: 0 memories, brief at version 1" in ademem("core", "show", "--agents")
