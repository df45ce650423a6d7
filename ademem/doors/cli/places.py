"""The command that checks anchors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from ademem import api
from ademem.core.text import preview
from ademem.doors.cli import show
from ademem.doors.cli.commands import app
from ademem.doors.cli.options import AsJson, Project, opened

if TYPE_CHECKING:
    from ademem.synthesis.anchor_verification import Checked

TEXT_CHARS = 80


@app.command()
def verify(
    fix: Annotated[bool, typer.Option("--fix", help="Update anchors whose text moved.")] = False,
    project: Project = None,
    as_json: AsJson = False,
) -> None:
    """Check the anchors of memories. Exit code 1 if one does not hold."""
    with opened(project) as memories:
        found = api.verify(memories, fix=fix)
    if as_json:
        show.json({"count": len(found), "anchors": [_as_json(each) for each in found]})
    else:
        for each in found:
            typer.echo(_line(each))
        if not found:
            typer.echo("no memory is tied to a place")
    raise typer.Exit(0 if all(each.is_sound for each in found) else 1)


def _as_json(each: Checked) -> dict[str, Any]:
    now = each.location.now
    return {
        "memory": each.memory.id,
        "anchor": each.anchor,
        "state": each.location.state,
        "now": now.text if now else None,
        "fixed": each.fixed,
    }


def _line(each: Checked) -> str:
    place, now = each.location.noted, each.location.now
    moved = f" -> {now.where}" if now and now.where != place.where else ""
    state = "fixed" if each.fixed and moved else each.location.state
    text = preview(each.memory.content, TEXT_CHARS)
    return f"{state:<8} {place.where}{moved}  {each.memory.id}  [{each.memory.category}] {text}"
