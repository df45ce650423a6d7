"""Relations between memories: list, judge and propose them; graphs of them."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence

from ademem.core import anchor
from ademem.core.errors import NotFound, UsageError
from ademem.core.memory import Memory, Trust
from ademem.core.text import clean
from ademem.core.value import Value, replace
from ademem.operations.curation import act
from ademem.store import filters, journal, memories, memory_queries, relations, verdicts
from ademem.store.runtime import Runtime, on_store
from ademem.store.transitions import CannotDo
from ademem.store.verdicts import VERBS, Verdict

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ademem.store import Store

SURE = 0.7
"""Confidence from which a verdict of an agent takes effect."""

EFFECTS = {
    "related": "an annotation of both",
    "compatible": "an annotation of both",
    "scoped": "an annotation of both",
    "conflicts_with": "both carry it, the later ranks first, and `ademem review` shows them",
    "supersedes": "{0} left search, briefing and files; `ademem restore {0}` brings it back",
    "not_conflict": "the pair is not proposed again",
}


WITHOUT_EFFECT = {
    "overruled": "none: a more trusted author judged the pair",
    "pending": "none yet: ask the person, who decides in `ademem review`",
}


class NoSuchRelation(NotFound):
    hint = "`ademem relations list` shows the ids"

    def __init__(self, id: str) -> None:
        super().__init__(f"no relation has the id {id!r}")


def judge(
    runtime: Runtime,
    relation: str,
    *,
    judgment_id: str = "",
    id: str = "",
    other: str = "",
    reason: str = "",
    evidence: str = "",
    confidence: float = 1.0,
    actor: str = "",
) -> dict[str, str]:
    """Judge a pair: a proposed one by its id, or the memories *id* and *other*, in this order.

    The verdict takes effect if its judge is trusted as much as what it is about, is sure of it, and
    no more trusted author judged otherwise. `supersedes` is about the target, other verbs about
    both. An agent's verdict replaces nothing that a person confirmed, and settles no pair that
    waits. Else it stands beside the pair, and a review shows it.
    Raises UsageError, NoSuchRelation, NoSuchMemory, or CannotDo for what is no longer live.
    """
    from ademem.core.redaction import redact

    kind = Trust(act(runtime).actor)
    _check_verdict(relation, kind, reason, evidence, confidence)
    runtime = _holder_of(runtime, judgment_id, id)
    store, now = runtime.store, runtime.clock()
    with store.transaction():
        source, target = _find_pair(runtime, judgment_id, id, other)
        before = verdicts.find(store, relations.id_of(source, target))
        affected = (target,) if relation == relations.SUPERSEDES else (source, target)
        if _is_overruled(before, kind):
            status = "overruled"
        elif _is_sure(kind, confidence) and _may_judge(runtime, kind, relation, affected, before):
            status = "judged"
        else:
            status = "pending"
        in_effect = status == "judged"
        if before is None and not in_effect:
            relations.add(
                store, target, source, "related", score=0.0, reason="", actor="system", now=now
            )
        if in_effect:
            _apply(runtime, relation, source, target, before)
        row = verdicts.put(
            store,
            source,
            target,
            relation,
            in_effect=in_effect,
            reason=clean(redact(reason).text),
            evidence=clean(redact(evidence).text),
            confidence=confidence,
            actor=clean(redact(actor).text) or kind.value,
            kind=kind.value,
            now=now,
        )
    effect = WITHOUT_EFFECT.get(status) or EFFECTS[relation].format(target.id)
    return {"relation_id": row, "relation": relation, "status": status, "effect": effect}


def _holder_of(runtime: Runtime, judgment_id: str, id: str) -> Runtime:
    """Return the memory that has a pair: the person's own, or that of the project."""
    own = runtime.open_personal()
    if own and judgment_id:
        return own if verdicts.find(own.store, judgment_id) else runtime
    return runtime.holding(id) if own and id else runtime


