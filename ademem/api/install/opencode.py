"""The plugin that calls our hooks from OpenCode, a file of its own in the person's plugins."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping

from ademem.api import install
from ademem.api.install import BadSettingsFile, Change
from ademem.core import bytecode
from ademem.core.shared_files import remove

MARK = "// ademem: project memory"
"""Beginning of our file."""


def add_plugin(
    environment: Mapping[str, str], *, python: str, hooks: str, dry_run: bool = False
) -> Change:
    """Write the plugin; raises BadSettingsFile if another file has its name."""
    path = _path(environment)
    before = _read(path)
    with open(os.path.join(hooks, "agents", "opencode.js"), encoding="utf-8") as file:
        after = file.read().replace('"PYTHON"', json.dumps(python))
    after = after.replace('"HOOKS"', json.dumps(hooks))
    if not dry_run and after != before:
        bytecode.update()
        os.makedirs(os.path.dirname(path), exist_ok=True)
        install.write_file(path, after)
    return Change(path=path, before=before, after=after)


def remove_plugin(environment: Mapping[str, str], *, dry_run: bool = False) -> Change:
    path = _path(environment)
    before = _read(path)
    if before is not None and not dry_run:
        remove(path)
        for folder in (os.path.dirname(path), os.path.dirname(os.path.dirname(path))):
            if os.path.isdir(folder) and not os.listdir(folder):
                os.rmdir(folder)
    return Change(path=path, before=before, after=None)


def _path(environment: Mapping[str, str]) -> str:
    config = environment.get("XDG_CONFIG_HOME") or os.path.expanduser("~/.config")
    return os.path.join(config, "opencode", "plugins", "ademem.js")


def _read(path: str) -> str | None:
    text = install.read_file(path)
    if text is not None and not text.startswith(MARK):
        raise BadSettingsFile(path, "it is another plugin")
    return text
