"""Install in a client, and remove: hooks in its settings or by its plugin, commands, MCP server."""

from __future__ import annotations

import json
import os
import sys
import sysconfig
import tomllib
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from enum import StrEnum
from shlex import quote
from typing import Any

from ademem.core import bytecode, confined, plugins
from ademem.core import project as project_
from ademem.core.client import config_dir
from ademem.core.errors import AdememError, NotEnrolled, UsageError
from ademem.core.settings import load_configuration
from ademem.core.shared_files import read_text, remove, write_atomic
from ademem.core.text import sha256_hex
from ademem.core.value import Value, as_dict
from ademem.operations.install import client_settings, json_text, registration
from ademem.operations.install.json_text import Keys
from ademem.store.runtime import program

PREFIX = "${ADEMEM_PREFIX:-$HOME/.local/share/ademem}"
"""Folder of install.sh, as a shell on any machine expands it."""


class Where(StrEnum):
    """The user's settings of a project, the team's, or the user's of every project."""

    LOCAL = "local"
    SHARED = "shared"
    USER = "user"


OF_PROJECT = (Where.LOCAL, Where.SHARED)


class Change(Value):
    """Content of a settings file before and after; None for no file."""

    path: str
    before: str | None
    after: str | None

    @property
    def changes(self) -> bool:
        return self.before != self.after

    def diff(self) -> str:
        from difflib import unified_diff

        before, after = ((text or "").splitlines() for text in (self.before, self.after))
        return "\n".join(unified_diff(before, after, self.path, self.path, lineterm="", n=1))


class Target(Value):
    """A settings file that gets our entries."""

    path: str
    record: tuple[str, str]
    """Path of the record, and the folder below which no link may lead to it, if any."""
    groups: dict[str, list[registration.Settings]]
    """The entries of each event."""
    permissions: tuple[str, ...] = ()


class Agent(Value):
    """A coding agent other than Claude Code, with which a part registers hooks."""

    name: str
    add: Callable[..., Change]
    """Takes *python* and *hooks*, as `install` does, and *dry_run*."""
    remove: Callable[..., Change]
    """Takes *dry_run*."""


VERSION_S = 10.0
"""Longest wait for the version of the client."""


def install(
    project: str, where: Where, *, python: str, hooks: str, dry_run: bool = False
) -> Change:
    """Register every hook and permission; a complete file is not changed.

    *python* and *hooks* are absolute paths, which a shared file does not contain. Raises
    BadSettingsFile for a file that cannot be edited safely, and leaves it unchanged.
    """
    if where in OF_PROJECT and not os.path.isdir(os.path.join(project, ".ade")):
        raise NotEnrolled(project)
    if where is Where.SHARED:
        groups = registration.make_groups(python="", hooks=f'"{PREFIX}/share/ademem/hooks"')
    else:
        version = client_version()
        groups = registration.make_groups(
            python=quote(python),
            hooks=quote(hooks),
            events=registration.events_of(version),
            is_closed=version >= registration.BLOCKING and fails_closed(project, where),
        )
    target = Target(
        path=settings_path(project, where),
        record=_record(project, where),
        groups=groups,
        permissions=registration.PERMISSIONS,
    )
    return register(target, dry_run=dry_run)


def fails_closed(project: str, where: Where) -> bool:
    """Tell whether a call is to be denied whose hook fails: for a user's file, in every project."""
    found = None if where is Where.USER else project_.at(project)
    return load_configuration(found, os.environ).settings.guard.fail == "closed"


def client_version() -> tuple[int, ...]:
    """Ask the client on PATH for its version; empty without one, or if it does not say."""
    import re

    from ademem.core import process

    try:
        ran = process.run(["claude", "--version"], timeout_s=VERSION_S)
    except OSError:
        return ()
    found = re.match(r"(\d+)\.(\d+)\.(\d+)", ran.text)
    return tuple(map(int, found.groups())) if found else ()


