"""Commands that do at once what the background does in time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from ademem import api
from ademem.core.text import counted, preview
from ademem.core.value import as_dict
from ademem.doors.cli import show
from ademem.doors.cli.commands import app
from ademem.doors.cli.options import AsJson, DryRun, Id, Project, opened

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ademem.core.value import Value
    from ademem.synthesis.consolidation import Consolidated
    from ademem.synthesis.sweeping import Swept


@app.command()
def sweep(
    merge: Annotated[
        bool, typer.Option("--merge", help="Merge memories of the same meaning instead.")
    ] = False,
    dry_run: DryRun = False,
    project: Project = None,
    as_json: AsJson = False,
) -> None:
    """Age the memories: confirm used ones, archive unused ones."""
    if merge:
        return consolidate(dry_run, project, as_json)
    with opened(project) as memories:
        swept = api.sweep(memories, dry_run=dry_run)
        if as_json:
            rows = [as_dict(move) for move in swept.moves]
            return show.json({"dry_run": dry_run} | as_dict(swept) | {"moves": rows})
        for move in swept.moves:
            show.say(f"{move.act:<8} {show.line(api.get(memories, move.id), 80)}")
            show.say(f"         {move.before} → {move.after}: {move.why}")
    typer.echo(_summary(swept, dry_run))
    return None


@app.command()
def consolidate(dry_run: DryRun = False, project: Project = None, as_json: AsJson = False) -> None:
    """Merge memories of the same meaning, and find contradictions."""
    with opened(project) as memories:
        done = api.consolidate(memories, dry_run=dry_run)
        if as_json:
            lists = {name: _rows(getattr(done, name)) for name in ("merges", "conflicts")}
            return show.json({"dry_run": dry_run} | as_dict(done) | lists)
        for merge in done.merges:
            show.say(f"merge    {' '.join(merge.members)} → {preview(merge.content, 80)}")
        for found in done.conflicts:
            show.say(f"conflict {found.left} {found.right}: {found.why}")
    typer.echo(_consolidated(done, dry_run))


@app.command()
def settle(
    id: Id,
    other: Annotated[str, typer.Argument(metavar="OTHER", help="The one it contradicts.")],
    project: Project = None,
) -> None:
    """Accept both memories of a conflict. `review` shows conflicts."""
    with opened(project) as memories:
        settled = api.settle_conflict(memories, id, other)
    typer.echo("they stand side by side" if settled else "nothing was said against that")
    raise typer.Exit(0 if settled else 1)


def _rows(values: Iterable[Value]) -> list[dict[str, Any]]:
    return [as_dict(value) for value in values]


def _consolidated(done: Consolidated, dry_run: bool) -> str:
    if done.outcome != "ok":
        return f"{done.outcome}: no memory has a vector (`ademem model install`, `ademem work`)"
    if not (done.merges or done.conflicts):
        return "no memories say the same, none contradict each other"
    conflicts = counted(len(done.conflicts), "conflict")
    told = f"{done.merged} merged into {done.created}, {conflicts}"
    if dry_run or not done.id:
        return f"would be {told}" if dry_run else f"{told} (`ademem review` shows them)"
    return f"{told} (`ademem undo {done.id}` takes it back)"


def _summary(swept: Swept, dry_run: bool) -> str:
    if not swept.moves:
        return "every memory is where it belongs"
    counts = ("promoted", "demoted", "archived")
    moved = ", ".join(f"{getattr(swept, name)} {name}" for name in counts)
    if dry_run:
        return f"would be {moved}"
    return f"{moved} (`ademem undo {swept.id}` takes it back)"
