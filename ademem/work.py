"""Due work, done by one process a project that nobody waits for."""

from __future__ import annotations

import os
import sys

from ademem.store import jobs

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from ademem.runtime import Runtime


def mirror(runtime: Runtime) -> None:
    """Bring the files of the project up to date."""
    from ademem.mirror import refresh

    refresh(runtime.project, runtime.store, runtime.settings, runtime.now)


def anchors(runtime: Runtime) -> None:
    """See how the places stand that memories are tied to, for the ranking."""
    from ademem.sites.verify import check

    check(runtime.project, runtime.store)


JOBS: dict[str, Callable[[Runtime], None]] = {"mirror": mirror, "anchors": anchors}


def start(runtime: Runtime) -> None:
    """Start a detached worker when something is due; never from within one."""
    if runtime.settings.jobs.auto and any(
        jobs.due(runtime.store, kind, runtime.now) for kind in JOBS
    ):
        _detach([sys.executable, "-I", "-m", "ademem.work", runtime.project.root])


def run_due(runtime: Runtime, now: datetime, *, retry: bool = False) -> list[str]:
    """Do what is due and tell the kinds done; what fails stays due with its error, later."""
    from ademem.locks import locked

    if retry:
        jobs.unpark(runtime.store, now)
    done = []
    with locked(os.path.join(runtime.project.run, "work.lock"), wait=False) as ours:
        for kind, job in JOBS.items() if ours else ():
            for due in jobs.due(runtime.store, kind, now):
                try:
                    job(runtime)
                except Exception as error:
                    jobs.failed(runtime.store, due, repr(error), now)
                else:
                    jobs.done(runtime.store, due)
                    done.append(kind)
    return done


def _detach(command: list[str]) -> None:
    """Start *command* in a session of its own with nothing of ours open."""
    if os.fork():
        return
    try:
        os.setsid()
        null = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(null, stream)
        os.nice(10)
        os.execve(command[0], command, os.environ | {"ADEMEM_DISABLE": "1"})
    finally:
        os._exit(127)


def main() -> None:
    from ademem import clock, project
    from ademem.runtime import open_runtime

    now = clock.now()
    runtime = open_runtime(project.at(sys.argv[1]), os.environ, now)
    try:
        run_due(runtime, now)
    finally:
        runtime.close()


if __name__ == "__main__":
    main()
