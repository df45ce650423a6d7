"""Commands that do at once what the background does in time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from ademem.cli import app, show
from ademem.cli.options import AsJson, DryRun, Project, opened
from ademem.value import as_dict

if TYPE_CHECKING:
    from ademem.lifecycle.sweeping import Swept


@app.command()
def sweep(dry_run: DryRun = False, project: Project = None, as_json: AsJson = False) -> None:
    """Age the memories: confirm what was used, let fade and archive what was not."""
    with opened(project) as memories:
        swept = memories.sweep(dry_run=dry_run)
        if as_json:
            rows = [as_dict(move) for move in swept.moves]
            return show.json({"dry_run": dry_run} | as_dict(swept) | {"moves": rows})
        for move in swept.moves:
            show.say(f"{move.act:<8} {show.line(memories.get(move.id), 80)}")
            show.say(f"         {move.before} → {move.after}: {move.why}")
    typer.echo(_summary(swept, dry_run))


def _summary(swept: Swept, dry_run: bool) -> str:
    if not swept.moves:
        return "every memory is where it belongs"
    counts = ("promoted", "demoted", "archived")
    moved = ", ".join(f"{getattr(swept, name)} {name}" for name in counts)
    if dry_run:
        return f"would be {moved}"
    return f"{moved} (`ademem undo {swept.id}` takes it back)"
