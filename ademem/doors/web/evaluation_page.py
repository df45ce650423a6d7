"""The page of the golden questions and their runs."""

from __future__ import annotations

from typing import Any

from ademem import api
from ademem.core.errors import NoSuchMemory
from ademem.core.memory import Memory
from ademem.core.text import counted
from ademem.doors.undoable import Done
from ademem.doors.views import evaluation as view
from ademem.doors.views.practice import cut
from ademem.doors.web.memories_page import golden_set
from ademem.doors.web.route import Act, Page, PageRequest
from ademem.store.runtime import Runtime

RUNS = 20
"""Runs that are plotted, the last ones."""


def _evaluation(memories: Runtime, request: PageRequest) -> dict[str, Any]:
    from ademem.api.evaluation import golden

    ranks = golden.list_ranks(memories)
    by_id = {id: _find(memories, id) for each in ranks for id in each.golden.ranks}
    page = view.to_page(ranks, golden.list_runs(memories)[-RUNS:], by_id)
    questions, after = cut(page["questions"], "query", request.query.get("after", ""))
    count = len(page["questions"])
    return page | {"questions": questions, "count": count, "next": after}


def _find(memories: Runtime, id: str) -> Memory | None:
    try:
        return api.get(memories, id)
    except NoSuchMemory:
        return None


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
