"""Where memories apply: bindings that follow from them, and lists of these for the shell.

A hook's shell line reads lists before it starts Python, to tell that no memory can come up:
`.ade/run/sites/files` and `commands` hold a basic regular expression a line. A reader, a session or
a subagent, that was shown some has lists with the rest, `<reader>.files`. They hold more than there
is rather than less; one that is stale or missing costs time, or a hint.
"""

from __future__ import annotations

import os

from ademem.core import confined
from ademem.core.errors import suppress
from ademem.store import Store
from ademem.store import bindings as table
from ademem.store.bindings import Binding

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from datetime import datetime

    from ademem.core.client import TurnKey
    from ademem.core.memory import Memory
    from ademem.core.project import Project
    from ademem.store.runtime import Runtime

KINDS = ("files", "commands")
MOST_LINES = 300
"""Above it a list lets everything through to Python: `grep` would take as long."""
ANYTHING = ""
"""The regular expression that matches every line."""
MAX_AGE_S = 7 * 86_400
MOST_DUE = 500
"""Memories whose bindings one process derives; the next one goes on."""


def derive(memory: Memory) -> Iterator[Binding]:
    """Yield where a memory applies by its path, its anchors and the commands in its text."""
    from ademem.core import anchor
    from ademem.search import hint_patterns as patterns

    for glob in patterns.expand_glob(memory.file_scope_pattern or ""):
        yield Binding(kind="glob", key=last_folder(glob), pattern=glob, strength="given")
    for text in memory.anchors:
        if words := patterns.command_words(anchor.command(text)):
            yield _program(words, "given")
        elif place := anchor.place(text):
            yield Binding(kind="anchor", key=place.path, pattern=place.plain, strength="given")
    for words in patterns.find_commands(memory.content):
        yield _program(words, "named")


def _program(words: str, strength: str) -> Binding:
    program, _, rest = words.partition(" ")
    return Binding(kind="program", key=program, pattern=rest, strength=strength)


def describe(binding: Binding) -> str:
    """Write a binding as `--at` reads it."""
    kind, key = binding.kind, binding.key
    text = {
        "dir": f"{key}/",
        "glob": binding.pattern,
        "anchor": binding.pattern,
        "suffix": f"*{key}",
        "program": f"`{key} {binding.pattern}`".replace(" `", "`"),
        "family": f"{key} {binding.pattern}".rstrip(),
        "act": f"act:{key}",
        "literal": f"text:{binding.pattern or key}",
        "code": f"code:{key}",
    }.get(kind, key)
    return text if binding.op == "any" else f"{text} on {binding.op}"


def last_folder(glob: str) -> str:
    """Return the last name between two slashes, or before the first, that stands for itself."""
    folders = glob.split("/")[:-1]
    return next((each for each in reversed(folders) if each and not set(each) & set("*?[")), "")


def path_keys(path: str) -> set[tuple[str, str]]:
    """Return the keys of bindings that a path may meet."""
    folders = path.split("/")[:-1]
    return {("anchor", path), ("glob", ""), *(("glob", each) for each in folders)}


def update_bindings(store: Store, most: int = MOST_DUE) -> bool:
    """Derive anew the bindings of at most so many memories that changed."""
    if not table.has_bindings(store, "due"):
        return False
    with store.transaction():
        changed = table.list_due(store, most)
        for memory in changed:
            table.drop(store, memory, session=False)
            table.put(store, memory, derive(memory))
        table.clear_due(store, None if len(changed) < most else changed)
    return True


def refresh(runtime: Runtime) -> None:
    if update_bindings(runtime.store):
        write_lists(runtime.project, runtime.store)


def write_lists(project: Project, store: Store) -> None:
    if _write(project, "", table.list_all(store)):
        prune_lists(project)


def write_rest(project: Project, store: Store, key: TurnKey, shown: Iterable[str]) -> None:
    if reader := _reader(key):
        _write(project, f"{reader}.", table.list_all(store, shown))


def lacks_lists(project: Project, key: TurnKey) -> bool:
    """Tell whether there are lists, and none of the reader."""
    folder, root = _folder(project), project.root
    own = f"{folder}/{_reader(key)}.{KINDS[0]}"
    return confined.is_folder(root, folder) and not confined.is_file(root, own)


def remove_lists(project: Project, key: TurnKey) -> None:
    for kind in KINDS:
        with suppress(OSError):
            confined.remove(project.root, f"{_folder(project)}/{_reader(key)}.{kind}")


def prune_lists(project: Project, now: datetime | None = None) -> None:
    """Delete the lists of readers, where *now* is given those of long ago."""
    before = now.timestamp() - MAX_AGE_S if now else float("inf")
    with suppress(OSError):
        confined.prune(project.root, _folder(project), before, having=".")


def list_lines(bindings: Iterable[Binding], kind: str) -> list[str]:
    kinds = ("program",) if kind == "commands" else ("glob", "anchor")
    listed = [each for each in bindings if each.kind in kinds]
    if not listed:  # which spares every session the grammar of the shell
        return []
    from ademem.search import hint_patterns as patterns

    form = {
        "program": lambda each: ".*".join(
            map(patterns.escape, f"{each.key} {each.pattern}".split())
        ),
        "anchor": lambda each: f"/{patterns.escape(each.key)}$",
        "glob": lambda each: f"/{patterns.glob_regex(each.pattern)}$",
    }
    unique = list(dict.fromkeys(form[each.kind](each) for each in listed))
    return unique if len(unique) <= MOST_LINES else [ANYTHING]


def _write(project: Project, prefix: str, bindings: list[Binding]) -> bool:
    """Return whether a list changed; where one cannot be written, hints are missed."""
    changed = False
    for kind in KINDS:
        path = os.path.join(_folder(project), prefix + kind)
        text = "".join(f"{line}\n" for line in list_lines(bindings, kind))
        try:
            if text or prefix or confined.exists(project.root, path):
                changed |= confined.write_text(project.root, path, text, sync=False)
        except OSError:
            continue
    return changed


def _reader(key: TurnKey) -> str:
    name = key.agent_id or key.session_id
    return name if name.replace("-", "").replace("_", "").isalnum() else ""


def _folder(project: Project) -> str:
    return os.path.join(project.run, "sites")
