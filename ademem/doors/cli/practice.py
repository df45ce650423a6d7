"""Commands about missions, procedures learned from sessions, and skill files."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from shlex import quote
from typing import Any

import typer

from ademem import api
from ademem.core.client import MISSION, mission_of
from ademem.core.errors import UsageError
from ademem.core.memory import flags
from ademem.core.text import counted, preview
from ademem.core.value import as_dict
from ademem.doors.cli import show
from ademem.doors.cli.commands import app
from ademem.doors.cli.options import (
    AsJson,
    DryRun,
    Id,
    Project,
    argument,
    flag,
    open_project,
    option,
)
from ademem.doors.views.practice import procedure_json, skill_json
from ademem.store.missions import Mission
from ademem.store.runtime import Runtime
from ademem.store.transitions import waits_for
from ademem.synthesis.procedures.records import Procedure
from ademem.synthesis.skill_registry import Listed

TEXT_CHARS = 120

procedures = typer.Typer(help="Procedures learned from sessions.", no_args_is_help=True)
skills = typer.Typer(help="Skill and command files of the project.", no_args_is_help=True)
app.add_typer(procedures, name="procedures")
app.add_typer(skills, name="skills")


@procedures.command("list")
def list_procedures(
    id: str | None = argument("ID", "Show steps, sources and uses of this one.", None),
    archived: bool = flag("--all", "Abandoned and superseded ones, too."),
    project: Project = None,
    as_json: AsJson = False,
) -> None:
    """List procedures, the highest confidence first."""
    with open_project(project) as memories:
        if id is not None:
            return _show_procedure(memories, id, as_json)
        found = api.list_procedures(memories, archived=archived)
    none = "no procedure yet: three sessions with the same steps make one"

    show.listing(
        "procedures", found, lambda each: [_procedure_line(each)], none, as_json, procedure_json
    )
    return None


def _show_procedure(memories: Runtime, id: str, as_json: bool) -> None:
    found, past = api.get_procedure(memories, id), api.get_procedure_history(memories, id)
    show.require_readable(found.memory)
    if as_json:
        return show.json(procedure_json(found) | {"markdown": found.wording.markdown} | past)
    show.fenced((_procedure_line(found), "", *found.memory.content.split("\n"), ""))
    show.say(f"learned from: {', '.join(past['sources']) or 'no episode that still exists'}")
    for row in past["history"]:
        use = f"{row['outcome']}  {row['confidence']:.2f}  {row['reason'] or ''}"
        show.say(f"{row['recorded_at']}  {use}")
    return None


@procedures.command()
def outcome(
    id: Id,
    result: str = argument("success|failure", "How it ended."),
    reason: str = option("--reason", "What happened.", ""),
    project: Project = None,
    as_json: AsJson = False,
) -> None:
    """Record the outcome of one use."""
    with open_project(project) as memories:
        found = api.record_outcome(memories, id, result, reason)
    show.report(procedure_json(found), [_procedure_line(found)], as_json=as_json)


@procedures.command()
def export(
    id: str | None = argument("ID", "This one; else all.", None),
    publish: bool | None = option(
        "--publish/--no-publish", "Also to .claude/skills (skills.publish)."
    ),
    dry_run: DryRun = False,
    project: Project = None,
    as_json: AsJson = False,
) -> None:
    """Write confirmed procedures as skills. Naming one confirms it."""
    with open_project(project) as memories:
        exported = api.export_procedures(memories, id, publish=publish, dry_run=dry_run)
    if as_json:
        return show.json({"count": len(exported), "files": exported})
    for each in exported:
        show.say(f"{'would be ' if dry_run else ''}{each.outcome}: {each.path}")
    if not exported:
        show.echo("no confirmed procedure; `ademem procedures list` shows the others", err=True)
    return None


@skills.command("list")
def list_skills(
    gone: bool = flag("--all", "Deleted files, too."),
    project: Project = None,
    as_json: AsJson = False,
) -> None:
    """List skill files and their memories."""
    with open_project(project) as memories:
        found = api.list_skills(memories, gone=gone)
    none = "no skills known; `ademem skills reindex` looks for them"
    show.listing("skills", found, lambda each: [_skill_line(each)], none, as_json, skill_json)


@skills.command()
def reindex(dry_run: DryRun = False, project: Project = None, as_json: AsJson = False) -> None:
    """Scan the folders of skills. Lists unreadable files."""
    with open_project(project) as memories:
        scanned = api.reindex_skills(memories, dry_run=dry_run)
    if as_json:
        return show.json(scanned)
    for kind in ("added", "changed", "restored", "archived"):
        for path in getattr(scanned, kind):
            show.say(f"{'would be ' if dry_run else ''}{kind} {path}")
    for problem in scanned.problems:
        show.say(f"{problem.path} {problem.reason}", err=True)
    show.echo(f"unchanged: {len(scanned.unchanged)}")
    return None


def _procedure_line(each: Procedure) -> str:
    memory, details = each.memory, each.details
    if memory.quarantine_reason:
        return f"{memory.id}  {show.WITHHELD}"
    text = preview(f"{memory.title}: use when {each.wording.trigger}", TEXT_CHARS)
    worked = f"{details.success_count} of {each.outcomes} worked"
    marks = ", ".join([f"{memory.confidence:.0%}", worked, *flags(memory)])
    return f"{memory.id}  {text}  ({marks})"


def _skill_line(each: Listed) -> str:
    memory = each.memory
    if memory is None:
        return f"{'-':<12}  {each.entry.path}  (its memory was deleted)"
    start = f"{memory.id}  {each.entry.path}"
    if memory.quarantine_reason:
        return f"{start}  {waits_for(memory)}"
    marks = ", ".join([*([] if each.there else ["gone"]), *flags(memory)])
    text = f"{start}  {each.name}: {preview(memory.content, TEXT_CHARS)}"
    return f"{text}  ({marks})" if marks else text


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
    goal: str = argument("GOAL", "What is to be done."),
    id: str = option("--id", "Else made from the goal.", ""),
    project: Project = None,
    as_json: AsJson = False,
) -> None:
    """Start a mission."""
    with open_project(project) as memories:
        started = api.start_mission(memories, goal, id=id)
    bound = f"export {MISSION}={quote(started.id)}"
    line = f"{started.id} started; `{bound}` binds a shell to it"
    show.report(as_dict(started), [line], as_json=as_json)


@mission.command("end")
def end(
    id: str | None = argument("ID", f"Else {MISSION}, or the one that runs.", None),
    outcome: Outcome = option("--outcome", "How it ended.", ...),
    reason: str = option("--reason", "Why it failed, as a lesson.", ""),
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
    id: str | None = argument("ID", "List the memories of this one.", None),
    running: bool = flag("--running", "Only those that run."),
    status: bool = flag("--status", f"Status of ID, {MISSION}, or the one that runs."),
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
        missions = api.list_missions(memories, running=running)
        rows = [as_dict(each) | _counts(each, memories) for each in missions]
        show.listing("missions", rows, _mission_lines, "no missions", as_json)
    return None


def _mission_lines(row: dict[str, Any]) -> Iterator[str]:
    held = counted(row["promoted"] + row["candidates"], "memory")
    yield f"{row['id']}  {row['status']}, {held}  {preview(row['goal'], 100)}"


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
