"""Keep ademem's own places from tools: the person's data and settings, the program, the database.

The files of memory below `.ade/` are not among them: agents may edit these, and it is noted.
"""

from __future__ import annotations

import os
import re
from itertools import pairwise

from ademem.guard.policy import SHELL_TOOLS, WRITING_TOOLS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from typing import Any

    from ademem.core.settings import GuardSettings
    from ademem.guard.mutation import CommandPart
    from ademem.guard.shell import Word

USUAL = (
    r"\.config/+ademem\b|\bademem-data\b|\.local/+share/+ademem\b|Application Support/+ademem"
    r"|\.ade/+(?:\./+)*(?:ade\.db|run\b)"
)
"""Where they are without a variable that moves them, however the home folder is spelled."""
DEPTH = 8
MOST_WORDS = 300
"""Words of a command, or texts of a call, that are resolved as paths."""
PATH_CHARS = 4096
_NAMING = frozenset("echo printf cat".split()) | {
    *("git add", "git commit", "git notes", "git push", "git stage", "git tag")
}
"""Commands that change no file which their words name, but those of a redirection."""
_MOVING = frozenset({"mv", "ln", "git mv"})
_REMOVING = _MOVING | {"rm", "rmdir", "unlink", "shred", "trash"}
_FILLING = _MOVING | {"cp", "rsync", "install"}
"""Commands that write into the folder that their last word names."""
_UNPACKING = {"tar": ("-C", "--directory"), "bsdtar": ("-C", "--directory"), "unzip": ("-d",)}


def named_in(
    tool: str,
    path: str,
    command: str,
    tool_input: dict[str, Any],
    places: Sequence[str],
    settings: GuardSettings,
    *,
    folder: str = "/",
    usual: str = USUAL,
) -> str:
    """Return the place that the call would write, or an empty text.

    *places* are absolute; one with `*` at its end is the beginning of a file's name. *usual* is a
    pattern of places that are spelled in many ways, and *folder* that in which the call runs.
    """
    if tool in WRITING_TOOLS:
        return _place_of(path, places)
    if tool in SHELL_TOOLS:
        return _written_by(command, places, usual, settings, folder)
    if tool.startswith("mcp__"):
        from ademem.guard.programs import mcp_tool_changes

        if mcp_tool_changes(tool, settings):
            return _named_by(tool_input, places, usual, folder)
    return ""


def _named_by(tool_input: dict[str, Any], places: Sequence[str], usual: str, folder: str) -> str:
    for number, text in enumerate(_texts(tool_input)):
        if place := _mentioned(text, places, usual):
            return place
        if number < MOST_WORDS and (place := _reached(text, (folder,), places)):
            return place
        if _is_memory_folder(text, (folder,)):
            return text
    return ""


def _place_of(path: str, places: Sequence[str]) -> str:
    real = f"{os.path.realpath(path)}/".lower()  # a file system may ignore case
    for place in places:
        whole = os.path.realpath(place.rstrip("*")).lower()
        if real.startswith(whole if place.endswith("*") else f"{whole}/"):
            return place.rstrip("*")
    return ""


def _written_by(
    command: str, places: Sequence[str], usual: str, settings: GuardSettings, folder: str
) -> str:
    from ademem.guard import mutation, shell

    mentioned = _mentioned(command, places, usual)
    script = shell.parse(command)
    if script is None:
        return mentioned
    parts = list(mutation.parts_in(script, settings))
    folders = _folders(parts, folder)
    inside = next(filter(None, (_place_of(each, places) for each in folders)), "")
    inside = inside or next(
        (word for part in parts for word in _targets_of_cd(part) if re.search(usual, f"{word}/")),
        "",
    )
    for part in parts:
        if not mutation.judge_part(part).mutates:
            continue
        written = list(_written_words(part))
        if inside and written:
            return inside
        if mentioned and any(word.expands for word in written):
            return mentioned
        for word in written[:MOST_WORDS]:
            named = _mentioned(word.text, places, usual)
            if found := named or _reached(word.text, folders, places):
                return found
        if found := _whole_folder(part, folders, places):
            return found
    return ""


def _folders(parts: Iterable[CommandPart], folder: str) -> list[str]:
    """List the folders that a command may run in: the one it begins in and those it enters."""
    folders = [folder]
    for part in parts:
        for target in _targets_of_cd(part):
            folders.append(os.path.join(folders[-1], _expanded(target)))
    return folders


