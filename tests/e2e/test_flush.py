"""Before a conversation is compacted, and when a turn ends: what was learned is not lost."""

from __future__ import annotations

import pytest

from .product import Product
from .script import bash, model, person, write
from .session import Session
from .world import World

pytestmark = [pytest.mark.e2e, pytest.mark.contract(full_only=True)]

CAUSE = "the proxy rewrites the host header"
KNOWN = "Errors are raised as AppError, never as plain strings"
QUESTION = "The conversation was just compacted"


@pytest.fixture(scope="module")
def compacted(shared: Product) -> tuple[Session, Session]:
    """A session that found something out, changed a file and was compacted; and so once more."""
    world = shared.world
    shared.know(KNOWN)
    first = world.chat(
        person("Fix the login bug in src/auth.py"),
        model(bash('ademem recall "login"')),
        model(f"Root cause: {CAUSE}", write(world.project / "src/auth.py")),
        model("Decision: tokens expire in UTC, because servers differ."),
        person("/compact"),
        person("How does the logout work?"),
        model("Like this. NO_DISCOVERIES"),
    )
    second = world.chat(
        person("/compact"), person("Thanks!"), model("You are welcome."), resume=first
    )
    return first, second


def summaries(world: World) -> list[str]:
    """What whoever summarised the conversation was told last."""
    asked = [request.last_prompt for request in world.model.asides]
    return [text for text in asked if "detailed summary" in text]


@pytest.mark.usefixtures("compacted")
def test_the_summariser_is_instructed_what_to_keep(shared: Product) -> None:
    first, second = summaries(shared.world)

    for line in (
        "In the summary keep",
        "- Open task: Fix the login bug in src/auth.py",
        "- Files changed: src/auth.py",
        "- Decided: tokens expire in UTC, because servers differ.",
    ):
        assert line in first
    assert "In the summary keep" in second


@pytest.mark.usefixtures("compacted")
def test_what_was_called_a_finding_is_a_candidate(shared: Product) -> None:
    shared("work", "--once")
    candidates = shared.memories("candidate")

    assert candidates[CAUSE]["category"] == "gotcha"
    assert candidates[CAUSE]["observation_count"] == 1
    assert "tokens expire in UTC, because servers differ." in candidates


def test_the_model_is_asked_once_and_gets_the_index_each_time(
    compacted: tuple[Session, Session],
) -> None:
    first, second = (session.requests[-1] for session in compacted)

    assert QUESTION in first.text
    assert "ademem add" in first.text
    assert QUESTION not in second.text
    assert KNOWN in first.text
    assert KNOWN in second.text


ASKS = "saved nothing to project memory"


def changing(world: World, *answers: str) -> Session:
    """Two turns that change files, where the project wants to be asked at their end."""
    world.configure("[capture]\nask_at_stop = true\n")
    return world.chat(
        person("Fix the login bug in src/auth.py"),
        model(bash('ademem recall "login"')),
        model(write(world.project / "src/auth.py")),
        *map(model, answers),
        person("Fix the logout bug in src/out.py"),
        model(bash('ademem recall "logout"')),
        model(write(world.project / "src/out.py")),
        model("Fixed, too."),
    )


def test_a_turn_that_saved_nothing_is_asked_once_a_session(world: World, ademem: Product) -> None:
    session = changing(world, "Fixed.", "NO_DISCOVERIES")
    asked = [ASKS in request.news for request in session.requests]

    assert asked.count(True) == 1
    assert asked[3]


def test_a_model_that_answered_before_is_not_asked(world: World, ademem: Product) -> None:
    session = changing(world, "Fixed. NO_DISCOVERIES")

    assert not any(ASKS in request.news for request in session.requests)


def test_what_is_saved_when_asked_is_kept(world: World, ademem: Product) -> None:
    world.configure("[capture]\nask_at_stop = true\n")
    world.chat(
        person("Fix the login bug in src/auth.py"),
        model(bash('ademem recall "login"')),
        model(write(world.project / "src/auth.py")),
        model("Fixed."),
        model(bash(f'ademem add "In this setup {CAUSE}" --category gotcha')),
        model("Saved."),
    )

    assert f"In this setup {CAUSE}" in ademem.memories("candidate")
