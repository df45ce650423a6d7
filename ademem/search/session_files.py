"""Files that a session read or wrote, off its transcript."""

from __future__ import annotations

import os
import re

from ademem.core.transcript_lines import read_lines
from ademem.store import Store, sessions

READ_BYTES = 4_000_000
"""End of a transcript that is read."""
MOST = 40
_PATH = re.compile(rb'"(?:file_path|notebook_path)":"((?:[^"\\]|\\.){1,1000})"')


def files_of(store: Store, session_id: str, root: str) -> list[str]:
    """Return paths below *root*, `/` between names, the last ones that were touched first."""
    session = sessions.get(store, session_id)
    if session is None or not session.transcript:
        return []
    try:
        lines = [*read_lines(session.transcript, tail=READ_BYTES)]
    except OSError:
        return []
    found = [path for line in lines for path in _PATH.findall(line)]
    paths: dict[str, None] = {}
    for raw in reversed(found):
        path = os.path.relpath(os.path.join(root, raw.decode("utf-8", "replace")), root)
        if not path.startswith(os.pardir):
            paths[path.replace(os.sep, "/")] = None
        if len(paths) == MOST:
            break
    return list(paths)
