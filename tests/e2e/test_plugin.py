"""The plugin alone, without an installation, on a machine that was never used before."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from .product import REPOSITORY, watched
from .script import bash, model, person
from .world import World

pytestmark = [pytest.mark.e2e, pytest.mark.contract]

LESSON = "the invoices are rounded half to even"


@pytest.fixture
def plugin(world: World) -> World:
    """A client with the plugin, and on PATH a Python that has none of the packages."""
    python = Path(sys.executable).resolve()
    (world.bin / "python3").symlink_to(python)
    world.variables["PATH"] = os.pathsep.join([str(world.bin), "/usr/bin", "/bin"])
    world.variables["ADEMEM_PREFIX"] = str(world.root / "none")
    world.options += ("--plugin-dir", str(REPOSITORY))
    return world


@pytest.mark.contract(full_only=True)
def test_the_plugin_alone_has_every_command_that_its_briefing_names(plugin: World) -> None:
    with watched(plugin) as product:
        first = plugin.chat(
            person("set it up"),
            model(bash("ademem init")),
            model("done"),
        )
        (enrolled,) = first.requests[1].results
        assert "memory of" in enrolled.text
        session = plugin.chat(
            person("remember: deploys go through the staging branch"),
            model(bash(f'ademem add "{LESSON}" --category gotcha')),
            model(bash('ademem recall "staging deploys"')),
            model(bash("ademem list")),
            model(bash("ademem")),
            model(bash("ademem graph")),
            model("done"),
        )
        added, recalled, listed, told, refused = (each.results[0] for each in session.requests[1:])

        assert (added.is_error, recalled.is_error, listed.is_error) == (False, False, False)
        assert "staging branch" in recalled.text
        assert LESSON in listed.text
        assert "Running     hooks, guard, search by words" in told.text
        id = product.memories()[LESSON]["id"]
        read = plugin.chat(person("read it"), model(bash(f"ademem get {id}")), model("done"))
        for command in ('recall "words"`', "get ID`", 'add "…" --category gotcha --when "'):
            assert f"`ademem {command}" in read.requests[0].text
        assert not read.requests[1].results[0].is_error
        assert refused.is_error
        assert "install.sh" in refused.text
        assert product.failures() == ""


def test_no_server_of_the_plugin_fails(plugin: World) -> None:
    session = plugin.chat(person("hello"), model("Hello."))
    (begun,) = (e.data for e in session.events if e.data.get("subtype") == "init")

    assert [server for server in begun["mcp_servers"] if "ademem" in server["name"]] == []
    assert "ademem" in [each["name"] for each in begun["plugins"]]
