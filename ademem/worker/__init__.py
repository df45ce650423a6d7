"""Run due jobs in one detached process for each project."""

from __future__ import annotations

import os
import sys

from ademem.core.clock import stamp, timedelta
from ademem.core.errors import suppress

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ademem.core.project import Project
    from ademem.store.runtime import Runtime

CONDITIONAL = ("embed", "vector")
"""Kinds of jobs that may be queued and not due; all others are due at once."""
ADD_PATH = """\
import sys
package = sys.argv.pop(1)
sys.path[:0] = [] if package in sys.path else [package]
"""
"""Beginning of a program for `python -I -c`; its first argument is the folder of the package."""
RUN = f"""\
{ADD_PATH}from ademem.core import bytecode
bytecode.use()
from ademem.worker import __main__ as worker
worker.{{}}(sys.argv[1])
"""


IDLE = "idle"
"""File in the folder `run` that tells until when nothing is due, unless the store changes."""
IDLE_FOR = timedelta(minutes=10)
IDLE_CHARS = 200


def start(runtime: Runtime, *, patient: bool = False) -> None:
    """Start a detached worker when a job is due, none runs, and this process is none.

    Where *patient*, what becomes due by itself (by time, by a commit, by another program) is looked
    for only when the last look is ten minutes old or something was stored since.
    """
    if not runtime.settings.jobs.auto or runtime.environment.get("ADEMEM_DISABLE"):
        return
    from ademem.store import jobs

    if not jobs.any_due(runtime.store, runtime.clock(), but=CONDITIONAL):
        if patient and is_idle(runtime):
            return
        from ademem.worker import running  # the table usually has a due job, if there is one

        if not running.any_due(runtime):
            if patient:
                _note_idle(runtime)
            return
    if not is_running(runtime.project):
        program = RUN.format("main")
        _detach([sys.executable, "-I", "-c", program, package_folder(), runtime.project.root])


def is_idle(runtime: Runtime) -> bool:
    """Tell whether nothing was due at a look of the last ten minutes, and nothing stored since."""
    from ademem.core import confined

    project = runtime.project
    with suppress(OSError):
        text = confined.read_text(project.root, os.path.join(project.run, IDLE), IDLE_CHARS) or ""
        since, _, rest = text.partition(" ")
        until, _, state = rest.partition(" ")
        return since <= stamp(runtime.clock()) < until and state == _state(runtime)
    return False


def _note_idle(runtime: Runtime) -> None:
    from ademem.core import confined

    project, now = runtime.project, runtime.clock()
    text = f"{stamp(now)} {stamp(now + IDLE_FOR)} {_state(runtime)}"
    with suppress(OSError):
        path = os.path.join(project.run, IDLE)
        confined.write_text(project.root, path, text, mode=0o600, sync=False)


def _state(runtime: Runtime) -> str:
    """Return what changes with memories and commits."""
    from ademem.core.repository import commit
    from ademem.store.revisions import last_number

    return f"{last_number(runtime.store)} {commit(runtime.project.root)}"


def start_server(runtime: Runtime) -> bool:
    """Keep the model loaded in a process that answers prompts; True if the model is of use here.

    Not without the model, and not while another process serves this project. One that was started
    so for another project is asked to serve this one, too.
    """
    settings = runtime.settings
    if not (settings.search.warm and settings.search.hybrid and settings.jobs.auto):
        return False
    from ademem.store.memories import any_vector

    if runtime.environment.get("ADEMEM_DISABLE") or not any_vector(runtime.store):
        return False
    from ademem.core.shared_files import is_held
    from ademem.search.embedding import cache
    from ademem.worker.warm import socket_path, socket_root

    folder = cache.folder(runtime.environment, settings.embed.dtype)
    path = socket_path(runtime.project, runtime.environment)
    serves = is_held(f"{path}.lock", root=socket_root(runtime.project, path))
    if cache.state(folder) is not cache.State.INSTALLED:
        return False
    if serves:
        return True
    if cache.is_served(folder):
        cache.ask_to_serve(folder, runtime.project.root)
    else:
        program = RUN.format("serve")
        _detach([sys.executable, "-I", "-c", program, package_folder(), runtime.project.root])
    return True


def package_folder() -> str:
    """Return the folder that has the package; a plugin's is not on the interpreter's path."""
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


def describe_failure(kind: str, key: str, error: str) -> str:
    """Name a memory by its id, with which its key begins."""
    return f"{kind} {key.partition(' ')[0]}: {error}"