def register(target: Target, *, dry_run: bool = False) -> Change:
    """Add our entries to a settings file, and first a record of what it was."""
    if not dry_run:
        bytecode.update()
        with suppress(OSError):  # in an installation that the user cannot write to
            plugins.note_others()
    path, groups, allowed = target.path, target.groups, target.permissions
    text = read_file(path)
    if text is not None and registration.is_current(_settings(path, text, groups), groups, allowed):
        return Change(path=path, before=text, after=text)
    original = read_record(*target.record)
    before = _restore(text, original)
    base = "{}\n" if before is None else before
    after = registration.add_entries(base, groups, allowed)
    is_added = registration.is_current(_settings(path, after, groups), groups, allowed)
    without = registration.remove_entries(after, base)
    if not is_added or _settings(path, without, groups) != _settings(path, base, groups):
        raise BadSettingsFile(path, "our entries could not be added without changing others")
    if not dry_run:
        save(path, before, after, target.record, original)
    return Change(path=path, before=text, after=after)


def uninstall(project: str, where: Where, *, dry_run: bool = False) -> Change:
    path, record = settings_path(project, where), _record(project, where)
    return unregister(path, record, registration.EVENT_NAMES, dry_run=dry_run)


def unregister(
    path: str, record: tuple[str, str], events: Iterable[str], *, dry_run: bool = False
) -> Change:
    """Restore the original file, or remove our entries from a file that was edited since."""
    text, original = read_file(path), read_record(*record)
    if text is not None:
        _settings(path, text, events)
    change = Change(path=path, before=text, after=_restore(text, original))
    if not dry_run:
        put_back(change, record, original)
    return change


def find_commands(project: str, where: Where) -> dict[str, str]:
    path = settings_path(project, where)
    text = read_file(path)
    return registration.list_commands(_settings(path, text)) if text is not None else {}


def blocks_on_failure(project: str, where: Where) -> bool:
    path = settings_path(project, where)
    text = read_file(path)
    return text is not None and registration.blocks_on_failure(_settings(path, text))


def has_record(project: str, where: Where) -> bool:
    return read_record(*_record(project, where)) is not None


STATUS_LINE = "statusline.sh"


def offer_status_line(root: str, hooks: str, environment: Mapping[str, str]) -> list[str]:
    """Say how the client's status line shows memory, unless one is set, which is left alone."""
    sources = client_settings.read_sources(root, environment)
    if any("statusLine" in source.values for source in sources):
        return []
    entry = {"type": "command", "command": os.path.join(hooks, STATUS_LINE)}
    there = os.path.join(config_dir(environment), "settings.json")
    return [f'a status line shows memory, with "statusLine": {json.dumps(entry)} in {there}']


def own_commands() -> dict[str, str]:
    groups = registration.make_groups(
        python=quote(sys.executable),
        hooks=quote(hooks_folder()),
    )
    return registration.list_commands({"hooks": groups})


def settings_path(project: str, where: Where) -> str:
    if where is Where.USER:
        home = os.environ.get("CLAUDE_CONFIG_DIR") or os.path.expanduser("~/.claude")
        return os.path.join(home, "settings.json")
    name = "settings.json" if where is Where.SHARED else "settings.local.json"
    return os.path.join(project, ".claude", name)


def hooks_folder() -> str:
    package = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    checkout = os.path.join(os.path.dirname(package), "hooks")
    shipped = os.path.join(sysconfig.get_path("data"), "share", "ademem", "hooks")
    for folder in (checkout, shipped):
        if os.path.isfile(os.path.join(folder, "start.sh")):
            return folder
    raise AdememError(f"the hooks are missing at {shipped}", "install ademem again")


def _record(project: str, where: Where) -> tuple[str, str]:
    """Return the path of the record, and the folder below which no link may lead to it, if any."""
    if where in OF_PROJECT:
        return os.path.join(project, ".ade", "run", f"original-{where}-settings.json"), project
    return record_of_user(), ""


def record_of_user(agent: str = "") -> str:
    """Return the path of the record of the user's own settings, of Claude Code or an agent."""
    state = os.environ.get("XDG_STATE_HOME") or os.path.expanduser("~/.local/state")
    of = f"{agent}-" if agent else ""
    return os.path.join(state, "ademem", f"original-{of}settings.json")


