"""Commands that serve memory: to programs by MCP and JSON-RPC, in a browser, in the terminal."""

from __future__ import annotations

import os

from ademem.api.install import describe_entry
from ademem.core import project as project_
from ademem.core import who
from ademem.core.errors import UsageError
from ademem.core.memory import Trust
from ademem.core.settings import load_configuration
from ademem.doors.cli import serve_mcp, show
from ademem.doors.cli.commands import Http, Port, Project, app, flag, option
from ademem.doors.cli.extras import needs
from ademem.doors.mcp.tools import choose

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
