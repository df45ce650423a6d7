"""Pages of memories: their list, one of them, and the graph around it."""

from __future__ import annotations

import json
import math
import os
import re
from collections import Counter
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from starlette.responses import Response

from ademem.core import confined
from ademem.core.anchor import occasions, of_command
from ademem.core.clock import tell_day, tell_time
from ademem.core.errors import Conflict, NotFound, UsageError
from ademem.core.memory import (
    TYPES,
    Category,
    Memory,
    Scope,
    Status,
    Trust,
    claimed_name,
    is_rule,
)
from ademem.core.text import fold, preview
from ademem.core.value import Value, as_dict, replace
from ademem.doors import undoable, views
from ademem.doors.cards import (
    Line,
    find_line,
    list_lines,
    read_cards,
    read_lines,
)
from ademem.doors.reading import COUNTED, find_memory, read_related
from ademem.doors.undoable import LABEL_CHARS, Done, by_memory, edit, inverse
from ademem.doors.views import to_row
from ademem.operations import (
    adopting,
    curation,
    files,
    inspecting,
    memory_operations,
    placing,
    relating,
    searching,
    sessions,
)
from ademem.operations.place_preview import DAYS, preview_places
from ademem.operations.relating import KINDS, Graph, Node
from ademem.plugins.http.loopback import Refused
from ademem.plugins.page import forms
from ademem.plugins.page.entry import Act, Page, PageRequest, row_number
from ademem.plugins.page.paging import cut
from ademem.plugins.verify.operations import compare_anchors, renew_anchor
from ademem.search.binding import describe
from ademem.search.binding_keys import NoKey
from ademem.search.engine import ORDERS, UNARCHIVED, Explained, Filters, Hit
from ademem.search.ranking import DEFAULTS
from ademem.store import adopted, effects
from ademem.store import memories as store_memories
from ademem.store.adopted import Mark
from ademem.store.effects import Effect
from ademem.store.filters import CONCERNS
from ademem.store.injections import ABOUT, PLACES
from ademem.store.logs import EFFECTS
from ademem.store.runtime import Runtime
from ademem.store.transitions import waits_for

RING = 150
"""Least distance of two rings."""
NODE = 16
"""Least length of the part of a ring that a node has."""
NODE_CHARS = 60
NODES_OF_A_PAGE = 100


def to_graph(graph: Graph, after: str = "") -> dict[str, Any]:
    """Return a page of the graph's tree, from the node after that of a key."""
    nodes, children = graph.nodes, _children(graph)
    order, waiting = [], [0]
    while waiting:  # each before those below it
        order.append(at := waiting.pop())
        waiting += reversed(children[at])
    keys = [f"{nodes[at].kind} {nodes[at].name}" for at in order]
    start = keys.index(after) + 1 if after in keys else 0
    listed = {0, *order[start : start + NODES_OF_A_PAGE]}
    for at in [*listed]:  # the branch that an earlier page began
        while (parent := nodes[at].parent) is not None:
            listed.add(parent)
            at = parent
    return {
        "graph": graph,
        "children": [[each for each in below if each in listed] for below in children],
        "next": keys[start + NODES_OF_A_PAGE - 1] if start + NODES_OF_A_PAGE < len(keys) else "",
    }


def to_drawing(graph: Graph) -> str:
    """Return places and lines as JSON.

    A node is its kind, name, x, y, depth and label; a line is the places of its nodes in the list,
    and whether they contradict each other.
    """
    nodes = []
    for node, (x, y) in zip(graph.nodes, lay_out(graph)[1], strict=True):
        name = preview(label(node), 22 if node.depth > 1 else NODE_CHARS)
        nodes.append((node.kind, node.name, round(x), round(y), node.depth, name))
    edges = [(a, b, relation.startswith("conflicts")) for a, b, relation in graph.edges]
    return json.dumps({"nodes": nodes, "edges": edges}, ensure_ascii=False, separators=(",", ":"))


def label(node: Node) -> str:
    if node.memory is None:
        return node.name
    if node.memory.quarantine_reason:
        return waits_for(node.memory)
    return preview(node.memory.title or node.memory.content, NODE_CHARS)


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


