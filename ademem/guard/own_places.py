"""Keep ademem's own places from tools: the person's data and settings, the program, the database.

The files of memory below `.ade/` are not among them: agents may edit these, and it is noted.
"""

from __future__ import annotations

import os
from itertools import chain

from ademem.core import regex
from ademem.guard.policy import SHELL_TOOLS, WRITING_TOOLS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from typing import Any

    from ademem.core.settings import GuardSettings
    from ademem.guard.mutation import CommandPart
    from ademem.guard.shell import Word
    from ademem.guard.writers import Written

USUAL = (
    r"\.config/+ademem\b|\bademem-data\b|\.local/+share/+ademem\b|Application Support/+ademem"
    r"|\.ade/+(?:\./+)*(?:ade\.db|run\b)"
)
"""Where they are without a variable that moves them, however the home folder is spelled."""
DEPTH = 8
MOST_WORDS = 300
"""Words of a command, or texts of a call, that are resolved as paths."""
MOST_FOLDERS = 8
PATH_CHARS = 4096
_NAMING = frozenset("echo printf cat".split()) | {
    *("git add", "git commit", "git notes", "git push", "git stage", "git tag")
}
"""Commands that change no file which their words name, but those of a redirection."""


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
    kept = _Places(places, usual)
    found = ""
    if tool in WRITING_TOOLS:
        return kept.find(path)
    if tool in SHELL_TOOLS:
        tool_input = {"command": command}
        found = _written_by(command, kept, settings, folder)
    elif tool.startswith("mcp__"):
        from ademem.guard.programs import mcp_tool_changes

        if mcp_tool_changes(tool, settings):
            found = _named_by(tool_input, kept, folder)
    if found:
        return found
    from ademem.guard.touch import touch

    touched = touch(tool, tool_input, folder, settings)
    writes = touched.writes if touched.changes else ()
    return next(filter(None, map(kept.find_matched, writes)), "")


class _Places:
    def __init__(self, places: Sequence[str], usual: str) -> None:
        self._usual = usual
        self._plain = [place.rstrip("*") for place in places]
        self._lower = [place.lower() for place in self._plain]
        ends = ["" if place.endswith("*") else "/" for place in places]
        self._real = [
            os.path.realpath(place).lower() + end
            for place, end in zip(self._plain, ends, strict=True)
        ]
        self._folders: dict[str, str] = {}

    def find(self, path: str) -> str:
        """Return the place that a path leads to, whatever links and `..` it goes by."""
        real = f"{self._resolve(path)}/".lower()  # a file system may ignore case
        pairs = zip(self._plain, self._real, strict=True)
        return next((place for place, whole in pairs if real.startswith(whole)), "")

    def find_matched(self, path: str) -> str:
        """Return the place that a path leads to, or that its pattern may match."""
        return self.find(path) or self._match(path, below=False)

    def find_below(self, path: str) -> str:
        """Return a place below the folder, or below one that its pattern may match."""
        real = f"{self._resolve(path).rstrip('/')}/".lower()
        pairs = zip(self._plain, self._real, strict=True)
        found = next((place for place, whole in pairs if whole.startswith(real)), "")
        return found or self._match(path, below=True)

    def find_mentioned(self, text: str) -> str:
        if found := regex.search(self._usual, text, regex.IGNORECASE):
            return found[0]
        lower = text.lower()
        pairs = zip(self._plain, self._lower, strict=True)
        return next((place for place, spelled in pairs if spelled in lower), "")

    def find_named(self, text: str, folders: Sequence[str]) -> str:
        """Return the place that a word mentions, or names as a path from one of the *folders*."""
        if found := self.find_mentioned(text):
            return found
        value = text.partition("=")[2]
        for word in filter(_is_path, (value, "" if text.startswith("-") else text)):
            for folder in folders:
                path = os.path.join(folder, _expanded(word))
                if found := self.find_matched(path):
                    return found
        return ""

    def _match(self, path: str, *, below: bool) -> str:
        if _SIGNS.isdisjoint(path):
            return ""
        from fnmatch import fnmatchcase

        patterns = os.path.normpath(path.lower()).split("/")
        for place in self._plain:
            names = place.lower().split("/")
            if (below or len(patterns) >= len(names)) and all(
                fnmatchcase(name, pattern) and (name[:1] != "." or pattern[:1] not in _SIGNS)
                for name, pattern in zip(names, patterns, strict=False)
            ):
                return place
        return ""

    def _resolve(self, path: str) -> str:
        """Return the real path; each folder is looked at once."""
        folder, name = os.path.split(path)
        if name in ("", ".", ".."):
            return os.path.realpath(path)
        if folder not in self._folders:
            self._folders[folder] = os.path.realpath(folder)
        whole = os.path.join(self._folders[folder], name)
        return os.path.realpath(whole) if os.path.islink(whole) else whole


