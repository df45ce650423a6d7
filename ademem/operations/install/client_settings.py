"""Settings of Claude Code that decide whether it runs hooks, in the order of their precedence."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from ademem.core.client import config_dir
from ademem.core.errors import suppress
from ademem.core.value import Value
from ademem.operations.install import json_text

MANAGED = (
    "/Library/Application Support/ClaudeCode" if sys.platform == "darwin" else "/etc/claude-code"
)
"""Folder of an organization's settings, which precede all others."""
PLUGIN = "ademem"


class Source(Value):
    path: str
    values: dict[str, Any]
    is_managed: bool = False
    fault: str = ""
    """Why the client ignores the file."""


def read_sources(
    root: str, environment: Mapping[str, str], managed: str | None = None
) -> list[Source]:
    """Return the settings files that exist, the one with the last word last."""
    claude, managed = os.path.join(root, ".claude"), managed or MANAGED
    parts = os.path.join(managed, "managed-settings.d")
    names: list[str] = []
    with suppress(OSError):
        names = sorted(name for name in os.listdir(parts) if name.endswith(".json"))
    paths = [
        os.path.join(config_dir(environment), "settings.json"),
        os.path.join(claude, "settings.json"),
        os.path.join(claude, "settings.local.json"),
        os.path.join(managed, "managed-settings.json"),
        *(os.path.join(parts, name) for name in names if not name.startswith(".")),
    ]
    found = (_read(path, is_managed=path.startswith(f"{managed}/")) for path in paths)
    return [source for source in found if source]


def _read(path: str, *, is_managed: bool) -> Source | None:
    try:
        with open(path, encoding="utf-8") as file:
            values = json_text.parse(file.read())
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        why = "it is not valid JSON" if isinstance(error, ValueError) else str(error.strerror)
        return Source(path=path, values={}, is_managed=is_managed, fault=why)
    if not isinstance(values, dict):
        return Source(path=path, values={}, is_managed=is_managed, fault="it is not an object")
    return Source(path=path, values=values, is_managed=is_managed)


class Plugin(Value):
    name: str
    """With its marketplace, as settings name it."""
    is_enabled: bool
    path: str
    """File that has the last word on it."""


def find_plugin(sources: Sequence[Source]) -> Plugin | None:
    """Return our plugin as the settings name it, an enabled one first."""
    found: dict[str, Plugin] = {}
    for source in sources:
        for name, value in _plugins(source).items():
            if name.partition("@")[0] == PLUGIN:
                found[name] = Plugin(name=name, is_enabled=value is not False, path=source.path)
    return min(found.values(), key=lambda plugin: not plugin.is_enabled, default=None)


def find_switch(sources: Sequence[Source], *, plugin: Plugin | None, in_settings: bool) -> str:
    """Return the file and key because of which none of our hooks run; empty if they run.

    *plugin* brings them if it is enabled, and files of the person or the team if *in_settings*.
    """
    if off := _last_off(sources):
        return f"{off.path} sets {OFF}"
    enabled = plugin if plugin and plugin.is_enabled else None
    if only := _managed(sources, MANAGED_ONLY, lambda value: value is True):
        return "" if _is_managed(sources, enabled) else f"{only.path} sets {MANAGED_ONLY}"
    if strict := _managed(sources, STRICT, _includes_hooks):
        return "" if enabled else f"{strict.path} sets {STRICT}"
    return "" if plugin is None or in_settings else _find_plugin_switch(sources, plugin)


def _last_off(sources: Sequence[Source]) -> Source | None:
    """Return the file that switches all hooks off, unless a later one switches them on."""
    chosen = [source for source in sources if isinstance(source.values.get(OFF), bool)]
    return chosen[-1] if chosen and chosen[-1].values[OFF] else None


def _is_managed(sources: Sequence[Source], plugin: Plugin | None) -> bool:
    """Tell whether the organization enables a plugin, whose hooks are managed then."""
    managed = [each for each in sources if each.is_managed]
    return plugin is not None and any(_plugins(each).get(plugin.name) is True for each in managed)


def _find_plugin_switch(sources: Sequence[Source], plugin: Plugin) -> str:
    if not plugin.is_enabled:
        return f"{plugin.path} disables the plugin {plugin.name}"
    none = _managed(sources, MARKETPLACES, lambda value: value == [])
    return f"{none.path} allows no {MARKETPLACES}" if none else ""


OFF = "disableAllHooks"
MANAGED_ONLY = "allowManagedHooksOnly"
STRICT = "strictPluginOnlyCustomization"
MARKETPLACES = "strictKnownMarketplaces"


def _includes_hooks(value: object) -> bool:
    return value is True or (isinstance(value, list) and "hooks" in value)


def _managed(sources: Sequence[Source], key: str, holds: Any) -> Source | None:
    return next((each for each in sources if each.is_managed and holds(each.values.get(key))), None)


def _plugins(source: Source) -> dict[str, Any]:
    plugins = source.values.get("enabledPlugins")
    return plugins if isinstance(plugins, dict) else {}