def _targets_of_cd(part: CommandPart) -> list[str]:
    words = [word.text for word in part.command.words]
    return words[1:2] if words[:1] in (["cd"], ["pushd"]) else []


def _written_words(part: CommandPart) -> Iterator[Word]:
    """Yield the words that may name what the command writes, those of a redirection first."""
    command = part.command
    yield from (redirect.target for redirect in command.redirects if redirect.writes)
    is_own = command.name.rpartition("/")[2] == "ademem" and part.key != "ademem export"
    if part.key in _NAMING or is_own:
        return
    yield from (*command.words, *command.assignments)
    if command.stdin and part.key != "tee":
        yield command.stdin


def _whole_folder(part: CommandPart, folders: Sequence[str], places: Sequence[str]) -> str:
    """Return the folder of a place that the command moves, removes, links or fills."""
    operands = [word.text for word in part.arguments if not word.text.startswith("-")]
    removed = operands[: -1 if part.key in _MOVING and len(operands) > 1 else None]
    for text in removed if part.key in _REMOVING else ():
        for folder in folders:
            path = os.path.join(folder, _expanded(text))
            if found := _place_below(path, places) or _matched(path, places, below=True):
                return found
    filled = operands[-1:] if part.key in _FILLING and len(operands) > 1 else []
    options = _UNPACKING.get(part.program, ())
    texts = [word.text for word in part.command.words]
    filled += [value for option, value in pairwise(texts) if option in options]
    runs_inside = part.program in _UNPACKING or part.program in _CODE
    if runs_inside and any(_is_memory_folder(folder, ("/",)) for folder in folders):
        return folders[-1]
    return next((text for text in filled if _is_memory_folder(text, folders)), "")


_CODE = frozenset("node perl php python ruby sqlite3 deno bun".split())


def _place_below(path: str, places: Sequence[str]) -> str:
    real = os.path.realpath(path).rstrip("/").lower()
    wholes = (place.rstrip("*") for place in places)
    return next(
        (each for each in wholes if os.path.realpath(each).lower().startswith(f"{real}/")), ""
    )


def _is_memory_folder(text: str, folders: Sequence[str]) -> bool:
    """Return True for `.ade/` itself, which contains the database."""
    if not _is_path(text):
        return False
    paths = (os.path.realpath(os.path.join(folder, _expanded(text))) for folder in folders)
    return any(os.path.basename(path).lower() == ".ade" for path in paths)


def _reached(text: str, folders: Sequence[str], places: Sequence[str]) -> str:
    """Return the place that a word names as a path, whatever links and `..` it goes by."""
    for word in {text, text.partition("=")[2]}:
        if not _is_path(word):
            continue
        for folder in folders:
            path = os.path.join(folder, _expanded(word))
            if found := _place_of(path, places) or _matched(path, places, below=False):
                return found
    return ""


def _matched(path: str, places: Sequence[str], *, below: bool) -> str:
    """Return the place that a pattern of the shell may match, or one *below* what it matches."""
    if _SIGNS.isdisjoint(path):
        return ""
    from fnmatch import fnmatchcase

    patterns = os.path.normpath(path.lower()).split("/")
    for place in places:
        names = place.rstrip("*").lower().split("/")
        if (below or len(patterns) >= len(names)) and all(
            fnmatchcase(name, pattern) and (name[:1] != "." or pattern[:1] not in _SIGNS)
            for name, pattern in zip(names, patterns, strict=False)
        ):
            return place.rstrip("*")
    return ""


_SIGNS = frozenset("*?[")


def _is_path(text: str) -> bool:
    return 0 < len(text) <= PATH_CHARS and text.isprintable()


def _expanded(text: str) -> str:
    text = text.removeprefix("file://")
    return os.path.expanduser(re.sub(r"^\$(?:HOME\b|\{HOME\})", "~", text))


def _mentioned(text: str, places: Sequence[str], usual: str) -> str:
    if found := re.search(usual, text, re.IGNORECASE):
        return found[0]
    plain = text.lower()
    wholes = (place.rstrip("*") for place in places)
    return next((place for place in wholes if place.lower() in plain), "")


def _texts(value: Any, depth: int = 0) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif depth < DEPTH and isinstance(value, dict | list):
        for each in value.values() if isinstance(value, dict) else value:
            yield from _texts(each, depth + 1)
