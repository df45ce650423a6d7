"""Flag files by which a hook's shell line ends before Python starts.

The name of a flag is the id of a turn, or of a subagent, so a stale, copied or missing flag costs
time and decides nothing. It means that no call of the turn waits for a search of memory; one that
is not empty, that its end has nothing to do (`idle_turns`).
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

MAX_AGE_S = 86_400


def set_quiet(project: Project, key: TurnKey, quiet: bool) -> None:
    """Write or remove the turn's flag; on failure Python decides each call."""
    if quiet:
        _write(project, key, "")
        return
    flag = path(project, key)
    with suppress(OSError):
        if flag:
            confined.remove(project.root, flag)


def is_quiet(project: Project, key: TurnKey) -> bool:
    flag = path(project, key)
    return bool(flag) and confined.is_file(project.root, flag)


def set_carrying(project: Project, carrying: bool) -> None:
    """Write or remove the flag that a denial waits to be read, for `PostToolBatch`."""
    path = os.path.join(project.run, "carrying")
    with suppress(OSError):
        if carrying:
            confined.touch(project.root, path)
        else:
            confined.remove(project.root, path)


def set_client_memory(project: Project, folder: str) -> None:
    """Name the folder to which the person moved the client's memory, for `PostToolUse`."""
    path = os.path.join(project.run, "client_memory")
    with suppress(OSError):
        if folder:
            confined.write_text(project.root, path, f"{os.path.basename(folder)}\n", sync=False)
        elif confined.exists(project.root, path):
            confined.remove(project.root, path)


def prune(project: Project, now: datetime) -> None:
    with suppress(OSError):
        confined.prune(project.root, _folder(project), now.timestamp() - MAX_AGE_S)


def _write(project: Project, key: TurnKey, text: str) -> None:
    flag = path(project, key)
    with suppress(OSError):
        if flag:
            confined.write_text(project.root, flag, text, mode=0o600, sync=False)


def path(project: Project, key: TurnKey) -> str:
    name = key.agent_id or key.prompt_id
    if not name or not name.replace("-", "").replace("_", "").isalnum():
        return ""
    return os.path.join(_folder(project), name)


def _folder(project: Project) -> str:
    return os.path.join(project.run, "clear")
