"""What the page and the terminal read through several operations, and its shape."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import timedelta
from typing import Any

from ademem.core.clock import stamp
from ademem.core.errors import NoSuchMemory
from ademem.core.memory import Memory, Tier
from ademem.core.text import counted, preview
from ademem.core.value import Value, replace
from ademem.doors.review_cards import ask_question, describe_waiting, read_sides
from ademem.doors.views import diff_words, to_row, word_diff
from ademem.doors.views import session as session_view
from ademem.operations import curation, placing, reports, searching, sessions
from ademem.operations.curation import Waiting
from ademem.search import binding
from ademem.search.engine import UNARCHIVED, Filters
from ademem.store.runtime import Runtime
from ademem.store.transitions import waits_for

BEST = 10
COUNTED = 1000
QUEUE_ROWS = 100
PROMPTS, DECISIONS = 500, 500
"""Most rows of each that are read of a session."""


class Item(Value):
    """A memory to decide about, with the other one of a contradiction, or where it is wrong."""

    key: str
    memory: Memory
    other: Memory | None = None
    conflict: str = ""
    place: str = ""


def find_place(queue: Sequence[Waiting], key: str) -> int:
    """Return the index of the place with that key, or of the memory with that id, else 0."""
    same = (at for at, each in enumerate(queue) if each.key == key)
    id = key.partition("~")[0].partition("@")[0]
    of_memory = (at for at, each in enumerate(queue) if each.id == id)
    return next(same, next(of_memory, 0))


def read_review(memories: Runtime, key: str) -> dict[str, Any]:
    queue = [*curation.list_queue(memories), *_list_misplaced(memories)]
    at = find_place(queue, key)
    start = max(0, at - QUEUE_ROWS // 2)
    items = read_items(memories, queue[start : start + QUEUE_ROWS])
    key = queue[at].key if queue else ""
    return {
        "count": len(queue),
        "at": at + 1,
        "card": next((read_card(memories, item) for item in items if item.key == key), None),
        "next_key": queue[(at + 1) % len(queue)].key if queue else "",
        "previous_key": queue[at - 1].key if queue else "",
        "queue": items,
    }


def _list_misplaced(memories: Runtime) -> list[Waiting]:
    skipped = curation.list_skipped(memories)
    return [
        Waiting(
            4,
            0.0,
            stamp(each.memory.created_at),
            0,
            each.memory.id,
            conflict=each.why,
            place=each.place.place,
        )
        for each in placing.list_misplaced(memories)
        if each.memory.id not in skipped
    ]


def read_items(memories: Runtime, waiting: Iterable[Waiting]) -> list[Item]:
    items = []
    for each in waiting:
        with suppress(NoSuchMemory):  # deleted since it was listed
            other = searching.get(memories, each.other) if each.other else None
            memory = searching.get(memories, each.id)
            items.append(
                Item(
                    key=each.key,
                    memory=memory,
                    other=other,
                    conflict=each.conflict,
                    place=each.place,
                )
            )
    return items


def _list_others(memories: Runtime, item: Item) -> Sequence[Memory]:
    """Return the other memory of a pair, or those that are like one that waits alone."""
    if item.other:
        return [item.other]
    is_alone = waits_for(item.memory) and not item.place
    return searching.find_similar(memories, item.memory) if is_alone else []


def read_card(memories: Runtime, item: Item) -> dict[str, Any]:
    memory, why = item.memory, waits_for(item.memory)
    others = _list_others(memories, item)
    return {
        "key": item.key,
        "memory": memory,
        "why": item.conflict or why,
        "evidence": [
            each.line for each in searching.map_evidence(memories, [memory]).get(memory.id, ())
        ],
        "other": item.other,
        "similar": [
            (each, differences(each.content, memory.content))
            for each in others
            if not each.quarantine_reason
        ],
        "question": ask_question(
            memory, is_pair=item.other is not None, is_misplaced=bool(item.place)
        ),
        "about": describe_waiting(memory, item.conflict, memories.clock()),
        "place": item.place,
        "keys": [binding.describe(each) for each in placing.list_places(memories, memory.id)],
        "sides": read_sides(memories, [*([item.other] if item.other else []), memory]),
        "merged": f"{others[0].content}\n{memory.content}" if others else "",
    }


def differences(before: str, after: str) -> list[tuple[str, str]]:
    """Return the words that differ; the whole first text where they share less than half."""
    parts = list(diff_words(before, after))
    return parts if word_diff(before, after) else [("same", before)]


def find_memory(memories: Runtime, id: str) -> Memory | None:
    try:
        return searching.get(memories, id)
    except NoSuchMemory:
        return None


def read_related(memories: Runtime, id: str) -> dict[str, list[Memory]]:
    found = searching.find_related(memories, id)
    return {name: [searching.get(memories, each) for each in ids] for name, ids in found.items()}


def read_overview(memories: Runtime) -> dict[str, Any]:
    week = memories.now - timedelta(days=7)
    learned = Filters(since=week, statuses=UNARCHIVED, order="believed")
    pinned = searching.list_memories(memories, replace(learned, tiers=(Tier.PINNED,)), BEST)
    best = (each for each in searching.list_memories(memories, learned, BEST) if each not in pinned)
    count = searching.count_memories(memories, learned, COUNTED + 1)
    status = reports.get_status(memories)
    scopes = []
    for name, scope in status["scopes"].items():
        full = 0.8 * (scope["limit"] or math.inf)
        scopes.append(scope | {"name": name, "nearly_full": scope["fullest_owner"] >= full})
    return {
        "status": status,
        "health": health(status),
        "waiting": sum(status["review"].values()),
        "learned": f"{min(count, COUNTED):,}{'+' * (count > COUNTED)}",
        "best": [*pinned, *best][:BEST],
        "scopes": scopes,
        "last_session": next(iter(sessions.list_sessions(memories, 1)), None),
    }


def health(status: Mapping[str, Any]) -> dict[str, str]:
    level, step = "good", ""
    if parked := status["jobs"]["parked"]:
        level, step = "bad", "ademem doctor"
        text = f"{counted(len(parked), 'job')} stopped after failing"
    elif text := status["overfull"]:
        level, step = "warn", "ademem sweep --dry-run"
    elif conflicts := status["lifecycle"]["conflicts"]:
        level, step = "warn", "ademem review"
        text = f"{counted(conflicts, 'pair')} of memories contradict each other"
    elif waiting := sum(status["review"].values()):
        held = f"{counted(waiting, 'memory')} wait{'s' if waiting == 1 else ''} for your review"
        text, step = f"All is well; {held}", "ademem review"
    elif not status["embeddings"]["installed"]:
        text = "All is well; search compares words, as no model is installed"
        step = "ademem model install"
    else:
        text = "All is well, and nothing waits for you"
    return {"level": level, "text": text, "next": step}


def _list_denials(memories: Runtime, session: str) -> Iterator[dict[str, Any]]:
    """Yield decisions against a call, with the ids of the memories that each carried."""
    for row in reports.list_decisions(memories, DECISIONS, session):
        if row["decision"] in ("deny", "warn"):
            mark, _, ids = (row["reason"] or "").partition("carried ")
            yield row | {"carried": ids.split(", ") if ids and not mark else []}


def read_session(
    memories: Runtime, id: str, is_withheld: Callable[[Memory], bool]
) -> dict[str, Any]:
    def moment(kind: str, key: object, at: str, **rest: Any) -> dict[str, Any]:
        return {"kind": kind, "key": f"{kind} {key}", "at": at} | rest

    session, texts = sessions.get_session(memories, id), sessions.list_sent(memories, id)[1]
    prompts = sessions.search_prompts(memories, "", id, PROMPTS)
    moments = [moment("prompt", row["id"], row["created_at"], text=row["text"]) for row in prompts]
    for number, sent in enumerate(texts):
        text = session_view.to_text(sent, number, is_withheld)
        moments.append(moment("sent", number, sent.created_at, **text))
    moments += [
        moment("learned", each.id, stamp(each.created_at), row=to_row(each))
        for each in sessions.list_session_memories(memories, id)
    ]
    moments += [
        moment("denied", row["id"], row["created_at"], **row) for row in _list_denials(memories, id)
    ]
    first = prompts[-1]["text"] if prompts else ""
    return {
        "session": session,
        "name": preview(session.get("summary") or first, 120),
        "moments": sorted(moments, key=lambda moment: str(moment["at"])),
        "texts": sum(sent.id is not None for sent in texts),
        **session_view.measure(sum(sent.characters or 0 for sent in texts)),
        "keeps_prompts": bool(prompts),
    }
