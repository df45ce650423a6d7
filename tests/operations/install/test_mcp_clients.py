"""Our server in the files of MCP clients."""

import json
import tomllib

import pytest

from ademem.core.errors import UsageError
from ademem.operations import install
from ademem.operations.install import BadSettingsFile

FILES = {
    "claude": ".claude.json",
    "codex": ".codex/config.toml",
    "gemini": ".gemini/settings.json",
    "opencode": ".config/opencode/opencode.json",
    "cursor": ".cursor/mcp.json",
    "vscode": ".config/Code/User/mcp.json",
}
TEXTS = {
    "nothing": None,
    "json": '{"theme":  "dark",\n\t"mcpServers": {"other": {"command": "x"}}}\n',
    "toml": 'model = "gpt" # mine\n\n[mcp_servers.other]\ncommand = "x"',
}


@pytest.fixture
def change(world, home, monkeypatch):
    """Add or remove our server at a client, as in the project of the world."""
    monkeypatch.setattr(install.sys, "platform", "linux")

    def make(act, name, *, shared=False, **options):
        environment = {"PATH": "", "HOME": str(home)}
        monkeypatch.setattr(install, "_own_program", lambda _: "/opt/ademem")
        return act(name, str(world.root), environment, shared=shared, **options)

    return make


def prepared(home, name, kind):
    path, text = (
        home / FILES[name],
        TEXTS["toml" if kind and name == "codex" else kind or "nothing"],
    )
    if text is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return path, text


@pytest.mark.parametrize("kind", ["", "json"])
@pytest.mark.parametrize("name", FILES)
def test_a_server_comes_and_goes_byte_for_byte(change, home, name, kind):
    path, before = prepared(home, name, kind)
    tried = change(install.add_server, name, dry_run=True)
    assert tried.diff()
    assert path.exists() is (before is not None)

    added = change(install.add_server, name)
    assert added.after == path.read_text() == tried.after
    assert not change(install.add_server, name).changes
    assert "/opt/ademem" in str(
        (tomllib.loads if name == "codex" else json.loads)(path.read_text())
    )

    change(install.remove_server, name)
    assert (path.read_text() if path.exists() else None) == before


@pytest.mark.parametrize("name", FILES)
def test_an_empty_file_takes_the_server_and_is_empty_again(change, home, name):
    path = home / FILES[name]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n")
    change(install.add_server, name)
    assert "/opt/ademem" in path.read_text()

    change(install.remove_server, name)
    assert path.read_text() == "\n"


@pytest.mark.parametrize("name", ["claude", "codex"])
def test_from_a_file_that_was_edited_since_only_our_entry_goes(change, home, name):
    path, _ = prepared(home, name, "json")
    change(install.add_server, name)
    path.write_text(path.read_text().replace('"x"', '"y"'))
    change(install.remove_server, name)

    left = path.read_text()
    assert "ademem" not in left
    assert "y" in left


def test_claude_keeps_the_server_of_a_person_by_project(change, home, world):
    change(install.add_server, "claude")
    projects = json.loads((home / ".claude.json").read_text())["projects"]

    entry = {"command": "/opt/ademem", "args": ["mcp"]}
    assert projects == {str(world.root): {"mcpServers": {"ademem": entry}}}


def test_codex_waits_for_the_server_before_the_first_turn(change, home):
    change(install.add_server, "codex")

    (entry,) = tomllib.loads((home / FILES["codex"]).read_text())["mcp_servers"].values()
    assert entry == {"command": "/opt/ademem", "args": ["mcp"], "required": True}


def test_opencode_waits_longer_than_five_seconds_for_the_server(change, home):
    change(install.add_server, "opencode")

    entry = json.loads((home / FILES["opencode"]).read_text())["mcp"]["ademem"]
    assert entry["timeout"] == 60_000


