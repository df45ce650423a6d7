"""The command that shows the memory in the terminal."""

from __future__ import annotations

import os
import sys

from ademem import operations
from ademem.core import who
from ademem.core.client import SESSIONS
from ademem.doors import reading
from ademem.doors.cli import show
from ademem.doors.cli.commands import command
from ademem.doors.cli.extras import needs
from ademem.doors.cli.parameters import Project
from ademem.doors.undoable import forbid_reason
from ademem.doors.views import lines


@command()
def tui(project: Project = None) -> None:
    """Browse and review in a terminal."""
    with needs("tui", "the terminal's browser"):
        from ademem.plugins.terminal import browser
    outside = {name: value for name, value in os.environ.items() if name not in SESSIONS}
    with operations.open_memories(
        project, environment=outside, on_import=show.import_progress(), by=who.of_process()
    ) as memories:
        show.notices(memories)
        shows = sys.stdin.isatty() and sys.stdout.isatty() and os.environ.get("TERM") != "dumb"
        if show.as_json or not shows:
            page = reading.read_overview(memories)
            return show.report(page["status"], lines.overview(page))
        forbidden = forbid_reason(memories.by) or memories.copy_notice
        return browser.Terminal(memories, forbidden, show.is_withheld).run()
