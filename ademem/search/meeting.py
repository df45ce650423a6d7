"""Which memories a call meets: its keys are looked up in the table of bindings, one by one.

No words are searched. What a binding asks besides its key (a glob, the words of a command, a whole
literal) is compared here.
"""

from __future__ import annotations

import os

from ademem.core import regex
from ademem.core.errors import suppress
from ademem.core.value import Value
from ademem.search.hint_patterns import is_run_by
from ademem.store import adopted
from ademem.store import bindings as table
from ademem.store.bindings import BROAD, STRENGTHS, Binding

TYPE_CHECKING = False
if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Iterator, Mapping
    from typing import Any

    from ademem.core.memory import Memory
    from ademem.guard.touch import Touch
    from ademem.store import Store

GIVEN, READ, NAMED, LEARNED, WORDED, GUESSED = STRENGTHS
LONGEST_PATH = 4096
BELOW = ("path", "anchor", "dir", "glob")
"""Kinds whose places may lie below a folder that a call writes."""


class Met(Value):
    """A memory, and the surest of its bindings that a call meets."""

    memory: Memory
    binding: Binding
    is_adopted: bool = False
    """It is an item of an instruction file, in the form of a memory."""

    @property
    def rank(self) -> int:
        """Place in the order of strengths; what an agent chose too broadly is behind the text."""
        is_broad = self.binding.state == BROAD
        return STRENGTHS.index(LEARNED if is_broad else self.binding.strength)


def meet(
    touch: Touch, root: str, store: Store, agent: str = "", literals: Iterable[str] | None = None
) -> list[Met]:
    """Return memories that may be shown and that a call meets below *root*, the surest first.

    Who asks often gives the *literals* that the table has.
    """
    paths, families, keys = _keys_of(touch, root, store, literals)
    if not keys:
        return []
    rows = table.at_keys(store, keys, agent)
    for folder in filter(None, (written_folder(path, root) for path in paths)):
        rows += table.below(store, folder, agent)
    found: dict[str, Met] = {}
    for row in rows:
        if holds(row, touch, paths, families):
            keep(row, found)
    return sorted(found.values(), key=lambda each: (each.rank, -each.binding.weight))


def _keys_of(
    touch: Touch, root: str, store: Store, literals: Iterable[str] | None
) -> tuple[list[str], dict[str, set[str]], set[tuple[str, str]]]:
    """Return the paths that a call writes, its families of programs, and the keys of bindings."""
    paths, families, keys = named_keys(touch, root)
    if touch.changes:
        known = table.list_literals(store) if literals is None else literals
        typed = _typed(touch).lower()
        keys |= {("literal", key) for key in known if key in typed}
    return paths, families, keys


def has_binding(touch: Touch, root: str, store: Store) -> bool:
    """Tell whether a memory or an adopted item is bound to a key of a call that writes no file.

    What else such a binding asks, and to whom it was said, is not looked at.
    """
    _, _, keys = _keys_of(touch, root, store, None)
    return bool(table.at_keys(store, keys, "") or adopted.at_keys(store, root, keys))


def would_meet(touch: Touch, binding: Binding, root: str) -> bool:
    """Tell whether a call below *root* would meet a binding, which need not be stored."""
    paths, families, keys = named_keys(touch, root)
    folders = filter(None, (written_folder(path, root) for path in paths))
    is_below = binding.kind in BELOW and any(
        folder == "/" or (binding.pattern or binding.key).startswith(folder) for folder in folders
    )
    is_typed = binding.kind == "literal" and touch.changes
    if not (is_typed or is_below or (binding.kind, binding.key) in keys):
        return False
    row = {f"bound_{name}": getattr(binding, name) for name in table.NAMES}
    return holds(row, touch, paths, families)


def named_keys(
    touch: Touch, root: str
) -> tuple[list[str], dict[str, set[str]], set[tuple[str, str]]]:
    """Return the paths below *root* that a call writes, its families of programs, and the keys of
    these and of what it runs and does."""
    paths = relative_paths(touch.writes, root) if touch.changes else []
    families = _families(touch)
    keys = {key for path in paths for key in path_keys(path)}
    keys |= {("program", argv[0]) for argv in touch.argvs}
    keys |= {("act", act) for act in touch.acts}
    if touch.changes:  # to look something up with the other program is no fault
        keys |= {("runs", name) for name in _runs(touch, root)}
        keys |= {("family", name) for name in families}
    return paths, families, keys


def meet_failure(error: str, store: Store, agent: str = "") -> list[Met]:
    """Return memories whose code or quoted message a failure prints, the longest first."""
    text = " ".join(error.lower().split())
    words = {word for word in regex.findall(r"\w[\w.-]*\w|\w", text) if len(word) > 2}
    keys = {("code", each) for word in words for each in (word, *regex.findall(r"\w+", word))}
    rows = [
        row
        for row in table.at_keys(store, keys, agent)
        if " ".join(row["bound_pattern"].split()) in text
    ]
    found: dict[str, Met] = {}
    for row in rows:
        keep(row, found)
    return sorted(found.values(), key=lambda each: -len(each.binding.pattern or each.binding.key))