def _check_verdict(
    relation: str, kind: Trust, reason: str, evidence: str, confidence: float
) -> None:
    from ademem.guard.injection import instruction_in

    if relation not in VERBS:
        raise UsageError(f"no relation {relation!r}", ", ".join(VERBS))
    if not 0 <= confidence <= 1:
        raise UsageError(f"the confidence is {confidence}", "give it from 0 to 1")
    if relation == "scoped" and not reason.strip():
        raise UsageError("`scoped` needs a reason", "say where each of the two holds")
    found = instruction_in(f"{reason}\n{evidence}") if kind is not Trust.USER else None
    if found:
        raise CannotDo(f"the reason or the evidence {found}", "rephrase it, or leave it out")


def _may_judge(
    runtime: Runtime,
    kind: Trust,
    relation: str,
    affected: Sequence[Memory],
    before: Verdict | None,
) -> bool:
    """Tell whether the judge is trusted as much as these; an agent replaces nothing confirmed."""
    from ademem.capture.gate.rows import RANK

    if any(RANK[kind] < RANK[memory.trust] for memory in affected):
        return False
    contested = (relations.CONFLICT, relations.SUPERSEDES)
    waits = before is not None and before.status == "pending" and before.relation in contested
    if kind is Trust.USER or not (waits or relation == relations.SUPERSEDES):
        return True
    return not memories.find_confirmed(runtime.store, (memory.id for memory in affected))


def _is_sure(kind: Trust, confidence: float) -> bool:
    return kind is Trust.USER or confidence >= SURE


def _is_overruled(before: Verdict | None, kind: Trust) -> bool:
    from ademem.capture.gate.rows import RANK

    if before is None or before.status != "judged" or before.kind not in frozenset(Trust):
        return False
    return RANK[Trust(before.kind)] > RANK[kind]


def _find_pair(runtime: Runtime, judgment_id: str, id: str, other: str) -> tuple[Memory, Memory]:
    if bool(judgment_id) == bool(id or other) or bool(id) != bool(other):
        raise UsageError("judge which pair?", "a judgment_id, or two ids of memories")
    if judgment_id:
        found = verdicts.find(runtime.store, judgment_id)
        if found is None:
            raise NoSuchRelation(judgment_id)
        if not found.source or not found.target:
            raise CannotDo(f"a memory of {judgment_id} was deleted for good", "nothing to do")
        id, other = found.source, found.target
    source, target = memories.get(runtime.store, id), memories.get(runtime.store, other)
    if source.id == target.id:
        raise UsageError("a memory has no relation to itself", "give two ids")
    return source, target


def _apply(
    runtime: Runtime, relation: str, source: Memory, target: Memory, before: Verdict | None
) -> None:
    """Take back what an earlier verdict did, and do what this one says."""
    from ademem.store import transitions

    done, pair = act(runtime), (source.id, target.id)
    if before and before.status == "judged" and before.relation == relations.SUPERSEDES:
        if relation == relations.SUPERSEDES and (before.source, before.target) == pair:
            return
        heir = memories.get(runtime.store, before.target)
        if heir.superseded_by == before.source:
            transitions.restore(heir.id, done)
    if relation == relations.SUPERSEDES:
        transitions.supersede(target.id, done, source.id)


def list_relations(
    runtime: Runtime, id: str | None = None, status: str | None = None, limit: int = 100
) -> list[Verdict]:
    memory = memories.get(runtime.store, id) if id else None
    return verdicts.list_all(runtime.store, memory, status, limit)


list_proposals = on_store(verdicts.list_proposals)
list_deferred = on_store(journal.list_deferred)


