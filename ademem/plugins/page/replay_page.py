"""What memory would have met in past sessions, as the last `ademem replay` wrote it."""

from __future__ import annotations

from typing import Any

from ademem.core.errors import NotFound
from ademem.doors.undoable import Done, by_memory
from ademem.plugins.http.loopback import Refused
from ademem.plugins.page.entry import Act, Page, PageRequest, row_number
from ademem.plugins.replay import adding, replaying, stretches
from ademem.plugins.replay.command import day, describe_period, describe_proof
from ademem.plugins.replay.counting import quote
from ademem.plugins.replay.replaying import Row
from ademem.store.runtime import Runtime

KINDS = {
    "mistakes": "Mistakes that a memory would have met",
    "answered": "Questions that a memory answers",
    "in_the_way": "Would have been in the way",
    "unproven": "Without proof",
}
"""Lists of rows that can be opened, by their names in the result."""
MOST = 200
"""Rows of a list that the page shows."""


def _read(memories: Runtime, _: PageRequest) -> dict[str, Any]:
    found = replaying.load(memories)
    if found is None:
        return {"found": None}
    return {
        "found": found,
        "period": describe_period(found),
        "unproven": len({(row.session, row.number) for row in found.unproven}),
        "most": MOST,
        "fewest": replaying.FEWEST_SESSIONS,
        "kinds": KINDS,
        "day": day,
        "proof": describe_proof,
    }


def _read_stretch(memories: Runtime, request: PageRequest) -> dict[str, Any]:
    kind = request.path["kind"]
    row = _row(memories, kind, request.path["number"])
    lines = stretches.read_around(row.transcript, memories.environment, call=row.call, at=row.at)
    return {"row": row, "lines": lines, "title": KINDS[kind], "proof": describe_proof(row)}


def _row(memories: Runtime, kind: str, number: str) -> Row:
    found, at = replaying.load(memories), row_number(number)
    rows: tuple[Row, ...] = getattr(found, kind) if found and kind in KINDS else ()
    if at is None or at >= len(rows):
        raise NotFound("the last replay has no such row")
    return rows[at]


def _add(memories: Runtime, request: PageRequest) -> Done:
    found, at = replaying.load(memories), row_number(request.path["number"])
    if found is None or at is None or at >= len(found.repeated):
        raise NotFound("the last replay has no such row")
    row = found.repeated[at]
    sentence = stretches.read_sentence(row.transcript, memories.environment, row.last)
    if quote(sentence) != row.quote:  # the file is in the project: what was shown is what is added
        raise NotFound("the transcript says something else than the last replay")
    written = adding.add(sentence, memories)
    if written.memory is None:
        why = f"not kept ({written.rule}): {written.reason}"
        raise Refused("gate", why, "type it in other words: `ademem add`")
    replaying.save(replaying.mark_added(found, at, written.memory.id), memories)
    return by_memory("add", memories, written.memory)


PAGES = (
    Page("/replay", "replay.html", _read, "Replay"),
    Page("/replay/{kind}/{number}", "replay_stretch.html", _read_stretch),
)
ACTS = (Act("/replay/{number}/add", _add),)