@pytest.mark.parametrize("name", ["claude", "codex"])
def test_an_earlier_entry_of_ours_is_replaced_and_the_file_still_restored(
    change, home, monkeypatch, name
):
    path, before = prepared(home, name, "json")
    with monkeypatch.context() as earlier:
        former = '[mcp_servers.ademem]\ncommand = {command}\nargs = ["mcp"]\n'
        earlier.setattr(install, "TOML", former)
        earlier.setattr(install.McpClient, "entry", lambda *_: {"command": "ademem"})
        change(install.add_server, name)
    assert change(install.add_server, name).changes
    assert change(install.add_server, name).changes is False

    change(install.remove_server, name)
    assert path.read_text() == before


@pytest.mark.parametrize("name", FILES)
def test_a_client_runs_this_installation_whatever_comes_first_on_its_path(
    world, home, tmp_path, monkeypatch, name
):
    ours, others = tmp_path / "ours", tmp_path / "others"
    for folder in (ours, others):
        folder.mkdir()
        (folder / "ademem").touch(mode=0o755)
    monkeypatch.setattr(install.sys, "platform", "linux")
    monkeypatch.setattr(install.sys, "executable", str(ours / "python"))

    environment = {"PATH": str(others), "HOME": str(home)}
    install.add_server(name, str(world.root), environment, shared=False)

    (command,) = install.list_servers(str(world.root), environment).values()
    assert command == [str(ours / "ademem"), "mcp"]


@pytest.mark.parametrize("act", ["replaced", "removed"])
@pytest.mark.parametrize("name", ["claude", "codex"])
def test_a_bare_entry_in_a_file_that_was_edited_since_is_still_ours(
    change, home, monkeypatch, name, act
):
    path, _ = prepared(home, name, "json")
    with monkeypatch.context() as earlier:
        earlier.setattr(install, "TOML", install.TOML.replace("{command}", '"ademem"'))
        entry = install.McpClient.entry
        earlier.setattr(install.McpClient, "entry", lambda client, _: entry(client, "ademem"))
        change(install.add_server, name)
    path.write_text(path.read_text().replace('"x"', '"y"'))

    if act == "replaced":
        change(install.add_server, name)
        assert "/opt/ademem" in path.read_text()
    change(install.remove_server, name)

    left = path.read_text()
    assert "ademem" not in left
    assert '"y"' in left


@pytest.mark.parametrize("name", [name for name in FILES if name != "codex"])
def test_a_file_for_the_team_names_no_folder_of_this_machine(change, world, name):
    added = change(install.add_server, name, shared=True)

    assert added.path.startswith(str(world.root))
    assert "/opt" not in added.after
    assert '"ademem"' in added.after
    change(install.remove_server, name, shared=True)
    assert not (world.root / install.MCP_CLIENTS[name].shared).exists()


@pytest.mark.parametrize(
    ("name", "text"),
    [
        pytest.param("gemini", "{ // mine\n}", id="no JSON"),
        pytest.param("codex", "model = ", id="no TOML"),
        pytest.param("gemini", '{"mcpServers": []}', id="no object"),
        pytest.param("cursor", '{"mcpServers": {"ademem": {"url": "x"}}}', id="another server"),
    ],
)
def test_a_file_that_cannot_be_edited_safely_is_left_as_it_is(change, home, name, text):
    path = home / FILES[name]
    path.parent.mkdir(parents=True)
    path.write_text(text)

    with pytest.raises(BadSettingsFile) as raised:
        change(install.add_server, name)
    assert path.read_text() == text
    assert "by hand" in raised.value.hint


def test_an_unknown_client_is_named_with_the_known_ones(change):
    with pytest.raises(UsageError) as raised:
        change(install.add_server, "emacs")
    assert "opencode" in raised.value.hint


@pytest.mark.parametrize("name", FILES)
def test_what_a_client_needs_can_be_shown(name):
    where, _, *lines = install.describe_entry(name)
    text = "\n".join(lines)

    assert where.endswith((".json", ".toml"))
    assert "ademem" in str(tomllib.loads(text) if name == "codex" else json.loads(text))
