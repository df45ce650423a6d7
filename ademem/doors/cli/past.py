"""Commands about what happened: of one memory, of all, at a moment, and taking it back."""

from __future__ import annotations

import re
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Annotated

import typer

from ademem import api
from ademem.core.errors import NoSuchMemory, UsageError
from ademem.core.text import preview
from ademem.core.value import as_dict
from ademem.doors.cli import shape, show
from ademem.doors.cli.commands import app
from ademem.doors.cli.options import AsJson, DryRun, Id, Limit, Project, opened

AGO = {"m": timedelta(minutes=1), "h": timedelta(hours=1), "d": timedelta(days=1)}


@app.command()
def history(id: Id, project: Project = None, as_json: AsJson = False) -> None:
    """Show every revision of a memory, oldest first."""
    with opened(project) as memories:
        revisions = api.list_revisions(memories, id)
        if shape.to_model():
            with suppress(NoSuchMemory):  # of a hard-deleted one nothing is withheld
                show.readable(api.get(memories, id))
    if as_json:
        return show.json({"id": id, "count": len(revisions), "revisions": revisions})
    for revision in revisions:
        reason = f"  {revision['reason']}" if revision["reason"] else ""
        what = f"{revision['operation']} by {revision['actor']}{reason}"
        show.say(f"{revision['revision']:>3}  {revision['created_at']}  {what}")
        show.say(f"     {revision['snapshot']['content'][:200]}")


@app.command()
def log(
    guard: Annotated[bool, typer.Option("--guard", help="Decisions of the guard instead.")] = False,
    refused: Annotated[
        bool, typer.Option("--refused", help="Texts that the write gate refused instead.")
    ] = False,
    limit: Limit = 20,
    project: Project = None,
    as_json: AsJson = False,
) -> None:
    """Show acts on memories, newest first. `undo` takes their ids."""
    if guard or refused:
        from ademem.doors.cli import reports

        show_log = reports.guard_log if guard else reports.refusals
        return show_log(limit, project, as_json)
    with opened(project) as memories:
        events = api.list_events(memories, limit)
    if as_json:
        rows = [as_dict(event) | {"at": event.at.isoformat()} for event in events]
        return show.json({"count": len(rows), "events": rows})
    for event in events:
        what = ", ".join(f"{name} {count}" for name, count in event.operations.items())
        typer.echo(f"{event.id}  {event.at:%Y-%m-%d %H:%M}  {what} by {event.actor}")
        if event.text:
            show.say(f"    {preview(event.text, 120)}")
    if not events:
        typer.echo("nothing was done yet", err=True)
    return None


@app.command()
def at(
    time: Annotated[str, typer.Argument(metavar="TIME", help="ISO 8601, or ago: 45m, 3h, 2d.")],
    limit: Limit = 100,
    project: Project = None,
    as_json: AsJson = False,
) -> None:
    """List memories as they were at TIME, newest first."""
    moment = _moment(time, datetime.now(UTC))
    with opened(project) as memories:
        show.memories(api.list_at(memories, moment)[:limit], as_json_=as_json)


@app.command()
def undo(
    event: Annotated[str, typer.Argument(metavar="EVENT", help="The id of an act in `log`.")],
    dry_run: DryRun = False,
    project: Project = None,
    as_json: AsJson = False,
) -> None:
    """Undo one act: an edit, a merge, even an undo."""
    with opened(project) as memories:
        changed = api.undo(memories, event, dry_run=dry_run)
    if as_json:
        return show.memories(changed, as_json_=True)
    for memory in changed:
        show.say(f"{'would undo' if dry_run else 'undid'} {show.line(memory, 120)}")


def _moment(text: str, now: datetime) -> datetime:
    """A time without a zone is the machine's own; a day alone is its end."""
    ago = re.fullmatch(r"(\d{1,5})([mhd])", text.strip())
    if ago:
        return now - int(ago[1]) * AGO[ago[2]]
    try:
        moment = datetime.fromisoformat(text.strip()).astimezone()
    except ValueError as error:
        raise UsageError(
            f"{text!r} is no time", "2026-01-31, 2026-01-31T18:00, or ago: 45m, 3h, 2d"
        ) from error
    return moment + timedelta(days=1) if len(text.strip()) == len("2026-01-31") else moment
