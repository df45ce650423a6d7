"""Today: what memory did in a period, what waits, and what a new project does first."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date, datetime, timedelta
from itertools import groupby
from typing import Any

from ademem.core.clock import parse, tell_date, tell_day, tell_time
from ademem.core.errors import NotFound
from ademem.core.memory import Memory
from ademem.core.value import Value
from ademem.doors.cards import Card, Line, find_line, read_cards
from ademem.doors.reading import health
from ademem.doors.views import effects as views
from ademem.operations import reports, sessions
from ademem.operations.overview import estimate
from ademem.plugins.page.entry import Act, PageRequest, row_number
from ademem.store import adopted, effects, injections
from ademem.store.effects import Effect
from ademem.store.logs import EFFECTS
from ademem.store.runtime import Runtime
from ademem.sync import instruction_state

PERIODS = {"1": "Today", "7": "7 days", "30": "30 days"}
LISTED = 20
DRAWN_DAYS = 14
MOST_SQUARES = 6
"""Squares of a day; what is more stands in the table alone."""
RANKED = 5
RANKED_DAYS = 30


class Square(Value):
    kind: str
    x: int
    y: int


class Day(Value):
    """The effects of a day, as a column of the drawing and a row of its table."""

    date: str
    counts: dict[str, int]
    squares: tuple[Square, ...]


class Shown(Value):
    """An effect with what stands beside it."""

    effect: Effect
    memory: Memory
    card: Card | Line
    time: str
    number: int
    """How often the memory did that until then."""
    session: str
    """The name of the session."""


def read(memories: Runtime, request: PageRequest) -> dict[str, Any]:
    status = reports.get_status(memories)
    period = request.query.get("days", "7")
    days = int(period) if period in PERIODS else effects.DAYS
    now = memories.clock()
    everything = effects.collect(memories, effects.begin_of(now, max(RANKED_DAYS, days)))
    since = effects.begin_of(now, days)
    rows = [row for row in everything.rows if parse(row.at) >= since]
    found = effects.Effects(rows=tuple(rows))
    after = request.query.get("after", "")
    begin = next((at for at, row in enumerate(rows, 1) if key_of(row) == after), 0)
    listed = rows[begin : begin + LISTED]
    held = status["memories"]["promoted"] + status["memories"]["candidates"]
    waiting = sum(status["review"].values())
    last = next(iter(sessions.list_sessions(memories, 1)), None)
    is_empty = not (held or waiting or everything.rows)
    findings = request.project.check.findings
    return {
        "days": days,
        "periods": PERIODS,
        "counts": found.counts,
        "parts": views.list_parts(found.counts),
        "sentence": views.sentence(found.counts, days) or views.nothing(days),
        "drawn": draw(everything.rows, now.astimezone().date()),
        "groups": _group(memories, listed, everything.rows, now),
        "next": key_of(listed[-1]) if listed and begin + LISTED < len(rows) else "",
        "ranked": _rank(memories, everything.rows),
        "waiting": waiting,
        "reasons": status["review"],
        "estimate": estimate(waiting),
        "began": tell_date(now - timedelta(days=DRAWN_DAYS - 1), now),
        "last_session": last,
        "last_session_at": tell_time(last["started_at"], now) if last else "",
        "health": health(status),
        "checks": len(findings),
        "failed": sum(not each.ok for each in findings),
        "status": status,
        "characters": injections.average_of_session(
            memories.store, effects.begin_of(now, RANKED_DAYS)
        ),
        "held": held,
        "is_empty": is_empty,
        "instructions": _describe_instructions(memories) if is_empty else "",
    }


def key_of(effect: Effect) -> str:
    return f"{effect.kind} {effect.memory_id} {effect.session_id}"


def draw(rows: tuple[Effect, ...], today: date) -> list[Day]:
    """Return the last days with their squares, which stand on each other from below."""
    found = []
    for column in range(DRAWN_DAYS):
        day = today - timedelta(days=DRAWN_DAYS - 1 - column)
        of_day = [row.kind for row in rows if parse(row.at).astimezone().date() == day]
        kinds = [kind for kind in effects.KINDS for _ in range(of_day.count(kind))]
        squares = tuple(
            Square(kind=kind, x=4 + 20 * column, y=84 - 12 * height)
            for height, kind in enumerate(kinds[:MOST_SQUARES])
        )
        counts = {kind: of_day.count(kind) for kind in effects.KINDS}
        found.append(Day(date=day.isoformat(), counts=counts, squares=squares))
    return found


def _group(
    memories: Runtime, listed: list[Effect], rows: tuple[Effect, ...], now: datetime
) -> list[tuple[str, list[Shown]]]:
    """Return the effects by day, each with its memory; those of deleted memories are left out."""
    known = memories.list_by_ids(row.memory_id for row in listed)
    cards = _read_cards(memories, known.values())
    names: dict[str, str] = {}
    shown = []
    for row in listed:
        memory = known.get(row.memory_id)
        if memory is None or memory.id not in cards:
            continue
        if row.session_id not in names:
            names[row.session_id] = sessions.name_session(memories, row.session_id)
        same = [each for each in rows if (each.kind, each.memory_id) == (row.kind, row.memory_id)]
        shown.append(
            Shown(
                effect=row,
                memory=memory,
                card=cards[memory.id],
                time=f"{parse(row.at).astimezone():%H:%M}",
                number=len(same) - same.index(row),
                session=names[row.session_id],
            )
        )
    days = groupby(shown, lambda each: tell_day(each.effect.at, now).capitalize())
    return [(day, list(found)) for day, found in days]


def _read_cards(memories: Runtime, known: Iterable[Memory]) -> dict[str, Card | Line]:
    """Return cards by id; none of a text in quarantine, and of a line that its file has no more."""
    open_ = [each for each in known if not each.quarantine_reason]
    own = [each for each in open_ if each.source_type != adopted.SOURCE]
    lines = (find_line(memories, each.id) for each in open_ if each.source_type == adopted.SOURCE)
    found: list[Card | Line] = [*read_cards(memories, own), *filter(None, lines)]
    return {each.id: each for each in found}


def _rank(memories: Runtime, rows: tuple[Effect, ...]) -> list[tuple[Memory, int]]:
    """Return memories that were prevented or answered with most, with the number of times."""
    ids = [row.memory_id for row in rows if row.kind in EFFECTS]
    best = sorted(dict.fromkeys(ids), key=lambda id: -ids.count(id))[:RANKED]
    known = memories.list_by_ids(best)
    found = [(known[id], ids.count(id)) for id in best if id in known]
    return [(memory, count) for memory, count in found if not memory.quarantine_reason]


def _describe_instructions(memories: Runtime) -> str:
    return "" if memories.is_read_only else instruction_state.describe_undecided(memories)


def _reject(memories: Runtime, request: PageRequest) -> None:
    number = row_number(request.path["row"])
    if number is None:
        raise NotFound("there is no such effect")
    reports.reject_effect(memories, number)


ACTS = (Act("/effect/{row}/wrong", _reject),)
