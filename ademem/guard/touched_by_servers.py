"""What a tool of another server touches, by the names of the tool and of its arguments."""

from __future__ import annotations

from ademem.core import regex
from ademem.core.value import replace
from ademem.guard import act_names, mutation, programs, writers
from ademem.guard.touch import NEW, OLD, Touch, absolute, are_new, texts_below
from ademem.guard.touched_by_commands import touch_command

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from ademem.core.settings import GuardSettings

_FOLDERS = r"cwd|work\w*|repo(?:_path|sitory_path)?|root|project\w*|base_?(?:dir|path)"
_PATHS = (
    rf"(?!(?:{_FOLDERS})\Z)(?:\w*_)?(?:paths?|files?|uris?|filename|filepath|directory|folder|dir)"
)
_PLACES = r"(?:\w*_)?(?:source|destination|target|dest|src|dst|from|to)"
"""Names of arguments that hold a path, or something else such as a person."""
_COMMANDS = r"command|cmd|command_?line|script|shell"
_PATCHES = r"patch|diff"
_SOURCES = r"source\w*|src|from"


def touch(tool: str, given: dict[str, Any], cwd: str, settings: GuardSettings) -> Touch:
    """Read the arguments of another server's tool by their names, and its acts off its own name."""
    name = " ".join(programs.split_words(tool.rpartition("__")[2]))
    changes = programs.mcp_tool_changes(tool, settings)
    works = [absolute(path, cwd) for path in texts_below(given, _FOLDERS) if _is_path(path)]
    folder = works[0] if works else cwd
    found = Touch(works=tuple(works))
    commands = list(texts_below(given, _COMMANDS))
    if commands:
        words = [*texts_below(given, r"args|arguments|argv")]
        line = " ".join([commands[0], *map(_quoted, words)])
        found = touch_command("\n".join([line, *commands[1:]]), folder, settings)
        changes = changes and found.changes
    if not changes:
        return replace(found, changes=False)
    paths = (absolute(path, folder) for path in _paths_of_server(name, given))
    writes = tuple(dict.fromkeys((*found.writes, *paths)))
    return replace(
        found,
        writes=writes,
        acts=found.acts | set(act_names.find_acts(name)),
        text="\n".join([*texts_below(given, NEW), *texts_below(given, _PATCHES)]) or found.text,
        removed="\n".join(texts_below(given, OLD)),
        changes=True,
        creates=are_new(writes),
        irreversible=found.irreversible or mutation.is_irreversible_tool(tool),
    )


def _paths_of_server(name: str, given: dict[str, Any]) -> Iterator[str]:
    """Yield the paths that a tool of this name writes, by the names of its arguments."""
    words = name.split()
    sources = {*texts_below(given, _SOURCES)} if "copy" in words else ()
    places = (each for each in texts_below(given, _PLACES) if regex.search(r"/|\w\.\w", each))
    for path in (*texts_below(given, _PATHS), *places):
        to_index = programs.split_words(name)[-1:] in (["add"], ["stage"])  # that of git
        if _is_path(path) and path not in sources and not to_index:
            yield path
    for patch in texts_below(given, _PATCHES):
        yield from writers.files_in_patch(patch)


def _is_path(text: str) -> bool:
    """True for a path or a `file:` address, on one line; another address is none."""
    is_address = regex.match(r"[\w+.-]+://", text) and not text.startswith("file://")
    return bool(text) and len(text) < 4096 and "\n" not in text and not is_address


def _quoted(word: str) -> str:
    return (
        word if regex.fullmatch(r"[\w./:=@%+,-]+", word) else "'" + word.replace("'", "'\\''") + "'"
    )
