"""The context that a program asks for has a memory of the person once they confirmed it."""

from types import SimpleNamespace

from ademem.operations import curation, memory_operations
from tests.operations.test_said_in import elsewhere as elsewhere
from tests.operations.test_said_in import here as here
from tests.operations.test_said_in import say


def context(world):
    with world.memories() as memories:
        return str(memory_operations.context(memories, SimpleNamespace(door="mcp"), 8000))


def test_it_is_told_once_a_person_confirmed_it(here, elsewhere):
    id = say(here)
    say(elsewhere, "project", "The deploys here need a lock")
    assert "Quokka" not in context(here) + context(elsewhere)

    with here.terminal() as memories:
        curation.promote(memories, id)
    assert "Quokka" in context(here)
    assert "Quokka" in context(elsewhere)
