"""The command that shows the memory in a browser."""

from __future__ import annotations

import os
import sys

from ademem.core import project as project_
from ademem.core import who
from ademem.doors.cli import show
from ademem.doors.cli.commands import command
from ademem.doors.cli.extras import needs
from ademem.doors.cli.options import flag, option

ADDRESS, EXAMPLE_PORT = "127.0.0.1", 8123


@command("ui")
@command()
def web(
    port: int = option("--port", "Of 127.0.0.1; 0: a free one.", 0, min=0, max=65535),
    host: str = option("--host", "Only 127.0.0.1; for others, how to forward the port.", ADDRESS),
    no_open: bool = flag("--no-open", "Open no browser."),
    read_only: bool = flag("--read-only", "Decide nothing."),
    idle: float = option("--idle", "End after this many minutes without a request.", 60, min=0.01),
    stop: bool = flag("--stop", "End the page that runs."),
    project: list[str] | None = option(
        "--project DIR", "Folder of the project; several are one page."
    ),
) -> None:
    """Show memory in a browser. It is served on this machine until Ctrl-C."""
    with needs("web", "the page"):
        from ademem.plugins.http.loopback import parse_port
        from ademem.plugins.page import server
    parse_port(f"{host}:{port or EXAMPLE_PORT}", port)
    roots = [project_.find(each, os.environ, os.getcwd()) for each in project or (None,)]
    if stop:
        pid = server.stop(roots[0])
        line = f"process {pid} ends" if pid else "no page of this project runs"
        return show.report({"pid": pid}, [line])
    if found := server.find_running(roots[0]):
        return show.report(found, [server.show_again(found, who.of_process())])
    server.serve(
        [each.root for each in roots],
        os.environ,
        port=port,
        opens_browser=not no_open,
        read_only=read_only,
        idle_s=idle * 60,
        echo=lambda text: print(text, file=sys.stderr, flush=True),
        by=who.of_process(),
    )
    return show.report({"pid": None}, ())
