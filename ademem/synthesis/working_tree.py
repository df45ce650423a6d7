"""Places in the working tree: what stands there, and where it went."""

from __future__ import annotations

import os
import stat

from ademem.core import anchor, git
from ademem.core.anchor import Place
from ademem.core.errors import AdememError
from ademem.core.repository import git_root
from ademem.core.text import counted
from ademem.core.value import Value, replace
from ademem.search.hints import commands

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

HASH_DIGITS = 16
"""Of a git blob id, as much as tells two texts apart."""
MOST_BYTES = 64_000_000
"""Of a file that is read for what a memory says of it."""
LARGEST = 5_000_000
"""Bytes of a file above which nobody looks for lines that moved."""
RENAMES = 2000
"""Commits in which git looks for a file that is gone."""
NEW_FILES = 500
"""Files that git does not know yet, of which so many are looked into."""

FRESH, MOVED, CHANGED, GONE = "fresh", "moved", "changed", "gone"
STATES = (FRESH, MOVED, CHANGED, GONE)
"""How a place can stand, from good to bad."""


class NoSuchPlace(AdememError):
    hint = "FILE, FILE:LINE or FILE:FIRST-LAST, of a file in the project"


class Standing(Value):
    """A noted place, and how the working tree has it today."""

    noted: Place
    state: str
    now: Place | None = None
    """Where its text is, with its hash; None when it is nowhere."""


class Tree:
    """The files of a project, each read once; git is asked at most once, when a file is gone."""

    def __init__(self, root: str, *, ask_git: bool = True) -> None:
        self.root = root
        self._read: dict[str, list[bytes] | None] = {}
        self._renames: dict[str, list[str]] | None = None if ask_git else {}

    def lines(self, path: str) -> list[bytes] | None:
        """The lines of a file with their ends; None when it is not there or cannot be read."""
        if path not in self._read:
            try:
                self._read[path] = _split(_content(self.root, path).replace(b"\r\n", b"\n"))
            except OSError:
                self._read[path] = None
        return self._read[path]

    def successors(self, path: str) -> list[str]:
        """Where a file that is gone may be, by what git knows of renames and new files."""
        if self._renames is None:
            self._renames = _renames(self.root)
        found: dict[str, None] = {}
        waiting = [path]
        while waiting:
            for after in self._renames.get(waiting.pop(), ()):
                if after not in found:
                    found[after] = None
                    waiting.append(after)
        new = self._renames.get("", [])[:NEW_FILES]
        return [after for after in (*found, *new) if self._is_readable(after)]

    def _is_readable(self, path: str) -> bool:
        """Whether it is there and no larger than what people write."""
        try:
            size = os.stat(os.path.join(self.root, path)).st_size
        except OSError:
            return False
        return size <= LARGEST and self.lines(path) is not None


def _content(root: str, path: str) -> bytes:
    """A source file of the project, whoever named it; raises OSError.

    Links count as far as they stay in the project. Nothing is waited for, and there is an end.
    """
    real = os.path.realpath(os.path.join(root, path))
    if not real.startswith(os.path.join(os.path.realpath(root), "")):
        raise PermissionError(f"{path} leads out of the project")
    with open(os.open(real, os.O_RDONLY | os.O_NONBLOCK), "rb") as file:
        there = os.fstat(file.fileno())
        if not stat.S_ISREG(there.st_mode) or there.st_size > MOST_BYTES:
            raise OSError(f"{path} is no file that is read")
        return file.read()


def noted(given: Place, tree: Tree, cwd: str) -> Place:
    """The place as it is stored: its path within the project, and the hash of what stands there.

    Raises NoSuchPlace; a path is looked for from *cwd* first, then from the project's root.
    """
    for folder in (cwd, tree.root):
        whole = os.path.realpath(os.path.join(folder, given.path))
        inside = os.path.relpath(whole, os.path.realpath(tree.root))
        if os.path.isfile(whole) and not inside.startswith(os.pardir):
            place = replace(given, path=inside.replace(os.sep, "/"))
            hash = _hash_at(place, tree)
            if hash is None:
                count = len(tree.lines(place.path) or ())
                raise NoSuchPlace(f"{place.path} has {counted(count, 'line')}, not {given.where}")
            return replace(place, hash=hash)
    raise NoSuchPlace(f"there is no file {given.path!r} in the project")


