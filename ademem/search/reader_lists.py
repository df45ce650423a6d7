"""Lists of keys for one reader, a session or a subagent, and how long they hold: `<reader>.words`.

`binding` writes them.
"""

from __future__ import annotations

import os

from ademem.core import confined
from ademem.core.errors import suppress

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import datetime

    from ademem.core.client import TurnKey
    from ademem.core.project import Project

LISTS = ("always", "runs", "words", "writers", "pieces", "trees", "texts", "weak", "rare")
MAX_AGE_S = 7 * 86_400


def keep(project: Project, key: TurnKey, after: str) -> None:
    """Let the lists of a session hold for its next prompt, if the conversation goes on there.

    *after* is the entry of the transcript that the prompt follows, unless the person goes back to
    an earlier one; the shell looks whether it does, and notes by an empty file that it did. Without
    that note of the prompt before, or without an entry, the lists are removed.
    """
    path = after_path(project, key)
    if not after or may_be_rewound(project, key):
        remove(project, key)
    elif not lacks(project, key):
        try:
            confined.write_text(project.root, path, f"{after}\n", mode=0o600, sync=False)
        except OSError:
            remove(project, key)


def after_path(project: Project, key: TurnKey) -> str:
    return f"{folder(project)}/{name(key)}.after"


def lacks(project: Project, key: TurnKey) -> bool:
    """Tell whether there are lists, and none of the reader that hold."""
    if not confined.is_folder(project.root, folder(project)):
        return False
    own = f"{folder(project)}/{name(key)}.{LISTS[0]}"
    return may_be_rewound(project, key) or not confined.is_file(project.root, own)


def may_be_rewound(project: Project, key: TurnKey) -> bool:
    """Tell whether the conversation was not seen to go on since the last prompt."""
    with suppress(OSError):
        after = confined.status(project.root, after_path(project, key))
        return bool(after and after.st_size)
    return False


def remove(project: Project, key: TurnKey) -> None:
    for each in (*LISTS, "after"):
        with suppress(OSError):
            confined.remove(project.root, f"{folder(project)}/{name(key)}.{each}")


def prune(project: Project, now: datetime | None = None) -> None:
    """Delete the lists of readers, where *now* is given those of long ago."""
    before = now.timestamp() - MAX_AGE_S if now else float("inf")
    with suppress(OSError):
        confined.prune(project.root, folder(project), before, having=".")


def name(key: TurnKey) -> str:
    id = key.agent_id or key.session_id
    return id if id.replace("-", "").replace("_", "").isalnum() else ""


def folder(project: Project) -> str:
    return os.path.join(project.run, "keys")


def commands_path(project: Project) -> str:
    """Return the list of commands that met nothing; see `session/unbound_commands.py`."""
    return os.path.join(folder(project), "unbound.commands")
