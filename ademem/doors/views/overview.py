"""The state of a project at a glance, with the next step."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ademem.core.text import counted
from ademem.doors.views.memories import to_row

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ademem.core.memory import Memory

NEARLY_FULL = 0.8
"""Share of a scope's limit from which it is marked."""


def to_page(
    status: Mapping[str, Any],
    *,
    learned: int,
    best: Sequence[Memory],
    sessions: Sequence[Mapping[str, Any]],
) -> dict[str, Any]:
    scopes = [
        {
            "name": name,
            "count": scope["count"],
            "fullest": scope["fullest_owner"],
            "limit": scope["limit"],
            "nearly_full": bool(scope["limit"])
            and scope["fullest_owner"] >= NEARLY_FULL * scope["limit"],
        }
        for name, scope in status["scopes"].items()
    ]
    return {
        "status": status,
        "health": health(status),
        "waiting": sum(status["review"].values()),
        "learned": learned,
        "best": [to_row(memory) for memory in best],
        "scopes": scopes,
        "last_session": next(iter(sessions), None),
    }


def health(status: Mapping[str, Any]) -> dict[str, str]:
    """Return one sentence on the state, how grave it is, and the next step."""
    jobs, vectors = status["jobs"], status["embeddings"]
    if jobs["parked"]:
        stopped = counted(len(jobs["parked"]), "job")
        return {"level": "bad", "text": f"{stopped} stopped after failing", "next": "ademem doctor"}
    if status["overfull"]:
        return {"level": "warn", "text": status["overfull"], "next": "ademem sweep --dry-run"}
    if status["lifecycle"]["conflicts"]:
        pairs = counted(status["lifecycle"]["conflicts"], "pair")
        return {
            "level": "warn",
            "text": f"{pairs} of memories contradict each other",
            "next": "ademem review",
        }
    if waiting := sum(status["review"].values()):
        held = f"{counted(waiting, 'memory')} wait{'s' if waiting == 1 else ''} for your review"
        return {"level": "good", "text": f"All is well; {held}", "next": "ademem review"}
    if not vectors["installed"]:
        return {
            "level": "good",
            "text": "All is well; search compares words, as no model is installed",
            "next": "ademem model install",
        }
    return {"level": "good", "text": "All is well, and nothing waits for you", "next": ""}
