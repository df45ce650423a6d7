"""Flag files by which a hook's shell line ends before Python starts.

A flag means: the guard passes every call of this turn (or subagent). Its name has the id of the
turn, so a stale, copied or missing flag costs time and decides nothing.
"""

from __future__ import annotations

import os

from ademem.core import confined

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import datetime

    from ademem.core.client import TurnKey
    from ademem.core.project import Project

MAX_AGE_S = 86_400


def set_quiet(project: Project, key: TurnKey, quiet: bool) -> None:
    """Write or remove the turn's flag; on failure Python decides each call."""
    name = key.agent_id or key.prompt_id
    if not name or not name.replace("-", "").replace("_", "").isalnum():
        return
    path = os.path.join(_folder(project), name)
    try:
        if quiet:
            confined.touch(project.root, path)
        else:
            confined.remove(project.root, path)
    except OSError:
        return


def prune(project: Project, now: datetime) -> None:
    try:
        confined.prune(project.root, _folder(project), now.timestamp() - MAX_AGE_S)
    except OSError:
        return


def _folder(project: Project) -> str:
    return os.path.join(project.run, "clear")
