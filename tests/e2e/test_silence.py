"""Where nobody asked for memory, the hooks say nothing and cost next to nothing."""

from __future__ import annotations

from statistics import median

import pytest

from .product import watched
from .script import bash, model, person, write
from .world import World

pytestmark = [pytest.mark.e2e, pytest.mark.contract(full_only=True)]

QUICK_S = 0.05
"""Ten times what a shell needs to see that there is no `.ade/`."""


def test_a_project_that_is_not_enrolled_hears_nothing(world: World) -> None:
    with watched(world) as ademem:
        enrolled = world.home / "another project"
        enrolled.mkdir()
        ademem("init", "--project", str(enrolled))
        ademem("install", "--project", str(enrolled), "--user")
        ademem.plug_in()
        session = world.chat(
            person("Fix the login bug in src/auth.py"),
            model(write(world.project / "auth.py"), bash("echo LEARNED: nothing")),
            model("Fixed."),
        )
    hooks = session.hooks()

    assert len([hook for hook in hooks if hook.event == "PreToolUse"]) == 4
    assert {hook.stdout for hook in hooks} == {""}
    assert median(hook.seconds for hook in hooks) < QUICK_S
    assert (world.project / "auth.py").exists()
    assert not (world.project / ".ade").exists()
