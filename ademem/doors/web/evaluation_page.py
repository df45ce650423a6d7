"""The page of the golden questions and their runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ademem.core.memory import Memory
from ademem.core.text import counted
from ademem.doors.reading import find_memory
from ademem.doors.undoable import Done
from ademem.doors.views.memories import to_row
from ademem.doors.views.practice import cut
from ademem.doors.web.memories_page import golden_set
from ademem.doors.web.route import Act, Page, PageRequest
from ademem.store.runtime import Runtime

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ademem.api.evaluation.golden import Ranks

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


RUNS = 20
"""Runs that are plotted, the last ones."""


def _evaluation(memories: Runtime, request: PageRequest) -> dict[str, Any]:
    from ademem.api.evaluation import golden

    ranks = golden.list_ranks(memories)
    by_id = {id: find_memory(memories, id) for each in ranks for id in each.golden.ranks}
    page = to_page(ranks, golden.list_runs(memories)[-RUNS:], by_id)
    questions, after = cut(page["questions"], "query", request.query.get("after", ""))
    count = len(page["questions"])
    return page | {"questions": questions, "count": count, "next": after}


def _run_gate(memories: Runtime, _: PageRequest) -> None:
    """Ask all golden questions, and record the means and the ranks."""
    from ademem.api.evaluation import golden

    golden.measure(memories)


def _update(memories: Runtime, _: PageRequest) -> Done:
    """Record the ranks of now as the ones to keep."""
    from ademem.api.evaluation import golden

    before = golden.load(memories.project)
    verdict = golden.update(memories)
    if golden.load(memories.project):  # none is left where their memories are gone
        golden.measure(memories)
    label = f"record the ranks of now, {counted(len(verdict.moved), 'memory')} moved"
    return golden_set(memories, label, before)


PAGES = (Page(path="/eval", name="Evaluation", template="eval.html", read=_evaluation),)
ACTS = (Act(path="/eval/gate", do=_run_gate), Act(path="/eval/update", do=_update))
