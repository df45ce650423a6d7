"""The stages of a search: weights, what was left out and why, words and vectors alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ademem.doors.views.memories import to_row
from ademem.search import evidence

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ademem.core.memory import Memory
    from ademem.search.engine import Explained, Hit

ALONE = 10
"""Rows of each order that words or vectors alone would give."""


def to_stages(found: Explained) -> dict[str, Any]:
    ranks = {hit.memory.id: rank for rank, hit in enumerate(found.results.hits, 1)}
    return {
        "weights": [
            {"of": "relevance", "parts": found.relevance_weights},
            {"of": "score", "parts": found.score_weights},
        ],
        "left_out": [
            to_row(hit.memory) | {"score": round(hit.score, 4), "why": why}
            for hit, why in found.left_out
        ],
        "unprompted": {
            hit.memory.id: why_unprompted(hit, found.results.hits)
            for hit in found.results.hits
            if hit.memory.id not in found.prompted
        },
        "alone": [
            {"of": name, "rows": _ranked(rows, ranks)}
            for name, rows in (("words", found.by_words), ("meaning", found.by_meaning))
        ],
    }


def why_unprompted(hit: Hit, hits: Sequence[Hit]) -> str:
    """Return the reason for which a prompt with the same words is not shown a hit."""
    mine = hit.signals["evidence"]
    best = max(each.signals["evidence"] for each in hits)
    if mine < evidence.PROMPT:
        return f"evidence {mine:.2f}, below the floor of {evidence.PROMPT}"
    if mine < best - evidence.CUT:
        return f"evidence {mine:.2f}, more than {evidence.CUT} below the best"
    return f"evidence {mine:.2f}, and a prompt is shown at most {evidence.MOST}"


def _ranked(rows: Sequence[Memory], ranks: Mapping[str, int]) -> list[dict[str, Any]]:
    return [to_row(memory) | {"rank": ranks.get(memory.id)} for memory in rows[:ALONE]]
