"""Log failures of hooks, one line each, in files of bounded size."""

from __future__ import annotations

import json
import os

from ademem.core import clock, confined
from ademem.core.errors import suppress

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from ademem.core.project import Project

LOG_BYTES = 256_000
ERROR_CHARS = 500
READ_CHARS = 20_000
_TEXTS = ("at", "project", "event", "error")
"""Keys of each line; a line without them is not ours."""


def log(
    found: Project | None,
    event: str,
    error: Exception,
    environment: Mapping[str, str],
    now: datetime,
) -> None:
    from traceback import extract_tb

    frames = extract_tb(error.__traceback__)[-6:]
    failure = {
        "at": clock.stamp(now),
        "project": found.root if found else "",
        "event": event,
        "error": describe(error)[:ERROR_CHARS],
        "where": [f"{os.path.basename(frame.filename)}:{frame.lineno}" for frame in frames],
    }
    line = json.dumps(failure)
    if found:
        with suppress(OSError):
            _append(found.root, found.log, line)
            return
    with suppress(OSError):
        folder = _own(user_log_dir(environment))
        _append(os.path.dirname(folder), folder, line)


def log_crash(trace: str, environment: Mapping[str, str]) -> str:
    """Return the path of the log; raises OSError."""
    folder = _own(user_log_dir(environment))
    path = os.path.join(folder, "crash.log")
    for line in trace.splitlines():
        confined.append_line(os.path.dirname(folder), path, line, LOG_BYTES)
    return path


def describe(error: Exception) -> str:
    from ademem.core.redaction import redact
    from ademem.core.text import whole_words

    text = whole_words(f"{type(error).__name__}: {error}", READ_CHARS)
    return " ".join(redact(text).text.split())


def recent(found: Project, environment: Mapping[str, str]) -> list[dict[str, str]]:
    failures = []
    for root, folder in folders(found, environment):
        text = ""
        with suppress(OSError, UnicodeDecodeError):
            text = confined.read_text(root, os.path.join(folder, "hooks.log")) or ""
        for line in text.splitlines():
            with suppress(ValueError, RecursionError):  # a full disk may have truncated one
                failure = json.loads(line)
                is_ours = isinstance(failure, dict) and all(
                    isinstance(failure.get(key), str) for key in _TEXTS
                )
                if is_ours and failure["project"] in (found.root, ""):
                    failures.append(failure)
    return sorted(failures, key=lambda failure: failure["at"])


def folders(found: Project, environment: Mapping[str, str]) -> list[tuple[str, str]]:
    """Return each folder after the root of its path."""
    own = user_log_dir(environment)
    return [(found.root, found.log), (os.path.dirname(own), own)]


def user_log_dir(environment: Mapping[str, str]) -> str:
    temporary = os.path.abspath(environment.get("TMPDIR") or "/tmp")
    return os.path.join(temporary, f"ademem-{os.getuid()}")


def _own(folder: str) -> str:
    os.makedirs(folder, 0o700, exist_ok=True)
    if os.lstat(folder).st_uid != os.getuid():
        raise PermissionError(f"{folder} belongs to another user")
    return folder


def _append(root: str, folder: str, line: str) -> None:
    confined.append_line(root, os.path.join(folder, "hooks.log"), line, LOG_BYTES)
