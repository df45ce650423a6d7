"""Lists by which a hook's shell line tells that no memory can come up, before Python starts.

`.ade/run/sites/files` and `commands` hold a basic regular expression a line. A reader, that is a
session or a subagent, who was told some has lists of its own with the rest, `<reader>.files`. They
say more than there is rather than less; one that is stale or missing costs time, or a hint.
"""

from __future__ import annotations

import os

from ademem import files
from ademem.store import sites as table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from ademem.project import Project
    from ademem.store import Store
    from ademem.store.sites import Site
    from ademem.store.turns import TurnKey

KINDS = ("files", "commands")
MOST_LINES = 300
"""Above it a list lets everything through to Python: `grep` would take as long."""
ANYTHING = ""
"""The regular expression that matches every line."""
MAX_AGE_S = 7 * 86_400


def write(project: Project, store: Store) -> None:
    """List what there is to tell; if that is news, every reader starts anew with it."""
    if _write(project, "", table.everywhere(store)):
        for name in _readers(project):
            files.remove(os.path.join(_folder(project), name))


def remain(project: Project, store: Store, key: TurnKey, told: Iterable[str]) -> None:
    """List for one reader what it was not told yet."""
    reader = _reader(key)
    if reader:
        _write(project, f"{reader}.", table.everywhere(store, told))


def lacks(project: Project, key: TurnKey) -> bool:
    """Whether there is something to tell, and the reader has no lists of its own yet."""
    folder = _folder(project)
    return os.path.isdir(folder) and not os.path.exists(f"{folder}/{_reader(key)}.{KINDS[0]}")


def forget(project: Project, key: TurnKey) -> None:
    """The reader lost what it was told: its lists are those of everybody again."""
    for kind in KINDS:
        files.remove(os.path.join(_folder(project), f"{_reader(key)}.{kind}"))


def prune(project: Project, now: datetime) -> None:
    """Remove the lists of readers that are long gone."""
    for name in _readers(project):
        path = os.path.join(_folder(project), name)
        try:
            old = now.timestamp() - os.stat(path).st_mtime > MAX_AGE_S
        except FileNotFoundError:
            continue
        if old:
            files.remove(path)


def lines(sites: Iterable[Site], kind: str) -> list[str]:
    """Regular expressions for the sites of one kind of list; too many become one for anything."""
    kinds = ("command",) if kind == "commands" else ("path", "anchor")
    listed = [site for site in sites if site.kind in kinds]
    if not listed:  # which spares every session the grammar of the shell
        return []
    from ademem.sites import commands, globs

    if kind == "commands":
        told = [commands.basic(site.pattern) for site in listed]
    else:
        told = [
            f"/{globs.escaped(site.key) if site.kind == 'anchor' else globs.basic(site.pattern)}$"
            for site in listed
        ]
    unique = list(dict.fromkeys(told))
    return unique if len(unique) <= MOST_LINES else [ANYTHING]


def _write(project: Project, prefix: str, sites: list[Site]) -> bool:
    """Whether a list changed; where one cannot be written, hints are missed."""
    changed = False
    for kind in KINDS:
        path = os.path.join(_folder(project), prefix + kind)
        text = "".join(f"{line}\n" for line in lines(sites, kind))
        try:
            there = files.read_text(path)
            if text == there or (not text and there is None and not prefix):
                continue
            changed = True
            os.makedirs(_folder(project), exist_ok=True)
            aside = f"{path}.{os.getpid()}.tmp"
            with open(aside, "w", encoding="utf-8") as file:
                file.write(text)
            os.replace(aside, path)
        except OSError:
            continue
    return changed


def _readers(project: Project) -> list[str]:
    try:
        return [name for name in os.listdir(_folder(project)) if "." in name]
    except OSError:
        return []


def _reader(key: TurnKey) -> str:
    name = key.agent_id or key.session_id
    return name if name.replace("-", "").replace("_", "").isalnum() else ""


def _folder(project: Project) -> str:
    return os.path.join(project.run, "sites")
