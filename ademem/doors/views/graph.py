"""A graph on rings around its centre, and the same as a nested list; pure.

The layout is a radial tree: each node gets a part of the circle by the number of leaves below it,
so that the same graph always looks the same and no lines of a tree cross.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from ademem.core.text import preview
from ademem.store.transitions import waits_for

if TYPE_CHECKING:
    from ademem.api.graphs import Graph, Node

RING = 150
"""Distance of two rings."""
MARGIN = 130
LABEL_CHARS = 60
SHORT_CHARS = 22


def to_page(graph: Graph) -> dict[str, Any]:
    places = lay_out(graph)
    nodes: list[dict[str, Any]] = [
        {
            "kind": node.kind,
            "name": node.name,
            "label": label(node),
            "short": preview(label(node), SHORT_CHARS),
            "relation": node.relation,
            "x": round(x),
            "y": round(y),
            "depth": node.depth,
            "children": [],
        }
        for node, (x, y) in zip(graph.nodes, places, strict=True)
    ]
    for at, node in enumerate(graph.nodes):
        if node.parent is not None:
            nodes[node.parent]["children"].append(nodes[at])
    extent = max((node.depth for node in graph.nodes), default=0) * RING + MARGIN
    return {
        "nodes": nodes,
        "tree": nodes[0],
        "edges": [
            {"from": nodes[a], "to": nodes[b], "relation": relation}
            for a, b, relation in graph.edges
        ],
        "extent": extent,
        "is_cut": graph.is_cut,
    }


def label(node: Node) -> str:
    if node.memory is None:
        return node.name
    if node.memory.quarantine_reason:
        return waits_for(node.memory)
    return preview(node.memory.title or node.memory.content, LABEL_CHARS)


def lay_out(graph: Graph) -> list[tuple[float, float]]:
    """Return the place of each node; the centre is at 0, 0."""
    nodes = graph.nodes
    leaves = [0] * len(nodes)
    children: list[list[int]] = [[] for _ in nodes]
    for at in reversed(range(len(nodes))):
        leaves[at] = leaves[at] or 1
        parent = nodes[at].parent
        if parent is not None:
            leaves[parent] += leaves[at]
            children[parent].insert(0, at)
    starts, places = [0.0] * len(nodes), []
    for at, node in enumerate(nodes):
        start = starts[at]
        for child in children[at]:
            starts[child] = start
            start += leaves[child]
        angle = 2 * math.pi * (starts[at] + leaves[at] / 2) / leaves[0]
        places.append((node.depth * RING * math.cos(angle), node.depth * RING * math.sin(angle)))
    return places
