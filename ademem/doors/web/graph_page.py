"""The graph around a memory, a tag, a topic or a file."""

from __future__ import annotations

from typing import Any

from ademem import api
from ademem.api.graphs import KINDS
from ademem.core.errors import NoSuchMemory
from ademem.doors.views import graph as views
from ademem.doors.views.memories import to_row
from ademem.doors.web.route import Page, PageRequest
from ademem.store.runtime import Runtime

PAIRS = 50
"""Related pairs that are offered as a start."""


def _read(memories: Runtime, request: PageRequest) -> dict[str, Any]:
    chosen, name = _centre(request)
    found = api.get_graph(memories, chosen, name) if chosen else None
    return {
        "kinds": KINDS,
        "chosen": chosen,
        "name": name,
        "graph": views.to_page(found, request.query.get("after", "")) if found else None,
        "pairs": [] if found else _list_pairs(memories),
    }


def _read_drawing(memories: Runtime, request: PageRequest) -> dict[str, Any]:
    return {"raw": views.to_drawing(api.get_graph(memories, *_centre(request)))}


def _centre(request: PageRequest) -> tuple[str, str]:
    """Return kind and name of the node in the middle; empty without one."""
    given = {kind: request.query.get(kind, "").strip() for kind in KINDS}
    return next(((kind, name) for kind, name in given.items() if name), ("", ""))


def _list_pairs(memories: Runtime) -> list[dict[str, Any]]:
    pairs = []
    for each in api.list_relations(memories, limit=PAIRS):
        try:
            ends = [to_row(api.get(memories, id)) for id in (each.source, each.target) if id]
        except NoSuchMemory:
            continue
        if len(ends) == 2:
            pairs.append({"relation": each.relation.replace("_", " "), "ends": ends})
    return pairs


PAGES = (
    Page(path="/graph", name="Graph", template="graph.html", read=_read),
    Page(path="/graph/drawing", template="", read=_read_drawing),
)
