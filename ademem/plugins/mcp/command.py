"""The command that serves memory to programs by MCP; it loads the server's modules alone."""

from __future__ import annotations

import os
from contextlib import suppress

from ademem.core import project as project_
from ademem.core.errors import NotEnrolled, UsageError
from ademem.core.settings import load_configuration
from ademem.doors.cli import show
from ademem.doors.cli.commands import command
from ademem.doors.cli.extras import needs
from ademem.doors.cli.options import argument, flag, option
from ademem.plugins.mcp.settings import McpSettings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn


@command(has_json=False)
def mcp(
    project: str | None = option("--project DIR", "Folder of the project."),
    tools: str = option(
        "--tools PROFILE", "core (as set in `mcp.tools`), engram, all, or names of tools.", ""
    ),
    read_only: bool = flag("--read-only", "Only tools that change nothing."),
    config: str = option("--config CLIENT", "Show what its file needs, and serve nothing.", ""),
    http: bool = flag("--http", "Over HTTP, to this machine alone."),
    port: str = argument("[PORT]", "Port for --http; 0 is any.", ""),
) -> None:
    """Serve memory by MCP."""
    if config:
        from ademem.operations.install import describe_entry

        for line in describe_entry(config):
            show.echo(line)
        return
    if not http:
        if port:
            raise UsageError("a port is for --http", "ademem mcp --http [PORT]")
        serve(project, tools, read_only=read_only)
    from ademem.plugins.mcp.tools import choose

    with needs("mcp,http", "the server"):
        from ademem.plugins.http.loopback import parse_port
        from ademem.plugins.mcp import streamable
    found = project_.find(project, os.environ, os.getcwd())
    settings = load_configuration(found, os.environ).settings.of(McpSettings)
    chosen = choose(tools or settings.tools, read_only=read_only or settings.read_only)
    number = parse_port(port, streamable.PORT)
    streamable.serve(chosen, found, number, os.environ, show.serving)


def serve(project: str | None = None, tools: str = "", *, read_only: bool = False) -> NoReturn:
    """Serve until the client leaves; raises UsageError for an unknown tool."""
    from ademem.plugins.mcp.tools import choose

    found = None
    with suppress(project_.Ambiguous, NotEnrolled):  # each call finds its own, or is refused
        found = project_.find(project, os.environ, os.getcwd())
    settings = load_configuration(found, os.environ).settings.of(McpSettings)
    chosen = choose(tools or settings.tools, read_only=read_only or settings.read_only)
    with needs("mcp", "the server"):
        from ademem.plugins.mcp import process, server
    session = server.Session(chosen, project, settings=settings)
    process.run(server.make_server(session), session.close)
