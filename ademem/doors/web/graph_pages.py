"""The graph around a memory, a tag, a topic or a file, and the map of the vectors."""

from __future__ import annotations

from typing import Any

from ademem import api
from ademem.api.relating import KINDS
from ademem.core.errors import NoSuchMemory, NotFound, UsageError
from ademem.doors.views import graph as views
from ademem.doors.views.memories import to_row
from ademem.doors.web.memories_page import PAGE
from ademem.doors.web.route import Act, Page, PageRequest
from ademem.search.vector_map import Area
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


CELLS = 8
"""Rows and columns of the grid."""


def _read_map(memories: Runtime, request: PageRequest) -> dict[str, Any]:
    found, area = api.get_map(memories), _area(request.query.get("area", ""))
    rows, total = api.list_area(memories, found, area, PAGE) if found and area else ([], 0)
    return {
        "has_vectors": bool(found) or api.has_vectors(memories),
        "is_requested": not found and api.is_map_requested(memories),
        "count": found.head["count"] if found else 0,
        "grid": found.count_cells(CELLS) if found else [],
        "categories": found.count_categories() if found else {},
        "area": area,
        "rows": [to_row(memory) for memory in rows],
        "total": total,
        "cells": CELLS,
    }


def _area(given: str) -> Area | None:
    """Read `left,top,right,bottom`, each from 0 to 1; raises UsageError."""
    if not given:
        return None
    try:
        left, top, right, bottom = (float(part) for part in given.split(","))
    except ValueError as error:
        raise UsageError(f"{given!r} is no area", "left,top,right,bottom, from 0 to 1") from error
    return left, top, right, bottom


def _read_map_points(memories: Runtime, _: PageRequest) -> dict[str, Any]:
    found = api.get_map(memories)
    if found is None:
        raise NotFound("there is no map")
    return {"raw": found.content}


def _compute(memories: Runtime, _: PageRequest) -> None:
    api.request_map(memories)


PAGES = (
    Page(path="/map", name="Map", template="map.html", read=_read_map, live="job"),
    Page(path="/map/points", template="", read=_read_map_points),
    Page(path="/graph", name="Graph", template="graph.html", read=_read),
    Page(path="/graph/drawing", template="", read=_read_drawing),
)
ACTS = (Act(path="/map/compute", do=_compute),)
