"""Compare the places that memories are anchored to with the working tree, and follow moved text."""

from __future__ import annotations

import os
import stat

from ademem.core import anchor, git
from ademem.core.anchor import Place
from ademem.core.errors import UsageError
from ademem.core.repository import git_root
from ademem.core.text import counted
from ademem.core.value import Value, replace
from ademem.search.hint_patterns import check_command
from ademem.search.hints import update_sites
from ademem.store import hints as table
from ademem.store import jobs, memories, memory_queries
from ademem.store.memories import Change

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from ademem.core.memory import Memory
    from ademem.core.project import Project
    from ademem.store import Store

HASH_DIGITS = 16
"""Digits of a git blob id that are stored."""
READ_BYTES = 64_000_000
"""Largest file that is read."""
SEARCH_BYTES = 5_000_000
"""Largest file in which moved lines are looked for."""
RENAMES = 2000
"""Commits searched for the new name of a file."""
NEW_FILES = 500
"""Untracked files searched for moved text."""

FRESH, MOVED, CHANGED, GONE = STATES = ("fresh", "moved", "changed", "gone")
"""As noted; the same text elsewhere; other text in its file; no file: from good to bad."""


class NoSuchPlace(UsageError):
    hint = "FILE, FILE:LINE or FILE:FIRST-LAST, of a file in the project"


class Location(Value):
    """A place as it was noted, and where its text is in the working tree."""

    noted: Place
    state: str
    now: Place | None = None
    """None when the text is nowhere."""


class Checked(Value):
    memory: Memory
    anchor: str
    location: Location
    fixed: bool = False

    @property
    def is_sound(self) -> bool:
        return self.fixed or self.location.state == FRESH


def verify(project: Project, store: Store) -> list[Checked]:
    """Check all anchors of live memories, in the order of the memories, and store their states."""
    tree = WorkingTree(project.root)
    found = [each for memory in memory_queries.with_anchors(store) for each in _check(memory, tree)]
    update_sites(store)
    with store.transaction():
        _store_states(found, store)
    return found


def fix(found: Iterable[Checked], store: Store, now: datetime, actor: str) -> list[Checked]:
    """Point anchors at moved text, and add the missing hashes."""
    done = []
    change = Change(
        operation="edit", actor=actor, at=now, reason="anchors", event_id=memories.new_event()
    )
    with store.transaction():
        for each in found:
            new = each.location.now.text if each.location.now else each.anchor
            if new == each.anchor:
                done.append(each)
                continue
            memory = memories.get(store, each.memory.id)
            anchors = tuple(new if old == each.anchor else old for old in memory.anchors)
            changed = replace(memory, anchors=anchor.joined((), anchors))
            memories.update(store, changed, change)
            jobs.queue(store, "mirror", "project", now)
            done.append(replace(each, fixed=True))
        update_sites(store)
        _store_states(done, store)
    return done


def stale_states(found: Iterable[Memory], project: Project) -> dict[str, str]:
    """Return the worst state of each memory with an anchor that is not fresh, by its id.

    Meant for few memories: a renamed file counts as gone, as git is not asked.
    """
    tree = WorkingTree(project.root, ask_git=False)
    states = {
        memory.id: max((each.location.state for each in _check(memory, tree)), key=STATES.index)
        for memory in found
        if any(map(anchor.place, memory.anchors))
    }
    return {id: state for id, state in states.items() if state != FRESH}


def _check(memory: Memory, tree: WorkingTree) -> list[Checked]:
    places = [(text, anchor.place(text)) for text in memory.anchors]
    return [
        Checked(memory=memory, anchor=text, location=locate(place, tree))
        for text, place in places
        if place
    ]


def _store_states(found: Iterable[Checked], store: Store) -> None:
    for each in found:
        if not each.fixed:
            table.set_anchor_state(store, each.memory.seq, each.anchor, each.location.state)


class WorkingTree:
    """The files of a project, each read once; git is asked at most once, for a missing file."""

    def __init__(self, root: str, *, ask_git: bool = True) -> None:
        self.root = root
        self._files: dict[str, list[bytes] | None] = {}
        self._renames: dict[str, list[str]] | None = None if ask_git else {}

    def lines(self, path: str) -> list[bytes] | None:
        """Return the lines of a file with their ends; None for what is missing or unreadable."""
        if path not in self._files:
            try:
                text = _read(self.root, path).replace(b"\r\n", b"\n")
            except OSError:
                self._files[path] = None
            else:
                lines = [line + b"\n" for line in text.split(b"\n")]
                lines[-1] = lines[-1][:-1]
                self._files[path] = lines if lines[-1] else lines[:-1]
        return self._files[path]

    def hash_at(self, place: Place) -> str | None:
        """Return the hash of the text at a place; None when the file lacks these lines."""
        lines = self.lines(place.path)
        if lines is None:
            return None
        if not place.first:
            return blob_hash(b"".join(lines))
        if not place.first <= place.last <= len(lines):
            return None
        return _hash_of_lines(lines, place.first, place.last)

    def successors(self, path: str) -> list[str]:
        """Return files that may hold the text of a missing one: its new names, then new files."""
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
        return [after for after in (*found, *new) if self._is_searchable(after)]

    def _is_searchable(self, path: str) -> bool:
        try:
            size = os.stat(os.path.join(self.root, path)).st_size
        except OSError:
            return False
        return size <= SEARCH_BYTES and self.lines(path) is not None


