"""The log of each day, `.ade/cto/daily/<date>.md`, and the page `.ade/cto/CURRENT.md`."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from itertools import groupby
from typing import Any

from ademem.core import confined, regex
from ademem.core.clock import stamp, timedelta
from ademem.core.project import Project
from ademem.core.text import counted
from ademem.files import project_brief
from ademem.files.markdown import one_line
from ademem.files.project_brief import Agent
from ademem.store import Store, sessions, statistics
from ademem.store.statistics import Event

EVENT_CHARS = 180
FIRST_DAYS = 7
"""Days before today that the first log covers."""
KEPT_DAYS = 90
SESSIONS = 8
SESSION_CHARS = 220
TODAY, BEFORE = 14, 8
"""Last lines of the newest daily log, and of the one before it."""


def append_log(project: Project, store: Store, now: datetime) -> None:
    """Count days in UTC."""
    marker = os.path.join(project.run, "daily.seen")
    last = (confined.read_text(project.root, marker) or "").strip()
    found = statistics.events_since(store, last or stamp(now - timedelta(days=FIRST_DAYS)))
    append_lines(project, [(event.at, _event_text(event)) for event in found])
    if found:
        confined.write_text(project.root, marker, found[-1].at + "\n")
    oldest = stamp(now - timedelta(days=KEPT_DAYS))[:10]
    for day in days_of(project):
        if day < oldest:
            confined.remove(project.root, _path(project, day))


def append_lines(project: Project, events: Iterable[tuple[str, str]]) -> None:
    """Append a line for each time and text to the log of its day, unless it is there."""
    for day, texts in groupby(events, key=lambda event: event[0][:10]):
        path = _path(project, day)
        text = confined.read_text(project.root, path) or f"# {day}\n\n"
        there = set(text.splitlines())  # a killed process may have added some
        lines = (f"- [{at[11:19]}] {what}" for at, what in texts)
        new = [line for line in lines if line not in there]
        end = "" if text.endswith("\n") else "\n"
        if new:
            confined.write_text(project.root, path, text + end + "\n".join(new) + "\n")


def _event_text(event: Event) -> str:
    text = one_line(event.text, EVENT_CHARS)
    if event.kind == "session":
        where = f" on {event.about}" if event.about else ""
        prompts = f"{event.count} prompt{'' if event.count == 1 else 's'}"
        text = f"session{where}, {prompts}" + (f": {text}" if text else "")
    else:
        text = f"{event.kind}: {text} ({event.about})"
    return text


def days_of(project: Project) -> list[str]:
    names = confined.names(project.root, os.path.dirname(_path(project, "")))
    found = (regex.fullmatch(r"(\d{4}-\d\d-\d\d)\.md", name) for name in names)
    return sorted((date[1] for date in found if date), reverse=True)


def log_lines(project: Project, day: str) -> list[str]:
    text = confined.read_text(project.root, _path(project, day)) or ""
    return [line for line in text.splitlines() if line.strip() and not line.startswith("# ")]


def _path(project: Project, day: str) -> str:
    return os.path.join(project.ade, "cto", "daily", f"{day}.md")


def write_current(project: Project, store: Store, now: datetime) -> bool:
    """Return True if the page changed."""

    def section(title: str, items: Iterable[str]) -> Iterator[str]:
        listed = [f"- {one_line(item, 2 * SESSION_CHARS)}" for item in items]
        yield from (f"## {title}", "", *(listed or ["Nothing here."]), "")

    append_log(project, store, now)
    document = project_brief.with_labels(store, project_brief.load(store))
    parts = ["# Where things stand", "", "Made from memory; changes to this page are lost.", ""]
    parts += section("Focus", document.active_focus if document else ())
    parts += section("Notes", document.notes if document else ())
    listed = sessions.list_sessions(store, SESSIONS)
    asked = sessions.find_first_prompts(store, [row["id"] for row in listed])
    lines = (_session_line(row, asked.get(row["id"], "")) for row in listed)
    parts += section("Last sessions", lines)
    agents = project_brief.list_agents(store, project)
    parts += section("Agents", map(_agent_line, agents))
    for day, most in zip(days_of(project), (TODAY, BEFORE), strict=False):
        parts += [f"## {day}", "", *log_lines(project, day)[-most:], ""]
    page = os.path.join(project.ade, "cto", "CURRENT.md")
    return confined.write_text(project.root, page, "\n".join(parts))


def _session_line(row: Mapping[str, Any], prompt: str) -> str:
    where = f" on {row['branch']}" if row.get("branch") else ""
    asked = f": {one_line(prompt, SESSION_CHARS)}" if prompt else ""
    state = "" if "ended_at" in row else ", open"
    return f"{row['started_at'][:16].replace('T', ' ')}{where}{state}{asked}"


def _agent_line(agent: Agent) -> str:
    since = f", since {agent.met_at[:10]}" if agent.met_at else ""
    brief = f", brief at version {agent.version}" if agent.version else ""
    return f"{agent.name}{since}: {counted(agent.memories, 'memory')}{brief}"
