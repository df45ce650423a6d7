"""The map of the vectors: its points, a grid of counts, and an area as a list."""

from __future__ import annotations

from typing import Any

from ademem import api
from ademem.core.errors import NotFound, UsageError
from ademem.doors.views.memories import to_row
from ademem.doors.web.memories_page import PAGE
from ademem.doors.web.route import Act, Page, PageRequest
from ademem.search.vector_map import Area
from ademem.store.runtime import Runtime

CELLS = 8
"""Rows and columns of the grid."""


def _read(memories: Runtime, request: PageRequest) -> dict[str, Any]:
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


def _read_points(memories: Runtime, _: PageRequest) -> dict[str, Any]:
    found = api.get_map(memories)
    if found is None:
        raise NotFound("there is no map")
    return {"raw": found.content}


def _compute(memories: Runtime, _: PageRequest) -> None:
    api.request_map(memories)


PAGES = (
    Page(path="/map", name="Map", template="map.html", read=_read, live="job"),
    Page(path="/map/points", template="", read=_read_points),
)
ACTS = (Act(path="/map/compute", do=_compute),)