def replay_deferred(runtime: Runtime) -> int:
    """Return how many records no longer wait; those given up are tried, too."""
    from ademem.store import replication
    from ademem.sync.provenance import provenance_of
    from ademem.sync.record_import import make_admission_rule

    store, now = runtime.store, runtime.clock()
    trusted = provenance_of(runtime).trusts_everybody
    admit = make_admission_rule(store, runtime.settings.gate, now, None if trusted else "")
    change = memories.Change(operation="import", actor=Trust.IMPORT, at=now)
    with store.transaction():
        before = len(journal.list_deferred(store))
        journal.revive(store)
        replication.replay(store, change, admit)
        return before - len(journal.list_deferred(store))


def drop_deferred(runtime: Runtime, id: str) -> None:
    if not journal.drop_deferred(runtime.store, id):
        raise NoSuchRelation(id)


MOST_NODES = 500
ALL = -1
"""The limit of SQLite for no limit."""
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
    depth: int = 0


class Graph(Value):
    nodes: tuple[Node, ...]
    """The centre first; those nearer to it before others."""
    edges: tuple[tuple[int, int, str], ...]
    """Places of two nodes, and their relation."""
    is_cut: bool


def get_graph(runtime: Runtime, kind: str, name: str, most: int = MOST_NODES) -> Graph:
    nodes = [_first_node(runtime, kind, name)]
    places = {(kind, nodes[0].name): 0}
    edges: dict[tuple[int, int], str] = {}
    waiting, is_cut = deque([0]), False
    while waiting:
        at = waiting.popleft()
        if nodes[at].depth == DEPTH:
            continue
        for number, found in enumerate(_neighbours(runtime, nodes[at])):
            if nodes[at].memory is None and number == MOST_OF_ONE:
                is_cut = True
                break
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


def _first_node(runtime: Runtime, kind: str, name: str) -> Node:
    if kind not in KINDS:
        raise UsageError(f"no kind of node {kind!r}", ", ".join(KINDS))
    memory = memories.get(runtime.store, name) if kind == "memory" else None
    return Node(kind=kind, name=memory.id if memory else name, memory=memory)


def _neighbours(runtime: Runtime, node: Node) -> Iterator[Node]:
    memory = node.memory
    if memory is None:
        for each in _list_sharing(runtime.store, node):
            yield Node(kind="memory", name=each.id, memory=each, relation="shares it")
        return
    found = _name_relations(runtime.store, memory)
    for each in memory_queries.by_ids(runtime.store, found):
        if not (each.quarantine_reason or each.deleted_at or each.scope_owner_id):
            yield Node(kind="memory", name=each.id, memory=each, relation=found[each.id])
    for tag in memory.tags:
        yield Node(kind="tag", name=tag, relation="has the tag")
    if memory.topic_key:
        yield Node(kind="topic", name=memory.topic_key, relation="is on the topic")
    for place in filter(None, map(anchor.place, memory.anchors)):
        yield Node(kind="file", name=place.path, relation="is anchored to")


def _list_sharing(store: Store, node: Node) -> Iterable[Memory]:
    """Return the memories with a tag, on a topic or anchored to a file."""
    sharing, most = filters.Filters(statuses=filters.UNARCHIVED), MOST_OF_ONE + 1
    if node.kind == "tag":
        return filters.list_filtered(store, replace(sharing, tags=(node.name,)), most)
    seqs = memory_queries.find_sharing(store, node.kind, node.name)
    return filters.visible(seqs, store, sharing, filters.UNARCHIVED, most)


def _name_relations(store: Store, memory: Memory) -> dict[str, str]:
    """Map ids of other memories to how they relate to one, with "?" for what waits."""
    found: dict[str, str] = {}
    for pair in verdicts.list_all(store, memory, limit=ALL):
        other = pair.target if pair.source == memory.id else pair.source
        if pair.status != verdicts.BESIDE and pair.relation != "not_conflict":
            waits = "?" if pair.status == "pending" else ""
            found.setdefault(other, pair.relation.replace("_", " ") + waits)
    if memory.superseded_by:
        found.setdefault(memory.superseded_by, "merged into")
    for part in memory_queries.merged_into(store, id=memory.id):
        found.setdefault(part.id, "merged from")
    return found
