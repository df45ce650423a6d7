"""Find calls that change hooks, plugins or variables of the client, which the person is asked."""

from __future__ import annotations

import os

from ademem.core import shared_files
from ademem.core.errors import suppress
from ademem.core.json_text import loads
from ademem.guard import own_places
from ademem.guard.policy import SHELL_TOOLS, WRITING_TOOLS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ademem.core.settings import GuardSettings
    from ademem.guard.shell import Command

CHANGED = ("hooks", "env", "disableAllHooks", "enabledPlugins")
USUAL = r"\.claude/+(?:\./+)*settings[\w.-]*|\.claude(?=/*(?:[\"'\s;&|]|$))"
"""A file of settings, or the folder in which a command may write one."""


def changed_by(
    tool: str,
    path: str,
    command: str,
    given: dict[str, Any],
    config: str,
    root: str,
    settings: GuardSettings,
    *,
    folder: str,
) -> str:
    """Return the file of settings whose hooks or variables a call may change, or an empty text.

    *config* is the client's folder, *root* the project's, and *folder* that in which the call runs.
    What a shell or another server writes is not read: each such call counts.
    """
    if tool in SHELL_TOOLS and _changes_plugins(command, settings):
        return "the client's plugins"
    if tool not in WRITING_TOOLS:
        places = tuple(os.path.join(each, "settings*") for each in (config, f"{root}/.claude"))
        return own_places.named_in(
            tool, path, command, given, places, settings, folder=folder, usual=USUAL
        )
    if not _is_settings_file(path, config):
        return ""
    text = ""
    with suppress(OSError, UnicodeDecodeError):
        text = shared_files.read_text(path) or ""
    return "" if _parts(_edited(text, given)) == _parts(text) else path


def _is_settings_file(path: str, config: str) -> bool:
    folder, name = os.path.split(os.path.realpath(path))
    of_client = os.path.basename(folder) == ".claude" or folder == os.path.realpath(config)
    return of_client and name.startswith("settings") and name.endswith(".json")


def _changes_plugins(command: str, settings: GuardSettings) -> bool:
    """Return True if a command switches plugins of the client on or off, ademem's among them."""
    if "plugin" not in command:
        return False
    from ademem.guard import mutation, shell

    parts = mutation.parts_in(shell.parse(command) or (), settings)
    return any(_switches_plugins(part.command) for part in parts)


def _switches_plugins(command: Command) -> bool:
    words = [word.text for word in command.words[1:] if not word.text.startswith("-")]
    if command.name.rpartition("/")[2] != "claude" or words[:1] not in (["plugin"], ["plugins"]):
        return False
    return len(words) > 1 and words[1] not in ("list", "validate")


def _edited(text: str, given: dict[str, Any]) -> str | None:
    """Return the text after the call, or None where that is not clear."""
    if isinstance(content := given.get("content"), str):
        return content
    edits = given.get("edits", [given])
    for edit in edits if isinstance(edits, list) else [given]:
        old, new = (edit.get(key) if isinstance(edit, dict) else None for key in _EDIT)
        if not isinstance(old, str) or not isinstance(new, str) or old not in text:
            return None
        text = text.replace(old, new) if edit.get("replace_all") else text.replace(old, new, 1)
    return text


_EDIT = ("old_string", "new_string")


def _parts(text: str | None) -> object:
    """Return the hooks and variables that a file sets, or the text where it cannot be read."""
    if text is None:
        return None
    if not text.strip():
        return [None] * len(CHANGED)
    try:
        found = loads(text)
    except (ValueError, RecursionError):
        return text
    return [found.get(key) or None for key in CHANGED] if isinstance(found, dict) else text
