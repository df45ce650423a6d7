"""Where nobody asked for memory, the hooks say nothing, and no interpreter starts."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from .product import watched
from .script import bash, model, person, write
from .world import World

pytestmark = [pytest.mark.e2e, pytest.mark.contract(full_only=True)]


def test_a_project_that_is_not_enrolled_hears_nothing(world: World) -> None:
    with watched(world) as ademem:
        enrolled = world.home / "another project"
        enrolled.mkdir()
        ademem("init", "--project", str(enrolled))
        ademem("install", "--project", str(enrolled), "--user")
        ademem.plug_in()
        started = count_interpreters(world)
        session = world.chat(
            person("Fix the login bug in src/auth.py"),
            model(write(world.project / "auth.py"), bash("echo LEARNED: nothing")),
            model("Fixed."),
        )
    hooks = session.hooks()

    assert len([hook for hook in hooks if hook.event == "PreToolUse"]) == 4
    assert {hook.stdout for hook in hooks} == {""}
    assert not started.exists()
    assert (world.project / "auth.py").exists()
    assert not (world.project / ".ade").exists()


def count_interpreters(world: World) -> Path:
    """Let each Python that a hook of the settings or the plugin starts leave a line in a file."""
    started = world.root / "started"
    world.program("counted", f'echo "$@" >>"{started}"\nexec "{sys.executable}" "$@"')
    counted = str(world.bin / "counted")
    settings = world.config / "settings.json"
    registered = settings.read_text(encoding="utf-8")
    assert f"python={sys.executable}" in registered
    settings.write_text(registered.replace(f"python={sys.executable}", f"python={counted}"))
    found = world.home / ".local/share/ademem-data/python"
    found.parent.mkdir(parents=True, exist_ok=True)
    found.write_text(counted)
    return started