def resolve_anchors(anchors: Iterable[str], root: str, cwd: str) -> tuple[str, ...]:
    """Return anchors as they are stored: commands normalized, places with a path and a hash.

    Raises NoSuchPlace, and NoSuchCommand for what cannot be recognised as a command.
    """
    tree = WorkingTree(root)
    stored = []
    for text in anchors:
        place = anchor.place(text)
        if text.startswith(anchor.COMMAND):
            stored.append(anchor.of_command(check_command(anchor.command(text))))
        else:
            stored.append(
                resolve_place(place, tree, cwd).text if place and not place.hash else text
            )
    return tuple(stored)


def resolve_place(given: Place, tree: WorkingTree, cwd: str) -> Place:
    """Return the place with its path in the project and the hash of its text.

    The path is relative to *cwd*, else to the project's root. Raises NoSuchPlace.
    """
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


def locate(place: Place, tree: WorkingTree) -> Location:
    """Find the text of a place: where it was, else in its file, else in the file's successors."""
    there = tree.hash_at(place)
    if there is not None and place.hash in ("", there[: len(place.hash)]):
        return Location(noted=place, state=FRESH, now=replace(place, hash=there))
    exists = tree.lines(place.path) is not None
    for path in [place.path] if exists else tree.successors(place.path):
        found = _find_in(path, place, tree)
        if found:
            return Location(noted=place, state=MOVED, now=found)
    return Location(noted=place, state=CHANGED if exists else GONE)


def _find_in(path: str, place: Place, tree: WorkingTree) -> Place | None:
    """Return the lines of a file that are nearest to the place and have its hash."""
    lines = tree.lines(path) or []
    if not place.hash or sum(map(len, lines)) > SEARCH_BYTES:
        return None
    if not place.first:
        hash = blob_hash(b"".join(lines))
        return replace(place, path=path, hash=hash) if hash.startswith(place.hash) else None
    size = place.last - place.first
    starts = range(1, len(lines) - size + 1)
    for first in sorted(starts, key=lambda start: abs(start - place.first)):
        hash = _hash_of_lines(lines, first, first + size)
        if hash.startswith(place.hash):
            return Place(path=path, first=first, last=first + size, hash=hash)
    return None


def blob_hash(data: bytes) -> str:
    """Return the first digits of the id that git gives these bytes."""
    from hashlib import sha1

    return sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()[:HASH_DIGITS]


def _hash_of_lines(lines: list[bytes], first: int, last: int) -> str:
    """The last line of a file is hashed with a line end, so that text may be added below it."""
    text = b"".join(lines[first - 1 : last])
    return blob_hash(text if text.endswith(b"\n") else text + b"\n")


def _read(root: str, path: str) -> bytes:
    """Read a file of the project without blocking on a pipe; raises OSError.

    Links are followed as long as they stay in the project.
    """
    real = os.path.realpath(os.path.join(root, path))
    if not real.startswith(os.path.join(os.path.realpath(root), "")):
        raise PermissionError(f"{path} leads out of the project")
    with open(os.open(real, os.O_RDONLY | os.O_NONBLOCK), "rb") as file:
        found = os.fstat(file.fileno())
        if not stat.S_ISREG(found.st_mode) or found.st_size > READ_BYTES:
            raise OSError(f"{path} is no file that is read")
        return file.read()


def _renames(root: str) -> dict[str, list[str]]:
    """Return new names by old name, the newest first, and untracked files under ""."""
    top = git_root(root)
    if top is None:
        return {}
    found: dict[str, list[str]] = {}

    def inside(path: str) -> str:
        return os.path.relpath(os.path.join(top, path), root)

    log = ("log", "--format=", "--name-status", "-M", "--diff-filter=R", "-z", f"-{RENAMES}")
    words = iter(_git(top, *log))
    for status in words:
        if status.startswith("R"):
            old, new = next(words, ""), next(words, "")
            found.setdefault(inside(old), []).append(inside(new))
    entries = iter(_git(top, "status", "--porcelain=v1", "-z", "--untracked-files=all"))
    for entry in entries:
        name = inside(entry[3:])
        if entry.startswith("R"):
            found.setdefault(inside(next(entries, "")), []).insert(0, name)
        elif entry.startswith(("??", "A")):
            found.setdefault("", []).append(name)
    return found


def _git(top: str, command: str, *arguments: str) -> list[str]:
    found = git.output(top, command, *arguments, timeout_s=git.LONG_S)
    return [] if found is None else found.decode("utf-8", "surrogateescape").split("\0")
