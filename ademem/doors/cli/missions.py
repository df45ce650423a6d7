"""Commands about missions, whose memories are their own until they end."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ademem import api
from ademem.core.errors import UsageError
from ademem.core.text import counted, preview
from ademem.core.value import as_dict
from ademem.doors.cli import shape, show
from ademem.doors.cli.commands import app
from ademem.doors.cli.options import AsJson, Id, Project, opened
from ademem.store.mission_binding import VARIABLE, mission_of

if TYPE_CHECKING:
    from ademem.store.missions import Mission
    from ademem.store.runtime import Runtime

mission = typer.Typer(
    help="Missions, whose memories are separate until they end.", no_args_is_help=True
)
app.add_typer(mission, name="mission")


class Outcome(StrEnum):
    SUCCESS = "success"
    FAILURE = "failure"
    CANCELLED = "cancelled"


MissionId = Annotated[
    str | None, typer.Argument(metavar="ID", help=f"Else {VARIABLE}, or the one that runs.")
]


@mission.command("start")
def start(
    goal: Annotated[str, typer.Argument(metavar="GOAL", help="What is to be done.")],
    id: Annotated[str, typer.Option("--id", help="Else made from the goal.")] = "",
    project: Project = None,
    as_json: AsJson = False,
) -> None:
    """Start a mission."""
    with opened(project) as memories:
        started = api.start_mission(memories, goal, id=id)
    if as_json:
        return show.json(as_dict(started))
    show.say(f"{started.id} started; `export {VARIABLE}={started.id}` binds a shell to it")
    return None


@mission.command("end")
def end(
    id: MissionId = None,
    outcome: Annotated[Outcome, typer.Option("--outcome", help="How it ended.")] = ...,  # type: ignore[assignment]
    reason: Annotated[str, typer.Option("--reason", help="Why it failed, as a lesson.")] = "",
    project: Project = None,
    as_json: AsJson = False,
) -> None:
    """End a mission and copy its lessons to the project."""
    with opened(project) as memories:
        ended = api.end_mission(memories, _meant(id, memories), outcome.value, reason=reason)
    if as_json:
        copied = [shape.as_json(memory) for memory in ended.copied]
        whole = {"event": ended.event or None, "kept": ended.kept, "copied": copied}
        return show.json(as_dict(ended.mission) | whole)
    for memory in ended.copied:
        show.say(f"copied {show.line(memory, 100)}")
    undo = f" (`ademem undo {ended.event}` takes it back)" if ended.event else ""
    show.say(f"{ended.mission.id} {ended.mission.status}: {len(ended.copied)} copied{undo}")
    return None


@mission.command("status")
def status(id: MissionId = None, project: Project = None, as_json: AsJson = False) -> None:
    """Show the status of a mission."""
    with opened(project) as memories:
        found = api.get_mission(memories, _meant(id, memories))
        counts = _counts(found, memories)
    show.table(as_dict(found) | {"memories": counts}, as_json_=as_json)


@mission.command("list")
def list_(
    id: Annotated[
        str | None, typer.Argument(metavar="ID", help="List the memories of this one.")
    ] = None,
    running: Annotated[bool, typer.Option("--running", help="Only those that run.")] = False,
    project: Project = None,
    as_json: AsJson = False,
) -> None:
    """List missions, newest first, or the memories of one."""
    with opened(project) as memories:
        if id is not None:
            return show.memories(api.list_mission_memories(memories, id), as_json_=as_json)
        rows = [
            as_dict(each) | _counts(each, memories)
            for each in api.list_missions(memories, running=running)
        ]
    if as_json:
        return show.json({"count": len(rows), "missions": rows})
    for row in rows:
        held = counted(row["promoted"] + row["candidates"], "memory")
        show.say(f"{row['id']}  {row['status']}, {held}  {preview(row['goal'], 100)}")
    if not rows:
        typer.echo("no missions", err=True)
    return None


@mission.command("promote")
def promote(id: Id, project: Project = None, as_json: AsJson = False) -> None:
    """Copy one memory of a mission to the project."""
    with opened(project) as memories:
        memory = api.promote_from_mission(memories, id)
    show.one("copied", memory, as_json)


def _meant(id: str | None, memories: Runtime) -> str:
    """The one named, the one this shell is bound to, or the only one that runs."""
    if found := id or mission_of(memories.environment):
        return found
    running = api.list_missions(memories, running=True)
    if len(running) != 1:
        names = ", ".join(each.id for each in running) or "none; `ademem mission list` shows all"
        raise UsageError("which mission?", f"running: {names}")
    return running[0].id


def _counts(found: Mission, memories: Runtime) -> dict[str, Any]:
    held = api.list_mission_memories(memories, found.id)
    confirmed = sum(memory.status == "promoted" for memory in held)
    return {"promoted": confirmed, "candidates": len(held) - confirmed}
