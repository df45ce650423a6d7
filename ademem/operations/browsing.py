"""Bounded views of memories for programs: pages of a search, parts of a text, neighbours.

Sizes are counted in characters of compact JSON. Entries are whole; what was left out is counted and
comes with the next call.
"""

from __future__ import annotations

import json
import struct
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import timedelta
from typing import Any, NamedTuple

from ademem.core import client
from ademem.core.client import TurnKey
from ademem.core.clock import parse, stamp
from ademem.core.errors import UsageError
from ademem.core.memory import Memory, Scope, Status, flags
from ademem.core.redaction import redact
from ademem.core.text import join_counts, preview, sha256_hex
from ademem.core.untrusted import entry, escape
from ademem.core.value import replace
from ademem.files import project_brief
from ademem.operations import searching
from ademem.search.engine import Filters, Results, join_modes
from ademem.search.instruction_search import Instruction
from ademem.search.ranking import Hit
from ademem.store import filters as rows
from ademem.store import (
    logs,
    memories,
    memory_queries,
    relations,
    sessions,
    statistics,
    verdicts,
)
from ademem.store.runtime import Runtime

Row = dict[str, Any]
Position = tuple[int, int, float]
"""Number of the source, row and score."""
Section = tuple[str, list[str], int]
"""Name, entries, and how many there are in all."""

PREVIEW_CHARS, NEIGHBOUR_CHARS, FOCUS_CHARS = 240, 150, 500
ITEM_CHARS = 300
SEARCH_CHARS, TIMELINE_CHARS, PART_CHARS = 6000, 4000, 9000
"""Sizes of whole results."""
SESSION_KEYS = ("id", "started_at", "ended_at", "summary")
ENVELOPE_CHARS = 700
"""Part of a result's size for keys that a door adds, and long queries."""
CONTEXT_BYTES, MOST_CONTEXT_BYTES, MORE_CHARS = 16_384, 65_536, 80
"""Size of a context, the largest, and the part of it for the note on what was left out."""
CONTEXT_MEMORIES, CONTEXT_SESSIONS, CONTEXT_PROMPTS = 400, 5, 10
ENTRY_CHARS, COMPACT_CHARS = 300, 120
RANKED = 50
"""Most hits of a search, over all pages."""
CURSOR_MINUTES = 10
_RANK = struct.Struct("<BIf")


def find(
    runtime: Runtime,
    query: str,
    filters: Filters | None = None,
    limit: int = 5,
    *,
    cursor: str = "",
    max_chars: int = SEARCH_CHARS,
    place: str = "search",
    key: TurnKey | None = None,
    others: Mapping[str, Runtime] = {},
    model: str = "own",
) -> Row:
    """Return one page of previews, and the cursor of the next one if there is more.

    The person's own memories are searched beside the project's, and those of *others*, by name. A
    cursor fixes the order of the first page's search: no later page repeats or skips a memory that
    did not change. In a session the page is recorded as shown at *place*. *model* is that of
    `searching.rank`.
    """
    filters = searching.complete_filters(runtime, filters)
    sources = {**{str(at): each for at, each in enumerate(runtime.with_own())}, **others}
    asked = sha256_hex(query, repr(filters), *sources)[:16]
    order = (
        _resume(cursor, asked, runtime, sources, filters)
        if cursor
        else _rank(query, asked, runtime, sources, filters, limit, model)
    )
    found = _preview_all(sources, order.live)
    _flag_hits(order.hits, found)
    max_chars -= ENVELOPE_CHARS + len(json.dumps(query)) + len(order.ranked) * 12
    page, last = _fill_page(order.ranked, found, limit, max_chars)
    if turn := key or searching.turn_of(runtime):
        shown = [logs.Shown(memory_id=row["id"], score=row["score"]) for row in page]
        searching.log_shown(runtime, place, shown, turn)
    rest = order.ranked[last:]
    items = [] if cursor else searching.find_instructions(runtime, query, filters, key)
    return {
        "query": query,
        **{name: order.head[name] for name in ("mode", "relaxed")},
        "count": len(page),
        "total": order.head["total"],
        "memories": page,
        **({"instructions": list(map(_instruction_row, items))} if items else {}),
        **({"next_cursor": _write_cursor(order.head, rest)} if rest else {}),
    }


