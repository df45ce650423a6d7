"""The command that serves memory to programs by MCP."""

from __future__ import annotations

import os

from ademem.core import configuration
from ademem.core import project as project_
from ademem.core.errors import UsageError
from ademem.doors.cli import missing_package, serve_mcp, show
from ademem.doors.cli.commands import app
from ademem.doors.cli.options import Http, Port, Project, flag, option


@app.command()
def mcp(
    project: Project = None,
    tools: str = option(
        *("--tools", "core (as set in `mcp.tools`), engram, all, or names of tools.", ""),
        metavar="PROFILE",
    ),
    read_only: bool = flag("--read-only", "Only tools that change nothing."),
    config: str = option(
        "--config", "Show what its file needs, and serve nothing.", "", metavar="CLIENT"
    ),
    http: Http = False,
    port: Port = "",
) -> None:
    """Serve memory to other programs by MCP."""
    if config:
        from ademem.api.install import mcp_clients

        for line in mcp_clients.describe(config):
            show.echo(line)
        return
    if not http:
        if port:
            raise UsageError("a port is for --http", "ademem mcp --http [PORT]")
        serve_mcp(project, tools, read_only=read_only)
    from ademem.doors.mcp.tools import choose

    try:
        from ademem.doors.http.loopback import parse_port
        from ademem.doors.mcp import streamable
    except ModuleNotFoundError as error:
        raise missing_package(error, "mcp,http") from error
    found = project_.find(project, os.environ, os.getcwd())
    settings = configuration.load(found, os.environ).settings.mcp
    chosen = choose(tools or settings.tools, read_only=read_only or settings.read_only)
    number = parse_port(port, streamable.PORT)
    streamable.serve(chosen, found, number, os.environ, show.serving)
