"""Log jobs, one line each, in files of bounded size."""

from __future__ import annotations

import os
from contextlib import suppress

from ademem.core import clock, confined
from ademem.core.json_text import loads

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime
    from typing import Any

    from ademem.core.project import Project
    from ademem.store.jobs import Job

LOG_BYTES = 128_000
"""Size at which the log is rotated; one rotated file is kept."""


def note(
    project: Project,
    job: Job,
    *,
    started: datetime,
    ended: datetime,
    error: str,
    figures: Mapping[str, int],
) -> None:
    """Log the end of a job; a log that cannot be written is ignored."""
    import json

    line = {
        "at": clock.stamp(ended),
        "job": job.kind,
        "key": job.key,
        "outcome": "failed" if error else "done",
        "error": error or None,
        "seconds": round((ended - started).total_seconds(), 3),
        **figures,
    }
    with suppress(OSError):
        confined.append_line(project.root, _path(project), json.dumps(line), LOG_BYTES)


def recent(project: Project) -> list[dict[str, Any]]:
    """Return the logged jobs, oldest first."""
    runs = []
    for path in (_path(project) + ".1", _path(project)):
        for line in _lines(project, path):
            with suppress(ValueError):  # a full disk may have cut a line
                runs.append(loads(line))
    return runs


def _lines(project: Project, path: str) -> list[str]:
    try:
        return (confined.read_text(project.root, path) or "").splitlines()
    except (OSError, UnicodeDecodeError):
        return []


def _path(project: Project) -> str:
    return os.path.join(project.log, "work.log")
