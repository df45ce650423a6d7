"""Commands about missions, whose memories are separate until they end."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any

import typer

from ademem import api
from ademem.core.client import MISSION, mission_of
from ademem.core.errors import UsageError
from ademem.core.text import counted, preview
from ademem.core.value import as_dict
from ademem.doors.cli import show
from ademem.doors.cli.commands import app
from ademem.doors.cli.options import AsJson, Id, Project, open_project
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


@mission.command("start")
def start(
    goal: Annotated[str, typer.Argument(metavar="GOAL", help="What is to be done.")],
    id: Annotated[str, typer.Option("--id", help="Else made from the goal.")] = "",
    project: Project = None,
    as_json: AsJson = False,
) -> None:
    """Start a mission."""
    with open_project(project) as memories:
        started = api.start_mission(memories, goal, id=id)
    if as_json:
        return show.json(as_dict(started))
    show.say(f"{started.id} started; `export {MISSION}={started.id}` binds a shell to it")
    return None


@mission.command("end")
def end(
    id: Annotated[
        str | None, typer.Argument(metavar="ID", help=f"Else {MISSION}, or the one that runs.")
    ] = None,
    outcome: Annotated[Outcome, typer.Option("--outcome", help="How it ended.")] = ...,  # type: ignore[assignment]
    reason: Annotated[str, typer.Option("--reason", help="Why it failed, as a lesson.")] = "",
    project: Project = None,
    as_json: AsJson = False,
) -> None:
    """End a mission and copy its lessons to the project."""
    with open_project(project) as memories:
        ended = api.end_mission(memories, _choose(id, memories), outcome.value, reason=reason)
    if as_json:
        copied = [show.memory_json(memory) for memory in ended.copied]
        whole = {"event": ended.event or None, "kept": ended.kept, "copied": copied}
        return show.json(as_dict(ended.mission) | whole)
    for memory in ended.copied:
        show.say(f"copied {show.line(memory, 100)}")
    undo = f" (`ademem undo {ended.event}` takes it back)" if ended.event else ""
    show.say(f"{ended.mission.id} {ended.mission.status}: {len(ended.copied)} copied{undo}")
    return None


@mission.command("list")
def list_(
    id: Annotated[
        str | None, typer.Argument(metavar="ID", help="List the memories of this one.")
    ] = None,
    running: Annotated[bool, typer.Option("--running", help="Only those that run.")] = False,
    status: Annotated[
        bool, typer.Option("--status", help=f"Status of ID, {MISSION}, or the one that runs.")
    ] = False,
    project: Project = None,
    as_json: AsJson = False,
) -> None:
    """List missions, newest first, or the memories of one."""
    with open_project(project) as memories:
        if status:
            found = api.get_mission(memories, _choose(id, memories))
            counts = _counts(found, memories)
            return show.table(as_dict(found) | {"memories": counts}, as_json=as_json)
        if id is not None:
            return show.memories(api.list_mission_memories(memories, id), as_json=as_json)
        show.listing(
            "missions",
            [
                as_dict(each) | _counts(each, memories)
                for each in api.list_missions(memories, running=running)
            ],
            as_json=as_json,
            lines=lambda row: [
                f"{row['id']}  {row['status']},"
                f" {counted(row['promoted'] + row['candidates'], 'memory')}"
                f"  {preview(row['goal'], 100)}"
            ],
            none="no missions",
        )
    return None


@mission.command("promote")
def promote(id: Id, project: Project = None, as_json: AsJson = False) -> None:
    """Copy one memory of a mission to the project."""
    with open_project(project) as memories:
        memory = api.promote_from_mission(memories, id)
    show.one("copied", memory, as_json)


def _choose(id: str | None, memories: Runtime) -> str:
    """Return the id, else the mission of this shell, else the only one that runs."""
    if found := id or mission_of(memories.environment):
        return found
    running = api.list_missions(memories, running=True)
    if len(running) != 1:
        names = ", ".join(each.id for each in running) or "none; `ademem mission list` shows all"
        raise UsageError("which mission?", f"running: {names}")
    return running[0].id


def _counts(mission: Mission, memories: Runtime) -> dict[str, Any]:
    held = api.list_mission_memories(memories, mission.id)
    promoted = sum(memory.status == "promoted" for memory in held)
    return {"promoted": promoted, "candidates": len(held) - promoted}
