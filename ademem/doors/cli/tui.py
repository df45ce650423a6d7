"""The command that shows the memory in the terminal."""

from __future__ import annotations

import os
import sys

from ademem import api
from ademem.core.client import SESSIONS
from ademem.doors import reading
from ademem.doors.cli import missing_package, show
from ademem.doors.cli.commands import app
from ademem.doors.cli.options import AsJson, Project, import_progress
from ademem.doors.undoable import forbid_reason
from ademem.doors.views import lines


@app.command()
def tui(project: Project = None, as_json: AsJson = False) -> None:
    """Browse and review the memory in this terminal."""
    try:
        from ademem.doors.tui import app as terminal
    except ModuleNotFoundError as error:
        raise missing_package(error, "tui", "the terminal's browser") from error
    outside = {name: value for name, value in os.environ.items() if name not in SESSIONS}
    with api.open_memories(project, environment=outside, on_import=import_progress()) as memories:
        show.notices(memories)
        shows = sys.stdin.isatty() and sys.stdout.isatty() and os.environ.get("TERM") != "dumb"
        if as_json or not shows:
            page = reading.read_overview(memories)
            return show.report(page["status"], lines.overview(page), as_json=as_json)
        forbidden = forbid_reason(os.environ) or memories.copy_notice
        return terminal.Terminal(memories, forbidden, show.is_withheld).run()
