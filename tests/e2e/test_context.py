"""What of memory comes before the model's eyes besides the briefing at a start."""

from __future__ import annotations

import pytest

from .product import Product
from .script import bash, delegate, helper, model, person, write
from .scripted_model import SUMMARY
from .session import Session
from .world import World

pytestmark = [pytest.mark.e2e, pytest.mark.contract]

KNOWN = "Errors are raised as AppError, never as plain strings"
FOUND = "The session cookie is dropped when the proxy rewrites the host header"


@pytest.fixture(scope="module")
def session(shared: Product) -> Session:
    """One that is compacted and then sends a subagent, where changes need a search before."""
    world = shared.world
    world.write(".ade/config.toml", "[guard]\nmode = 'strict'\n")
    shared.know(KNOWN)
    return world.chat(
        person("Hello"),
        model(bash("echo hello")),
        model("Hello."),
        person("/compact"),
        person("Thanks!"),
        model("You are welcome."),
        person("Fix the login bug in src/auth.py"),
        model(bash('ademem recall "login"')),
        model(delegate("Find out why people are logged out.")),
        helper(write(world.project / "early.py")),
        helper(bash('ademem recall "session cookie"')),
        helper(write(world.project / "late.py")),
        helper(f"Done.\n\n## Key Learnings\n\n1. {FOUND}\n"),
        model("Fixed."),
    )


def test_compaction_brings_the_index_back(session: Session) -> None:
    before, after = session.requests[0], session.requests[2]

    assert SUMMARY in after.text
    assert before.text.count(KNOWN) == after.text.count(KNOWN) == 1


def test_a_subagent_is_briefed_guarded_and_captured(session: Session, shared: Product) -> None:
    briefed, denied, _, landed = session.helper_requests
    written = [(shared.world.project / name).exists() for name in ("early.py", "late.py")]

    assert briefed.text.count(KNOWN) == 1
    assert denied.results[0].is_error
    assert "ademem recall" in denied.results[0].text
    assert not landed.results[0].is_error
    assert written == [False, True]
    assert FOUND in shared.memories("candidate")


@pytest.mark.contract(full_only=True)
def test_a_report_of_a_background_task_is_not_kept_as_a_prompt(
    world: World, ademem: Product
) -> None:
    session = world.chat(
        person("Have a look around"),
        model(delegate("Look around.", background=True)),
        model("It is under way."),
        helper("Nothing to see.", late=True),
        model("Nothing to see."),
    )

    assert "<task-notification>" in session.requests[-1].news
    assert len(session.hooks("UserPromptSubmit")) == 2
    assert ademem.prompts() == ["Have a look around"]