def _settings(
    path: str, text: str, events: Iterable[str] = registration.EVENT_NAMES
) -> registration.Settings:
    try:
        settings = json_text.parse(text)
    except ValueError as error:
        raise BadSettingsFile(path, f"it is not valid JSON ({error})") from error
    why = registration.find_misfit(settings, events)
    if why:
        raise BadSettingsFile(path, why)
    parsed: registration.Settings = settings
    return parsed


def _restore(text: str | None, original: Original | None) -> str | None:
    if text is None or original is None:
        return text if text is None else registration.remove_entries(text, None)
    if text == original.after:
        return original.before
    rest = registration.remove_entries(text, original.before or "{}")
    return None if original.before is None and json_text.parse(rest) == {} else rest


class BadSettingsFile(AdememError):
    hint = "repair it by hand, then run this again"

    def __init__(self, path: str, why: str, hint: str = "") -> None:
        super().__init__(f"{path} was left as it is: {why}", hint)


class Original(Value):
    """Contents of a settings file before and after `install`, to restore it byte for byte."""

    before: str | None
    after: str
    """A file with another content was edited since."""
    made_folder: bool


def read_file(path: str) -> str | None:
    """Return the text with its own line ends; None when there is no file."""
    try:
        return read_text(path)
    except UnicodeDecodeError as error:
        raise BadSettingsFile(path, "it is not UTF-8") from error
    except OSError as error:
        raise BadSettingsFile(path, str(error.strerror)) from error


def write_file(path: str, text: str, *, mode: int = 0o666) -> None:
    try:
        write_atomic(path, text, mode=mode)
    except OSError as error:
        raise BadSettingsFile(path, str(error.strerror)) from error


def read_record(record: str, root: str = "") -> Original | None:
    """Return the readable record; None without one, or behind a link below *root*."""
    try:
        text = confined.read_text(root, record) if root else read_text(record)
        return Original(**json.loads(text or ""))
    except (ValueError, TypeError, confined.Refused):
        return None


def save(
    path: str,
    before: str | None,
    after: str,
    record: tuple[str, str],
    earlier: Original | None = None,
) -> None:
    """Write the file, and first a record of what it was, from which `put_back` restores it."""
    folder = os.path.dirname(os.path.realpath(path))
    made = earlier.made_folder if earlier else not os.path.isdir(folder)
    noted = json.dumps(as_dict(Original(before=before, after=after, made_folder=made)))
    place, root = record
    if root:  # settings may hold tokens: readable for the owner alone
        confined.write_text(root, place, noted, mode=0o600)
    else:
        write_file(place, noted, mode=0o600)
    os.makedirs(folder, exist_ok=True)
    write_file(path, after)


def put_back(change: Change, record: tuple[str, str], original: Original | None) -> None:
    target = os.path.realpath(change.path)
    if change.before is not None and change.after is None:
        remove(target)
        if original and original.made_folder:
            with suppress(OSError):
                os.rmdir(os.path.dirname(target))
    elif change.after is not None and change.changes:
        write_file(change.path, change.after)
    place, root = record
    if root:
        confined.remove(root, place)
    else:
        remove(place)


COMMANDS = "commands/ademem"
"""Folder below `.claude` of a project, or below the user's configuration."""
COMMAND_MARK = "ademem's hook"
"""Words of each of our slash commands; a file without them is another's."""


def add_commands(claude: str, hooks: str, *, dry_run: bool = False) -> list[str]:
    """Write the commands below the folder *claude*; return those that were missing or outdated."""
    source, done = os.path.join(hooks, "commands"), []
    for name in sorted(os.listdir(source)):
        path = os.path.join(claude, COMMANDS, name)
        text, there = read_text(os.path.join(source, name)) or "", _read_command(path)
        if there != text and (there is None or COMMAND_MARK in there):
            done.append(f"/ademem:{name.removesuffix('.md')}")
            if not dry_run:
                write_atomic(path, text)
    return done


