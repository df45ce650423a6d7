"""Ask the process that has the model loaded, since loading it takes longer than a hook may.

Each end sends one JSON object through a private Unix socket, and closes its side of it.
"""

from __future__ import annotations

import os
import sys
import time

from ademem import __version__
from ademem.core import confined
from ademem.core.client import mission_of
from ademem.core.clock import stamp
from ademem.core.json_text import array, flat, loads, quoted
from ademem.core.value import as_dict

TYPE_CHECKING = False
if TYPE_CHECKING:
    import _socket as sockets
    from collections.abc import Mapping, Sequence
    from typing import Any

    from ademem.core.project import Project
    from ademem.store.filters import Filters
    from ademem.store.runtime import Runtime


PROTOCOL = 8
"""Raised with every change of the messages; other versions are not answered."""
PATH_BYTES = 100
"""Longest path of a socket; the system's own limit is 104 or 108."""
REQUEST_BYTES = 1 << 18
REPLY_BYTES = 1 << 20
SEARCH_S = 2.0


class Stranger(OSError):
    """The other end belongs to another user, or its user is unknown."""


def suggest(
    runtime: Runtime,
    query: str,
    *,
    most: int,
    budget_s: float | None = None,
) -> list[tuple[int, float, float]] | None:
    """Return rows, scores and evidence of `engine.suggest`; None without an answer in time."""
    settings = runtime.settings.search
    if not settings.warm:
        return None
    here, mission = runtime.branch or "", mission_of(runtime.environment) or ""
    where = f'"here":{quoted(here)},"mission":{quoted(mission)}'
    params = f'{{"query":{quoted(query)},"most":{most},{where}}}'
    budget_s = settings.warm_ms / 1000 if budget_s is None else budget_s
    answer = ask(runtime.project, runtime.environment, "suggest", params, budget_s)
    if answer is None:
        return None
    return [(int(seq), float(score), float(sure)) for seq, score, sure in answer["hits"]]


def search(runtime: Runtime, query: str, filters: Filters, limit: int) -> Any | None:
    """Return mode and hits of `engine.search`: row, score, if it has all words, and is weak."""
    given = {
        name: value if value is None or isinstance(value, int | str | tuple) else stamp(value)
        for name, value in as_dict(filters).items()
    }
    params = flat({"query": query, "filters": given, "limit": limit})
    return ask(runtime.project, runtime.environment, "search", params, SEARCH_S)


def rank_nearest(
    runtime: Runtime, texts: Sequence[str], *, budget_s: float | None = None
) -> list[int] | None:
    """Return the rows nearest to a statement by meaning, best first; None without an answer.

    *texts* are those of `statement_search.by_meaning`.
    """
    settings = runtime.settings.search
    if not (settings.warm and settings.hybrid):
        return None
    budget_s = settings.warm_ms / 1000 if budget_s is None else budget_s
    params = f'{{"texts":{array(texts)}}}'
    answer = ask(runtime.project, runtime.environment, "nearest", params, budget_s)
    return answer["rows"] if answer else None


def ask(
    project: Project, environment: Mapping[str, str], method: str, params: str, budget_s: float
) -> Any | None:
    """Return the answer to *method*; None if none comes in time, for errors and other versions."""
    path = socket_path(project, environment)
    if not confined.is_socket(socket_root(project, path), path):
        return None
    request = (
        f'{{"ademem":{quoted(__version__)},"protocol":{PROTOCOL},'
        f'"method":{quoted(method)},"params":{params}}}'
    )
    try:
        reply = loads(exchange(path, request.encode(), budget_s).decode())
        if (reply["ademem"], reply["protocol"]) != (__version__, PROTOCOL):
            return None
        return reply.get("result")
    except (OSError, ValueError, RecursionError, KeyError, TypeError, AttributeError):
        return None


def socket_root(project: Project, path: str) -> str:
    """Return the folder below which the socket is reached without following links."""
    beside = path.startswith(os.path.join(project.home, ""))
    return project.home_root if beside else os.path.dirname(os.path.dirname(path))


def socket_path(project: Project, environment: Mapping[str, str], name: str = "warm.sock") -> str:
    """Return a path in `.ade/run/`; below a deep folder, one that is short enough elsewhere."""
    path = os.path.join(project.home, "run", name)
    if len(os.fsencode(path)) <= PATH_BYTES:
        return path
    from ademem.core.failure_log import user_log_dir
    from ademem.core.text import sha256_hex

    folder = environment.get("XDG_RUNTIME_DIR")
    folder = os.path.join(folder, "ademem") if folder else user_log_dir(environment)
    return os.path.join(folder, f"{sha256_hex(path)[:16]}.sock")


def exchange(path: str, request: bytes, budget_s: float) -> bytes:
    """Raise OSError unless the reply comes within the budget."""
    import _socket as sockets  # the module `socket` takes longer to load than the search

    deadline = time.monotonic() + budget_s
    client = sockets.socket(sockets.AF_UNIX, sockets.SOCK_STREAM)
    try:
        client.settimeout(budget_s)
        client.connect(path)
        check_peer(client)
        client.sendall(request)
        client.shutdown(sockets.SHUT_WR)
        return receive(client, REPLY_BYTES, deadline)
    finally:
        client.close()


def receive(source: sockets.socket, limit: int, deadline: float) -> bytes:
    """Read until the other end closes its side; raise OSError after the deadline or the limit."""
    body = b""
    while len(body) <= limit:
        left = deadline - time.monotonic()
        if left <= 0:
            raise TimeoutError("no answer in time")
        source.settimeout(left)
        part = source.recv(1 << 16)
        if not part:
            return body
        body += part
    raise OSError(f"more than {limit} bytes")


def check_peer(connection: sockets.socket) -> None:
    """Raise Stranger unless the other end has our user id (`struct ucred`, `struct xucred`)."""
    import _socket as sockets

    if sys.platform == "linux":
        found = connection.getsockopt(sockets.SOL_SOCKET, sockets.SO_PEERCRED, 12)
    else:
        sol_local, local_peercred = 0, 1
        found = connection.getsockopt(sol_local, local_peercred, 76)
    if int.from_bytes(found[4:8], sys.byteorder) != os.geteuid():
        raise Stranger("the socket belongs to another user")
