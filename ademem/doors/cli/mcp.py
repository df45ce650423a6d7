"""The command that serves memory to programs by MCP."""

from __future__ import annotations

from typing import Annotated

import typer

from ademem.doors.cli import serve_mcp, show
from ademem.doors.cli.commands import app
from ademem.doors.cli.options import Project

Tools = Annotated[
    str, typer.Option("--tools", metavar="PROFILE", help="core, engram, all, or names of tools.")
]
ReadOnly = Annotated[bool, typer.Option("--read-only", help="Only tools that change nothing.")]


Config = Annotated[
    str | None,
    typer.Option("--config", metavar="CLIENT", help="Show what its file needs, and serve nothing."),
]


@app.command()
def mcp(
    project: Project = None,
    tools: Tools = "core",
    read_only: ReadOnly = False,
    config: Config = None,
) -> None:
    """Serve memory to other programs by MCP."""
    if config:
        from ademem.api.install import mcp_clients

        for line in mcp_clients.describe(config):
            show.echo(line)
        return
    serve_mcp(project, tools, read_only=read_only)
