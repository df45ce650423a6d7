"""What the client shows to the person, and the slash commands that the prompt hook answers."""

from __future__ import annotations

import json

import pytest

from .product import Product
from .script import bash, model, person
from .session import Session
from .world import World

pytestmark = [pytest.mark.e2e, pytest.mark.contract(full_only=True)]


def test_the_person_sees_a_line_and_a_slash_command_asks_the_model_nothing(
    world: World, ademem: Product
) -> None:
    ademem.know("Login tokens expire in UTC")
    session = world.chat(
        person("remember: deploys go through staging"),
        model("I will."),
        person("/ademem:review"),
        person("/ademem:recall login tokens"),
        model("They expire in UTC."),
    )
    lines = _lines(session)

    assert "◆ ademem: 1 memory" in lines
    assert any(
        line.startswith("◆ ademem noted for review: deploys go through stag") for line in lines
    )
    assert len(session.requests) == 2
    assert "Login tokens expire in UTC" in session.requests[1].news
    assert not any("for your word" in request.text for request in session.requests)


def test_the_person_sees_what_was_refused_and_once_that_a_hook_failed(world: World) -> None:
    ademem = Product(world)
    ademem.enrol()
    ademem.install()
    damage = "import sqlite3; sqlite3.connect('.ade/ade.db').execute('drop table user_prompts')"
    world.program("damage", f'exec python -c "{damage}"')
    session = world.chat(
        *(person("remember: Fixed the login bug, all tests pass now"), model("I will not.")),
        *(person("Clean up"), model(bash("damage")), model("Done.")),
        *(person("And then?"), model("Nothing."), person("What else?"), model("Nothing.")),
    )

    assert [line.partition(" (")[0] for line in _lines(session)[1:]] == [
        "◆ ademem: not stored: it reads as a progress report, which can be looked…",
        "◆ ademem: its hook user_prompt_submit failed",
    ]
    assert "no such table: user_prompts" in ademem.failures()


def _lines(session: Session) -> list[str]:
    """Return what hooks show to the person, in order."""
    answers = [json.loads(hook.stdout) for hook in session.hooks() if hook.stdout]
    return [answer["systemMessage"] for answer in answers if "systemMessage" in answer]