def keep(row: sqlite3.Row, found: dict[str, Met]) -> None:
    from ademem.store import memories

    binding = table.from_row(row)
    known = found.get(row["id"])
    if known is None:
        columns = memories.columns(row).items()
        fields = {name: value for name, value in columns if name[:6] != "bound_"}
        found[row["id"]] = Met(memory=memories.from_values(fields), binding=binding)
    elif (other := Met(memory=known.memory, binding=binding)).rank < known.rank:
        found[row["id"]] = other


def relative_paths(writes: Iterable[str], root: str) -> list[str]:
    """Return the paths below *root*, as they are named and through links; `.` is the root."""
    found: dict[str, None] = {}
    for path in writes:
        if len(path) > LONGEST_PATH:  # which no file system has
            continue
        real = path
        with suppress(ValueError):  # of no file: a null byte, half a character
            real = os.path.realpath(path)
        for each in (path, real):
            inside = os.path.relpath(each, root)
            if inside != os.pardir and not inside.startswith(os.pardir + os.sep):
                found[inside.replace(os.sep, "/")] = None
    return list(found)


def path_keys(path: str) -> Iterator[tuple[str, str]]:
    """Yield the keys of bindings that a path may meet; its own name may be a folder's, too."""
    folders = path.split("/")
    yield from (("path", path), ("anchor", path), ("glob", ""))
    for at, name in enumerate(folders, 1):
        yield ("dir", "/".join(folders[:at]))
        yield ("glob", name)
    dots = folders[-1].split(".")
    yield from (("suffix", "." + ".".join(dots[at:])) for at in range(1, len(dots)))


def written_folder(path: str, root: str) -> str:
    """Return a written folder with a slash behind it, all of the project as a slash alone."""
    if path == ".":
        return "/"
    return f"{path}/" if os.path.isdir(os.path.join(root, path)) else ""


def _families(touch: Touch) -> dict[str, set[str]]:
    """Map families of programs to their members that a call runs."""
    if not touch.argvs:
        return {}
    from ademem.guard import acts

    found: dict[str, set[str]] = {}
    for argv in touch.argvs:
        for name in acts.families_of(argv):
            found.setdefault(name, set()).add(argv[0])
    return found


def _runs(touch: Touch, root: str) -> list[str]:
    named = [each for each in touch.runs if not os.path.isabs(each)]
    return named + relative_paths((each for each in touch.runs if os.path.isabs(each)), root)


def _typed(touch: Touch) -> str:
    return "\n".join((touch.text, *_commands(touch)))


def _commands(touch: Touch) -> Iterator[str]:
    """Yield what a call runs, as it is typed and each command of it behind its wrappers."""
    yield touch.command
    yield from (" ".join(argv) for argv in touch.argvs)


def holds(
    row: Mapping[str, Any] | sqlite3.Row,
    touch: Touch,
    paths: list[str],
    families: dict[str, set[str]],
) -> bool:
    """Tell whether what a binding asks besides its key holds of a call."""
    kind, key, pattern, op, holds = (
        row[f"bound_{name}"] for name in ("kind", "key", "pattern", "op", "holds")
    )
    if row["bound_strength"] in (WORDED, GUESSED) and kind not in (*BELOW, "suffix"):
        return False
    if op != "any" and (not touch.changes or touch.creates != (op == "create")):
        return False
    if holds and not _changes(holds, touch):
        return False
    return _meets(kind, key, pattern, touch, paths, families)


def _meets(
    kind: str,
    key: str,
    pattern: str,
    touch: Touch,
    paths: list[str],
    families: dict[str, set[str]],
) -> bool:
    """Compare a call with the pattern behind a key that it has."""
    match kind:
        case "glob":
            return any(matches(path, pattern) for path in paths)
        case "program":
            words = [key, *pattern.split()]
            return any(is_run_by(words, argv) for argv in touch.argvs)
        case "family":
            exceptions = {word.removeprefix("!") for word in pattern.split()}
            return bool(families.get(key, set()) - exceptions)
        case "literal":
            return _adds(pattern, touch)
    return True


def _changes(text: str, touch: Touch) -> bool:
    """Tell whether a changed line or a command holds a text."""
    new, old = set(touch.text.splitlines()), set(touch.removed.splitlines())
    lines = "\n".join((*(new ^ old), *_commands(touch)))
    return text.lower() in lines.lower()


def _adds(literal: str, touch: Touch) -> bool:
    return _count(literal, _typed(touch)) > _count(literal, touch.removed)


def _count(literal: str, text: str) -> int:
    return text.lower().count(literal.lower())


def _fits(path: str, glob: str) -> bool:
    """Compare with one glob; one with stars alone is not compiled, which would load `re`."""
    if not {"?", "["}.isdisjoint(glob):
        from fnmatch import fnmatchcase

        return fnmatchcase(path, glob)
    first, *rest = glob.split("*")
    if not rest:
        return path == glob
    *between, last = rest
    at = len(first)
    for piece in between:
        found = path.find(piece, at)
        if found < 0:
            return False
        at = found + len(piece)
    return path.startswith(first) and path.endswith(last) and at <= len(path) - len(last)


def matches(path: str, glob: str) -> bool:
    """Compare a path as SQLite's GLOB does; a folder above counts for what is in it."""
    from ademem.search.hint_patterns import expand_glob

    globs = [each.replace("[^", "[!") for each in expand_glob(glob)]
    if any(_fits(path, each) for each in globs):
        return True
    plain = glob.split("*")[0].split("?")[0]
    return path == "." or plain.startswith(f"{path}/")
