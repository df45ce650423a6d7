"""`.ade/cto/CURRENT.md`: where things stand, for who comes to the project; never in git."""

from __future__ import annotations

import os

from ademem.core import confined
from ademem.core.text import counted
from ademem.files import agents, daily, standing_brief
from ademem.files.entry import one_line
from ademem.store import activity

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import datetime

    from ademem.core.project import Project
    from ademem.files.agents import Agent
    from ademem.files.standing_brief import CoreMemory
    from ademem.store import Store
    from ademem.store.activity import Session

SESSIONS = 8
CHARS = 220
"""Of one session."""
TODAY, BEFORE = 14, 8
"""Last lines of the newest daily log, and of the one before it."""


def write(project: Project, store: Store, now: datetime) -> bool:
    """Bring the daily logs and the page up to date; tells whether the page had to be written."""
    daily.append(project, store, now)
    text = render(
        standing_brief.labelled(store, standing_brief.load(store)),
        activity.sessions(store, SESSIONS),
        agents.listed(store, project),
        [
            (day, daily.lines(project, day)[-most:])
            for day, most in zip(daily.days(project), (TODAY, BEFORE), strict=False)
        ],
    )
    page = os.path.join(project.ade, "cto", "CURRENT.md")
    return confined.write_text(project.root, page, text)


def render(
    document: CoreMemory | None,
    sessions: Sequence[Session],
    known: Sequence[Agent],
    logs: Sequence[tuple[str, Sequence[str]]],
) -> str:
    """The same values make the same page."""
    parts = ["# Where things stand", "", "Made from memory; changes to this page are lost.", ""]
    parts += _list("Focus", document.active_focus if document else ())
    parts += _list("Notes", document.notes if document else ())
    parts += _list("Last sessions", map(_session, sessions))
    parts += _list("Agents", map(_agent, known))
    for day, lines in logs:
        parts += [f"## {day}", "", *lines, ""]
    return "\n".join(parts)


def _list(title: str, items: Iterable[str]) -> list[str]:
    listed = [f"- {one_line(item, 2 * CHARS)}" for item in items]
    return [f"## {title}", "", *(listed or ["Nothing here."]), ""]


def _session(session: Session) -> str:
    where = f" on {session.branch}" if session.branch else ""
    asked = f": {one_line(session.asked, CHARS)}" if session.asked else ""
    state = "" if session.ended_at else ", open"
    return f"{session.started_at[:16].replace('T', ' ')}{where}{state}{asked}"


def _agent(agent: Agent) -> str:
    since = f", since {agent.met_at[:10]}" if agent.met_at else ""
    brief = f", brief at version {agent.version}" if agent.version else ""
    return f"{agent.name}{since}: {counted(agent.memories, 'memory')}{brief}"