def remove_commands(claude: str, *, dry_run: bool = False) -> list[str]:
    folder = os.path.join(claude, COMMANDS)
    names = sorted(os.listdir(folder)) if os.path.isdir(folder) else []
    texts = {name: _read_command(os.path.join(folder, name)) or "" for name in names}
    ours = [name for name in names if COMMAND_MARK in texts[name]]
    if ours and not dry_run:
        for name in ours:
            remove(os.path.join(folder, name))
        with suppress(OSError):  # it holds files of others
            os.rmdir(folder)
            os.rmdir(os.path.dirname(folder))
    return [f"/ademem:{name.removesuffix('.md')}" for name in ours]


def _read_command(path: str) -> str | None:
    try:
        return read_text(path)
    except (UnicodeDecodeError, OSError):
        return ""


SERVER = "ademem"
TOML = '[mcp_servers.ademem]\ncommand = {command}\nargs = ["mcp"]\nrequired = true\n'
"""Codex begins a session without the tools of a server that is not required and starts slowly."""
BY_HAND = "add by hand what `ademem mcp --config CLIENT` shows"


class McpClient(Value):
    own: tuple[str, str, str]
    """The person's file: variable of its folder, the folder by default, and its name in there."""
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


MCP_CLIENTS = {
    "claude": McpClient(own=("CLAUDE_CONFIG_DIR", "~", ".claude.json"), shared=".mcp.json"),
    "codex": McpClient(
        own=("CODEX_HOME", "~/.codex", "config.toml"),
        shared="",
        keys=(),
        extra={"required": True},
    ),
    "gemini": McpClient(own=("", "~/.gemini", "settings.json"), shared=".gemini/settings.json"),
    "opencode": McpClient(
        own=("XDG_CONFIG_HOME", "~/.config", "opencode/opencode.json"),
        shared="opencode.json",
        keys=("mcp",),
        extra={"type": "local", "timeout": 60_000},  # else it goes on without it after 5 s
        is_list=True,
    ),
    "cursor": McpClient(own=("", "~/.cursor", "mcp.json"), shared=".cursor/mcp.json"),
    "vscode": McpClient(
        own=("XDG_CONFIG_HOME", "~/.config", "Code/User/mcp.json")
        if sys.platform != "darwin"
        else ("", "~/Library/Application Support", "Code/User/mcp.json"),
        shared=".vscode/mcp.json",
        keys=("servers",),
        extra={"type": "stdio"},
    ),
}


def add_server(
    name: str, root: str, environment: Mapping[str, str], *, shared: bool, dry_run: bool = False
) -> Change:
    client, keys, path, record = _find_client(name, root, environment, shared=shared)
    command = SERVER if shared else _own_program(environment)
    text = there = read_file(path)
    original = read_record(*record)
    if text is not None and (entry := _read_entry(path, text, keys)) is not None:
        if entry == client.entry(command):
            return Change(path=path, before=text, after=text)
        if original is not None and text == original.after:
            text = original.before  # the entry is an earlier one of ours
        elif entry == client.entry(SERVER):  # which runs what is first on PATH
            text = _without_entry(text, keys, entry)
        else:
            raise BadSettingsFile(path, f"it has another server {SERVER!r}")
    after = _with_entry(text or "", keys, client, command)
    if not dry_run:
        save(path, text, after, record)
    return Change(path=path, before=there, after=after)


def _with_entry(text: str, keys: Keys, client: McpClient, command: str) -> str:
    if keys:
        base = text if text.strip() else "{}\n"
        return json_text.add(base, (*keys, SERVER), client.entry(command))
    gap = "\n" if text and not text.endswith("\n\n") else ""
    return text + gap + TOML.format(command=json.dumps(command))


def remove_server(
    name: str, root: str, environment: Mapping[str, str], *, shared: bool, dry_run: bool = False
) -> Change:
    _, keys, path, record = _find_client(name, root, environment, shared=shared)
    text, original = read_file(path), read_record(*record)
    after = text
    if text is not None and original is not None and text == original.after:
        after = original.before
    elif text is not None and (entry := _read_entry(path, text, keys)) is not None:
        after = _without_entry(text, keys, entry)
    change = Change(path=path, before=text, after=after)
    if not dry_run:
        put_back(change, record, original)
    return change


