"""Commands that serve memory: to programs by MCP and JSON-RPC, in a browser, in the terminal."""

from __future__ import annotations

import os
import sys

from ademem import api
from ademem.api.install import describe_entry
from ademem.core import project as project_
from ademem.core import who
from ademem.core.client import SESSIONS
from ademem.core.errors import UsageError
from ademem.core.memory import Trust
from ademem.core.settings import load_configuration
from ademem.doors import reading
from ademem.doors.cli import serve_mcp, show
from ademem.doors.cli.commands import Http, Port, Project, app, command, flag, option
from ademem.doors.cli.extras import needs
from ademem.doors.mcp.tools import choose
from ademem.doors.undoable import forbid_reason
from ademem.doors.views import lines

ADDRESS, EXAMPLE_PORT = "127.0.0.1", 8123


@app.command()
def mcp(
    project: Project = None,
    tools: str = option(
        "--tools PROFILE", "core (as set in `mcp.tools`), engram, all, or names of tools.", ""
    ),
    read_only: bool = flag("--read-only", "Only tools that change nothing."),
    config: str = option("--config CLIENT", "Show what its file needs, and serve nothing.", ""),
    http: Http = False,
    port: Port = "",
) -> None:
    """Serve memory to other programs by MCP."""
    if config:
        for line in describe_entry(config):
            show.echo(line)
        return
    if not http:
        if port:
            raise UsageError("a port is for --http", "ademem mcp --http [PORT]")
        serve_mcp(project, tools, read_only=read_only)
    with needs("mcp,http", "the server"):
        from ademem.doors.http import parse_port
        from ademem.doors.mcp import streamable
    found = project_.find(project, os.environ, os.getcwd())
    settings = load_configuration(found, os.environ).settings.mcp
    chosen = choose(tools or settings.tools, read_only=read_only or settings.read_only)
    number = parse_port(port, streamable.PORT)
    streamable.serve(chosen, found, number, os.environ, show.serving)


@app.command(hidden=True)
def rpc(
    trust: str = option(
        "--trust WHO", "`user` acts for a person; an agent may not say so.", "agent"
    ),
    socket: bool = flag("--socket", "Listen at `.ade/run/rpc.sock` until a signal."),
    project: Project = None,
) -> None:
    """Answer JSON-RPC 2.0, by default on standard input and output.

    `rpc.discover` lists the methods with their schemas.
    """
    from ademem.doors.rpc.server import Server

    if trust not in (Trust.USER, Trust.AGENT):
        raise UsageError(f"no caller is trusted as {trust!r}", "agent or user")
    found = project_.find(project, os.environ, os.getcwd())
    server = Server(found, os.environ, by_person=trust == Trust.USER, by=who.of_process())
    if socket:
        server.listen(lambda path: show.echo(f"listening at {path}; Ctrl-C ends it", err=True))
    else:
        server.serve_process()


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
    """Show the memory in a browser of this machine, until Ctrl-C."""
    with needs("web", "the page"):
        from ademem.doors.http import parse_port
        from ademem.doors.web import server
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


@command()
def tui(project: Project = None) -> None:
    """Browse and review the memory in this terminal."""
    with needs("tui", "the terminal's browser"):
        from ademem.doors import tui as terminal
    outside = {name: value for name, value in os.environ.items() if name not in SESSIONS}
    with api.open_memories(
        project, environment=outside, on_import=show.import_progress(), by=who.of_process()
    ) as memories:
        show.notices(memories)
        shows = sys.stdin.isatty() and sys.stdout.isatty() and os.environ.get("TERM") != "dumb"
        if show.as_json or not shows:
            page = reading.read_overview(memories)
            return show.report(page["status"], lines.overview(page))
        forbidden = forbid_reason(memories.by) or memories.copy_notice
        return terminal.Terminal(memories, forbidden, show.is_withheld).run()
