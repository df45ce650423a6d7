"""Memories, candidates and places as objects of JSON."""

from __future__ import annotations

from ademem.core.errors import AdememError
from ademem.core.memory import claimed_name, flags
from ademem.core.text import preview

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

    from ademem.capture.gate.writing import Candidate
    from ademem.core.memory import Memory
    from ademem.operations.placing import Placed
    from ademem.store.bindings import Binding
    from ademem.store.relations import Later

CANDIDATE_CHARS = 120
WITHHELD = "(withheld until a person approves it)"
NOTHING: dict[str, str] = {}


class Withheld(AdememError):
    def __init__(self, memory: Memory) -> None:
        from ademem.store.transitions import BY_PERSON, waits_for

        super().__init__(f"{memory.id} is {waits_for(memory)}", BY_PERSON)


def memory_row(
    memory: Memory,
    score: float | None = None,
    drifted: Mapping[str, str] = NOTHING,
    later: Later | None = None,
    *,
    withheld: bool = False,
) -> dict[str, Any]:
    anchors = memory.anchors
    if anchors:  # few memories have one
        from ademem.core import anchor

        anchors = anchor.plain(memory.anchors)
    return {
        "id": memory.id,
        "sync_id": memory.sync_id,
        "title": None if withheld else memory.title,
        "content": WITHHELD if withheld else memory.content,
        "category": memory.category,
        "scope": memory.shown_scope,
        "owner": memory.scope_owner_id,
        "status": memory.status,
        "stage": memory.stage,
        "tier": int(memory.tier),
        "pinned": memory.is_pinned,
        "importance": memory.importance,
        "confidence": round(memory.confidence, 4),
        "observation_count": memory.observation_count,
        "score": None if score is None else round(score, 4),
        "tags": list(memory.tags),
        "path": memory.file_scope_pattern,
        "anchors": list(anchors),
        "topic_key": memory.topic_key,
        "key": memory.knowledge_key,
        "bead": memory.bead,
        "source_id": memory.source_id,
        "created_at": memory.created_at.isoformat(),
        "updated_at": memory.updated_at.isoformat(),
        "provenance": {
            "trust": memory.trust,
            "source_type": memory.source_type,
            "session_id": memory.source_session_id,
            "agent_id": memory.agent_id,
            "branch": memory.source_branch,
            "claimed_author": memory.claimed_author and claimed_name(memory.claimed_author),
        },
        "flags": flags(memory, drifted, later.flag if later else ""),
    }


def candidate_row(candidate: Candidate) -> dict[str, Any]:
    memory = candidate.memory
    return {
        "id": memory.id,
        "title": memory.title,
        "text": preview(memory.content, CANDIDATE_CHARS),
        "judgment_id": candidate.judgment_id,
        "score": candidate.score,
    }


def nearest_row(memory: Memory) -> dict[str, Any]:
    text = preview(memory.whole_text, CANDIDATE_CHARS)
    return {"id": memory.id, "text": text, "status": memory.status, "stage": memory.stage}


def place_rows(placed: Placed) -> dict[str, Any]:
    from ademem.search.binding import describe

    return {
        "at": key_rows(placed.at),
        "candidates": [describe(each) for each in placed.candidates],
        "advice": list(placed.advice),
    }


def key_rows(at: Iterable[Binding]) -> list[dict[str, Any]]:
    from ademem.search.binding import describe, tell_place

    return [
        {
            "key": describe(each),
            "place": tell_place(each),
            "strength": each.strength,
            "state": each.state,
        }
        for each in at
    ]


def describe_gate_refusal(rule: str, why: str | None) -> dict[str, str]:
    step = "rephrase it; `ademem log --refused` shows what was refused and why"
    return {"rule": rule, "why": why or "", "next": step}
