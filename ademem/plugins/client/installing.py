"""Put the module into the person's skills folder of Claude Code, which loads it from there."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Mapping

from ademem.core import shared_files
from ademem.core.errors import AdememError, suppress
from ademem.core.trust import data_folder
from ademem.operations.install import client_version, hooks_folder
from ademem.plugins.client import places
from ademem.plugins.client.places import module_folder

MODULE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "module")
FILES = (
    "hooks/find.mjs",
    "hooks/place.mjs",
    "hooks/client.mjs",
    ".claude-plugin/plugin.json",
    "hooks/hooks.json",
)
"""The last one names the module, and the client reads the folder again when a file changes."""
MADE = "made-skills"
"""File in our folder which tells that the skills folder was made for the module."""


class CannotInstall(AdememError):
    pass


def is_installed(environment: Mapping[str, str]) -> bool:
    return os.path.isfile(os.path.join(module_folder(environment), "hooks", "hooks.json"))


def texts(environment: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield the name and the content of each file, in the order in which they are written."""
    for name in FILES:
        text = shared_files.read_text(os.path.join(MODULE, name)) or ""
        if name == "hooks/place.mjs":
            command = [sys.executable, "-I", os.path.join(hooks_folder(), "pre_tool_use.py")]
            text = text.replace("DATA = ''", f"DATA = {json.dumps(data_folder(environment))}")
            text = text.replace("COMMAND = []", f"COMMAND = {json.dumps(command)}")
        yield name, text


def install(environment: Mapping[str, str], *, dry_run: bool = False) -> list[str]:
    """Write the module; raises CannotInstall for a client that would not run it."""
    version = client_version()
    if version < places.OLDEST:
        named = ".".join(map(str, version))
        why = f"Claude Code {named} runs no modules" if version else "no Claude Code is on PATH"
        raise CannotInstall(why, f"the module needs {'.'.join(map(str, places.OLDEST))} or newer")
    target = module_folder(environment)
    files = dict(texts(environment))
    there = {name: shared_files.read_text(os.path.join(target, name)) for name in files}
    if there == files:
        return [f"the module was in {target} already"]
    if dry_run:
        return [f"would write {target}/{name}" for name in files if there[name] != files[name]]
    ours = places.folder(environment)
    os.makedirs(ours, mode=0o700, exist_ok=True)
    if not os.path.isdir(os.path.dirname(target)):
        shared_files.write_atomic(os.path.join(ours, MADE), "", mode=0o600)
    for name, text in files.items():
        shared_files.write_atomic(os.path.join(target, name), text)
    return [
        f"wrote the module to {target}",
        "it has the rules of a project from the next session in it on",
    ]


def uninstall(environment: Mapping[str, str], *, dry_run: bool = False) -> list[str]:
    """Remove the module and what it was given; files of others in its folder stay."""
    target, ours = module_folder(environment), places.folder(environment)
    if not is_installed(environment) and not os.path.isdir(ours):
        return [f"there was no module in {target}"]
    if dry_run:
        return [f"would remove {target}"]
    made_skills = os.path.exists(os.path.join(ours, MADE))
    for name in reversed(FILES):
        shared_files.remove(os.path.join(target, name))
    for each in ("hooks", ".claude-plugin", ""):
        _remove_empty(os.path.join(target, each))
    if made_skills:
        _remove_empty(os.path.dirname(target))
    for above, _, names in os.walk(ours, topdown=False):
        for name in names:
            shared_files.remove(os.path.join(above, name))
        _remove_empty(above)
    return [f"removed the module from {target}"]


def _remove_empty(path: str) -> None:
    with suppress(OSError):  # it holds files of others, or is gone
        os.rmdir(path)