def _read_graph(memories: Runtime, request: PageRequest) -> dict[str, Any]:
    chosen, name = _centre(request)
    found = relating.get_graph(memories, chosen, name) if chosen else None
    return {
        "kinds": KINDS,
        "chosen": chosen,
        "name": name,
        **(to_graph(found, request.query.get("after", "")) if found else {"graph": None}),
        "label": label,
        "pairs": [] if found else _list_pairs(memories),
    }


def _read_drawing(memories: Runtime, request: PageRequest) -> dict[str, Any]:
    return {"raw": to_drawing(relating.get_graph(memories, *_centre(request)))}


def _centre(request: PageRequest) -> tuple[str, str]:
    """Return kind and name of the node in the middle; empty without one."""
    given = {kind: request.query.get(kind, "").strip() for kind in KINDS}
    return next(((kind, name) for kind, name in given.items() if name), ("", ""))


def _list_pairs(memories: Runtime) -> list[dict[str, Any]]:
    pairs = []
    for each in relating.list_relations(memories, limit=PAIRS):
        ends = [id and find_memory(memories, id) for id in (each.source, each.target)]
        if all(ends):
            pairs.append({"relation": each.relation.replace("_", " "), "ends": ends})
    return pairs


PAGE = 50
EXPLAINED_HITS = 10
LONGEST_DAYS = 36_500

CHOICES: dict[str, tuple[str, ...]] = {
    "status": tuple(Status),
    "category": tuple(Category),
    "type": tuple(sorted(TYPES)),
    "tier": tuple(views.TIERS.values()),
    "scope": tuple(Scope),
    "trust": tuple(Trust),
    "concern": CONCERNS,
}
TYPED = ("owner", "tag", "path", "branch", "days", "from", "to")
"""Filters with any text."""
FILTERS = (*CHOICES, *TYPED)
ORDER_NAMES = {
    "helped": "Helped last",
    "newest": "Newest",
    "file": "By file",
    "oldest": "Oldest",
    "changed": "Changed last",
    "believed": "Believed most",
    "used": "Used most",
}


def read_filters(request: PageRequest, memories: Runtime, default: str = "newest") -> Filters:
    query = request.query
    chosen = {name: _choice(name, query.get(name, "")) for name in CHOICES}
    order = query.get("order") or default
    chip = next((each for each in CHIPS if each.name == query.get("show", "")), CHIPS[0])
    if order not in ORDERS:
        raise UsageError(f"no order {order!r}", ", ".join(ORDERS))
    since, until = _read_period(query, memories.now)
    tiers = {name: int(tier) for tier, name in views.TIERS.items()}
    return replace(
        Filters(
            statuses=chosen["status"] or UNARCHIVED,
            categories=chosen["category"],
            types=chosen["type"],
            tiers=tuple(tiers[name] for name in chosen["tier"]),
            scopes=chosen["scope"],
            trusts=chosen["trust"],
            concerns=chosen["concern"],
            owner=query.get("owner") or None,
            mission=query.get("owner") or None,
            tags=tuple(query.get("tag", "").split()),
            path=query.get("path") or None,
            branch=query.get("branch") or None,
            since=since,
            until=until,
            after=query.get("after") or None,
            order=order,
        ),
        **chip.filters,
    )


def _read_period(query: dict[str, str], now: datetime) -> tuple[datetime | None, datetime | None]:
    """Return begin and end of the memories that are shown; None: without bound."""
    since, until = (read_moment(query[at]) if query.get(at) else None for at in ("from", "to"))
    if (days := row_number(query.get("days", ""))) is not None:
        since = now - timedelta(days=min(days, LONGEST_DAYS))
    return since, until


def _choice(name: str, value: str) -> tuple[str, ...]:
    if value and value not in CHOICES[name]:
        raise UsageError(f"no {name} {value!r}", ", ".join(CHOICES[name]))
    return (value,) if value else ()


def read_moment(text: str) -> datetime:
    """Read a moment as people type it, in local time."""
    try:
        return datetime.fromisoformat(text).astimezone()
    except (ValueError, OverflowError) as error:
        raise UsageError(f"{text!r} is not a time", "as 2026-01-31T18:00") from error