def all_noted(anchors: Iterable[str], root: str, cwd: str) -> tuple[str, ...]:
    """The anchors as they are stored; what was noted before stays as it is.

    Raises NoSuchPlace, or NoSuchCommand for what cannot be recognised as a command.
    """
    tree = Tree(root)
    stored = []
    for text in anchors:
        place = anchor.place(text)
        if text.startswith(anchor.COMMAND):
            stored.append(anchor.of_command(commands.checked(anchor.command(text))))
        else:
            stored.append(noted(place, tree, cwd).text if place and not place.hash else text)
    return tuple(stored)


def standing(place: Place, tree: Tree) -> Standing:
    """Fresh: as noted. Moved: the same text elsewhere. Changed: the file has it no more. Gone."""
    there = _hash_at(place, tree)
    if there is not None and place.hash in ("", there[: len(place.hash)]):
        return Standing(noted=place, state=FRESH, now=replace(place, hash=there))
    here = tree.lines(place.path) is not None
    for path in [place.path] if here else tree.successors(place.path):
        found = _found_in(path, place, tree)
        if found:
            return Standing(noted=place, state=MOVED, now=found)
    return Standing(noted=place, state=CHANGED if here else GONE)


def worst(standings: Iterable[Standing]) -> str:
    """The worst state among them; fresh when there are none."""
    return max((each.state for each in standings), key=STATES.index, default=FRESH)


def blob_hash(data: bytes) -> str:
    """The first digits of what `git hash-object` says of these bytes."""
    from hashlib import sha1

    return sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()[:HASH_DIGITS]


def _split(text: bytes) -> list[bytes]:
    lines = [line + b"\n" for line in text.split(b"\n")]
    lines[-1] = lines[-1][:-1]
    return lines if lines[-1] else lines[:-1]


def _span(lines: list[bytes], first: int, last: int) -> bytes:
    """The lines from *first* to *last*, ended as if more followed."""
    text = b"".join(lines[first - 1 : last])
    return text if text.endswith(b"\n") else text + b"\n"


def _hash_at(place: Place, tree: Tree) -> str | None:
    """What stands there, as a hash; None when the file does not have these lines."""
    lines = tree.lines(place.path)
    if lines is None:
        return None
    if not place.first:
        return blob_hash(b"".join(lines))
    if not place.first <= place.last <= len(lines):
        return None
    return blob_hash(_span(lines, place.first, place.last))


def _found_in(path: str, place: Place, tree: Tree) -> Place | None:
    """The nearest lines of a file that say what was noted."""
    lines = tree.lines(path) or []
    if not place.hash or sum(map(len, lines)) > LARGEST:
        return None
    if not place.first:
        same = blob_hash(b"".join(lines))
        return replace(place, path=path, hash=same) if same.startswith(place.hash) else None
    size = place.last - place.first
    starts = range(1, len(lines) - size + 1)
    for first in sorted(starts, key=lambda start: abs(start - place.first)):
        hash = blob_hash(_span(lines, first, first + size))
        if hash.startswith(place.hash):
            return Place(path=path, first=first, last=first + size, hash=hash)
    return None


def _renames(root: str) -> dict[str, list[str]]:
    """New names by old one, the newest first; under "" the files git does not know yet."""
    top = git_root(root)
    if top is None:
        return {}
    found: dict[str, list[str]] = {}
    log = ("log", "--format=", "--name-status", "-M", "--diff-filter=R", "-z", f"-{RENAMES}")
    words = iter(_git(top, *log))
    for status in words:
        if status.startswith("R"):
            old, new = next(words, ""), next(words, "")
            found.setdefault(_inside(old, top, root), []).append(_inside(new, top, root))
    entries = iter(_git(top, "status", "--porcelain=v1", "-z", "--untracked-files=all"))
    for entry in entries:
        name = _inside(entry[3:], top, root)
        if entry.startswith("R"):
            found.setdefault(_inside(next(entries, ""), top, root), []).insert(0, name)
        elif entry.startswith(("??", "A")):
            found.setdefault("", []).append(name)
    return found


def _inside(path: str, top: str, root: str) -> str:
    return os.path.relpath(os.path.join(top, path), root)


def _git(top: str, *arguments: str) -> list[str]:
    """What git prints, split at its NULs; nothing where git is missing or refuses."""
    found = git.output(top, *arguments, timeout_s=git.LONG_S)
    return [] if found is None else found.decode("utf-8", "surrogateescape").split("\0")
