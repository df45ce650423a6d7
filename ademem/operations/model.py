"""Install, verify and remove the embedding model, and serve it to hooks."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Mapping
from typing import Any

from ademem.core import project
from ademem.core.errors import AdememError
from ademem.core.settings import DTYPES, EmbedSettings, load_configuration
from ademem.core.value import replace
from ademem.operations import find_project
from ademem.search import embedding
from ademem.search.embedding import install, published
from ademem.search.embedding.cache import MULTILINGUAL as MULTILINGUAL
from ademem.search.embedding.install import Done
from ademem.search.embedding.install import Source as Source
from ademem.search.embedding.published import Status
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
) -> int | None:
    """Return the pid of the stopped process."""
    stopped = find_server(root, environment=environment, method="stop")
    return stopped["pid"] if stopped else None