def _to_stages(found: Explained) -> dict[str, Any]:
    hits = found.results.hits
    return {
        "weights": {"relevance": DEFAULTS.relevance_weights, "score": DEFAULTS.score_weights},
        "left_out": found.left_out,
        "unprompted": {
            hit.memory.id: views.UNSUPPORTED
            if hit.memory.id in found.unsupported
            else views.why_unprompted(hit, hits)
            for hit in hits
            if hit.memory.id not in found.prompted
        },
        "ranks": {hit.memory.id: rank for rank, hit in enumerate(hits, 1)},
        "alone": {"words": found.by_words, "meaning": found.by_meaning},
    }


class Chip(Value):
    """A common choice of what is listed."""

    name: str
    title: str
    filters: dict[str, Any] = {}


FILES = "files"
CHIPS = (
    Chip(name="", title="All"),
    Chip(name="rules", title="Rules", filters={"categories": ("convention", "preference")}),
    Chip(name="facts", title="Facts", filters={"categories": ("fact", "gotcha", "pattern")}),
    Chip(name="decisions", title="Decisions", filters={"categories": ("decision",)}),
    Chip(name=FILES, title="From files"),
    Chip(name="unhelpful", title="Never helped", filters={"unhelpful": True}),
    Chip(name="outdated", title="Out of date", filters={"concerns": CONCERNS[:2]}),
)
DEFAULT_ORDERS = ("helped", "newest")
"""Of a list, and of one that is too long to be read for its order."""


def read_list(memories: Runtime, request: PageRequest) -> dict[str, Any]:
    words, shown = request.query.get("q", "").strip(), request.query.get("show", "")
    counts = _count(memories)
    filters = read_filters(request, memories, DEFAULT_ORDERS[counts[""] > COUNTED])
    listed: dict[str, Any] = {"next": "", "mode": "", "note": "", "marked": frozenset()}
    listed |= {"cards": [], "near": [], "lines": [], "stages": None}
    if shown == FILES:
        lines = list_lines(memories)
        listed["lines"] = [line for line in lines if _says(line, words)]
        listed["marked"] = frozenset(fold(words).split())
    elif words:
        listed |= _search(memories, request, words, filters)
    else:
        rows = searching.list_memories(memories, filters, PAGE + 1)
        drifted = searching.find_drifted(memories, rows[:PAGE])
        listed["cards"] = read_cards(memories, rows[:PAGE], drifted)
        listed["next"] = rows[PAGE - 1].id if len(rows) > PAGE else ""
    return {
        **listed,
        "words": words,
        "shown": shown,
        "chips": CHIPS,
        "counts": {name: _up_to(count) for name, count in counts.items()},
        "confirmed": searching.count_memories(
            memories, Filters(statuses=(Status.PROMOTED,)), COUNTED + 1
        ),
        "files": sorted({line.path for line in list_lines(memories)}),
        "filters": {name: request.query.get(name, "") for name in FILTERS},
        "order": filters.order,
        "orders": ORDER_NAMES,
        "choices": CHOICES,
        "typed": TYPED,
        "explain": bool(request.query.get("explain")),
    }


def _up_to(count: int) -> str:
    return f"{min(count, COUNTED):,}{'+' * (count > COUNTED)}"


def _search(
    memories: Runtime, request: PageRequest, words: str, filters: Filters
) -> dict[str, Any]:
    is_narrowed = any(request.query.get(name) for name in (*FILTERS, "show"))
    given, explanation = filters if is_narrowed else None, None
    if request.query.get("explain"):
        explanation = searching.explain_search(memories, words, given, EXPLAINED_HITS)
    found = explanation.results if explanation else searching.search(memories, words, given, PAGE)
    hits = [hit.memory for hit in found.hits]
    drifted = searching.find_drifted(memories, hits)
    shares = {hit.memory.id: _to_hit(hit) for hit in found.hits}
    matched = searching.find_matched_words(memories, words, hits)
    cards = read_cards(memories, hits, drifted, shares)
    ids = [each.id for each in found.instructions]
    rows = adopted.by_ids(memories.store, memories.project.root, ids)
    return {
        "mode": found.mode,
        "note": found.note,
        "marked": matched | frozenset(fold(words).split()),
        "cards": [card for card in cards if _has_word(card.memory, matched)],
        "near": [card for card in cards if not _has_word(card.memory, matched)],
        "lines": read_lines(memories, rows),
        "stages": _to_stages(explanation) if explanation else None,
    }


