"""Graphs of memories, by relation and by what they share, and the map of the stored vectors."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

from ademem.core import anchor
from ademem.core.errors import UsageError
from ademem.core.memory import Memory, Status
from ademem.core.value import Value, replace
from ademem.search.vector_map import read_map
from ademem.store import filters, memories, memory_queries, verdicts
from ademem.store.runtime import Runtime

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ademem.search.vector_map import Area, Map

MOST_NODES = 500
MOST_OF_ONE = 40
"""Memories that are shown of one tag, topic or file."""
DEPTH = 2
KINDS = ("memory", "tag", "topic", "file")


class Node(Value):
    kind: str
    name: str
    """The id of a memory, else the tag, topic or path."""
    memory: Memory | None = None
    parent: int | None = None
    """Place of the node from which it was reached; None for the centre."""
    relation: str = ""
    """Relation to the parent."""
    depth: int = 0


class Graph(Value):
    nodes: tuple[Node, ...]
    """The centre first; those nearer to it before others."""
    edges: tuple[tuple[int, int, str], ...]
    """Places of two nodes, and their relation."""
    is_cut: bool
    """There are more nodes."""


def get_graph(runtime: Runtime, kind: str, name: str, most: int = MOST_NODES) -> Graph:
    """Return what is around a memory, tag, topic or file, to the second neighbour.

    Raises UsageError for another kind, and NoSuchMemory.
    """
    if kind not in KINDS:
        raise UsageError(f"no kind of node {kind!r}", ", ".join(KINDS))
    memory = memories.get(runtime.store, name) if kind == "memory" else None
    nodes = [Node(kind=kind, name=memory.id if memory else name, memory=memory)]
    places = {(kind, nodes[0].name): 0}
    edges: dict[tuple[int, int], str] = {}
    waiting, is_cut = deque([0]), False
    while waiting:
        at = waiting.popleft()
        if nodes[at].depth == DEPTH:
            continue
        for found in _neighbours(runtime, nodes[at]):
            place = places.get((found.kind, found.name))
            if place is None:
                if len(nodes) == most:
                    is_cut = True
                    continue
                place = places[found.kind, found.name] = len(nodes)
                nodes.append(replace(found, parent=at, depth=nodes[at].depth + 1))
                waiting.append(place)
            edges.setdefault((min(at, place), max(at, place)), found.relation)
    return Graph(
        nodes=tuple(nodes),
        edges=tuple((a, b, relation) for (a, b), relation in edges.items()),
        is_cut=is_cut,
    )


def _neighbours(runtime: Runtime, node: Node) -> Iterator[Node]:
    if node.memory:
        store = runtime.store
        found: dict[str, str] = {}
        for pair in verdicts.list_all(store, node.memory, None, MOST_OF_ONE):
            other = pair.target if pair.source == node.memory.id else pair.source
            if pair.status != verdicts.BESIDE and pair.relation != "not_conflict":
                waits = "?" if pair.status == "pending" else ""
                found.setdefault(other, pair.relation.replace("_", " ") + waits)
        if node.memory.superseded_by:
            found.setdefault(node.memory.superseded_by, "merged into")
        for part in memory_queries.merged_into(store, node.memory.id):
            found.setdefault(part.id, "merged from")
        for each in memory_queries.by_ids(store, found):
            if not (each.quarantine_reason or each.deleted_at or each.scope_owner_id):
                yield Node(kind="memory", name=each.id, memory=each, relation=found[each.id])
        for tag in node.memory.tags:
            yield Node(kind="tag", name=tag, relation="has the tag")
        if node.memory.topic_key:
            yield Node(kind="topic", name=node.memory.topic_key, relation="is on the topic")
        for place in filter(None, map(anchor.place, node.memory.anchors)):
            yield Node(kind="file", name=place.path, relation="is anchored to")
        return
    for memory in _members(runtime, node):
        yield Node(kind="memory", name=memory.id, memory=memory, relation="shares it")


def _members(runtime: Runtime, node: Node) -> list[Memory]:
    given = filters.Filters(statuses=filters.UNARCHIVED)
    if node.kind == "tag":
        tagged = filters.Filters(statuses=filters.UNARCHIVED, tags=(node.name,))
        return filters.listed(runtime.store, tagged, MOST_OF_ONE)
    seqs = memory_queries.find_sharing(runtime.store, node.kind, node.name)
    return filters.visible(seqs, runtime.store, given, filters.UNARCHIVED, MOST_OF_ONE)


def get_map(runtime: Runtime) -> Map | None:
    """Return the map as it was last computed; None without one, or where the file is damaged."""
    return read_map(runtime.project)


def list_area(runtime: Runtime, found: Map, area: Area, limit: int) -> tuple[list[Memory], int]:
    """Return the newest memories of an area that may be shown, and how many points it has."""
    rows = found.within(area)
    statuses = tuple(Status)
    given = filters.Filters(statuses=statuses)
    return filters.visible(rows, runtime.store, given, statuses, limit), len(rows)


def request_map(runtime: Runtime) -> None:
    """Have the worker compute the map; from then on it is kept up to date."""
    from ademem import worker
    from ademem.store import jobs

    jobs.queue(runtime.store, "map", "project", runtime.clock())
    worker.start(runtime)


def is_map_requested(runtime: Runtime) -> bool:
    from ademem.store import jobs

    return bool(jobs.list_due(runtime.store, "map", runtime.clock()))


def has_vectors(runtime: Runtime) -> bool:
    from ademem.search.embedding import model_id
    from ademem.store import embeddings

    return embeddings.has_any(runtime.store, model_id(runtime.settings.embed))
