"""Lists of the terminal, and the texts beside a row, read through `api`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from ademem import api
from ademem.api.curation import Waiting
from ademem.core.memory import Memory
from ademem.core.value import Value
from ademem.doors import reading
from ademem.doors.views import lines
from ademem.doors.views.review import Item
from ademem.store.runtime import Runtime

MOST, HITS, NEIGHBOURS = 300, 50, 20
"""Rows of a list; of a longer one the next ones follow when these are decided."""
NEIGHBOUR_CHARS = 40_000


class Place(Value):
    """The question that a list answers."""

    memories: Runtime
    of: str = ""
    """The words of a search, or the id of a memory or session."""
    is_withheld: Callable[[Memory], bool]


class Row(Value):
    """A line of a list: a memory, a session, one of its moments, or another list."""

    id: str
    text: str
    opens: str = ""
    """Name of the list behind it."""
    memory: Memory | None = None
    item: Item | None = None
    moment: Mapping[str, Any] | None = None


class Listing(Value):
    name: str
    empty: str = ""
    """Shown where nothing is in it."""
    read: Callable[[Place], list[Row]]
    decides: bool = False
    """True where the keys of the review come before those of browsing."""


def _row(memory: Memory, item: Item | None = None) -> Row:
    id = item.key if item else memory.id
    return Row(id=id, text=lines.row(memory), memory=memory, item=item)


def _candidates(place: Place) -> list[Row]:
    return _items(place, api.list_queue(place.memories))


def _conflicts(place: Place) -> list[Row]:
    return _items(place, [each for each in api.list_queue(place.memories) if each.other])


def _items(place: Place, queue: Sequence[Waiting]) -> list[Row]:
    items = reading.read_items(place.memories, queue[:MOST])
    return [_row(item.memory, item) for item in items]


def _results(place: Place) -> list[Row]:
    return [_row(hit.memory) for hit in api.search(place.memories, place.of, None, HITS).hits]


def _recent(place: Place) -> list[Row]:
    return [_row(memory) for memory in api.list_memories(place.memories, None, MOST)]


def _timeline(place: Place) -> list[Row]:
    found = api.timeline(
        place.memories, place.of, NEIGHBOURS, NEIGHBOURS, max_chars=NEIGHBOUR_CHARS
    )
    rows = (*found["before"], found["focus"], *found["after"])
    return [_row(api.get(place.memories, row["id"])) for row in rows]


def _sessions(place: Place) -> list[Row]:
    return [
        Row(
            id=row["id"],
            text=f"{lines.local(row['started_at'])} {row['name'] or row['id']}",
            opens="session",
        )
        for row in api.list_sessions(place.memories, MOST)
    ]


def _session(place: Place) -> list[Row]:
    rows = []
    page = reading.read_session(place.memories, place.of, place.is_withheld)
    for number, each in enumerate(page["moments"]):
        text, learned = lines.moment_row(each), each["kind"] == "learned"
        memory = api.get(place.memories, each["row"]["id"]) if learned else None
        id = memory.id if memory else f"{number} {each['at']}"
        rows.append(Row(id=id, text=text, moment=each, memory=memory))
    return rows


def _dashboard(place: Place) -> list[Row]:
    waiting = api.count_queue(place.memories)
    counts = {
        "candidates": sum(waiting.values()),
        "conflicts": waiting.get("contradictory", 0),
        "recent": len(_recent(place)),
        "sessions": len(_sessions(place)),
    }
    rows = [
        Row(id=name, text=f"{name:<12}{count:>6,}", opens=name) for name, count in counts.items()
    ]
    return [*rows, Row(id="search", text="search", opens="results")]


LISTS = (
    Listing(name="dashboard", read=_dashboard),
    Listing(name="candidates", empty="nothing waits for you", read=_candidates, decides=True),
    Listing(name="conflicts", empty="nothing contradicts", read=_conflicts, decides=True),
    Listing(name="recent", empty='no memory yet: `ademem add "…"` adds one', read=_recent),
    Listing(name="sessions", empty="no session yet: `ademem install`", read=_sessions),
    Listing(name="session", empty="nothing was recorded of it yet", read=_session),
    Listing(name="results", empty="nothing in memory answers that", read=_results),
    Listing(name="timeline", read=_timeline),
)


def texts_beside(
    place: Place, row: Row, *, shows_session: bool
) -> tuple[Iterator[str], Iterator[str]]:
    """Return the lines of the two panes for a row."""
    memories, is_withheld = place.memories, place.is_withheld
    if row.memory:
        card = reading.read_card(memories, row.item or Item(key=row.id, memory=row.memory))
        text = lines.memory(card, reading.read_related(memories, row.memory.id), is_withheld)
        if is_withheld(row.memory):
            return text, iter(())
        if shows_session and row.memory.source_session_id:
            page = reading.read_session(memories, row.memory.source_session_id, is_withheld)
            return text, lines.session(page)
        return text, lines.history(reading.read_memory(memories, row.memory))
    if row.moment:
        return lines.moment(row.moment), lines.parts(row.moment)
    if row.opens == "session":
        return lines.session(reading.read_session(memories, row.id, is_withheld)), iter(())
    return lines.overview(reading.read_overview(memories)), iter(())