def _flag_hits(hits: Iterable[tuple[int, Hit]], found: Mapping[tuple[int, int], Row]) -> None:
    """Mark the rows of weak hits, and of those to which there is a later text."""
    for number, hit in hits:
        if row := found.get((number, hit.memory.seq)):
            later = [hit.later.flag] if hit.later else []
            row["flags"] = [*row["flags"], *(["weak"] if hit.weak else []), *later]


class _Order(NamedTuple):
    """The order of a search, which its cursor keeps."""

    head: Row
    ranked: list[Position]
    """Number of a source, row and score of each hit of the search, or of those that are left."""
    live: dict[int, list[Memory]]
    """By source, the memories that a page may show."""
    hits: Sequence[tuple[int, Hit]] = ()
    """The same as the search returned them, for the first page."""


def _resume(
    cursor: str, asked: str, runtime: Runtime, sources: Mapping[str, Runtime], filters: Filters
) -> _Order:
    head, ranked = _read_cursor(cursor, asked, runtime)
    return _Order(head, ranked, _list_ranked(ranked, sources, filters))


def _rank(
    query: str,
    asked: str,
    runtime: Runtime,
    sources: Mapping[str, Runtime],
    filters: Filters,
    limit: int,
    model: str,
) -> _Order:
    results = [searching.rank(each, query, filters, RANKED, model) for each in sources.values()]
    hits = _join_hits(results)
    first = replace(results[0], hits=tuple(hit for _, hit in hits))
    head = {"mode": join_modes(results), "relaxed": first.relaxed, "total": len(hits)}
    head |= {"asked": asked, "at": stamp(runtime.clock())}
    ranked = [(number, hit.memory.seq, hit.score) for number, hit in hits]
    live: dict[int, list[Memory]] = {number: [] for number, _ in enumerate(sources)}
    for number, hit in hits[: limit + 1]:
        live[number].append(hit.memory)
    return _Order(head, ranked, live, hits)


def _instruction_row(item: Instruction) -> Row:
    text = escape(preview(item.text, ITEM_CHARS))
    return {"at": escape(item.where), "kind": item.kind, "text": text}


def _join_hits(results: Sequence[Results]) -> list[tuple[int, Hit]]:
    """Return the best hits of all sources, each with the number of its source."""
    hits = [
        (number, hit)
        for number, each in enumerate(results)
        for hit in each.hits
        if not hit.memory.superseded_by
    ]
    if any(number for number, _ in hits):
        hits.sort(key=lambda each: (each[1].weak, -each[1].score))
    return hits[:RANKED]


def _list_ranked(
    ranked: Sequence[Position], sources: Mapping[str, Runtime], filters: Filters
) -> dict[int, list[Memory]]:
    """Return what of a former ranking may be shown still, by the number of the source."""
    statuses = filters.statuses or tuple(Status)
    live = {}
    for number, each in enumerate(sources.values()):
        seqs = [seq for source, seq, _ in ranked if source == number]
        live[number] = rows.visible(seqs, each.store, filters, statuses, len(seqs))
    return live


def _fill_page(
    ranked: Sequence[Position], found: Mapping[tuple[int, int], Row], limit: int, max_chars: int
) -> tuple[list[Row], int]:
    """Return the rows of a page, at least one of them, and how many places it takes."""
    page: list[Row] = []
    size, last = 0, 0
    for at, (number, seq, score) in enumerate(ranked):
        if row := found.get((number, seq)):
            row = {**row, "score": round(score, 4)}
            size += size_of(row)
            if len(page) == limit or (page and size > max_chars):
                break
            page.append(row)
        last = at + 1
    return page, last


def _preview_all(
    sources: Mapping[str, Runtime], live: Mapping[int, Sequence[Memory]]
) -> dict[tuple[int, int], Row]:
    found: dict[tuple[int, int], Row] = {}
    for number, (name, each) in enumerate(sources.items()):
        related = verdicts.annotate(each.store, live[number])
        newer = relations.find_proposals(each.store, [memory.id for memory in live[number]])
        for memory in live[number]:
            row = preview_row(memory, PREVIEW_CHARS)
            if memory.id in related:
                row["relations"] = related[memory.id]
            if proposed := newer.get(memory.id):
                row["newer"] = proposed.row
            if not name.isdecimal():
                row["project"] = name
            found[number, memory.seq] = row
    return found