_SIGNS = frozenset("*?[")


def _named_by(tool_input: dict[str, Any], kept: _Places, folder: str) -> str:
    for number, text in enumerate(_texts(tool_input)):
        folders = (folder,) if number < MOST_WORDS else ()
        if place := kept.find_named(text, folders):
            return place
        if _is_memory_folder(text, folders):
            return text
    return ""


def _written_by(command: str, kept: _Places, settings: GuardSettings, folder: str) -> str:
    from ademem.guard import mutation, shell

    mentioned = kept.find_mentioned(command)
    script = shell.parse(command)
    if script is None:
        return mentioned
    parts = list(mutation.parts_in(script, settings))
    folders = _folders(parts, folder)
    inside = _entered_place(parts, folders, kept)
    for part in parts:
        if mutation.judge_part(part).mutates:
            written = list(_written_words(part))
            if written and inside:
                return inside
            if mentioned and shell.any_expands(written):
                return mentioned
            if found := _named_place(written, folders, kept) or _whole_folder(part, folders, kept):
                return found
    return ""


def _entered_place(parts: Sequence[CommandPart], folders: Sequence[str], kept: _Places) -> str:
    """Return the place in which a command runs, also one that it seems to enter."""
    named = (kept.find_mentioned(f"{target}/") for part in parts for target in _cd(part))
    return next(filter(None, chain(map(kept.find, folders), named)), "")


def _named_place(words: Iterable[Word], folders: Sequence[str], kept: _Places) -> str:
    for number, word in enumerate(words):
        if place := kept.find_named(word.text, folders if number < MOST_WORDS else ()):
            return place
    return ""


def _folders(parts: Iterable[CommandPart], folder: str) -> list[str]:
    """List the folders that a command may run in: the one it begins in and those it enters."""
    folders = [folder]
    for part in parts:
        folders += [os.path.join(folders[-1], _expanded(target)) for target in _cd(part)]
    return folders[:MOST_FOLDERS]


def _cd(part: CommandPart) -> list[str]:
    words = [word.text for word in part.command.words]
    return words[1:2] if words[:1] in (["cd"], ["pushd"]) else []


def _written_words(part: CommandPart) -> Iterator[Word]:
    """Yield the words that may name what the command writes, those of a redirection first."""
    command = part.command
    yield from (redirect.target for redirect in command.redirects if redirect.writes)
    is_own = command.name.rpartition("/")[2] == "ademem" and part.key != "ademem export"
    if part.key in _NAMING or is_own:
        return
    yield from (*command.words[1:], *command.assignments)
    if command.stdin and part.key != "tee":
        yield command.stdin


def _whole_folder(part: CommandPart, folders: Sequence[str], kept: _Places) -> str:
    """Return the folder of a place that the command moves, removes, links or fills."""
    from ademem.guard import writers

    written = [*writers.written_by(part.command)]
    removed = [_expanded(text) for text in _removed_or_linked(part, written)]
    paths = (os.path.join(folder, text) for text in removed for folder in folders)
    if place := next(filter(None, map(kept.find_below, paths)), ""):
        return place
    runs_inside = any(file.implied for file in written) or writers.runs_code(part.command)
    if runs_inside and any(_is_memory_folder(folder, ("/",)) for folder in folders):
        return folders[-1]
    return _filled_memory_folder(written, folders)


def _removed_or_linked(part: CommandPart, written: Iterable[Written]) -> list[str]:
    removed = [file.word.text for file in written if file.is_gone]
    linked = part.arguments[:-1] if part.command.name == "ln" else ()
    return [*removed, *(word.text for word in linked)]


def _filled_memory_folder(written: Iterable[Written], folders: Sequence[str]) -> str:
    filled = (file.word.text for file in written if file.fills and not file.is_gone)
    return next((text for text in filled if _is_memory_folder(text, folders)), "")


def _is_memory_folder(text: str, folders: Sequence[str]) -> bool:
    """Return True for `.ade/` itself, which contains the database."""
    if not _is_path(text):
        return False
    paths = (os.path.realpath(os.path.join(folder, _expanded(text))) for folder in folders)
    return any(os.path.basename(path).lower() == ".ade" for path in paths)


def _is_path(text: str) -> bool:
    return 0 < len(text) <= PATH_CHARS and text.isprintable()


def _expanded(text: str) -> str:
    text = text.removeprefix("file://")
    return os.path.expanduser(regex.sub(r"^\$(?:HOME\b|\{HOME\})", "~", text))


def _texts(value: Any, depth: int = 0) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif depth < DEPTH and isinstance(value, dict | list):
        for each in value.values() if isinstance(value, dict) else value:
            yield from _texts(each, depth + 1)
