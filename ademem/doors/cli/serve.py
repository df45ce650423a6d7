"""The command that keeps the model loaded for hooks."""

from __future__ import annotations

from typing import Annotated

import typer

from ademem.api import serving as api
from ademem.core.errors import UsageError
from ademem.doors.cli import show
from ademem.doors.cli.commands import app
from ademem.doors.cli.options import AsJson, Project


@app.command()
def serve(
    idle: Annotated[
        float, typer.Option("--idle", min=0, help="End after so many minutes unasked; 0: never.")
    ] = 0,
    stop: Annotated[bool, typer.Option("--stop", help="End the one that runs.")] = False,
    status: Annotated[
        bool, typer.Option("--status", help="Show the process that serves; exit code 1 for none.")
    ] = False,
    project: Project = None,
    as_json: AsJson = False,
) -> None:
    """Keep the model loaded for hooks."""
    if stop and status:
        raise UsageError("--stop and --status at once", "one after the other")
    if stop:
        return _stop(project)
    if status:
        return _status(project, as_json)
    api.serve(
        project,
        idle_s=idle * 60,
        on_ready=lambda model: typer.echo(f"{model} is loaded; Ctrl-C ends it", err=True),
    )


def _stop(project: str | None) -> None:
    pid = api.stop_serving(project)
    typer.echo(f"process {pid} ends" if pid else "no process serves this project")


def _status(project: str | None, as_json: bool) -> None:
    found = api.serving(project)
    if found:
        show.table(found, as_json_=as_json)
        return
    if as_json:
        show.json(None)
    else:
        typer.echo("no process serves this project", err=True)
    raise typer.Exit(1)
