"""A program that drives the client is refused what a person is asked."""

import pytest

from .product import Product
from .script import bash, model, person, write
from .world import World

pytestmark = [pytest.mark.e2e, pytest.mark.contract]


def test_hooks_of_the_client_are_changed_by_no_call_without_a_person(
    world: World, ademem: Product
) -> None:
    settings = world.project / ".claude/settings.json"
    hooks = '{"hooks": {"Stop": []}, "env": {"A": "1"}}'
    world.chat(
        person("What is this project?"),
        model(write(settings, hooks), bash(f"echo '{hooks}' > .claude/settings.json")),
        model("A project."),
    )

    assert not settings.exists()
    assert len(ademem.decisions("ask")) == 2
