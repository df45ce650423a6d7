"""What the client shows to the person, and the slash commands that the prompt hook answers."""

from __future__ import annotations

import json

import pytest

from .product import Product
from .script import model, person
from .world import World

pytestmark = [pytest.mark.e2e, pytest.mark.contract]


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
    lines = [
        json.loads(hook.stdout).get("systemMessage", "") for hook in session.hooks() if hook.stdout
    ]

    assert "ademem: 1 memory" in lines
    assert any(line.startswith("ademem: stored: deploys go through staging") for line in lines)
    assert len(session.requests) == 2
    assert "Login tokens expire in UTC" in session.requests[1].news
    assert not any("waits for review" in request.text for request in session.requests)
