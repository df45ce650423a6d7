"""Compare the places that memories are anchored to with the working tree, and follow moved text.

Changed text alone says little about a memory: most edits leave its fact alone. A memory is in doubt
where a value of its text, see `anchored_values`, is no longer in the code.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from functools import lru_cache

from ademem.core import anchor, git
from ademem.core.anchor import Place
from ademem.core.memory import Memory
from ademem.core.project import Project
from ademem.core.redaction import redact
from ademem.core.repository import git_root
from ademem.core.value import Value, replace
from ademem.plugins.verify.anchored_values import (
    CodeValue,
    Finding,
    contains,
    correct,
    find_missing,
    find_values,
    headers_above,
    is_named,
    parse_value,
)
from ademem.search.binding import update_bindings
from ademem.store import Store, jobs, memories, memory_queries
from ademem.store import bindings as table
from ademem.store.memories import Change
from ademem.synthesis.anchoring import (
    SEARCH_BYTES,
    Doubt,
    WorkingTree,
    blob_hash,
    hash_of_lines,
    split_lines,
)

SHIFT = 200
"""Lines in both directions in which moved lines are looked for first; most moves are small."""
HASHED_BYTES = 50_000_000
"""Most bytes hashed in the search for moved lines in a whole file."""
RENAME_COMMITS = 2000
MOST_NEW_FILES = 500

FRESH, MOVED, REWRITTEN, CHANGED, GONE = STATES = "fresh moved rewritten changed gone".split()
"""As noted; the text is elsewhere; other text with all values; another value; no value or file."""


class Location(Value):
    noted: Place
    state: str
    now: Place | None = None
    """None when the text is nowhere."""
    missing: tuple[Finding, ...] = ()


class Checked(Value):
    memory: Memory
    anchor: str
    location: Location
    fixed: bool = False

    @property
    def is_sound(self) -> bool:
        return self.fixed or self.location.state in (FRESH, REWRITTEN)

    @property
    def doubt(self) -> str:
        place = self.location.noted.where
        missing = "; ".join(each.shown for each in self.location.missing) or self.location.state
        return f"the code changed at {place}: {missing}"

    @property
    def corrected(self) -> str | None:
        missing = self.location.missing
        return correct(self.memory.content, missing) if missing else None


def verify(project: Project, store: Store, now: datetime) -> list[Checked]:
    """Check all anchors of live memories, in the order of the memories, and store their states.

    An anchor without values, as older versions wrote it, gets those of its text.
    """
    tree = TracedTree(project.root)
    found = [
        each for memory in memory_queries.with_anchors(store) for each in check_memory(memory, tree)
    ]
    with store.transaction():
        for each in found:
            noted, place = each.location.noted, each.location.now
            if noted.values or not (place and place.hash and noted.hash):
                continue
            if values := tree.values_at(place, each.memory.whole_text):
                memory = memories.get(store, each.memory.id)
                anchors = anchor.keep_values(memory.anchors, [replace(noted, values=values).text])
                memories.set_anchors(store, memory, anchors)
                jobs.queue(store, "mirror", "project", now)
        update_bindings(store, project)
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
            if new != each.anchor:
                memory = memories.get(store, each.memory.id)
                anchors = tuple(new if old == each.anchor else old for old in memory.anchors)
                changed = replace(memory, anchors=anchor.merge_anchors((), anchors))
                memories.update(store, changed, change)
                jobs.queue(store, "mirror", "project", now)
            done.append(each if new == each.anchor else replace(each, fixed=True))
        update_bindings(store)
        _store_states(done, store)
    return done


def find_doubtful(project: Project, store: Store) -> list[Checked]:
    """Return the anchors, in doubt at the last check, whose code still lacks a value."""
    found = table.list_misplaced(store)
    tree = TracedTree(project.root, ask_git=False)
    checked = (each for memory in found if memory.live for each in check_memory(memory, tree))
    return [each for each in checked if each.location.state in (CHANGED, GONE)]


def list_doubts(project: Project, store: Store) -> list[Doubt]:
    return [
        Doubt(memory=each.memory, anchor=each.anchor, why=each.doubt, corrected=each.corrected)
        for each in find_doubtful(project, store)
    ]


def correct_anchors(doubt: Doubt, text: str, root: str) -> tuple[str, ...]:
    """Return the anchors of the memory with the code of today at the place in doubt."""
    tree = TracedTree(root, ask_git=False)
    found = (each for each in check_memory(doubt.memory, tree) if each.anchor == doubt.anchor)
    return anchor_anew(next(found), text, root)


def anchor_anew(found: Checked, text: str, root: str) -> tuple[str, ...]:
    """Return the memory's anchors with the code of today in place of the code that changed.

    That is the same lines if they have values of the *text*, else the file; none if it is gone.
    """
    tree = TracedTree(root, ask_git=False)
    place = found.location.now or found.location.noted
    places = [
        replace(now, hash=hash, values=()).plain
        for now in (place, Place(path=place.path))
        if (hash := tree.hash_at(now)) and (not now.first or tree.values_at(now, text))
    ]
    others = [anchor for anchor in found.memory.anchors if anchor != found.anchor]
    return (*others, *places[:1])


def stale_states(found: Iterable[Memory], project: Project) -> dict[str, str]:
    """Return by id the worst state of each memory that is not fresh.

    Git is not asked, as these are few memories: a renamed file counts as gone.
    """
    tree = TracedTree(project.root, ask_git=False)
    states = {}
    for memory in found:
        checked = (each.location.state for each in check_memory(memory, tree))
        states[memory.id] = max(checked, key=STATES.index, default=FRESH)
    return {id: state for id, state in states.items() if state != FRESH}


def check_memory(memory: Memory, tree: TracedTree) -> list[Checked]:
    places = [(text, anchor.place(text)) for text in memory.anchors]
    return [
        Checked(memory=memory, anchor=text, location=locate(place, tree, memory.whole_text))
        for text, place in places
        if place
    ]


def _store_states(found: Iterable[Checked], store: Store) -> None:
    for each in found:
        if not each.fixed:
            state = each.location.state
            stored = MOVED if state == REWRITTEN else state  # neither puts a memory in doubt
            table.set_anchor_state(store, each.memory, each.location.noted.plain, stored)


class TracedTree(WorkingTree):
    """A working tree whose missing files are traced; git is asked for renames at most once."""

    def __init__(self, root: str, *, ask_git: bool = True) -> None:
        super().__init__(root)
        self._renames: dict[str, list[str]] | None = None if ask_git else {}

    def has_text(self, path: str) -> bool:
        return any(line.strip() for line in self.lines(path) or ())

    def values_at(self, place: Place, text: str) -> tuple[str, ...]:
        return values_at(place, text, self.lines(place.path) or [])

    def successors(self, path: str) -> list[str]:
        """Return files that may hold the text of a missing one: its new names, then new files."""
        if self._renames is None:
            self._renames = _renames(self.root)
        found = [path]
        for name in found:
            found += (new for new in self._renames.get(name, ()) if new not in found)
        new = self._renames.get("", [])[:MOST_NEW_FILES]
        return [after for after in (*found[1:], *new) if self.small_lines(after) is not None]


def values_at(place: Place, text: str, lines: list[bytes]) -> tuple[str, ...]:
    return tuple(value.text for value in find_values(text, *code_at(place, lines)))


def code_at(place: Place, lines: Sequence[bytes]) -> tuple[str, str]:
    """Return the text of a place, and the lines that open the blocks around it."""
    first, last = place.first or 1, place.last or len(lines)
    span, headers = lines[first - 1 : last], headers_above(lines, first) if place.first else []
    return b"".join(span).decode("utf-8", "replace"), b"".join(headers).decode("utf-8", "replace")


def locate(place: Place, tree: TracedTree, text: str = "") -> Location:
    """Find the lines of a place: where they were, else in its file, else in the file's successors.

    Where they are nowhere, the values that the *text* of the memory depends on decide.
    """
    there = tree.hash_at(place)
    if there is not None and place.hash in ("", there[: len(place.hash)]):
        return Location(noted=place, state=FRESH, now=replace(place, hash=there))
    exists = tree.has_text(place.path)
    paths = [place.path] if exists else tree.successors(place.path)
    if moved := _find_moved(place, paths, tree, text):
        return moved
    values = stored_values(place, text)
    attempts = [tuple(find_missing(values, tree.code(path))) for path in paths if values]
    missing = min(attempts, key=len, default=())
    is_there = exists or (attempts and not missing)
    state = state_of(missing) if is_there else GONE
    return Location(noted=place, state=state, missing=missing)


def _find_moved(place: Place, paths: Iterable[str], tree: TracedTree, text: str) -> Location | None:
    """Return the lines in the first file that has them; *text* may name the path of another."""
    for path in paths:
        if found := find_in_lines(tree.lines(path) or [], place):
            renamed = find_missing_path(text, place.path, path)
            state, now = CHANGED if renamed else MOVED, replace(found, path=path)
            return Location(noted=place, state=state, now=now, missing=renamed)
    return None


def state_of(missing: Iterable[Finding]) -> str:
    found = [bool(each.now) for each in missing]
    return (CHANGED if any(found) else GONE) if found else REWRITTEN


def stored_values(place: Place, text: str) -> list[CodeValue]:
    """Leave out values that the text, which may have been edited, no longer names."""
    return [value for value in map(parse_value, place.values) if is_named(value, text)]


def find_missing_path(text: str, old: str, new: str) -> tuple[Finding, ...]:
    for was, now in ((old, new), (os.path.basename(old), os.path.basename(new))):
        if was != now and contains(text, was):
            return (Finding(value=CodeValue(name="path", token=was), now=now),)
    return ()


def find_in_lines(lines: list[bytes], place: Place) -> Place | None:
    length = sum(map(len, lines))
    if not place.hash or length > SEARCH_BYTES:
        return None
    if not place.first:
        hash = blob_hash(b"".join(lines))
        return replace(place, hash=hash) if hash.startswith(place.hash) else None
    size = place.last - place.first
    found = _find_near(lines, place)
    if found is None and length * (size + 1) <= HASHED_BYTES:
        found = _find_anywhere(lines, place)
    if found is None:
        return None
    first, hash = found
    return replace(place, first=first, last=first + size, hash=hash)


def _find_near(lines: list[bytes], place: Place) -> tuple[int, str] | None:
    """Return the first line and the hash of the closest equal lines within SHIFT lines."""
    size = place.last - place.first
    starts = range(1, len(lines) - size + 1)[max(0, place.first - SHIFT) : place.first + SHIFT]
    closest_first = sorted(starts, key=lambda first: abs(first - place.first))
    spans = ((first, hash_of_lines(lines, first, first + size)) for first in closest_first)
    return next((span for span in spans if span[1].startswith(place.hash)), None)


def _find_anywhere(lines: list[bytes], place: Place) -> tuple[int, str] | None:
    spans = enumerate(_span_hashes(b"".join(lines), place.last - place.first), 1)
    alike = (span for span in spans if span[1].startswith(place.hash))
    return min(alike, key=lambda span: abs(span[0] - place.first), default=None)


@lru_cache(maxsize=16)
def _span_hashes(text: bytes, size: int) -> list[str]:
    """Return the hash of the lines from each line to *size* lines below it, for all anchors."""
    lines = split_lines(text)
    return [hash_of_lines(lines, at, at + size) for at in range(1, len(lines) - size + 1)]


def _renames(root: str) -> dict[str, list[str]]:
    """Return new names by old name, the newest first, and untracked files under ""."""
    top = git_root(root)
    if top is None:
        return {}
    found: dict[str, list[str]] = {}

    def inside(path: str) -> str:
        return os.path.relpath(os.path.join(top, path), root)

    def listed(command: str, *options: str) -> Iterator[str]:
        output = git.output(top, command, *options, "-z", timeout_s=git.LONG_S)
        return iter((output or b"").decode("utf-8", "surrogateescape").split("\0"))

    renames = ("--format=", "--name-status", "-M", "--diff-filter=R", f"-{RENAME_COMMITS}")
    words = listed("log", *renames)
    for status in words:
        if status.startswith("R"):
            old, new = next(words, ""), next(words, "")
            found.setdefault(inside(old), []).append(inside(new))
    entries = listed("status", "--porcelain=v1", "--untracked-files=all")
    for entry in entries:
        name = inside(entry[3:])
        if entry.startswith("R"):
            found.setdefault(inside(next(entries, "")), []).insert(0, name)
        elif entry.startswith(("??", "A")):
            found.setdefault("", []).append(name)
    return found


MOST_BYTES = 1_000_000
MOST_LINES = 60
MOST_VERSIONS = 60


class Excerpt(Value):
    checked: Checked
    noted: str
    """Lines as they were when the anchor was made; empty where no version has them."""
    now: str


def excerpt(checked: Checked, tree: TracedTree) -> Excerpt:
    place = checked.location.noted
    current = checked.location.now or place
    now = _span(tree.small_lines(current.path, MOST_BYTES) or [], current)
    if checked.location.now and place.hash:
        return Excerpt(checked=checked, noted=now, now=now)
    for version in _list_versions(tree.root, place.path) if place.hash else ():
        lines = split_lines(version)
        first, last = place.first, place.last
        hash = hash_of_lines(lines, first, last) if first else blob_hash(b"".join(lines))
        if hash.startswith(place.hash):
            return Excerpt(checked=checked, noted=_span(lines, place), now=now)
    return Excerpt(checked=checked, noted="", now=now)


def _span(lines: list[bytes], place: Place) -> str:
    first, last = place.first or 1, place.last or len(lines)
    shown = lines[first - 1 : min(last, first - 1 + MOST_LINES)]
    return redact(b"".join(shown).decode("utf-8", "replace")).text


def _list_versions(root: str, path: str) -> list[bytes]:
    if not path.isprintable():  # git is asked in lines
        return []
    try:
        blobs = _list_blobs(root, path)
        contents = _ask(root, "--batch", blobs) if blobs else b""
    except (OSError, TimeoutError):
        return []
    return [content for content in git.parse_objects(contents) if content is not None]


def _list_blobs(root: str, path: str) -> list[str]:
    """Return the versions of a file that are small enough to be read, the newest first."""
    commits = git.output(root, "rev-list", f"--max-count={MOST_VERSIONS}", "HEAD", "--", path)
    names = [f"{commit}:./{path}" for commit in (commits or b"").decode().split()]
    if not names:
        return []
    found = _ask(root, "--batch-check=%(objectname) %(objecttype) %(objectsize)", names)
    rows = (line.split() for line in found.decode().splitlines())
    small = (
        row[0] for row in rows if len(row) == 3 and row[1] == "blob" and int(row[2]) <= MOST_BYTES
    )
    return list(dict.fromkeys(small))


def _ask(root: str, mode: str, names: list[str]) -> bytes:
    asked = "".join(f"{name}\n" for name in names).encode()
    return git.run(root, "cat-file", mode, stdin=asked, environment=git.OFFLINE).output
