"""Commands about procedures: what sessions did again and again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from ademem import api
from ademem.core.text import preview
from ademem.core.value import as_dict
from ademem.doors.cli import shape, show
from ademem.doors.cli.commands import app
from ademem.doors.cli.options import AsJson, DryRun, Id, Project, opened

if TYPE_CHECKING:
    from ademem.synthesis.procedures.records import Procedure

TEXT_CHARS = 120

procedures = typer.Typer(help="Procedures learned from sessions.", no_args_is_help=True)
app.add_typer(procedures, name="procedures")


@procedures.command("list")
def list_(
    archived: Annotated[
        bool, typer.Option("--all", help="Those given up or superseded, too.")
    ] = False,
    project: Project = None,
    as_json: AsJson = False,
) -> None:
    """List procedures, the highest confidence first."""
    with opened(project) as memories:
        found = api.list_procedures(memories, archived=archived)
    if as_json:
        return show.json({"count": len(found), "procedures": [_as_json(each) for each in found]})
    if not found:
        typer.echo("no procedure yet: three sessions that do the same make one", err=True)
    show.fenced(map(_line, found))
    return None


@procedures.command("show")
def show_(id: Id, project: Project = None, as_json: AsJson = False) -> None:
    """Show steps, sources and outcomes of a procedure."""
    with opened(project) as memories:
        found, story = api.get_procedure(memories, id), api.get_procedure_history(memories, id)
    show.readable(found.memory)
    if as_json:
        return show.json(_as_json(found) | {"markdown": found.wording.markdown} | story)
    show.fenced((_line(found), "", *found.memory.content.split("\n"), ""))
    show.say(f"learned from: {', '.join(story['sources']) or 'nothing that is still there'}")
    for row in story["history"]:
        ended = f"{row['outcome']}  {row['confidence']:.2f}  {row['reason'] or ''}"
        show.say(f"{row['recorded_at']}  {ended}")
    return None


@procedures.command()
def outcome(
    id: Id,
    result: Annotated[str, typer.Argument(metavar="success|failure", help="How it ended.")],
    reason: Annotated[str, typer.Option("--reason", help="What happened.")] = "",
    project: Project = None,
    as_json: AsJson = False,
) -> None:
    """Record the outcome of one use."""
    with opened(project) as memories:
        found = api.record_outcome(memories, id, result, reason)
    if as_json:
        return show.json(_as_json(found))
    return show.say(_line(found))


@procedures.command()
def export(
    id: Annotated[str | None, typer.Argument(metavar="ID", help="This one; else all.")] = None,
    publish: Annotated[
        bool | None,
        typer.Option("--publish/--no-publish", help="Also to .claude/skills (skills.publish)."),
    ] = None,
    dry_run: DryRun = False,
    project: Project = None,
    as_json: AsJson = False,
) -> None:
    """Write confirmed procedures as skills. Naming one confirms it."""
    with opened(project) as memories:
        told = api.export_procedures(memories, id, publish=publish, dry_run=dry_run)
    if as_json:
        return show.json({"count": len(told), "files": [as_dict(each) for each in told]})
    for each in told:
        show.say(f"{'would be ' if dry_run else ''}{each.outcome}: {each.path}")
    if not told:
        typer.echo("no confirmed procedure; `ademem procedures list` shows the others", err=True)
    return None


def _as_json(each: Procedure) -> dict[str, Any]:
    memory, details = each.memory, each.details
    held_back = memory.quarantine_reason is not None
    return {
        "id": memory.id,
        "title": shape.WITHHELD if held_back else memory.title,
        "trigger": shape.WITHHELD if held_back else each.wording.trigger,
        "status": memory.status,
        "confidence": round(memory.confidence, 4),
        "success_count": details.success_count,
        "failure_count": details.failure_count,
        "last_used_at": details.last_used_at.isoformat() if details.last_used_at else None,
        "exported_skill_path": details.exported_skill_path,
        "exported_at": details.exported_at.isoformat() if details.exported_at else None,
        "superseded_by": details.superseded_by_memory_id,
        "flags": shape.flags(memory),
    }


def _line(each: Procedure) -> str:
    memory, details = each.memory, each.details
    if memory.quarantine_reason:
        return f"{memory.id}  {shape.WITHHELD}"
    said = preview(f"{memory.title}: use when {each.wording.trigger}", TEXT_CHARS)
    worked = f"{details.success_count} of {each.outcomes} worked"
    marks = ", ".join([f"{memory.confidence:.0%}", worked, *shape.flags(memory)])
    return f"{memory.id}  {said}  ({marks})"
