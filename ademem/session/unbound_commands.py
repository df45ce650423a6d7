"""Commands that met nothing, noted so that the shell lets them through when they are run again.

Noted are commands whose targets and scripts the Makefile and the package.json of the project's root
tell, and that write no file by their words. The note holds until a binding or one of these files
changes: `binding.write_lists` removes it, and who reads it compares the times of the files.
"""

from __future__ import annotations

import os
import stat

from ademem.core import confined
from ademem.core.errors import suppress
from ademem.core.value import replace
from ademem.search import meeting, reader_lists

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ademem.core.client import Payload
    from ademem.guard.touch import Touch
    from ademem.store.runtime import Runtime

LOOKED_UP = ("GNUmakefile", "makefile", "Makefile", "package.json")
"""Files below the root whose times are compared; `pre_tool_use.sh` has them, too."""
MOST_CHARS = 300
MOST_BYTES = 20_000


def note(payload: Payload, touch: Touch, runtime: Runtime) -> None:
    project = runtime.project
    if not (_is_plain(payload, project.root) and _is_at_root(touch, project.root)):
        return
    if meeting.has_binding(replace(touch, changes=True), project.root, runtime.store):
        return
    path = reader_lists.commands_path(project)
    with suppress(OSError, UnicodeDecodeError):
        if not _is_current(path, project.root):
            confined.remove(project.root, path)
        text = f"{confined.read_text(project.root, path, MOST_BYTES) or ''}{payload.command}\n"
        if len(text) < MOST_BYTES:
            confined.write_text(project.root, path, text, mode=0o600, sync=False)


def _is_plain(payload: Payload, root: str) -> bool:
    """Tell whether the shell can compare the command, which stands in JSON as it is."""
    by_agent = payload.agent_id or payload.agent_type  # which may have memories of its own
    if payload.tool_name != "Bash" or by_agent or payload.cwd != root:
        return False
    command = payload.command
    is_line = command.isascii() and command.isprintable() and not set(command) & {'"', "\\"}
    return is_line and len(command) <= MOST_CHARS


def _is_at_root(touch: Touch, root: str) -> bool:
    """Tell whether only files of the root tell what the command runs, and it runs no other file."""
    known = {os.path.join(root, name) for name in LOOKED_UP}
    return known.issuperset(touch.looked_up) and not any(map(os.path.isabs, touch.runs))


def _is_current(path: str, root: str) -> bool:
    """Tell whether the note is newer than the files; of what a link leads to that is not known."""
    noted = confined.status(root, path)
    there = list(filter(None, (confined.status(root, name) for name in LOOKED_UP)))
    if noted is None or any(stat.S_ISLNK(each.st_mode) for each in there):
        return False
    times = [confined.time_of_root(root), *(each.st_mtime_ns for each in there)]
    return noted.st_mtime_ns >= max(times)