def _has_word(memory: Memory, words: frozenset[str]) -> bool:
    return not words.isdisjoint(re.findall(r"\w+", memory.whole_text.casefold()))


def _says(line: Line, words: str) -> bool:
    return all(word in fold(f"{line.text} {line.path}") for word in fold(words).split())


def _to_hit(hit: Hit) -> dict[str, Any]:
    signals = [
        {"name": name, "value": value, "share": max(0, min(100, round(float(value) * 100)))}
        for name, value in hit.signals.items()
    ]
    return {
        "score": round(hit.score, 4),
        "weak": hit.weak,
        "missing": list(hit.missing),
        "signals": signals,
    }


def _count(memories: Runtime) -> dict[str, int]:
    """Count what each chip lists, at most one more than is told."""
    found = {FILES: adopted.count_of(memories.store, memories.project.root)}
    for chip in CHIPS:
        if chip.name != FILES:
            filters = Filters(statuses=UNARCHIVED, **chip.filters)
            found[chip.name] = searching.count_memories(memories, filters, COUNTED + 1)
    return found


def _add(memories: Runtime, request: PageRequest) -> Done:
    written = forms.call(memories, memory_operations.add, request.form).written
    if written.memory is None:
        why = f"not kept ({written.rule}): {written.reason}"
        raise Refused("gate", why, "change the text, and add it again")
    return by_memory("merge into" if written.deduped else "add", memories, written.memory)


def _export(memories: Runtime, request: PageRequest) -> Response:
    ids = [given.partition(":")[0] for given in request.lists.get("id", [])]
    if not ids:
        raise UsageError("no memory is selected", "tick some first")
    records = files.export_some(memories, ids)
    content = "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)
    saved = {"content-disposition": 'attachment; filename="memories.jsonl"'}
    return Response(content, media_type="application/jsonl", headers=saved)


def _add_golden(memories: Runtime, request: PageRequest) -> Done:
    from ademem.plugins.evaluation import golden

    query = request.form.get("query", "")
    before = load_golden(memories)
    golden.add(memories, query, [request.form.get("golden", "")])
    return golden_set(
        memories, f"save “{preview(query, LABEL_CHARS)}” as a golden question", before
    )


def load_golden(memories: Runtime) -> list[dict[str, Any]]:
    from ademem.plugins.evaluation import golden

    return list(map(as_dict, golden.load(memories.project)))


def golden_set(memories: Runtime, label: str, before: list[dict[str, Any]]) -> Done:
    """Return the act after which the golden questions are as they are now."""
    given = {"label": label, "before": before, "now": load_golden(memories)}
    return Done(label=label, way=restore_golden.__name__, given=given)


@inverse
def restore_golden(
    memories: Runtime, label: str, before: list[dict[str, Any]], now: list[dict[str, Any]]
) -> Done:
    from ademem.plugins.evaluation import golden

    if load_golden(memories) != now:
        raise Conflict("the golden questions were changed since", "the present ones stay")
    golden.save(memories.project, [golden.Golden(**each) for each in before])
    return golden_set(memories, label, now)


MOST_EFFECTS = 5


