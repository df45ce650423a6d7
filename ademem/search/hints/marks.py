"""Lists by which a hook's shell line tells that no memory can come up, before Python starts.

`.ade/run/sites/files` and `commands` hold a basic regular expression a line. A reader, that is a
session or a subagent, who was told some has lists of its own with the rest, `<reader>.files`. They
say more than there is rather than less; one that is stale or missing costs time, or a hint.
"""

from __future__ import annotations

import os

from ademem.core import confined
from ademem.core.errors import suppress
from ademem.store import hints as table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from ademem.core.client import TurnKey
    from ademem.core.project import Project
    from ademem.store import Store
    from ademem.store.hints import Site

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
            with suppress(OSError):
                confined.remove(project.root, os.path.join(_folder(project), name))


def remain(project: Project, store: Store, key: TurnKey, told: Iterable[str]) -> None:
    """List for one reader what it was not told yet."""
    reader = _reader(key)
    if reader:
        _write(project, f"{reader}.", table.everywhere(store, told))


def lacks(project: Project, key: TurnKey) -> bool:
    """Whether there is something to tell, and the reader has no lists of its own yet."""
    folder, root = _folder(project), project.root
    own = f"{folder}/{_reader(key)}.{KINDS[0]}"
    return confined.is_folder(root, folder) and not confined.is_file(root, own)


def forget(project: Project, key: TurnKey) -> None:
    """The reader lost what it was told: its lists are those of everybody again."""
    for kind in KINDS:
        with suppress(OSError):
            confined.remove(project.root, f"{_folder(project)}/{_reader(key)}.{kind}")


def prune(project: Project, now: datetime) -> None:
    """Remove the lists of readers that are long gone."""
    with suppress(OSError):
        confined.prune(project.root, _folder(project), now.timestamp() - MAX_AGE_S, having=".")


def lines(sites: Iterable[Site], kind: str) -> list[str]:
    """Regular expressions for the sites of one kind of list; too many become one for anything."""
    kinds = ("command",) if kind == "commands" else ("path", "anchor")
    listed = [site for site in sites if site.kind in kinds]
    if not listed:  # which spares every session the grammar of the shell
        return []
    from ademem.search.hints import commands, globs

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
            if text or prefix or confined.exists(project.root, path):
                changed |= confined.write_text(project.root, path, text, sync=False)
        except OSError:
            continue
    return changed


def _readers(project: Project) -> list[str]:
    try:
        return [name for name in confined.names(project.root, _folder(project)) if "." in name]
    except OSError:
        return []


def _reader(key: TurnKey) -> str:
    name = key.agent_id or key.session_id
    return name if name.replace("-", "").replace("_", "").isalnum() else ""


def _folder(project: Project) -> str:
    return os.path.join(project.run, "sites")
