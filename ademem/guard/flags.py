"""Flag files that let a hook's shell line end a call before Python starts.

A flag says: the guard has nothing to say to this turn (or subagent). Its name carries the id of
just that turn, so a flag that is stale, copied or missing costs time and decides nothing else.
"""

from __future__ import annotations

import os

from ademem.core import confined

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import datetime

    from ademem.core.project import Project
    from ademem.core.turn import TurnKey

MAX_AGE_S = 86_400


def set_quiet(project: Project, key: TurnKey, quiet: bool) -> None:
    """Write or remove the turn's flag; where that fails, Python decides each call."""
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
    """Remove flags of turns that nobody ended."""
    try:
        confined.prune(project.root, _folder(project), now.timestamp() - MAX_AGE_S)
    except OSError:
        return


def _folder(project: Project) -> str:
    return os.path.join(project.run, "clear")
