"""The graph around a memory, a tag, a topic or a file, and the map of the vectors."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

from ademem import api
from ademem.api.relating import KINDS
from ademem.core.errors import NoSuchMemory, NotFound, UsageError
from ademem.core.text import preview
from ademem.doors.views import to_row
from ademem.doors.web import Act, Page, PageRequest
from ademem.doors.web.memories_page import PAGE
from ademem.search.vector_map import Area
from ademem.store.runtime import Runtime
from ademem.store.transitions import waits_for

if TYPE_CHECKING:
    from ademem.api.relating import Graph, Node

RING = 150
"""Least distance of two rings."""
NODE = 16
"""Least length of the part of a ring that a node has."""
LABEL_CHARS = 60
SHORT_CHARS = 22
LISTED = 100
"""Nodes of one page of the list."""


def to_page(graph: Graph, after: str = "") -> dict[str, Any]:
    """Return the size of the graph and a page of its tree, from the node after that of a key."""
    nodes: list[dict[str, Any]] = [
        {
            "kind": node.kind,
            "name": node.name,
            "label": label(node),
            "relation": node.relation,
            "children": [],
        }
        for node in graph.nodes
    ]
    children = _children(graph)
    order, waiting = [], [0]
    while waiting:  # each before those below it
        order.append(at := waiting.pop())
        waiting += reversed(children[at])
    keys = [f"{graph.nodes[at].kind} {graph.nodes[at].name}" for at in order]
    start = keys.index(after) + 1 if after in keys else 0
    listed = set(order[start : start + LISTED])
    for at in [*listed]:  # the branch that an earlier page began
        while (parent := graph.nodes[at].parent) is not None:
            listed.add(parent)
            at = parent
    for at in sorted(listed - {0}):
        nodes[graph.nodes[at].parent or 0]["children"].append(nodes[at])
    return {
        "count": len(nodes),
        "lines": len(graph.edges),
        "is_cut": graph.is_cut,
        "tree": nodes[0],
        "next": keys[start + LISTED - 1] if start + LISTED < len(keys) else "",
    }


def to_drawing(graph: Graph) -> str:
    """Return places and lines as JSON.

    A node is its kind, name, x, y, depth and label; a line is the places of its nodes in the list,
    and whether they contradict each other.
    """
    _, places = lay_out(graph)
    nodes = [
        (
            node.kind,
            node.name,
            round(x),
            round(y),
            node.depth,
            preview(label(node), SHORT_CHARS if node.depth > 1 else LABEL_CHARS),
        )
        for node, (x, y) in zip(graph.nodes, places, strict=True)
    ]
    edges = [(a, b, relation.startswith("conflicts")) for a, b, relation in graph.edges]
    drawing = {"nodes": nodes, "edges": edges}
    return json.dumps(drawing, ensure_ascii=False, separators=(",", ":"))


def label(node: Node) -> str:
    if node.memory is None:
        return node.name
    if node.memory.quarantine_reason:
        return waits_for(node.memory)
    return preview(node.memory.title or node.memory.content, LABEL_CHARS)


def _children(graph: Graph) -> list[list[int]]:
    found: list[list[int]] = [[] for _ in graph.nodes]
    for at, node in enumerate(graph.nodes):
        if node.parent is not None:
            found[node.parent].append(at)
    return found


def lay_out(graph: Graph) -> tuple[float, list[tuple[float, float]]]:
    """Return the distance of two rings, and the place of each node; the centre is at 0, 0."""
    nodes, children = graph.nodes, _children(graph)
    leaves = [0] * len(nodes)
    for at in reversed(range(len(nodes))):
        leaves[at] = leaves[at] or 1
        if (parent := nodes[at].parent) is not None:
            leaves[parent] += leaves[at]
    depth = max(1, max(node.depth for node in nodes))
    ring = max(RING, leaves[0] * NODE / (2 * math.pi * depth))
    starts, places = [0.0] * len(nodes), []
    for at, node in enumerate(nodes):
        start = starts[at]
        for child in children[at]:
            starts[child] = start
            start += leaves[child]
        angle = 2 * math.pi * (starts[at] + leaves[at] / 2) / leaves[0]
        places.append((node.depth * ring * math.cos(angle), node.depth * ring * math.sin(angle)))
    return ring, places


PAIRS = 50
"""Related pairs that are offered as a start."""


def _read(memories: Runtime, request: PageRequest) -> dict[str, Any]:
    chosen, name = _centre(request)
    found = api.get_graph(memories, chosen, name) if chosen else None
    return {
        "kinds": KINDS,
        "chosen": chosen,
        "name": name,
        "graph": to_page(found, request.query.get("after", "")) if found else None,
        "pairs": [] if found else _list_pairs(memories),
    }


def _read_drawing(memories: Runtime, request: PageRequest) -> dict[str, Any]:
    return {"raw": to_drawing(api.get_graph(memories, *_centre(request)))}


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
