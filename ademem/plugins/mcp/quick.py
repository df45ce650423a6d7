"""The command `mcp` as clients start it: served before the parser of options is loaded."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING

from ademem.core import project as project_
from ademem.core.errors import NotEnrolled
from ademem.core.settings import load_configuration

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any, NoReturn


def run(arguments: Sequence[str]) -> None:
    """Serve until the client leaves; return where the parser of options has to read them."""
    if (options := parse(arguments)) is not None:
        serve(**options)


def parse(arguments: Sequence[str]) -> dict[str, Any] | None:
    options: dict[str, Any] = {}
    unread = iter(arguments)
    for word in unread:
        name, equals, value = word.partition("=")
        if name in ("--project", "--tools"):
            options[name[2:]] = value if equals else next(unread, "")
        elif word == "--read-only":
            options["read_only"] = True
        else:
            return None
    return options if all(options.values()) else None


def serve(project: str | None = None, tools: str = "", *, read_only: bool = False) -> NoReturn:
    from ademem.plugins.mcp.tools import choose

    found = None
    with suppress(project_.Ambiguous, NotEnrolled):  # each call finds its own, or is refused
        found = project_.find(project, os.environ, os.getcwd())
    settings = load_configuration(found, os.environ).settings.mcp
    chosen = choose(tools or settings.tools, read_only=read_only or settings.read_only)
    from ademem.doors.cli.extras import needs

    with needs("mcp", "the server"):
        from ademem.plugins.mcp import process, server
    session = server.Session(chosen, project, settings=settings)
    process.run(server.make_server(session), session.close)
