"""Run due jobs in one detached process for each project."""

from __future__ import annotations

import os
import sys

from ademem.store import jobs

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ademem.core.project import Project
    from ademem.store.runtime import Runtime

ON_DEMAND = (
    *("extract", "episode", "mission", "uses", "mirror", "current", "anchors"),
    *("procedures", "skills", "digest", "relate", "consolidate", "sweep", "crowded"),
)
"""Kinds of jobs that are due as soon as they are queued; others have conditions."""
RUN = """\
import sys
package = sys.argv.pop(1)
sys.path[:0] = [] if package in sys.path else [package]
from ademem.worker.__main__ import main
main(sys.argv[1])
"""
"""Program of a worker; its arguments are the folder of the package and the project."""


def start(runtime: Runtime) -> None:
    """Start a detached worker when a job is due, none runs, and this process is none."""
    if not runtime.settings.jobs.auto or runtime.environment.get("ADEMEM_DISABLE"):
        return
    if not jobs.any_due(runtime.store, ON_DEMAND, runtime.now):
        from ademem.worker import running  # the table usually has a due job, if there is one

        if not running.any_due(runtime):
            return
    if not is_running(runtime.project):
        _detach([sys.executable, "-I", "-c", RUN, _packages(), runtime.project.root])


def _packages() -> str:
    """Return the folder of the package, which an interpreter need not know: a plugin has none."""
    return os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def _detach(command: list[str]) -> None:
    from ademem.core import process

    process.detach(command, os.environ | {"ADEMEM_DISABLE": "1"})


def is_running(project: Project) -> bool:
    from ademem.core.shared_files import is_held

    return is_held(lock(project), root=project.home_root)


def lock(project: Project) -> str:
    """Return the lock of the worker, beside the database that all worktrees share."""
    return os.path.join(project.home, "run", "work.lock")


def gave_up(kind: str, key: str, error: str) -> str:
    """Describe a parked job; a memory is named by its id alone."""
    return f"{kind} {key.partition(' ')[0]}: {error}"
