"""Entries of our MCP server in the files of its clients, which are edited in place."""

from __future__ import annotations

import json
import os
import sys
import tomllib
from collections.abc import Mapping
from typing import Any

from ademem.api import install
from ademem.api.install import BadSettingsFile, Change, json_text
from ademem.api.install.json_text import Keys
from ademem.core.errors import UsageError
from ademem.core.text import sha256_hex
from ademem.core.value import Value
from ademem.store.runtime import program

NAME = "ademem"
TOML = '[mcp_servers.ademem]\ncommand = {command}\nargs = ["mcp"]\n'
BY_HAND = "add by hand what `ademem mcp --config CLIENT` shows"
MAC_SETTINGS = "~/Library/Application Support"


class Client(Value):
    """A program that starts MCP servers, and the files that name them."""

    own: str
    """The person's file."""
    shared: str
    """The project's file, for all who have the repository; empty for none."""
    keys: Keys = ("mcpServers",)
    """Path to the servers; empty for TOML."""
    extra: dict[str, Any] = {}
    is_list: bool = False
    """Command and arguments are one list."""

    def entry(self, command: str) -> dict[str, Any]:
        if self.is_list:
            return self.extra | {"command": [command, "mcp"], "enabled": True}
        return self.extra | {"command": command, "args": ["mcp"]}


CLIENTS = {
    "claude": Client(own="{CLAUDE_CONFIG_DIR:~}/.claude.json", shared=".mcp.json"),
    "codex": Client(own="{CODEX_HOME:~/.codex}/config.toml", shared="", keys=()),
    "gemini": Client(own="~/.gemini/settings.json", shared=".gemini/settings.json"),
    "opencode": Client(
        own="{XDG_CONFIG_HOME:~/.config}/opencode/opencode.json",
        shared="opencode.json",
        keys=("mcp",),
        extra={"type": "local"},
        is_list=True,
    ),
    "cursor": Client(own="~/.cursor/mcp.json", shared=".cursor/mcp.json"),
    "vscode": Client(
        own="{XDG_CONFIG_HOME:~/.config}/Code/User/mcp.json"
        if sys.platform != "darwin"
        else f"{MAC_SETTINGS}/Code/User/mcp.json",
        shared=".vscode/mcp.json",
        keys=("servers",),
        extra={"type": "stdio"},
    ),
}


def add_server(
    name: str, root: str, environment: Mapping[str, str], *, shared: bool, dry_run: bool = False
) -> Change:
    """Add our server to the file of a client; a complete file is not changed.

    Raises BadSettingsFile for a file that cannot be edited safely or names another server so.
    """
    client, path, record = _find(name, root, environment, shared=shared)
    keys = _keys(name, client, root, shared=shared)
    command = NAME if shared else program(environment)
    text = install.read_file(path)
    if text is not None and (there := _read_entry(path, text, keys)) is not None:
        if there != client.entry(command):
            raise BadSettingsFile(path, f"it has another server {NAME!r}")
        return Change(path=path, before=text, after=text)
    if keys:
        base = text if text and text.strip() else "{}\n"
        after = json_text.add(base, (*keys, NAME), client.entry(command))
    else:
        gap = "\n" if text and not text.endswith("\n\n") else ""
        after = (text or "") + gap + TOML.format(command=json.dumps(command))
    if not dry_run:
        install.save(path, text, after, record)
    return Change(path=path, before=text, after=after)


def remove_server(
    name: str, root: str, environment: Mapping[str, str], *, shared: bool, dry_run: bool = False
) -> Change:
    """Restore the original file, or remove our entry from a file that was edited since."""
    client, path, record = _find(name, root, environment, shared=shared)
    keys = _keys(name, client, root, shared=shared)
    text, original = install.read_file(path), install.read_record(*record)
    after = text
    if text is not None and original is not None and text == original.after:
        after = original.before
    elif text is not None and _read_entry(path, text, keys) is not None:
        if keys:
            after = json_text.remove(text, (*keys, NAME))
        else:
            block = TOML.format(command=json.dumps(program(environment)))
            after = text.replace(block, "", 1)
    change = Change(path=path, before=text, after=after)
    if not dry_run:
        install.put_back(change, record, original)
    return change


def has_record(name: str, root: str, environment: Mapping[str, str]) -> bool:
    """Tell whether our server was added to the person's file and not removed."""
    _, _, record = _find(name, root, environment, shared=False)
    return install.read_record(*record) is not None


def describe(name: str) -> list[str]:
    """Return the lines that a person adds to the client's file, after the file's name."""
    client = _client(name)
    if not client.keys:
        return [_own_path(client, {}), "", *TOML.format(command=json.dumps(NAME)).splitlines()]
    value: Any = {NAME: client.entry(NAME)}
    for key in reversed(client.keys):
        value = {key: value}
    return [client.shared, "", *json.dumps(value, indent=2).splitlines()]


def _client(name: str) -> Client:
    if name not in CLIENTS:
        raise UsageError(f"no client {name!r}", ", ".join(CLIENTS))
    return CLIENTS[name]


def _find(
    name: str, root: str, environment: Mapping[str, str], *, shared: bool
) -> tuple[Client, str, tuple[str, str]]:
    """Return the client, its file, and the record of what the file was before."""
    client = _client(name)
    if shared:
        if not client.shared:
            raise UsageError(f"{name} has no file for a project", "leave --shared out")
        record = os.path.join(root, ".ade", "run", f"original-mcp-{name}.json")
        return client, os.path.join(root, client.shared), (record, root)
    path = os.path.expanduser(_own_path(client, environment))
    state = environment.get("XDG_STATE_HOME") or os.path.expanduser("~/.local/state")
    of = f"-{sha256_hex(root)[:8]}" if name == "claude" else ""
    record = os.path.join(state, "ademem", f"original-mcp-{name}{of}.json")
    return client, path, (record, "")


def _own_path(client: Client, environment: Mapping[str, str]) -> str:
    """Return the person's file, below the folder that the variable in its path names."""
    if not client.own.startswith("{"):
        return client.own
    variable, _, rest = client.own[1:].partition(":")
    default, _, rest = rest.partition("}")
    return (environment.get(variable) or default) + rest


def _keys(name: str, client: Client, root: str, *, shared: bool) -> Keys:
    """Return the path to the servers; Claude Code keeps those of a person by project."""
    return ("projects", root, *client.keys) if name == "claude" and not shared else client.keys


def _read_entry(path: str, text: str, keys: Keys) -> Any:
    if not text.strip():
        return None
    try:
        value: Any = json_text.parse(text) if keys else tomllib.loads(text)
    except ValueError as error:
        why = "it is not plain JSON, without comments" if keys else "it is not valid TOML"
        raise BadSettingsFile(path, why, BY_HAND) from error
    for key in (*(keys or ("mcp_servers",)), NAME):
        if not isinstance(value, dict):
            raise BadSettingsFile(path, f"{key!r} is in no object")
        value = value.get(key)
        if value is None:
            return None
    return value
