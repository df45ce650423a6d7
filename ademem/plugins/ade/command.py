"""The command that answers JSON-RPC."""

from __future__ import annotations

import os

from ademem.core import project as project_
from ademem.core import who
from ademem.core.errors import UsageError
from ademem.core.memory import Trust
from ademem.doors.cli import show
from ademem.doors.cli.commands import command
from ademem.doors.cli.options import flag, option
from ademem.doors.cli.parameters import Project


@command(has_json=False)
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
    from ademem.plugins.ade.server import Server

    if trust not in (Trust.USER, Trust.AGENT):
        raise UsageError(f"no caller is trusted as {trust!r}", "agent or user")
    found = project_.find(project, os.environ, os.getcwd())
    server = Server(found, os.environ, by_person=trust == Trust.USER, by=who.of_process())
    if socket:
        server.listen(lambda path: show.echo(f"listening at {path}; Ctrl-C ends it", err=True))
    else:
        server.serve_process()
