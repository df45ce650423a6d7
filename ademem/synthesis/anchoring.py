"""Bind the anchors of memories to places in the working tree, as a person or program names them.

The values that a memory depends on come from the part that compares anchors with the code.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable
from contextlib import suppress
from typing import Any

from ademem.core import anchor, plugins
from ademem.core.anchor import Place
from ademem.core.errors import UsageError
from ademem.core.memory import Memory
from ademem.core.text import counted, in_one_line
from ademem.core.value import Value, replace
from ademem.search.binding_keys import parse_at
from ademem.search.hint_patterns import check_command

HASH_DIGITS = 16
READ_BYTES = 64_000_000
SEARCH_BYTES = 5_000_000
"""Largest file in which moved lines are looked for."""


def verifier() -> Any:
    """Return the module that compares anchors with the code; None without its part."""
    return next(plugins.modules("VERIFIER"), None)


class Doubt(Value):
    """A memory whose code no longer has a value of its text."""

    memory: Memory
    anchor: str
    why: str
    corrected: str | None = None
    """The text with the values of the code, where these are clear."""


class NoSuchPlace(UsageError):
    hint = "FILE, FILE:LINE or FILE:FIRST-LAST, of a file in the project"


class WorkingTree:
    """The files of a project, each read once."""

    def __init__(self, root: str) -> None:
        self.root = root
        self._files: dict[str, list[bytes] | None] = {}

    def lines(self, path: str) -> list[bytes] | None:
        if path not in self._files:
            self._files[path] = None
            with suppress(OSError, ValueError):  # a row from elsewhere may name any path
                self._files[path] = split_lines(_read(self.root, path))
        return self._files[path]

    def code(self, path: str) -> str:
        return b"".join(self.lines(path) or ()).decode("utf-8", "replace")

    def hash_at(self, place: Place) -> str | None:
        lines = self.lines(place.path)
        if lines is None:
            return None
        if not place.first:
            return blob_hash(b"".join(lines))
        if not place.first <= place.last <= len(lines):
            return None
        return hash_of_lines(lines, place.first, place.last)

    def small_lines(self, path: str, most: int = SEARCH_BYTES) -> list[bytes] | None:
        with suppress(OSError, ValueError):
            if os.stat(os.path.join(self.root, path)).st_size <= most:
                return self.lines(path)
        return None


def resolve_anchors(anchors: Iterable[str], root: str, cwd: str, text: str) -> tuple[str, ...]:
    """Return anchors as they are stored; raises NoSuchPlace and NoSuchCommand."""
    tree = WorkingTree(root)
    stored = []
    for given in anchors:
        given = given if given.startswith(anchor.COMMAND) else in_one_line(given)
        place = anchor.place(given)
        if given.startswith(anchor.COMMAND):
            given = anchor.of_command(check_command(anchor.command(given)))
        elif at := anchor.at(given):
            parse_at(at[0])
        elif place and not place.hash:
            given = resolve_place(place, tree, cwd).text
        stored.append(given)
    return renew_values(stored, root, text)


def renew_values(anchors: Iterable[str], root: str, text: str) -> tuple[str, ...]:
    """Return the anchors with the values of a new text; if the code has changed, with the old."""
    comparing = verifier()
    if comparing is None:
        return tuple(anchors)
    tree = WorkingTree(root)
    places = {given: anchor.place(given) for given in anchors}
    return tuple(
        replace(place, values=comparing.values_at(place, text, tree.lines(place.path) or [])).text
        if place and place.hash and tree.hash_at(place) == place.hash
        else given
        for given, place in places.items()
    )


def resolve_place(given: Place, tree: WorkingTree, cwd: str) -> Place:
    """Look below *cwd*, then below the project's root, and add the hash; raises NoSuchPlace."""
    for folder in (cwd, tree.root):
        whole = os.path.realpath(os.path.join(folder, given.path))
        inside = os.path.relpath(whole, os.path.realpath(tree.root))
        if os.path.isfile(whole) and not inside.startswith(os.pardir):
            place = replace(given, path=inside.replace(os.sep, "/"))
            hash = tree.hash_at(place)
            if hash is None:
                count = len(tree.lines(place.path) or ())
                raise NoSuchPlace(f"{place.path} has {counted(count, 'line')}, not {given.where}")
            return replace(place, hash=hash)
    raise NoSuchPlace(f"there is no file {given.path!r} in the project")


def split_lines(data: bytes) -> list[bytes]:
    """Return the lines with their ends, a CRLF as LF."""
    lines = [line + b"\n" for line in data.replace(b"\r\n", b"\n").split(b"\n")]
    lines[-1] = lines[-1][:-1]
    return lines if lines[-1] else lines[:-1]


def blob_hash(data: bytes) -> str:
    from hashlib import sha1  # OpenSSL takes 2 ms to load

    return sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()[:HASH_DIGITS]


def hash_of_lines(lines: list[bytes], first: int, last: int) -> str:
    """The last line of a file is hashed with a line end, so that text may be added below it."""
    text = b"".join(lines[first - 1 : last])
    return blob_hash(text if text.endswith(b"\n") else text + b"\n")


def _read(root: str, path: str) -> bytes:
    """Read a file, without leaving the project by a link or blocking on a pipe.

    Raises OSError, or ValueError for what is not a path.
    """
    real = os.path.realpath(os.path.join(root, path))
    if not real.startswith(os.path.join(os.path.realpath(root), "")):
        raise PermissionError(f"{path} leads out of the project")
    with open(os.open(real, os.O_RDONLY | os.O_NONBLOCK), "rb") as file:
        found = os.fstat(file.fileno())
        if not stat.S_ISREG(found.st_mode) or found.st_size > READ_BYTES:
            raise OSError(f"{path} is not a file that is read")
        return file.read()