def _own_program(environment: Mapping[str, str]) -> str:
    """Return this installation's program; another may come first on the PATH of a client."""
    installed = os.path.join(os.path.dirname(sys.executable), SERVER)
    return installed if os.access(installed, os.X_OK) else program(environment)


def _without_entry(text: str, keys: Keys, entry: Any) -> str:
    if keys:
        return json_text.remove(text, (*keys, SERVER))
    command = entry.get("command") if isinstance(entry, dict) else None
    return text.replace(TOML.format(command=json.dumps(command)), "", 1)


def has_server_record(name: str, root: str, environment: Mapping[str, str]) -> bool:
    *_, record = _find_client(name, root, environment, shared=False)
    return read_record(*record) is not None


def list_servers(root: str, environment: Mapping[str, str]) -> dict[str, list[str]]:
    """Return the command of our server by each file of a client that has it."""
    found = {}
    for name, client in MCP_CLIENTS.items():
        for shared in (False, True) if client.shared else (False,):
            _, keys, path, _ = _find_client(name, root, environment, shared=shared)
            with suppress(BadSettingsFile):
                text = read_file(path)
                entry = _read_entry(path, text, keys) if text is not None else None
                match entry:
                    case {"command": [*words]}:
                        found[path] = [str(word) for word in words]
                    case {"command": str(command), "args": [*words]}:
                        found[path] = [command, *map(str, words)]
    return found


def describe_entry(name: str) -> list[str]:
    """Return the lines that a person adds to the client's file, after the file's name."""
    client = _client(name)
    if not client.keys:
        return [_own_path(client, {}), "", *TOML.format(command=json.dumps(SERVER)).splitlines()]
    value: Any = {SERVER: client.entry(SERVER)}
    for key in reversed(client.keys):
        value = {key: value}
    return [client.shared, "", *json.dumps(value, indent=2).splitlines()]


def _client(name: str) -> McpClient:
    if name not in MCP_CLIENTS:
        raise UsageError(f"no client {name!r}", ", ".join(MCP_CLIENTS))
    return MCP_CLIENTS[name]


def _find_client(
    name: str, root: str, environment: Mapping[str, str], *, shared: bool
) -> tuple[McpClient, Keys, str, tuple[str, str]]:
    """Return the client, the path to its servers, its file, and the record of the file before."""
    client = _client(name)
    if shared:
        if not client.shared:
            raise UsageError(f"{name} has no file for a project", "leave --shared out")
        record = os.path.join(root, ".ade", "run", f"original-mcp-{name}.json")
        return client, client.keys, os.path.join(root, client.shared), (record, root)
    path = os.path.expanduser(_own_path(client, environment))
    state = environment.get("XDG_STATE_HOME") or os.path.expanduser("~/.local/state")
    of, keys = "", client.keys
    if name == "claude":  # which keeps the servers of a person by project
        of, keys = f"-{sha256_hex(root)[:8]}", ("projects", root, *keys)
    record = os.path.join(state, "ademem", f"original-mcp-{name}{of}.json")
    return client, keys, path, (record, "")


def _own_path(client: McpClient, environment: Mapping[str, str]) -> str:
    variable, default, name = client.own
    return os.path.join(environment.get(variable) or default, name)


def _read_entry(path: str, text: str, keys: Keys) -> Any:
    if not text.strip():
        return None
    try:
        value: Any = json_text.parse(text) if keys else tomllib.loads(text)
    except ValueError as error:
        why = "it is not plain JSON, without comments" if keys else "it is not valid TOML"
        raise BadSettingsFile(path, why, BY_HAND) from error
    for key in (*(keys or ("mcp_servers",)), SERVER):
        if not isinstance(value, dict):
            raise BadSettingsFile(path, f"{key!r} is in no object")
        value = value.get(key)
        if value is None:
            return None
    return value
