"""What a tool call touches: files it may write, commands and scripts it runs, acts, text."""

from __future__ import annotations

import os

from ademem.core import regex
from ademem.core.value import Value
from ademem.guard.policy import SHELL_TOOLS, WRITING_TOOLS, own_tool

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    from ademem.core.settings import GuardSettings

_DEEPEST = 6


class Touch(Value):
    """A fact is listed whether or not the call changes something; who asks decides what counts."""

    writes: tuple[str, ...] = ()
    """Absolute paths that the call may write, create, move or delete, links not followed; a folder
    counts for all below. A pattern that meets no file stands as it is."""
    works: tuple[str, ...] = ()
    """Folders in which its commands work, absolute."""
    runs: tuple[str, ...] = ()
    """Scripts by their absolute path; `make:target` and `script:name` of a package.json."""
    argvs: tuple[tuple[str, ...], ...] = ()
    """Simple commands behind wrappers, as typed and with the usual name of their subcommand."""
    looked_up: tuple[str, ...] = ()
    """Files that tell what targets and scripts run, absolute, whether or not they exist."""
    acts: frozenset[str] = frozenset()
    command: str = ""
    """The line that a shell runs, as it is typed."""
    text: str = ""
    """New text, and that of documents in a command that goes into files."""
    removed: str = ""
    changes: bool = False
    creates: bool = False
    """True if there are files to write and none of them exists yet."""
    irreversible: bool = False


def touch(tool: str, tool_input: dict[str, Any], cwd: str, settings: GuardSettings) -> Touch:
    """Return what a call touches; nothing is run, and no text raises."""
    if not isinstance(tool_input, dict) or own_tool(tool, settings.mcp_servers):
        return Touch()
    if tool in WRITING_TOOLS:
        return _touch_file(tool_input, cwd)
    if tool.startswith("mcp__"):
        from ademem.guard import touched_by_servers

        return touched_by_servers.touch(tool, tool_input, cwd, settings)
    command = tool_input.get("command")
    if (tool in SHELL_TOOLS or tool == "PreSkillShellCommand") and isinstance(command, str):
        from ademem.guard.touched_by_commands import touch_command  # an edit takes none of it

        return touch_command(command, cwd, settings, is_powershell=tool == "PowerShell")
    return Touch()


def _touch_file(given: dict[str, Any], cwd: str) -> Touch:
    path = next((value for key in _FILE_KEYS if isinstance(value := given.get(key), str)), "")
    writes = (absolute(path, cwd),) if path else ()
    return Touch(
        writes=writes,
        text="\n".join(texts_below(given, NEW)),
        removed="\n".join(texts_below(given, OLD)),
        changes=True,
        creates=are_new(writes),
    )


_FILE_KEYS = ("file_path", "notebook_path", "path")
NEW = r"content|contents|text|data|body|code|new_\w+|newText|new_?source|insert\w*|replacement"
OLD = r"old_\w+|oldText|search|original"


def texts_below(value: object, pattern: str, depth: int = 0, key: str = "") -> Iterator[str]:
    """Yield texts below keys that *pattern* matches, in whatever lists and objects they stand."""
    if isinstance(value, str):
        if regex.fullmatch(pattern, key):
            yield value
    elif depth < _DEEPEST and isinstance(value, dict):
        for name, each in value.items():
            yield from texts_below(each, pattern, depth + 1, _snake(str(name)))
    elif depth < _DEEPEST and isinstance(value, list):
        for each in value:
            yield from texts_below(each, pattern, depth + 1, key)


def _snake(name: str) -> str:
    return regex.sub(r"(?<=[a-z\d])(?=[A-Z])|-", "_", name).lower()


def absolute(path: str, folder: str) -> str:
    path = path.removeprefix("file://").replace("\0", "")
    if path[:1] == "~":
        path = os.path.expanduser(path)
    whole = os.path.normpath(os.path.join(os.sep, folder, path))
    return whole[1:] if whole.startswith("//") else whole


def are_new(writes: Sequence[str]) -> bool:
    return bool(writes) and not any(map(os.path.lexists, writes))
