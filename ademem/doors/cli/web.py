"""The command that serves the page."""

from __future__ import annotations

import os
import sys
from typing import Annotated

import typer

from ademem.core import project as project_
from ademem.doors.cli import missing_package, show
from ademem.doors.cli.commands import app
from ademem.doors.cli.options import AsJson


@app.command("ui")
@app.command()
def web(
    port: Annotated[
        int, typer.Option("--port", min=0, max=65535, help="Of 127.0.0.1; 0: a free one.")
    ] = 0,
    no_open: Annotated[bool, typer.Option("--no-open", help="Open no browser.")] = False,
    read_only: Annotated[bool, typer.Option("--read-only", help="Decide nothing.")] = False,
    idle: Annotated[
        float, typer.Option("--idle", min=0.01, help="End after so many minutes unasked.")
    ] = 60,
    stop: Annotated[bool, typer.Option("--stop", help="End the page that runs.")] = False,
    project: Annotated[
        list[str] | None,
        typer.Option(
            "--project", metavar="DIR", help="Folder of the project; several are one page."
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Show the memory in a browser of this machine, until Ctrl-C."""
    try:
        from ademem.doors.web import server
    except ModuleNotFoundError as error:
        raise missing_package(error, "web", "the page") from error
    roots = [project_.find(each, os.environ, os.getcwd()) for each in project or (None,)]
    if stop:
        pid = server.stop(roots[0])
        line = f"process {pid} ends" if pid else "no page of this project runs"
        return show.report({"pid": pid}, [line], as_json=as_json)
    if found := server.find_running(roots[0]):
        return show.report(found, [server.show_again(found, os.environ)], as_json=as_json)
    server.serve(
        [each.root for each in roots],
        os.environ,
        port=port,
        opens_browser=not no_open,
        read_only=read_only,
        idle_s=idle * 60,
        echo=lambda text: print(text, file=sys.stderr, flush=True),
    )
    return show.report({"pid": None}, (), as_json=as_json)
