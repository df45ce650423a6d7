"""Commands about missions, and the procedures and skills that sessions teach."""

from __future__ import annotations

from enum import StrEnum
from shlex import quote
from typing import Any

from ademem.core.client import MISSION, mission_of
from ademem.core.errors import UsageError
from ademem.core.memory import flags
from ademem.core.text import counted, preview
from ademem.core.value import as_dict
from ademem.doors.cli import show
from ademem.doors.cli.commands import on_project
from ademem.doors.cli.options import argument, flag, option
from ademem.doors.cli.parameters import DryRun, Id
from ademem.operations.rows import WITHHELD
from ademem.plugins.procedures import operations
from ademem.plugins.procedures.records import Procedure
from ademem.plugins.procedures.skill_registry import Listed
from ademem.plugins.procedures.views import procedure_json, skill_json
from ademem.store.missions import Mission
from ademem.store.runtime import Runtime
from ademem.store.transitions import waits_for

TEXT_CHARS = 120


@on_project("procedures list")
def list_procedures(
    memories: Runtime,
    id: str | None = argument("ID", "Show steps, sources and uses of this one.", None),
    archived: bool = flag("--all", "Abandoned and superseded ones, too."),
) -> None:
    """List procedures, the highest confidence first."""
    if id is not None:
        found, past = (
            operations.get_procedure(memories, id),
            operations.get_procedure_history(memories, id),
        )
        show.require_readable(found.memory)
        if show.as_json:
            beside = {"markdown": found.wording.markdown} | past
            return show.json(procedure_json(found) | beside)
        show.fenced((_procedure_line(found), "", *found.memory.content.split("\n"), ""))
        sources = ", ".join(past["sources"])
        show.say(f"learned from: {sources or 'no episode that still exists'}")
        for row in past["history"]:
            use = f"{row['outcome']}  {row['confidence']:.2f}  {row['reason'] or ''}"
            show.say(f"{row['recorded_at']}  {use}")
        return None
    return show.listing(
        *("procedures", operations.list_procedures(memories, archived=archived)),
        lambda each: [_procedure_line(each)],
        "no procedure yet: three sessions with the same steps, which others lack, make one",
        procedure_json,
    )


@on_project("procedures outcome")
def outcome(
    memories: Runtime,
    id: Id,
    result: str = argument("success|failure", "How it ended."),
    reason: str = option("--reason", "What happened.", ""),
) -> None:
    """Record the outcome of one use."""
    found = operations.record_outcome(memories, id, result, reason)
    show.report(procedure_json(found), [_procedure_line(found)])


@on_project("procedures export")
def export(
    memories: Runtime,
    id: str | None = argument("ID", "This one; else all.", None),
    publish: bool | None = option(
        "--publish/--no-publish", "Also to .claude/skills (skills.publish)."
    ),
    dry_run: DryRun = False,
) -> None:
    """Write confirmed procedures as skills. Naming one confirms it."""
    exported = operations.export_procedures(memories, id, publish=publish, dry_run=dry_run)
    would = "would be " if dry_run else ""
    lines = [f"{would}{each.outcome}: {each.path}" for each in exported]
    none = "no confirmed procedure; `ademem procedures list` shows the others"
    show.report({"count": len(exported), "files": exported}, lines, [] if lines else [none])


@on_project("skills list")
def list_skills(memories: Runtime, gone: bool = flag("--all", "Deleted files, too.")) -> None:
    """List skill files and their memories."""
    found = operations.list_skills(memories, archived=gone)
    none = "no skills known; `ademem skills reindex` looks for them"
    show.listing("skills", found, lambda each: [_skill_line(each)], none, skill_json)


@on_project("skills reindex")
def reindex(memories: Runtime, dry_run: DryRun = False) -> None:
    """Scan the folders of skills. Lists unreadable files."""
    scanned = operations.reindex_skills(memories, dry_run=dry_run)
    would = "would be " if dry_run else ""
    kinds = ("added", "changed", "restored", "archived")
    lines = [f"{would}{kind} {path}" for kind in kinds for path in getattr(scanned, kind)]
    lines.append(f"unchanged: {len(scanned.unchanged)}")
    show.report(scanned, lines, (f"{each.path} {each.reason}" for each in scanned.problems))


def _procedure_line(each: Procedure) -> str:
    memory, details = each.memory, each.details
    if memory.quarantine_reason:
        return f"{memory.id}  {WITHHELD}"
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


class Outcome(StrEnum):
    SUCCESS = "success"
    FAILURE = "failure"
    CANCELLED = "cancelled"


@on_project("mission start")
def start_mission(
    memories: Runtime,
    goal: str = argument("GOAL", "What is to be done."),
    id: str = option("--id", "Else made from the goal.", ""),
) -> None:
    """Start a mission."""
    started = operations.start_mission(memories, goal, id=id)
    bound = f"export {MISSION}={quote(started.id)}"
    line = f"{started.id} started; `{bound}` binds a shell to it"
    show.report(as_dict(started), [line])


@on_project("mission end")
def end_mission(
    memories: Runtime,
    id: str | None = argument("ID", f"Else {MISSION}, or the one that runs.", None),
    outcome: Outcome = option("--outcome", "How it ended.", ...),
    reason: str = option("--reason", "Why it failed, as a lesson.", ""),
) -> None:
    """End a mission and copy its lessons to the project."""
    ended = operations.end_mission(
        memories, _choose_mission(id, memories), outcome.value, reason=reason
    )
    copied = [show.memory_json(memory) for memory in ended.copied]
    values = {"event": ended.event or None, "kept": ended.kept, "copied": copied}
    lines = [f"copied {show.line(memory, 100)}" for memory in ended.copied]
    end = f"{ended.mission.id} {ended.mission.status}: {len(copied)} copied"
    lines.append(end + show.name_undo(ended.event))
    show.report(as_dict(ended.mission) | values, lines)


@on_project("mission list")
def list_missions(
    memories: Runtime,
    id: str | None = argument("ID", "List the memories of this one.", None),
    running: bool = flag("--running", "Only those that run."),
    status: bool = flag("--status", f"Status of ID, {MISSION}, or the one that runs."),
) -> None:
    """List missions, newest first, or the memories of one."""
    if status:
        found = operations.get_mission(memories, _choose_mission(id, memories))
        return show.table(as_dict(found) | {"memories": _counts(found, memories)})
    if id is not None:
        return show.memories(operations.list_mission_memories(memories, id))
    missions = operations.list_missions(memories, running=running)
    rows = [as_dict(each) | _counts(each, memories) for each in missions]
    return show.listing(
        *("missions", rows),
        lambda row: [
            f"{row['id']}  {row['status']},"
            f" {counted(row['promoted'] + row['candidates'], 'memory')}"
            f"  {preview(row['goal'], 100)}"
        ],
        "no missions",
    )


@on_project("mission promote")
def promote(memories: Runtime, id: Id) -> None:
    """Copy one memory of a mission to the project."""
    show.one("copied", operations.promote_from_mission(memories, id))


def _choose_mission(id: str | None, memories: Runtime) -> str:
    if found := id or mission_of(memories.environment):
        return found
    running = operations.list_missions(memories, running=True)
    if len(running) != 1:
        names = ", ".join(each.id for each in running) or "none; `ademem mission list` shows all"
        raise UsageError("which mission?", f"running: {names}")
    return running[0].id


def _counts(mission: Mission, memories: Runtime) -> dict[str, Any]:
    held = operations.list_mission_memories(memories, mission.id)
    promoted = sum(memory.status == "promoted" for memory in held)
    return {"promoted": promoted, "candidates": len(held) - promoted}
