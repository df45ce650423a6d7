"""Files that the commands of a script write or remove, as far as its words name them."""

from __future__ import annotations

import posixpath
import re

from ademem.core.value import Value, replace
from ademem.guard.shell import Command, Script, Word, is_option, sets_option, unwrap

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_DEVICES = "/dev/"
_PRINTERS = frozenset({"", "echo", "printf", "cat", "tee"})
_IN_PLACE = {"sed": "-i --in-place", "gsed": "-i --in-place", "perl": "-i", "ruby": "-i"}
"""Editors of streams, and the options with which they change the files they are given."""
_SCRIPT_OPTIONS = ("-e", "-f", "--expression", "--file")
"""Options of these editors that take the next word, in place of a script among the operands."""
_MOVERS = frozenset({"mv", "cp", "install", "ln", "git mv"})
_REMOVERS = frozenset({"rm", "unlink", "shred", "git rm"})
_PATCHED = re.compile(r"^\+\+\+ (?:b/)?([^\t\n]+)", re.M)


class FileEdit(Value):
    path: str
    """As written, behind the folders of earlier `cd` commands."""
    is_whole: bool
    """True if the command does nothing but edit files: `sed -i`, `echo … >`, `tee`, `patch`."""


def find_edits(script: Script, folder: str = "") -> list[FileEdit]:
    """Return the files that the script changes, where no variable or pattern names them."""
    found = [edit for _, edits in edits_by_command(script, folder) for edit in edits]
    return list({edit.path: edit for edit in reversed(found)}.values())[::-1]


def edits_by_command(script: Script, folder: str = "") -> Iterator[tuple[Command, list[FileEdit]]]:
    """Yield each command of the script with the files that it, or what it runs, changes."""
    for command in script.commands:
        edits = [
            replace(edit, path=posixpath.normpath(posixpath.join(folder, edit.path)))
            for plain in unwrap(command)
            for edit in _edits_of(plain)
        ]
        yield command, edits
        if command.name == "cd" and len(command.words) == 2 and not command.words[1].expands:
            folder = posixpath.join(folder, command.words[1].text)


def _edits_of(command: Command) -> Iterator[FileEdit]:
    """Yield the files that one command changes, as written."""
    name = command.name
    for redirect in command.redirects:
        if redirect.writes and _is_file(redirect.target):
            yield FileEdit(path=redirect.target.text, is_whole=name in _PRINTERS)
    operands = [word for word in command.words[1:] if not is_option(word.text)]
    if name == "git" and operands:
        name, *operands = f"git {operands[0].text}", *operands[1:]
    if name == "tee":
        yield from _files(operands)
    elif name in _IN_PLACE:
        options = [word.text for word in command.words[1:]]
        if any(sets_option(each, flag) for each in options for flag in _IN_PLACE[name].split()):
            yield from _files(_behind_script(command.words[1:]))
    elif name in ("patch", "git apply"):
        diff = command.stdin.text if command.stdin and not command.stdin.expands else ""
        named = operands[:1] if name == "patch" else []
        patched = [Word(text=path) for path in _PATCHED.findall(diff)]
        yield from _files(named or [word for word in patched if word.text != "/dev/null"])
    elif name in _MOVERS:
        yield from _moved(operands, removes=name.endswith("mv"))
    elif name in _REMOVERS:
        yield from (FileEdit(path=word.text, is_whole=False) for word in operands if _is_file(word))


def _behind_script(words: tuple[Word, ...]) -> list[Word]:
    """Return the files behind the script of `sed` and its like."""
    files: list[Word] = []
    has_script = False
    left = iter(words)
    for word in left:
        if not is_option(word.text):
            files += [word] if word.text else []  # BSD: `sed -i '' …`
        elif word.text in _SCRIPT_OPTIONS or re.fullmatch(r"-[a-zA-Z]*e", word.text):
            has_script = True
            next(left, None)
        elif word.text.startswith(("--expression=", "--file=")):
            has_script = True
    return files if has_script else files[1:]


def _moved(operands: list[Word], *, removes: bool) -> Iterator[FileEdit]:
    if len(operands) < 2 or operands[-1].expands:
        return
    *sources, target = operands
    for source in sources:
        if source.expands:
            continue
        into = target.text.endswith("/") or len(sources) > 1
        path = posixpath.join(target.text, posixpath.basename(source.text)) if into else target.text
        for each in (source.text, path) if removes else (path,):
            yield FileEdit(path=each, is_whole=False)


def _files(words: list[Word]) -> Iterator[FileEdit]:
    for word in words:
        if _is_file(word):
            yield FileEdit(path=word.text, is_whole=True)


def _is_file(word: Word) -> bool:
    return bool(word.text) and not word.expands and not word.text.startswith((_DEVICES, "-", "&"))
