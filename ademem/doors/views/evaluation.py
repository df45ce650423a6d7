"""Golden questions with their ranks, and the means of each run by system."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ademem.doors.views.memories import to_row

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ademem.api.evaluation.golden import Ranks
    from ademem.core.memory import Memory

NAMES = {"any@5": "hits@5", "any@10": "hits@10", "MRR": "MRR", "nDCG@10": "nDCG@10"}
"""Metrics as they are shown, by their names in a run."""
COMMIT_CHARS = 9


def to_page(
    ranks: Sequence[Ranks], runs: Sequence[Mapping[str, Any]], memories: Mapping[str, Memory | None]
) -> dict[str, Any]:
    """Return the questions, and a table of the runs for each metric, newest first."""
    questions: list[dict[str, Any]] = [
        {
            "query": each.golden.query,
            "memories": [_memory(id, each, memories) for id in sorted(each.golden.ranks)],
        }
        for each in ranks
    ]
    systems = list(dict.fromkeys(name for run in runs for name in run["means"]))
    return {
        "questions": questions,
        "worse": sum(row["state"] == "worse" for each in questions for row in each["memories"]),
        "run": runs[-1] if runs else None,
        "systems": systems,
        "metrics": [
            {
                "name": name,
                "rows": [
                    {
                        "at": run["at"],
                        "commit": (run["commit"] or "no commit")[:COMMIT_CHARS],
                        "questions": run["questions"],
                        "mode": run["mode"],
                        "means": [run["means"].get(system, {}).get(key) for system in systems],
                    }
                    for run in reversed(runs)
                ],
            }
            for key, name in NAMES.items()
        ],
    }


def _memory(id: str, ranks: Ranks, memories: Mapping[str, Memory | None]) -> dict[str, Any]:
    memory, before = memories.get(id), ranks.golden.ranks[id]
    return {
        "id": id,
        "row": to_row(memory) if memory else None,
        "before": before,
        "now": ranks.now.get(id) if ranks.now else None,
        "state": ranks.state_of(id),
    }
