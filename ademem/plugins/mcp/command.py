"""The command that serves memory to programs by MCP."""

from __future__ import annotations

import os

from ademem.core import project as project_
from ademem.core.errors import UsageError
from ademem.core.settings import load_configuration
from ademem.doors.cli import show
from ademem.doors.cli.commands import Http, Port, Project, app, flag, option
from ademem.doors.cli.extras import needs
from ademem.operations.install import describe_entry
from ademem.plugins.mcp import quick
from ademem.plugins.mcp.tools import choose


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
        quick.serve(project, tools, read_only=read_only)
    with needs("mcp,http", "the server"):
        from ademem.plugins.http.loopback import parse_port
        from ademem.plugins.mcp import streamable
    found = project_.find(project, os.environ, os.getcwd())
    settings = load_configuration(found, os.environ).settings.mcp
    chosen = choose(tools or settings.tools, read_only=read_only or settings.read_only)
    number = parse_port(port, streamable.PORT)
    streamable.serve(chosen, found, number, os.environ, show.serving)
