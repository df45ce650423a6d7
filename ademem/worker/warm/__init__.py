"""Asking a process that has the model loaded, since loading it takes longer than a hook may."""

from __future__ import annotations

import os

from ademem import __version__
from ademem.core import confined
from ademem.core.json_text import loads, quoted
from ademem.store.mission_binding import mission_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from ademem.core.project import Project
    from ademem.store.runtime import Runtime

PROTOCOL = 2
"""Raised with every change of what is said; who speaks another one is nobody to us."""
PATH_BYTES = 100
"""Longest path of a socket; the system's own bound is 104 or 108."""


def search(
    runtime: Runtime, query: str, *, floor: float, limit: int
) -> list[tuple[int, float]] | None:
    """Row numbers and scores of what answers, best first; None when nobody does so in time."""
    settings = runtime.settings.search
    if not settings.warm:
        return None
    here = quoted(runtime.branch or "")
    mission = quoted(mission_of(runtime.environment) or "")
    where = f'"here":{here},"mission":{mission}'
    params = f'{{"query":{quoted(query)},"floor":{floor},"limit":{limit},{where}}}'
    budget_s = settings.warm_ms / 1000
    answer = ask(runtime.project, runtime.environment, "search", params, budget_s)
    if answer is None:
        return None
    return [(int(seq), float(score)) for seq, score in answer["hits"]]


def ask(
    project: Project, environment: Mapping[str, str], method: str, params: str, budget_s: float
) -> Any | None:
    """The answer to *method* with *params*, a JSON object; None when none comes in time.

    An error of the other side, garbage, and another version are no answer either.
    """
    path = socket_path(project, environment)
    if not confined.is_socket(socket_root(project, path), path):
        return None
    from ademem.worker.warm import wire

    request = (
        f'{{"ademem":{quoted(__version__)},"protocol":{PROTOCOL},'
        f'"method":{quoted(method)},"params":{params}}}'
    )
    try:
        reply = loads(wire.exchange(path, request.encode(), budget_s).decode())
        if (reply["ademem"], reply["protocol"]) != (__version__, PROTOCOL):
            return None
        return reply.get("result")
    except (OSError, ValueError, RecursionError, KeyError, TypeError, AttributeError):
        return None


def socket_root(project: Project, path: str) -> str:
    """From where the socket is reached without following links."""
    beside = path.startswith(os.path.join(project.home, ""))
    return project.home_root if beside else os.path.dirname(os.path.dirname(path))


def socket_path(project: Project, environment: Mapping[str, str]) -> str:
    """Beside the database, or in the user's own folder where that path is too long."""
    path = os.path.join(project.home, "run", "warm.sock")
    if len(os.fsencode(path)) <= PATH_BYTES:
        return path
    from ademem.core.digest import sha256_hex
    from ademem.core.failure_log import user_log_dir

    folder = environment.get("XDG_RUNTIME_DIR")
    folder = os.path.join(folder, "ademem") if folder else user_log_dir(environment)
    return os.path.join(folder, f"{sha256_hex(path)[:16]}.sock")
