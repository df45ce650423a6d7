"""Commands that measure recall on published datasets and on recorded questions."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from ademem import api
from ademem.api.evaluation import Run
from ademem.api.evaluation.golden import Verdict
from ademem.core.errors import UsageError
from ademem.core.text import counted, preview
from ademem.core.value import as_dict
from ademem.doors.cli import show
from ademem.doors.cli.commands import app
from ademem.doors.cli.options import AsJson, Project
from ademem.store.runtime import Runtime

evaluation = typer.Typer(help="How good recall is, measured.", no_args_is_help=True)
app.add_typer(evaluation, name="eval")


@evaluation.command()
def run(
    dataset: Annotated[Path, typer.Argument(metavar="FILE", help="The dataset.")],
    format: Annotated[
        str | None, typer.Option("--format", help="locomo, longmemeval or jsonl.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Measure recall and baselines on a dataset."""
    from ademem.api import evaluation

    try:
        data = dataset.read_bytes()
    except OSError as error:
        raise UsageError(f"cannot read {dataset}: {error.strerror}", "name a file") from error
    bar = _progress if sys.stderr.isatty() else None
    found = evaluation.run(evaluation.read(data, format), os.environ, bar)
    if as_json:
        return show.json(as_dict(found) | {"rows": [as_dict(row) for row in found.rows]})
    _tell(found)


@evaluation.command()
def add(
    query: Annotated[str, typer.Argument(metavar="QUERY", help="What is asked.")],
    ids: Annotated[list[str], typer.Argument(metavar="ID", help="Of memories that answer it.")],
    project: Project = None,
    as_json: AsJson = False,
) -> None:
    """Record in `.ade/eval.jsonl` the memories that QUERY has to find."""
    from ademem.api.evaluation import golden

    with _quietly(project) as memories:
        recorded = golden.add(memories, query, ids)
    lines = [f"{sync_id}: {_place(rank)}" for sync_id, rank in recorded.ranks.items()]
    show.report(as_dict(recorded), lines, as_json=as_json)


@evaluation.command()
def gate(
    min_recall: Annotated[
        float,
        typer.Option("--min-recall", min=0.0, max=1.0, help="Fail below this recall@10."),
    ] = 0.0,
    slack: Annotated[
        int, typer.Option("--slack", min=0, help="Places that a memory may lose.")
    ] = 0,
    update: Annotated[
        bool, typer.Option("--update", help="Record the ranks of now as the ones to keep.")
    ] = False,
    project: Project = None,
    as_json: AsJson = False,
) -> None:
    """Ask all recorded queries. Exit code 1 if a memory ranks worse."""
    from ademem.api.evaluation import golden

    with _quietly(project) as memories:
        verdict = golden.update(memories) if update else golden.check(memories, slack=slack)
    failed = not update and (verdict.regressed or verdict.recall < min_recall)
    if as_json:
        moved = [as_dict(one) for one in verdict.moved]
        show.json(as_dict(verdict) | {"moved": moved, "failed": failed})
    else:
        _tell_moves(verdict)
    raise typer.Exit(1 if failed else 0)


def _progress(done: int, all: int) -> None:
    typer.echo(f"\r{done} of {counted(all, 'store')}", nl=done == all, err=True)


def _quietly(project: str | None) -> Runtime:
    from ademem.api.evaluation.golden import quiet

    return api.open_memories(project, environment=quiet(os.environ))


def _tell(found: Run) -> None:
    typer.echo(f"sha256 {found.sha256}")
    typer.echo(
        f"{found.format}: {counted(found.stores, 'store')}, {counted(found.items, 'item')},"
        f" {found.merged} merged, {found.refused} refused;"
        f" {found.mode}, {found.model or 'no model'}"
    )
    typer.echo("search: " + " ".join(f"{name}={value}" for name, value in found.settings.items()))
    for category in dict.fromkeys(row.category for row in found.rows):
        rows = [row for row in found.rows if row.category == category]
        typer.echo(f"\n{category} ({counted(rows[0].questions, 'question')})")
        typer.echo(f"  {'':<14}" + "".join(f"{name:>9}" for name in rows[0].scores))
        for row in rows:
            figures = "".join(f"{100 * score:9.1f}" for score in row.scores.values())
            typer.echo(f"  {row.system:<14}{figures}")


def _tell_moves(verdict: Verdict) -> None:
    for one in verdict.moved:
        what = "WORSE" if one.worse else "better"
        move = f"{_place(one.before)} → {_place(one.now)}"
        typer.echo(f"{what:<7} {one.sync_id[:12]}  {move:<24}  {preview(one.query, 60)}")
    typer.echo(f"{counted(verdict.golden, 'question')}, recall@10 {100 * verdict.recall:.1f} %")


def _place(rank: int | None) -> str:
    return "not found" if rank is None else f"rank {rank}"