def preview_row(memory: Memory, chars: int) -> Row:
    row = {
        "id": memory.id,
        "category": memory.category.value,
        "title": memory.title and escape(preview(memory.title, chars // 2)),
        "text": escape(preview(memory.content, chars)),
        "by": memory.trust.value,
        "status": memory.status.value,
        "path": memory.file_scope_pattern,
        "flags": flags(memory),
        "scope": memory.shown_scope if memory.scope is not Scope.PROJECT else None,
    }
    return {name: value for name, value in row.items() if value is not None}


def read_part(text: str, offset: int, max_chars: int = PART_CHARS) -> tuple[str, int | None]:
    """Return the text from *offset* on, as long as its JSON fits, and the offset of the rest."""
    end = min(len(text), offset + max_chars)
    while end > offset + 1 and size_of(escape(text[offset:end])) > max_chars:
        end -= max(1, (size_of(escape(text[offset:end])) - max_chars) // 6)
    return text[offset:end], (end if end < len(text) else None)


def size_of(value: object) -> int:
    """Count the characters of compact JSON, with a comma."""
    return len(json.dumps(value, ensure_ascii=False, separators=(",", ":"))) + 1


def timeline(
    runtime: Runtime, id: str, before: int = 3, after: int = 3, *, max_chars: int = TIMELINE_CHARS
) -> Row:
    """Return a memory with those before and after it; of too many the farthest are counted."""
    runtime = runtime.holding(id)
    memory = memories.get(runtime.store, id)
    session = None
    found: dict[str, list[Memory]] = {"before": [], "after": []}
    if memory.source_session_id:
        known = sessions.list_sessions(runtime.store, 1, memory.source_session_id)
        session = {name: row[name] for row in known for name in SESSION_KEYS if name in row} or None
        found = memory_queries.beside(runtime.store, memory, before, after)
    listed = {
        name: [preview_row(each, NEIGHBOUR_CHARS) for each in near] for name, near in found.items()
    }
    focus = preview_row(memory, FOCUS_CHARS)
    left_out = _drop_farthest(listed, (session, focus), max_chars)
    why = {} if memory.source_session_id else {"why": "the memory came from no session"}
    return {
        "session": session,
        "focus": focus,
        **listed,
        **({"left_out": left_out} if any(left_out.values()) else {}),
        **why,
    }


def _drop_farthest(
    listed: dict[str, list[Row]], beside: tuple[Row | None, Row], max_chars: int
) -> dict[str, int]:
    """Drop rows, of the longer side first, until all fits; return how many of each side."""
    dropped = {"before": 0, "after": 0}
    while ENVELOPE_CHARS + size_of((*beside, listed)) > max_chars:
        side = max(listed, key=lambda name: len(listed[name]))
        if not listed[side]:
            break
        listed[side].pop(0 if side == "before" else -1)
        dropped[side] += 1
    return dropped


def get_context(
    runtime: Runtime,
    limit: int = CONTEXT_BYTES,
    *,
    compact: bool = False,
    measure: Callable[[str], int] = lambda text: len(text.encode()),
    scope: str = "",
) -> Row:
    """Return the best of the project as Markdown of at most *limit*, and what was left out.

    Entries are whole; *measure* tells the size of a text, in bytes unless given. A *scope* has its
    own memories alone: those of the project, of the person, or of the mission that this process
    works for.
    """
    limit, chars = min(limit, MOST_CONTEXT_BYTES), COMPACT_CHARS if compact else ENTRY_CHARS
    text, left_out = "", {}
    if scope and Scope.parse(scope) is not Scope.PROJECT:
        sections = _section_of_scope(runtime, chars, Scope.parse(scope))
    else:
        sections = _sections(runtime, chars, with_own=not scope)
    for name, entries, total in sections:
        shown, heading = 0, f"## {name}\n"
        for each in entries:
            added = ("" if shown else heading) + each + "\n"
            if measure(text + added) > limit - MORE_CHARS:
                break
            text, shown = text + added, shown + 1
        left_out[name.lower()] = total - shown
    more = join_counts(left_out)
    note = f"({more} more: a search finds them)\n" if more else ""
    return {"text": text + note if measure(text + note) <= limit else text, "left_out": left_out}


def _sections(runtime: Runtime, chars: int, *, with_own: bool) -> Iterator[Section]:
    brief = read_brief(runtime)
    yield "Brief", brief, len(brief)
    yield from _section_of_scope(runtime, chars, Scope.PROJECT)
    recent = list(_recent(runtime, chars, with_own=with_own))
    yield "Recent knowledge", recent, len(recent)
    found, total = sessions.list_summaries(runtime.store, CONTEXT_SESSIONS)
    lines = [f"- {start[:16]} {escape(preview(summary, chars))}" for start, summary in found]
    yield "Sessions", lines, total
    typed = sessions.search_prompts(runtime.store, "", None, CONTEXT_PROMPTS)
    lines = [f"- {escape(preview(redact(row['content']).text, chars))}" for row in typed]
    yield "Prompts", lines, statistics.count_rows(runtime.store)["prompts"]


def _recent(runtime: Runtime, chars: int, *, with_own: bool) -> Iterator[str]:
    """Yield what the section of the briefing has, but confirmed memories of the project."""
    from ademem.session import briefing

    reader = briefing.Reader(
        store=runtime.store,
        settings=runtime.settings.briefing,
        now=runtime.clock(),
        root=runtime.project.root,
        mission=client.mission_of(runtime.environment),
        branch=runtime.branch,
        own=briefing.list_own(runtime) if with_own else (),
    )
    for each in (*briefing.pinned(reader), *briefing.recent_knowledge(reader)):
        memory = each.memory
        is_listed = memory and memory.scope is Scope.PROJECT and memory.status is Status.PROMOTED
        if memory and not is_listed and (with_own or memory.scope is Scope.PROJECT):
            yield each.text if chars >= ENTRY_CHARS else entry(memory, chars)


def read_brief(runtime: Runtime) -> list[str]:
    """Return the project brief as a session is shown it, one line a field, and its version."""
    from ademem.operations.files import get_brief
    from ademem.session.briefing import brief_entries

    try:
        document = get_brief(runtime)
    except project_brief.BadCore:  # the check of the files reports it
        document = project_brief.load(runtime.store)
    lines = [f"- {each.text}" for each in brief_entries(document, runtime.store)]
    return [*lines, f"- Version: {document.version}"] if document and lines else []


def _section_of_scope(runtime: Runtime, chars: int, scope: Scope) -> Iterator[Section]:
    owner = client.mission_of(runtime.environment) if scope is Scope.MISSION else None
    source = runtime.open_personal() if scope is Scope.AGENT else runtime
    if source and (owner or scope is not Scope.MISSION):
        store, branch, name = source.store, runtime.branch, scope.value
        place = {"branch": branch, "scope": name, "owner": owner}
        best = memory_queries.best_established(store, limit=CONTEXT_MEMORIES, **place)
        total = memory_queries.count_established(store, **place)
        yield "Memories", [entry(memory, chars) for memory in best], total


def _write_cursor(head: Row, rest: list[Position]) -> str:
    packed = b"".join(_RANK.pack(*each) for each in rest)
    return urlsafe_b64encode(json.dumps(head).encode() + b"\n" + packed).decode().rstrip("=")


def _read_cursor(cursor: str, asked: str, runtime: Runtime) -> tuple[Row, list[Position]]:
    again = "search again without a cursor"
    try:
        raw = urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4))
        line, _, packed = raw.partition(b"\n")
        head, ranked = json.loads(line), list(_RANK.iter_unpack(packed))
        is_of_this, at = head["asked"] == asked, parse(head["at"])
    except (ValueError, KeyError, TypeError, struct.error) as error:
        raise UsageError("this is not a cursor of a search", again) from error
    if not is_of_this:
        raise UsageError("this cursor is of another search", again)
    if not timedelta() <= runtime.clock() - at <= timedelta(minutes=CURSOR_MINUTES):
        raise UsageError(f"this cursor is older than {CURSOR_MINUTES} minutes", again)
    return head, ranked