def read_memory(memories: Runtime, request: PageRequest) -> dict[str, Any]:
    memory = searching.get(memories, request.path["id"])
    revisions = curation.list_revisions(memories, memory.id)
    statements = [row for row in revisions if row["operation"] in ("insert", "merge", "revise")]
    origins = {
        row.get("session_id") or (row.get("reason") or "").partition(": ")[0] for row in statements
    }
    history, earlier = cut(views.to_history(revisions), "revision", request.query.get("after", ""))
    session = memory.source_session_id
    compared = [request.query.get(name, "") for name in ("from", "to")]
    drifted = searching.find_drifted(memories, [memory])
    done = effects.collect(memories, memory=memory.id).rows
    return {
        "card": read_cards(memories, [memory], drifted)[0],
        "effects": read_effects(memories, done, request.query.get("effects", "")),
        "counts": {kind: sum(each.kind == kind for each in done) for kind in EFFECTS},
        "said_at": tell_day(memory.created_at, memories.clock()),
        "session": sessions.name_session(memories, session) if session else "",
        "memory": memory,
        "row": to_row(memory, drifted),
        "origins": len(origins),
        "speakers": Counter(row["actor"] for row in statements),
        "why": waits_for(memory),
        "evidence": searching.map_evidence(memories, [memory]).get(memory.id, []),
        "author": claimed_name(memory.claimed_author or ""),
        "related": read_related(memories, memory.id),
        "can_show_digits": request.site.show_digits is not None,
        "history": history,
        "earlier": earlier,
        "newest": revisions[-1]["revision"],
        "prompt": sessions.find_prompt(memories, session, memory.created_at) if session else "",
        "uses": inspecting.list_uses(memories, memory.id),
        "places": PLACES,
        "with_query": ABOUT,
        "similar": inspecting.compare(memories, memory.id),
        "anchors": compare_anchors(memories, memory.id),
        "states": views.STATES,
        "bound": placing.list_places(memories, memory.id),
        "occasions": occasions(memory.anchors),
        "stops": _stops(memories, memory),
        "lines": inspecting.find_lines(memories, memory.id),
        "compared": views.compare_revisions(revisions, *compared),
        "is_open": {
            "history": bool(request.query.get("after") or any(compared)),
        },
    }


def _stops(memories: Runtime, memory: Memory) -> bool:
    """Tell whether a call that meets the memory is denied: a rule of a person."""
    store = memories.holding(memory.id).store
    return is_rule(memory) and memory.live and store_memories.is_of_person(store, memory)


def read_effects(memories: Runtime, rows: Sequence[Effect], most: str) -> dict[str, Any]:
    """Return the effects of one memory with the names of their sessions, the newest first."""
    rows = [row for row in rows if row.kind in EFFECTS]
    listed = rows if most == "all" else rows[:MOST_EFFECTS]
    now = memories.clock()
    names = {row.session_id: sessions.name_session(memories, row.session_id) for row in listed}
    return {
        "listed": [(row, names[row.session_id], tell_time(row.at, now)) for row in listed],
        "count": len(rows),
    }


def _read_places(memories: Runtime, request: PageRequest) -> dict[str, Any]:
    """Show where a memory comes up, to be changed, and what the typed places would have met."""
    memory = searching.get(memories, request.path["id"])
    bound = placing.list_places(memories, memory.id)
    given = request.query.get("at")
    keys = [describe(each) for each in bound] if given is None else _read_keys(given)
    reach, problem = None, ""
    try:
        reach = preview_places(memories, memory, keys)
    except NoKey as error:
        problem = f"{error}; {error.hint}"
    shown = placing.show_places(memories, memory.id) if not memories.is_read_only else None
    return {
        "memory": memory,
        "row": to_row(memory),
        "keys": keys,
        "reach": reach,
        "problem": problem,
        "days": DAYS,
        "offered": [describe(each) for each in shown.candidates] if shown else [],
    }


def _read_keys(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.strip()]


def _place(memories: Runtime, request: PageRequest) -> Done:
    """Let a memory come up at the typed places, and nowhere else."""
    keys = _read_keys(request.form.get("at", ""))
    return undoable.place(memories, request.path["id"], request.revision, keys)


def _read_line(memories: Runtime, request: PageRequest) -> dict[str, Any]:
    line = find_line(memories, request.path["id"])
    if line is None:
        raise NotFound("no line of an instruction file has this id; the file may have changed")
    path = os.path.join(memories.project.root, line.path)
    text = confined.read_text(memories.project.root, path, FILE_CHARS) or ""
    rows = text.splitlines()
    begin = max(0, line.first - 1 - CONTEXT_LINES)
    return {
        "line": line,
        "may_stop": adopted.may_stop(memories.store),
        "effects": read_effects(memories, effects.collect(memories, memory=line.id).rows, ""),
        "around": list(enumerate(rows[begin : line.last + CONTEXT_LINES], begin + 1)),
    }


