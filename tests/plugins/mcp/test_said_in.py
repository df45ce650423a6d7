"""The context that a program asks for has a memory of the person where it was said."""

import pytest

from ademem.operations import memory_operations
from tests.operations.test_said_in import elsewhere as elsewhere
from tests.operations.test_said_in import here as here
from tests.operations.test_said_in import say


def context(world):
    with world.memories() as memories:
        return str(memory_operations.context(memories, None, 8000))


@pytest.mark.parametrize("scope", ["personal", "agent"])
def test_it_is_told_there_and_in_no_other_project(here, elsewhere, scope):
    say(here, scope)
    say(elsewhere, "project", "The deploys here need a lock")

    assert "Quokka" in context(here)
    assert "Quokka" not in context(elsewhere)
