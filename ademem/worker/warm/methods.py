"""What a warm process answers: a function a method, each from a JSON object to a JSON value."""

from __future__ import annotations

import os

from ademem.core.value import Value
from ademem.search import engine as search_
from ademem.search.engine import Filters
from ademem.search.parameters import DEFAULTS, Parameters

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from ademem.search.embedding import Embedder
    from ademem.store.runtime import Runtime

    Params = dict[str, Any]

TEXTS = 16
"""Most texts of one `embed`: what one asker may keep the others waiting for."""
CHARS = 20_000
"""Longest text that is looked at; the model sees far less of it."""
HITS = 100


class Refused(ValueError):
    """The request asks for what this process does not give; the message says why."""


class Desk(Value):
    """What the methods may use."""

    runtime: Runtime
    embedder: Embedder
    role: str
    """serve | work: what the process is there for."""
    stop: Callable[[], None]


def ping(desk: Desk, params: Params) -> dict[str, Any]:
    """Who answers, for whom, and with which model."""
    return {
        "pid": os.getpid(),
        "role": desk.role,
        "model": desk.embedder.model_id,
        "database": desk.runtime.project.database,
    }


def embed(desk: Desk, params: Params) -> dict[str, Any]:
    """A unit vector a text, as hexadecimal little-endian float32."""
    texts = params.get("texts")
    if not isinstance(texts, list) or not 0 < len(texts) <= TEXTS:
        raise Refused(f"`texts` is a list of 1 to {TEXTS}")
    rows = desk.embedder.embed([_text(text) for text in texts])
    vectors = [row.astype("<f4").tobytes().hex() for row in rows]
    return {"model": desk.embedder.model_id, "vectors": vectors}


def search(desk: Desk, params: Params) -> dict[str, Any]:
    """Row numbers and scores; whoever asked, and waits, reads the rows that may be seen."""
    floor = params.get("floor", DEFAULTS.floor)
    limit = params.get("limit", desk.runtime.settings.search.limit)
    if type(floor) not in (int, float) or type(limit) is not int or not 0 < limit <= HITS:
        raise Refused(f"`floor` is a number, `limit` one from 1 to {HITS}")
    results = search_.search(
        _text(params.get("query")),
        desk.runtime.store,
        Filters(
            statuses=search_.UNARCHIVED,
            here=_text(params.get("here", "")) or None,
            mission=_text(params.get("mission", "")) or None,
            elsewhere=False,
        ),
        desk.runtime.now,
        limit=limit,
        embedder=desk.embedder,
        parameters=Parameters(floor=floor),
    )
    hits = [[hit.memory.seq, hit.score] for hit in search_.current(results)]
    return {"mode": results.mode, "hits": hits}


def stop(desk: Desk, params: Params) -> dict[str, Any]:
    """End a process that is there only to answer."""
    if desk.role != "serve":
        raise Refused("this process has other work to do, and ends by itself")
    desk.stop()
    return {"pid": os.getpid()}


METHODS: tuple[Callable[[Desk, Params], dict[str, Any]], ...] = (ping, embed, search, stop)


def _text(given: object) -> str:
    if not isinstance(given, str):
        raise Refused("a text is missing")
    return given[:CHARS]
