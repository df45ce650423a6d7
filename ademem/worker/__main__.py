"""Run the worker, as `python -m ademem.worker ROOT`."""

from __future__ import annotations

import os
import sys
import time
from functools import partial

from ademem.core import bytecode, clock, clone_variables, project
from ademem.store.runtime import Runtime, open_runtime
from ademem.worker.running import JobContext, Model, find_model, run_due

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    from ademem.search.embedding import Embedder

IDLE_S = 900.0
"""Time without a prompt after which a process that prompts started ends."""
PAUSE_S = 0.1
"""Pause between two batches, for other users of the processor and the database."""


def main(root: str, model: Model | None = None) -> None:
    clone_variables.withdraw(os.environ)
    os.environ["ADEMEM_DISABLE"] = "1"  # no job starts a session whose hooks start a job
    bytecode.update()
    place = project.at(root)
    if not place.has_home:  # since a hook started this process
        return

    def offer(embedder: Embedder) -> AbstractContextManager[None]:
        from ademem.worker.warm_server import serve_while

        return serve_while(place, os.environ, embedder, "work")

    def pause() -> None:
        if not place.has_home:  # the project was removed
            raise SystemExit
        time.sleep(PAUSE_S)

    with open_runtime(place, os.environ, clock.now()) as runtime:
        _bound_memory(runtime)
        model = model or find_model(runtime)
        run_due(JobContext(runtime, clock.now, model, patient=True, pause=pause, offer=offer))


def serve(root: str, load: Callable[[Runtime], Embedder | None] | None = None) -> None:
    """Keep the model loaded until no hook asks for it, for all projects that ask."""
    clone_variables.withdraw(os.environ)
    os.environ["ADEMEM_DISABLE"] = "1"
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # a second one gains nothing on a few rows
    from ademem.search import embedding
    from ademem.search.embedding import cache

    place = project.at(root)
    if not place.has_home:
        return
    with open_runtime(place, os.environ, clock.now()) as runtime:
        settings = runtime.settings.embed
        folder = cache.folder(os.environ, settings.dtype)
        with cache.serving(folder) as is_ours:
            if not is_ours:
                return
            embedder = load(runtime) if load else embedding.load_pair(settings, os.environ)
            if embedder is not None:
                _bound_memory(runtime)
                from ademem.worker.warm_server import serve_all

                asked = partial(cache.take_asked, folder)
                serve_all(place, os.environ, embedder, asked, idle_s=IDLE_S)


def _bound_memory(runtime: Runtime) -> None:
    try:
        import resource
    except ImportError:  # not on this system
        return
    wanted = runtime.settings.jobs.memory_mb * 1024 * 1024
    _, most = resource.getrlimit(resource.RLIMIT_DATA)
    if wanted and (most == resource.RLIM_INFINITY or wanted < most):
        resource.setrlimit(resource.RLIMIT_DATA, (wanted, most))


if __name__ == "__main__":
    main(sys.argv[1])
