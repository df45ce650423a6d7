"""Install, verify and remove the embedding model, and serve it to hooks."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any

from ademem.core import project
from ademem.core.errors import AdememError
from ademem.core.settings import DTYPES, EmbedSettings, load_configuration
from ademem.core.value import replace
from ademem.operations import find_project, open_memories
from ademem.search import embedding
from ademem.search.embedding import install, published
from ademem.search.embedding.cache import MULTILINGUAL as MULTILINGUAL
from ademem.search.embedding.install import Done
from ademem.search.embedding.install import Source as Source
from ademem.search.embedding.published import Status
from ademem.store import embeddings, jobs
from ademem.worker import running
from ademem.worker.warm import ask
from ademem.worker.warm_server import Server


def install_model(
    on_progress: Callable[[str, int], None] = lambda activity, percent: None,
    *,
    source: Source | None = None,
    path: str = "",
    dtype: str = "",
    root: str | None = None,
) -> Done:
    chosen = _settings(root, dtype)
    return install.install(chosen, os.environ, on_progress, source=source, path=path)


def plan_vectors(root: str | None = None) -> tuple[int, bool]:
    """Make the vectors due that an installed model lacks, and start the worker.

    Returns the number of memories, and whether jobs start by themselves in the project. A person
    who has just installed a model is not asked for the patience that keeps a session's core free.
    """
    found = find_project(root)
    if found is None:
        return 0, False
    with open_memories(found, catch_up=False) as runtime:
        model = running.find_model(runtime)
        if model is None or runtime.is_read_only:
            return 0, False
        ids = [each.id for each in (model, model.second) if each]
        waiting = max(embeddings.counts(runtime.store, id).waiting for id in ids)
        if waiting:
            since = runtime.now - timedelta(seconds=running.COLD_START_S)
            jobs.plan(runtime.store, "embed", since)
        return waiting, runtime.settings.jobs.auto


def model_status(*, dtype: str = "", root: str | None = None) -> Status:
    return published.status(_settings(root, dtype), os.environ)


def verify_model(*, dtype: str = "", root: str | None = None) -> list[str]:
    return published.find_problems(_settings(root, dtype), os.environ)


def remove_model(*, dtype: str = "") -> int:
    """Return the number of freed bytes; without a *dtype* all are removed."""
    return sum(install.remove(each, os.environ) for each in ([dtype] if dtype else DTYPES))


def _settings(root: str | None, dtype: str) -> EmbedSettings:
    found = load_configuration(find_project(root), os.environ).settings.embed
    return replace(found, dtype=dtype) if dtype else found


ANSWER_S = 2.0


def serve(
    root: str | None = None,
    *,
    idle_s: float = 0,
    on_ready: Callable[[str], None] = lambda model: None,
    environment: Mapping[str, str] = os.environ,
) -> str:
    """Answer hooks until a signal, `stop_server`, or *idle_s* idle seconds; return the model.

    Raises DamagedModel, or AdememError without a model or socket, or for another such process.
    """
    found = project.find(root, environment, os.getcwd())
    other = find_server(found.root, environment=environment)
    if other and other["role"] == "serve":
        why = f"process {other['pid']} serves this project already"
        raise AdememError(why, "`ademem serve --stop` ends it")
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # a second one gains nothing on a few rows
    settings = load_configuration(found, environment).settings.embed
    embedder = embedding.load_pair(settings, environment)
    if embedder is None:
        why = "no model is installed that could be kept loaded"
        raise AdememError(why, "`ademem model install` gets it")
    server = Server(found, environment, embedder, "serve")
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: server.stop())
    try:
        server.run(idle_s=idle_s, on_ready=lambda: on_ready(embedder.model_id))
    except OSError as error:
        raise AdememError(f"cannot listen at {server.path}: {error}") from error
    return embedder.model_id


def find_server(
    root: str | None = None, *, environment: Mapping[str, str] = os.environ, method: str = "ping"
) -> dict[str, Any] | None:
    """Return pid, role, model and database of the process that serves this project."""
    found = project.find(root, environment, os.getcwd())
    answer: dict[str, Any] | None = ask(found, environment, method, "{}", ANSWER_S)
    return answer


def stop_server(
    root: str | None = None, *, environment: Mapping[str, str] = os.environ
) -> dict[str, int] | None:
    """Return the pid of the process that was asked, and for how many others it goes on.

    It answers for this project no more, and ends where there are no others.
    """
    stopped = find_server(root, environment=environment, method="stop")
    return {"pid": stopped["pid"], "others": stopped.get("others", 0)} if stopped else None
