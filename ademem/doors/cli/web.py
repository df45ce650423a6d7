"""The command that serves the page."""

from __future__ import annotations

import os
import sys

from ademem.core import project as project_
from ademem.doors.cli import missing_package, show
from ademem.doors.cli.commands import app
from ademem.doors.cli.options import AsJson, flag, option

ADDRESS, EXAMPLE_PORT = "127.0.0.1", 8123


@app.command("ui")
@app.command()
def web(
    port: int = option("--port", "Of 127.0.0.1; 0: a free one.", 0, min=0, max=65535),
    host: str = option("--host", "127.0.0.1 alone; another one is told how to forward.", ADDRESS),
    no_open: bool = flag("--no-open", "Open no browser."),
    read_only: bool = flag("--read-only", "Decide nothing."),
    idle: float = option("--idle", "End after so many minutes unasked.", 60, min=0.01),
    stop: bool = flag("--stop", "End the page that runs."),
    project: list[str] | None = option(
        "--project", "Folder of the project; several are one page.", metavar="DIR"
    ),
    as_json: AsJson = False,
) -> None:
    """Show the memory in a browser of this machine, until Ctrl-C."""
    try:
        from ademem.doors.http.loopback import parse_port
        from ademem.doors.web import server
    except ModuleNotFoundError as error:
        raise missing_package(error, "web", "the page") from error
    parse_port(f"{host}:{port or EXAMPLE_PORT}", port)
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
