"""The command that serves memory to programs by MCP."""

from __future__ import annotations

from typing import Annotated

import typer

from ademem.core.errors import UsageError
from ademem.doors.cli.commands import app
from ademem.doors.cli.options import Project

Tools = Annotated[
    str, typer.Option("--tools", metavar="PROFILE", help="core, engram, all, or names of tools.")
]
ReadOnly = Annotated[bool, typer.Option("--read-only", help="Only tools that change nothing.")]


@app.command()
def mcp(project: Project = None, tools: Tools = "core", read_only: ReadOnly = False) -> None:
    """Serve memory to other programs by MCP."""
    from ademem.doors.mcp.tools import choose

    chosen = choose(tools, read_only=read_only)
    try:
        from ademem.doors.mcp import process, server
    except ModuleNotFoundError as error:
        raise UsageError(
            f"the server needs the package {error.name}", "pip install 'ademem[mcp]'"
        ) from error
    session = server.Session(chosen, project)
    process.run(server.make_server(session, server.FIRST), session.close)
