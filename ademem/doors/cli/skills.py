"""Commands about the skill files of the project."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from ademem import api
from ademem.core.text import preview
from ademem.core.value import as_dict
from ademem.doors.cli import shape, show
from ademem.doors.cli.commands import app
from ademem.doors.cli.options import AsJson, DryRun, Project, opened
from ademem.store.transitions import waits_for

if TYPE_CHECKING:
    from ademem.synthesis.skill_registry import Listed

TEXT_CHARS = 120

skills = typer.Typer(help="Skill and command files of the project.", no_args_is_help=True)
app.add_typer(skills, name="skills")


@skills.command("list")
def list_(
    gone: Annotated[bool, typer.Option("--all", help="Those that are gone, too.")] = False,
    project: Project = None,
    as_json: AsJson = False,
) -> None:
    """List skill files and their memories."""
    with opened(project) as memories:
        found = api.list_skills(memories, gone=gone)
    if as_json:
        return show.json({"count": len(found), "skills": [_as_json(each) for each in found]})
    if not found:
        typer.echo("no skills known; `ademem skills reindex` looks for them", err=True)
    show.fenced(map(_line, found))
    return None


@skills.command()
def reindex(dry_run: DryRun = False, project: Project = None, as_json: AsJson = False) -> None:
    """Scan the folders of skills. Lists unreadable files."""
    with opened(project) as memories:
        scanned = api.reindex_skills(memories, dry_run=dry_run)
    problems = [as_dict(each) for each in scanned.problems]
    if as_json:
        return show.json(as_dict(scanned) | {"problems": problems})
    for kind in ("added", "changed", "restored", "archived"):
        for path in getattr(scanned, kind):
            show.say(f"{'would be ' if dry_run else ''}{kind} {path}")
    for problem in problems:
        show.say(f"{problem['path']} {problem['reason']}", err=True)
    typer.echo(f"unchanged: {len(scanned.unchanged)}")
    return None


def _as_json(each: Listed) -> dict[str, Any]:
    entry, memory = each.entry, each.memory
    held_back = memory is not None and memory.quarantine_reason
    return {
        "path": entry.path,
        "name": shape.WITHHELD if held_back else each.name,
        "kind": entry.kind,
        "source": entry.source,
        "memory": entry.memory_id,
        "content_hash": entry.content_hash,
        "modified_at": entry.last_modified_at.isoformat() if entry.last_modified_at else None,
        "archived_at": entry.archived_at.isoformat() if entry.archived_at else None,
        "flags": shape.flags(memory) if memory else ["deleted"],
    }


def _line(each: Listed) -> str:
    memory = each.memory
    if memory is None:
        return f"{'-':<12}  {each.entry.path}  (its memory was deleted)"
    named = f"{memory.id}  {each.entry.path}"
    if memory.quarantine_reason:
        return f"{named}  {waits_for(memory)}"
    marks = ", ".join([*([] if each.there else ["gone"]), *shape.flags(memory)])
    text = f"{named}  {each.name}: {preview(memory.content, TEXT_CHARS)}"
    return f"{text}  ({marks})" if marks else text
