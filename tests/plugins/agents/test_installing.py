"""The hooks come to the settings of other agents, and go again, on real files."""

import json
from pathlib import Path

import pytest

from ademem.operations.install import BadSettingsFile, hooks_folder, registration
from ademem.plugins.agents import installing
from tests.operations.install.test_install import BEFORE
from tests.operations.install.test_install import home as home

CLIENTS = [
    pytest.param(
        *(installing.add_to_codex, installing.remove_from_codex, installing.codex_path),
        installing.CODEX,
        id="codex",
    ),
    pytest.param(
        *(installing.add_to_gemini, installing.remove_from_gemini, installing.gemini_path),
        installing.GEMINI,
        id="gemini",
    ),
]


def add(to, **more):
    return to(python="/opt/it's/python", hooks=hooks_folder(), **more)


@pytest.mark.parametrize("before", BEFORE)
@pytest.mark.parametrize(("to", "remove", "place", "events"), CLIENTS)
def test_hooks_come_and_go_byte_for_byte(before, to, remove, place, events):
    path = Path(place())
    path.parent.mkdir(parents=True)
    path.write_bytes(before.encode())

    assert add(to, dry_run=True).changes
    assert path.read_bytes() == before.encode()
    assert add(to).changes
    assert not add(to).changes
    settings = json.loads(path.read_text("utf-8-sig"))
    registered = registration.list_commands(settings)
    assert {event.name for event in events} <= registered.keys()
    assert {event.hook for event in events} == {f"agents/{place.__name__.partition('_')[0]}"}
    assert "permissions" not in settings or "permissions" in before

    remove()
    assert path.read_bytes() == before.encode()


@pytest.mark.parametrize(("to", "remove", "place", "events"), CLIENTS)
def test_an_event_that_is_no_list_is_left_alone(to, remove, place, events):
    path = Path(place())
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps({"hooks": {events[-2].name: "theirs"}}))

    with pytest.raises(BadSettingsFile, match="is not a list"):
        add(to)
    with pytest.raises(BadSettingsFile, match="is not a list"):
        remove()


def test_gemini_gets_milliseconds_and_a_name():
    add(installing.add_to_gemini)
    settings = json.loads(Path(installing.gemini_path()).read_text())

    (handler,) = settings["hooks"]["BeforeTool"][0]["hooks"]
    assert handler["timeout"] == 10_000
    assert handler["name"] == "ademem: checking memory"
    assert "statusMessage" not in handler


def test_the_plugin_of_opencode_comes_and_goes(home, monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home / "c"))
    path = home / "c/opencode/plugins/ademem.js"

    assert add(installing.add_to_opencode).changes
    assert '"/opt/it\'s/python"' in path.read_text()
    assert "PYTHON" not in path.read_text()
    assert not add(installing.add_to_opencode).changes

    installing.remove_from_opencode()
    assert not (home / "c/opencode").exists()


def test_a_plugin_of_somebody_else_is_left_alone(home):
    path = home / ".config/opencode/plugins/ademem.js"
    path.parent.mkdir(parents=True)
    path.write_text("export const Theirs = 1\n")

    with pytest.raises(BadSettingsFile):
        add(installing.add_to_opencode)
    with pytest.raises(BadSettingsFile):
        installing.remove_from_opencode()


def test_the_command_names_the_agents_and_refuses_another(ademem):
    assert "Instead with codex, gemini, opencode" in " ".join(ademem("install", "--help").split())
    assert "no agent 'cursor' (codex, gemini, opencode)" in ademem("install", "--agent", "cursor")
    assert ademem.exit_code == 2

    assert ademem("install", "--agent", "codex").startswith("registered in ")
    assert ademem("uninstall", "--agent", "codex").startswith("removed from ")
