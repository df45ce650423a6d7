"""The log of each day, `.ade/cto/daily/<date>.md`, and the page `.ade/cto/CURRENT.md`."""

from __future__ import annotations

import os
from itertools import groupby

from ademem.core import confined
from ademem.core.clock import stamp, timedelta
from ademem.core.text import counted
from ademem.files import agents, project_brief
from ademem.files.markdown import one_line
from ademem.store import activity

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import datetime

    from ademem.core.project import Project
    from ademem.files.agents import Agent
    from ademem.files.project_brief import CoreMemory
    from ademem.store import Store
    from ademem.store.activity import Happening, Session


EVENT_CHARS = 180
FIRST_DAYS = 7
"""Days before today that the first log covers."""
KEPT_DAYS = 90
"""Days that a log is kept."""


def append_log(project: Project, store: Store, now: datetime) -> list[str]:
    """Add new activity to the logs of its days, in UTC; return these days."""
    seen = (confined.read_text(project.root, _seen(project)) or "").strip()
    found = activity.since(store, seen or stamp(now - timedelta(days=FIRST_DAYS)))
    days = []
    for day, events in groupby(found, key=lambda event: event.at[:10]):
        if _add(project, day, map(line, events)):
            days.append(day)
    if found:
        confined.write_text(project.root, _seen(project), found[-1].at + "\n")
    _prune(project, now)
    return days


def line(event: Happening) -> str:
    said = one_line(event.text, EVENT_CHARS)
    if event.kind == "session":
        where = f" on {event.about}" if event.about else ""
        prompts = f"{event.count} prompt{'' if event.count == 1 else 's'}"
        said = f"session{where}, {prompts}" + (f": {said}" if said else "")
    else:
        said = f"{event.kind}: {said} ({event.about})"
    return f"- [{event.at[11:19]}] {said}"


def days(project: Project) -> list[str]:
    """Return the days that have a log, the newest first."""
    names = confined.names(project.root, _folder(project))
    return sorted((name[:-3] for name in names if _is_log(name)), reverse=True)


def lines(project: Project, day: str) -> list[str]:
    """Return the lines of a day's log, people's own lines included."""
    text = confined.read_text(project.root, os.path.join(_folder(project), f"{day}.md")) or ""
    return [line for line in text.splitlines() if line.strip() and not line.startswith("# ")]


def _add(project: Project, day: str, new: map[str]) -> bool:
    """Add the lines that are not there yet: a killed process may have added some."""
    path = os.path.join(_folder(project), f"{day}.md")
    text = confined.read_text(project.root, path) or f"# {day}\n\n"
    there = set(text.splitlines())
    fresh = [line for line in new if line not in there]
    if not fresh:
        return False
    ended = text if text.endswith("\n") else text + "\n"
    return confined.write_text(project.root, path, ended + "\n".join(fresh) + "\n")


def _prune(project: Project, now: datetime) -> None:
    oldest = stamp(now - timedelta(days=KEPT_DAYS))[:10]
    for day in days(project):
        if day < oldest:
            confined.remove(project.root, os.path.join(_folder(project), f"{day}.md"))


def _is_log(name: str) -> bool:
    parts = name.removesuffix(".md").split("-")
    return name.endswith(".md") and [len(part) for part in parts if part.isdecimal()] == [4, 2, 2]


def _folder(project: Project) -> str:
    return os.path.join(project.ade, "cto", "daily")


def _seen(project: Project) -> str:
    return os.path.join(project.run, "daily.seen")


SESSIONS = 8
SESSION_CHARS = 220
"""Characters about one session."""
TODAY, BEFORE = 14, 8
"""Last lines of the newest daily log, and of the one before it."""


def write_current(project: Project, store: Store, now: datetime) -> bool:
    """Update the daily logs and the page; return True if the page changed."""
    append_log(project, store, now)
    text = render_current(
        project_brief.labelled(store, project_brief.load(store)),
        activity.sessions(store, SESSIONS),
        agents.listed(store, project),
        [
            (day, lines(project, day)[-most:])
            for day, most in zip(days(project), (TODAY, BEFORE), strict=False)
        ],
    )
    page = os.path.join(project.ade, "cto", "CURRENT.md")
    return confined.write_text(project.root, page, text)


def render_current(
    document: CoreMemory | None,
    sessions: Sequence[Session],
    known: Sequence[Agent],
    logs: Sequence[tuple[str, Sequence[str]]],
) -> str:
    """Render the page; equal values make equal pages."""
    parts = ["# Where things stand", "", "Made from memory; changes to this page are lost.", ""]
    parts += _list("Focus", document.active_focus if document else ())
    parts += _list("Notes", document.notes if document else ())
    parts += _list("Last sessions", map(_session, sessions))
    parts += _list("Agents", map(_agent, known))
    for day, lines in logs:
        parts += [f"## {day}", "", *lines, ""]
    return "\n".join(parts)


def _list(title: str, items: Iterable[str]) -> list[str]:
    listed = [f"- {one_line(item, 2 * SESSION_CHARS)}" for item in items]
    return [f"## {title}", "", *(listed or ["Nothing here."]), ""]


def _session(session: Session) -> str:
    where = f" on {session.branch}" if session.branch else ""
    asked = f": {one_line(session.asked, SESSION_CHARS)}" if session.asked else ""
    state = "" if session.ended_at else ", open"
    return f"{session.started_at[:16].replace('T', ' ')}{where}{state}{asked}"


def _agent(agent: Agent) -> str:
    since = f", since {agent.met_at[:10]}" if agent.met_at else ""
    brief = f", brief at version {agent.version}" if agent.version else ""
    return f"{agent.name}{since}: {counted(agent.memories, 'memory')}{brief}"
