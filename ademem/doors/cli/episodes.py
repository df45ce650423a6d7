"""What sessions did."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from ademem import api
from ademem.core import untrusted
from ademem.core.text import counted, preview
from ademem.core.value import as_dict
from ademem.doors.cli import show
from ademem.doors.cli.commands import app
from ademem.doors.cli.options import AsJson, Limit, Project, opened

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from ademem.store.episodes import Episode

LINE_CHARS = 160


@app.command()
def episodes(limit: Limit = 20, project: Project = None, as_json: AsJson = False) -> None:
    """List episodes of sessions and missions, newest first."""
    with opened(project) as memories:
        found = api.list_episodes(memories, limit)
    if as_json:
        return show.json({"count": len(found), "episodes": [_as_json(each) for each in found]})
    if not found:
        typer.echo("no episodes", err=True)
        return None
    return show.fenced(untrusted.escaped(line) for each in found for line in _lines(each))


def _lines(episode: Episode) -> Iterator[str]:
    day = episode.ended_at[: len("2026-01-31")]
    task = preview(episode.task, LINE_CHARS)
    yield f"{episode.memory_id}  {day}  [{episode.outcome}] {task}"
    done = counted(len(episode.actions), "action" if episode.session_id else "session")
    of = "" if episode.session_id else f" of the mission {episode.mission_id}"
    files, runs = counted(len(episode.files), "file"), counted(len(episode.tests), "test run")
    errors = counted(len(episode.errors), "error")
    yield f"    {done}{of}, {files}, {runs}, {errors}; told by {episode.summarised_by}"


def _as_json(episode: Episode) -> dict[str, Any]:
    told = as_dict(episode)
    for name in ("actions", "tests"):
        told[name] = [as_dict(each) for each in told[name]]
    return told
