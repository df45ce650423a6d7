"""A graph on rings around its centre, and the same as pages of a nested list; pure.

The layout is a radial tree: each node gets a part of the circle by the number of leaves below it,
so that the same graph always looks the same and no lines of a tree cross.
"""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

from ademem.core.text import preview
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
    order = _walk(graph)
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


def _walk(graph: Graph) -> list[int]:
    """Return the places of the nodes in the order of the list: each before those below it."""
    children = _children(graph)
    order, waiting = [], [0]
    while waiting:
        order.append(at := waiting.pop())
        waiting += reversed(children[at])
    return order


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