FILE_CHARS = 200_000
CONTEXT_LINES = 4


def _mark_line(memories: Runtime, request: PageRequest) -> Done:
    """Decide about a line: it stops calls, is ignored, comes up elsewhere, or none of these."""
    id, verb = request.path["id"], request.form.get("verb", "")
    if verb not in LINE_VERBS:
        raise UsageError(f"no decision {verb!r}", ", ".join(LINE_VERBS))
    keys = tuple(_read_keys(request.form.get("at", "")))
    if verb == "place" and not keys:
        raise UsageError("no place was given", "type one in each line")
    before = adopted.find_mark(memories.store, id)
    choice = {"place": {"at": keys}}.get(verb, {verb: True})
    adopting.mark_item(memories, id, **choice)
    return marked_line(
        memories, f"{LINE_VERBS[verb]} a line of {request.form.get('path', 'a file')}", id, before
    )


LINE_VERBS = {
    "stop": "let stop calls",
    "ignore": "ignore",
    "place": "change the place of",
    "plain": "take back what was decided about",
}


def marked_line(memories: Runtime, label: str, id: str, before: Mark | None) -> Done:
    """Return the act after which a line is marked as it is now."""
    given = {"label": label, "id": id, "before": before and as_dict(before)}
    return Done(label=label, way=restore_mark.__name__, given=given)


@inverse
def restore_mark(memories: Runtime, label: str, id: str, before: dict[str, Any] | None) -> Done:
    now = adopted.find_mark(memories.store, id)
    adopting.restore_mark(
        memories, id, Mark(**(before | {"bound": tuple(before["bound"])})) if before else None
    )
    return marked_line(memories, label, id, now)


def _preview(memories: Runtime, request: PageRequest) -> dict[str, Any]:
    memory, changes = searching.get(memories, request.path["id"]), request.changes
    when = request.occasions
    content = changes.get("content", memory.content)
    return {
        "memory": memory,
        "revision": request.form.get("revision", ""),
        "title": changes.get("title", memory.title),
        "content": content,
        "tags": " ".join(changes.get("tags", memory.tags)),
        "occasions": occasions(memory.anchors) if when is None else when,
        "rules": inspecting.preview_edit(memories, memory.id, **changes),
        "changed": list(views.diff_words(memory.content, content)),
        "here": f"/memory/{memory.id}",
    }


def _renew_anchor(memories: Runtime, request: PageRequest) -> Done:
    memory = renew_anchor(
        memories, request.path["id"], request.form.get("anchor", ""), revision=request.revision
    )
    return by_memory("move the anchor of", memories, memory)


def _bind(memories: Runtime, request: PageRequest) -> Done:
    """Have the memory shown at files of a pattern, or before a command."""
    path, command = (request.form.get(name, "").strip() for name in ("path", "command"))
    changes: dict[str, Any] = {"file_scope_pattern": path} if path else {}
    if command:
        anchors = searching.get(memories, request.path["id"]).anchors
        changes["anchors"] = (*anchors, of_command(command))
    if not changes:
        raise UsageError("no file and no command was given", "type one of them")
    return edit(memories, request.path["id"], request.revision, **changes)


PAGES = (
    Page("/memory/{id}", "memory.html", read_memory),
    Page("/memory/{id}/places", "places.html", _read_places, part="places_preview.html"),
    Page("/line/{id}", "line.html", _read_line),
    Page("/graph", "graph.html", _read_graph, "Graph"),
    Page("/graph/drawing", "", _read_drawing),
)
ACTS = (
    Act("/memories/add", _add),
    Act("/memories/export", _export, decides=False),
    Act("/memories/golden", _add_golden),
    Act("/memory/{id}/preview", _preview, decides=False, template="preview.html"),
    Act("/memory/{id}/bind", _bind),
    Act("/memory/{id}/places", _place),
    Act("/line/{id}/mark", _mark_line),
    Act("/memory/{id}/renew-anchor", _renew_anchor),
)
