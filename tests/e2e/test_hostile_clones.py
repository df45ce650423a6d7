"""The real client in a clone that somebody hostile made: two sessions and the worker after each."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.hostile.clones import CLONES, EVERYTHING, ORDER, PRIVATE, RULE, Clone, Victim

from .product import well_behaved
from .script import bash, model, person, write
from .world import World

pytestmark = [pytest.mark.e2e, pytest.mark.contract]

EXAMPLES = CLONES if os.environ.get("ADEMEM_EXAMPLES") == "full" else (EVERYTHING,)


@pytest.fixture
def victim(world: World) -> Victim:
    """A newcomer who has the hooks in all projects, from one of their own."""
    victim = Victim(world.root)
    own = world.home / "code/own"
    own.mkdir(parents=True)
    world.run("ademem", "init", "--project", str(own))
    world.run("ademem", "install", "--user", "--project", str(own))
    return victim


@pytest.mark.parametrize("clone", [pytest.param(clone, id=clone.name) for clone in EXAMPLES])
def test_the_client_works_in_a_hostile_clone_and_nothing_leaves_it(
    clone: Clone, victim: Victim, world: World
) -> None:
    victim.take(clone)
    world.project = victim.project
    before, git = victim.outside(), victim.git_configuration()
    source = Path(victim.project, "src/auth.py")

    for prompt in ("How are invoices rounded in billing?", "Fix the login bug in src/auth.py"):
        world.chat(
            person(prompt),
            model(bash("cat src/auth.py"), bash("ademem recall 'invoices rounded'")),
            model(write(source)),
            model("Done."),
        )
        world.run("sh", "-c", "ademem work --once || true")
    requests = "\n".join(request.text for each in world.sessions for request in each.requests)
    hooks = [hook for session in world.sessions for hook in session.hooks()]

    assert hooks
    assert [hook for hook in hooks if not well_behaved(hook)] == []
    assert victim.outside() == before
    assert victim.git_configuration() == git
    assert victim.listener.received == b""
    assert not victim.started.exists()
    assert ORDER not in requests
    assert PRIVATE not in requests
    assert not clone.readable or RULE in requests
    assert source.read_text() == "written\n"
