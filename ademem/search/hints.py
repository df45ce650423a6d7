"""Hints: memories that come up at the files and commands they name.

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
from ademem.store import hints as table
from ademem.store.hints import Site

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


def find_sites(memory: Memory) -> Iterator[Site]:
    from ademem.core import anchor
    from ademem.search import hint_patterns as patterns

    for glob in patterns.expand_glob(memory.file_scope_pattern or ""):
        yield Site(kind="path", key=table.ANY_PATH, pattern=glob)
    given = [patterns.command_words(anchor.command(text)) for text in memory.anchors]
    for text in memory.anchors:
        place = anchor.place(text)
        if place:
            yield Site(kind="anchor", key=place.path, pattern=place.plain)
    for words in filter(None, [*given, *patterns.find_commands(memory.content)]):
        yield Site(kind="command", key=words.partition(" ")[0], pattern=words)


def update_sites(store: Store) -> bool:
    if not table.has_sites(store, "due"):
        return False
    with store.transaction():
        changed = table.list_changed(store)
        table.clear_due(store)
        for memory in changed:
            table.put(store, memory, find_sites(memory))
    return True


def refresh(runtime: Runtime) -> None:
    if update_sites(runtime.store):
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


def list_lines(sites: Iterable[Site], kind: str) -> list[str]:
    kinds = ("command",) if kind == "commands" else ("path", "anchor")
    listed = [site for site in sites if site.kind in kinds]
    if not listed:  # which spares every session the grammar of the shell
        return []
    from ademem.search import hint_patterns as patterns

    form = {
        "command": lambda site: ".*".join(map(patterns.escape, site.pattern.split())),
        "anchor": lambda site: f"/{patterns.escape(site.key)}$",
        "path": lambda site: f"/{patterns.glob_regex(site.pattern)}$",
    }
    unique = list(dict.fromkeys(form[site.kind](site) for site in listed))
    return unique if len(unique) <= MOST_LINES else [ANYTHING]


def _write(project: Project, prefix: str, sites: list[Site]) -> bool:
    """Return whether a list changed; where one cannot be written, hints are missed."""
    changed = False
    for kind in KINDS:
        path = os.path.join(_folder(project), prefix + kind)
        text = "".join(f"{line}\n" for line in list_lines(sites, kind))
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
