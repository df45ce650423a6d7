"""Commands that measure recall."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from ademem import operations
from ademem.core.errors import UsageError
from ademem.core.text import counted, preview
from ademem.core.value import as_dict
from ademem.doors.cli import show
from ademem.doors.cli.commands import command
from ademem.doors.cli.options import argument, flag, option
from ademem.doors.cli.parameters import Project
from ademem.store.runtime import Runtime

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ademem.plugins.evaluation.measuring import Row


def _quietly(project: Project = None) -> Runtime:
    """Open the project so that no look counts as a search of the session."""
    from ademem.doors.calls import without_session

    return operations.open_memories(project, environment=without_session(os.environ))


@command("eval run")
def run(
    dataset: Path = argument("FILE", "The dataset."),
    format: str | None = option("--format", "locomo, longmemeval or jsonl."),
) -> None:
    """Measure recall and baselines on a dataset."""
    from ademem.plugins.evaluation import measuring as evaluation

    def bar(done: int, all: int) -> None:
        show.progress(f"{done} of {counted(all, 'store')}", "\n" * (done == all))

    data = evaluation.read(_read_bytes(dataset), format)
    found = evaluation.run(data, os.environ, bar if sys.stderr.isatty() else None)
    lines = [
        f"sha256 {found.sha256}",
        f"{found.format}: {counted(found.stores, 'store')}, {counted(found.items, 'item')},"
        f" {found.merged} merged, {found.refused} refused;"
        f" {found.mode}, {found.model or 'no model'}",
        "search: " + " ".join(f"{name}={value}" for name, value in found.settings.items()),
    ]
    for category in dict.fromkeys(row.category for row in found.rows):
        lines += _table_of([row for row in found.rows if row.category == category])
    show.report(found, lines)


def _table_of(rows: Sequence[Row]) -> list[str]:
    """Return the table of one category, with a line for each system."""
    head = "".join(f"{name:>9}" for name in rows[0].scores)
    lines = ["", f"{rows[0].category} ({counted(rows[0].questions, 'question')})"]
    lines.append(f"  {'':<14}{head}")
    for row in rows:
        figures = "".join(f"{100 * score:9.1f}" for score in row.scores.values())
        lines.append(f"  {row.system:<14}{figures}")
    return lines


@command("eval add", on=_quietly)
def add(
    memories: Runtime,
    query: str = argument("QUERY", "What is asked."),
    ids: list[str] = argument("ID", "Of memories that answer it."),
) -> None:
    """Record in `.ade/eval.jsonl` the memories that QUERY has to find."""
    from ademem.plugins.evaluation import golden

    recorded = golden.add(memories, query, ids)
    lines = [f"{sync_id}: {_place(rank)}" for sync_id, rank in recorded.ranks.items()]
    show.report(as_dict(recorded), lines)


@command("eval gate")
def gate(
    prompts: Path | None = argument("[PROMPTS]", "Measure what is shown for these prompts.", None),
    memories_of: Path | None = option("--memories FILE", "A dataset in place of the project."),
    min_recall: float = option(
        "--min-recall", "Fail below this recall@10, or share shown.", 0.0, min=0.0, max=1.0
    ),
    slack: int = option("--slack", "Places that a memory may lose.", 0, min=0),
    update: bool = flag("--update", "Record the ranks of now as the ones to keep."),
    project: Project = None,
) -> None:
    """Ask all recorded queries, or measure what prompts are shown. Exit code 1 if it got worse."""
    if prompts:
        return _gate_prompts(prompts, memories_of, min_recall, project)
    from ademem.plugins.evaluation import golden

    with _quietly(project) as memories:
        verdict = golden.update(memories) if update else golden.check(memories, slack=slack)
        if not memories.is_read_only:
            golden.measure(memories)
    failed = not update and (verdict.regressed or verdict.recall < min_recall)
    lines = []
    for one in verdict.moved:
        move = f"{_place(one.before)} → {_place(one.now)}"
        what = "WORSE" if one.worse else "better"
        lines.append(f"{what:<7} {one.sync_id[:12]}  {move:<24}  {preview(one.query, 60)}")
    lines.append(f"{counted(verdict.golden, 'question')}, recall@10 {100 * verdict.recall:.1f} %")
    return show.report(as_dict(verdict) | {"failed": failed}, lines, fails=failed)


def _gate_prompts(file: Path, dataset: Path | None, least: float, project: str | None) -> None:
    from ademem.plugins.evaluation import measuring as evaluation

    prompts = evaluation.read_prompts(_read_bytes(file))
    if dataset:
        haystacks = evaluation.read(_read_bytes(dataset)).haystacks
        if len(haystacks) != 1:
            raise UsageError(
                f"{dataset} has {counted(len(haystacks), 'store')}", "it takes a file of one"
            )
        with evaluation.open_arena(haystacks[0], os.environ) as arena:
            found = evaluation.measure_prompts(prompts, arena.memories)
    else:
        with _quietly(project) as memories:
            found = evaluation.measure_prompts(prompts, memories)
    failed = found.right is not None and found.right < least
    lines = [found.mode, f"{'':<14}{'prompts':>9}{'shown':>9}{'right':>9}{'memories':>9}"]
    for kind in found.kinds:
        right = "" if kind.right is None else f"{kind.right:.1%}"
        figures = f"{kind.prompts:9}{kind.shown:9.1%}{right:>9}{kind.memories:9.2f}"
        lines.append(f"{kind.kind:<14}{figures}")
    show.report(as_dict(found) | {"failed": failed}, lines, fails=failed)


def _read_bytes(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        raise UsageError(f"cannot read {file}: {error.strerror}", "name a file") from error


def _place(rank: int | None) -> str:
    return "not found" if rank is None else f"rank {rank}"
