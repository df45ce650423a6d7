"""Commands about acts on memories: list and undo them, and show memories as they were."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime
from typing import Annotated, Any

import typer

from ademem import api
from ademem.api.history import Event
from ademem.core.errors import NoSuchMemory, UsageError
from ademem.core.memory import Memory
from ademem.core.text import counted, preview
from ademem.core.value import as_dict
from ademem.doors.cli import show
from ademem.doors.cli.commands import app
from ademem.doors.cli.options import AsJson, DryRun, Limit, Project, open_project, parse_time
from ademem.store.episodes import Episode
from ademem.store.runtime import Runtime

TASK_CHARS = 160


@app.command()
def log(
    guard: Annotated[bool, typer.Option("--guard", help="Decisions of the guard instead.")] = False,
    refused: Annotated[
        bool, typer.Option("--refused", help="Texts that the write gate refused instead.")
    ] = False,
    episodes: Annotated[
        bool, typer.Option("--episodes", help="Episodes of sessions and missions instead.")
    ] = False,
    limit: Limit = 20,
    project: Project = None,
    as_json: AsJson = False,
) -> None:
    """Show acts on memories, newest first. `undo` takes their ids."""
    if guard + refused + episodes > 1:
        raise UsageError("--guard, --refused and --episodes exclude each other", "give one of them")
    with open_project(project) as memories:
        if guard:
            show.listing(
                "decisions",
                api.list_decisions(memories, limit),
                as_json=as_json,
                lines=_decision_lines,
                none="the guard was not asked yet",
            )
        elif refused:
            show.listing(
                "refusals",
                api.list_refusals(memories, limit),
                as_json=as_json,
                lines=_refusal_lines,
                none="nothing was refused",
            )
        elif episodes:
            show.listing(
                "episodes",
                api.list_episodes(memories, limit),
                as_json=as_json,
                row_json=_episode_json,
                lines=_episode_lines,
                none="no episodes",
            )
        else:
            show.listing(
                "events",
                api.list_events(memories, limit),
                as_json=as_json,
                row_json=lambda event: as_dict(event) | {"at": event.at.isoformat()},
                lines=_event_lines,
                none="nothing was done yet",
            )


@app.command()
def undo(
    event: Annotated[str, typer.Argument(metavar="EVENT", help="The id of an act in `log`.")],
    dry_run: DryRun = False,
    project: Project = None,
    as_json: AsJson = False,
) -> None:
    """Undo one act: an edit, a merge, even an undo."""
    with open_project(project) as memories:
        changed = api.undo(memories, event, dry_run=dry_run)
    if as_json:
        return show.memories(changed, as_json=True)
    for memory in changed:
        show.say(f"{'would undo' if dry_run else 'undid'} {show.line(memory, 120)}")
    return None


def show_revisions(memories: Runtime, id: str, *, as_json: bool) -> None:
    """Print every revision of a memory, oldest first."""
    revisions = api.list_revisions(memories, id)
    if show.to_model():
        with suppress(NoSuchMemory):  # nothing of a hard-deleted memory is withheld
            show.require_readable(api.get(memories, id))
    if as_json:
        return show.json({"id": id, "count": len(revisions), "revisions": revisions})
    for revision in revisions:
        reason = f"  {revision['reason']}" if revision["reason"] else ""
        what = f"{revision['operation']} by {revision['actor']}{reason}"
        show.say(f"{revision['revision']:>3}  {revision['created_at']}  {what}")
        show.say(f"     {revision['snapshot']['content'][:200]}")


def list_at(memories: Runtime, time: str, limit: int) -> list[Memory]:
    """List memories as they were at *time*, newest first."""
    return api.list_at(memories, parse_time(time, datetime.now(UTC)))[:limit]


def _event_lines(event: Event) -> Iterator[str]:
    what = ", ".join(f"{name} {count}" for name, count in event.operations.items())
    yield f"{event.id}  {event.at:%Y-%m-%d %H:%M}  {what} by {event.actor}"
    if event.text:
        yield f"    {preview(event.text, 120)}"


def _decision_lines(row: dict[str, Any]) -> Iterator[str]:
    what = f"{row['decision']:<5} {row['tool']}: {row['target']}"
    yield f"{row['created_at']}  {what}  ({row['reason']})"


def _refusal_lines(row: dict[str, Any]) -> Iterator[str]:
    yield f"{row['created_at']}  {row['rule']}: {row['reason']}"
    if row["preview"]:
        yield f"    {row['preview']}"


def _episode_lines(episode: Episode) -> Iterator[str]:
    day = episode.ended_at[: len("2026-01-31")]
    task = preview(episode.task, TASK_CHARS)
    yield f"{episode.memory_id}  {day}  [{episode.outcome}] {task}"
    done = counted(len(episode.actions), "action" if episode.session_id else "session")
    of = "" if episode.session_id else f" of the mission {episode.mission_id}"
    files, runs = counted(len(episode.files), "file"), counted(len(episode.tests), "test run")
    errors = counted(len(episode.errors), "error")
    yield f"    {done}{of}, {files}, {runs}, {errors}; summary by {episode.summarised_by}"


def _episode_json(episode: Episode) -> dict[str, Any]:
    row = as_dict(episode)
    for name in ("actions", "tests"):
        row[name] = [as_dict(each) for each in row[name]]
    return row
