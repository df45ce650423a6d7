"""Commands about sessions, missions, and the procedures and skills that sessions teach."""

from __future__ import annotations

import os
from collections.abc import Iterator
from enum import StrEnum
from shlex import quote
from typing import Annotated, Any

import typer

from ademem import api
from ademem.core import who
from ademem.core.client import MISSION, mission_of
from ademem.core.errors import UsageError
from ademem.core.memory import flags
from ademem.core.text import counted, preview
from ademem.core.value import as_dict
from ademem.doors.cli import show
from ademem.doors.cli.commands import (
    DryRun,
    Id,
    Limit,
    Project,
    argument,
    command,
    flag,
    on_project,
    open_project,
    option,
    text_or_stdin,
)
from ademem.doors.views import session as views
from ademem.doors.views.practice import procedure_json, skill_json
from ademem.store.missions import Mission
from ademem.store.runtime import Runtime
from ademem.store.transitions import waits_for
from ademem.synthesis.procedures.records import Procedure
from ademem.synthesis.skill_registry import Listed

SessionId = Annotated[str, typer.Argument(metavar="ID", help="The client's id of the session.")]
OfSession = Annotated[
    str | None, typer.Option("--session", metavar="ID", help="Of this session alone.")
]


@on_project("session start")
def start(
    memories: Runtime,
    id: SessionId,
    directory: str | None = option("--directory", "Where it works; else the current folder."),
) -> None:
    """Start a session, or fill the blanks of an open one."""
    found = api.start_session(memories, id, directory or os.getcwd())
    show.report(found, _lines(found), fence=True)


@on_project("session end")
def end(
    memories: Runtime,
    id: SessionId,
    summary: str = option("--summary", "What was done; - reads input.", ""),
) -> None:
    """End a session for good."""
    found = api.end_session(memories, id, text_or_stdin(summary))
    show.report(found, _lines(found), fence=True)


@on_project("session summary")
def summary(
    memories: Runtime,
    text: str = argument("TEXT", "What was done; - reads standard input.", "-"),
    of: OfSession = None,
) -> None:
    """Write the summary of a session as a memory."""
    show.verdict(api.summarize_session(memories, text_or_stdin(text), of))


@on_project("session list")
def list_(memories: Runtime, limit: Limit = 20) -> None:
    """List sessions, newest first."""
    show.listing("sessions", api.list_sessions(memories, limit), _lines, "no session yet")


@on_project("session show")
def show_(memories: Runtime, id: SessionId) -> None:
    """Show a session with its memories."""
    found = api.get_session(memories, id)
    learned = api.list_session_memories(memories, id)
    values = {"session": found, "memories": [show.memory_json(each) for each in learned]}
    show.report(values, (*_lines(found), *map(show.line, learned)), fence=True)


@on_project("session delete")
def delete(memories: Runtime, id: SessionId, dry_run: DryRun = False) -> None:
    """Delete a session that has no memories, and its prompts."""
    if api.get_session(memories, id)["prompts"] and not dry_run:
        who.require_person(who.of_process(), f"`ademem session delete {id}`")
    api.delete_session(memories, id, dry_run=dry_run)
    _show_deleted(id, dry_run)


@on_project()
def why(
    memories: Runtime, id: str | None = argument("SESSION", "None: this one, or the latest.", None)
) -> None:
    """Show what a session was sent, and which memories it used."""
    id, found = api.list_sent(memories, id)
    if show.as_json:
        texts = [views.to_json(each, show.is_withheld) for each in found]
        return show.json({"session": id or None, "count": len(texts), "texts": texts})
    if not found:
        return show.echo("no session was sent anything yet", err=True)
    show.say(f"session {id}")
    return show.fenced(line for each in found for line in views.to_lines(each, show.is_withheld))


@on_project("prompts search")
def search(
    memories: Runtime,
    words: list[str] | None = argument("WORDS", "What was typed; none: the newest.", None),
    recent: int = option("--recent -n", "So many.", 20, min=1, max=1000),
    of: OfSession = None,
) -> None:
    """Find prompts by words, or list the newest. Exit code 1 without hits."""
    found = api.search_prompts(memories, " ".join(words or ()), of, recent)
    show.listing(
        *("prompts", found),
        lambda row: [f"{row['id']}  {row['created_at'][:16]}  {row['text']}"],
        "no such prompt",
    )
    raise typer.Exit(show.exit_code(found) if words else 0)


@command("prompts delete")
def delete_prompt(
    id: str = argument("ID", "Of a prompt, or its beginning."),
    dry_run: DryRun = False,
    project: Project = None,
) -> None:
    """Delete a prompt for good."""
    if not dry_run:
        who.require_person(who.of_process(), f"`ademem prompts delete {id}`")
    with open_project(project) as memories:
        whole = api.delete_prompt(memories, id, dry_run=dry_run)
    _show_deleted(whole, dry_run)


def _show_deleted(id: str, dry_run: bool) -> None:
    line = f"{'would delete' if dry_run else 'deleted'} {id}"
    show.report({"dry_run": dry_run, "deleted": id}, [line])


def _lines(row: dict[str, Any]) -> Iterator[str]:
    end = f"ended {row['ended_at'][:16]} ({row['end_reason']})" if "ended_at" in row else "open"
    held = f"{counted(row['memories'], 'memory')}, {counted(row['prompts'], 'prompt')}"
    yield f"{row['id']}  {row['started_at'][:16]}  {end}; {held}"
    if row.get("summary"):
        yield f"    {row['summary']}"


TEXT_CHARS = 120


@on_project("procedures list")
def list_procedures(
    memories: Runtime,
    id: str | None = argument("ID", "Show steps, sources and uses of this one.", None),
    archived: bool = flag("--all", "Abandoned and superseded ones, too."),
) -> None:
    """List procedures, the highest confidence first."""
    if id is not None:
        found, past = api.get_procedure(memories, id), api.get_procedure_history(memories, id)
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
        *("procedures", api.list_procedures(memories, archived=archived)),
        lambda each: [_procedure_line(each)],
        "no procedure yet: three sessions with the same steps make one",
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
    found = api.record_outcome(memories, id, result, reason)
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
    exported = api.export_procedures(memories, id, publish=publish, dry_run=dry_run)
    would = "would be " if dry_run else ""
    lines = [f"{would}{each.outcome}: {each.path}" for each in exported]
    none = "no confirmed procedure; `ademem procedures list` shows the others"
    show.report({"count": len(exported), "files": exported}, lines, [] if lines else [none])


@on_project("skills list")
def list_skills(memories: Runtime, gone: bool = flag("--all", "Deleted files, too.")) -> None:
    """List skill files and their memories."""
    found = api.list_skills(memories, archived=gone)
    none = "no skills known; `ademem skills reindex` looks for them"
    show.listing("skills", found, lambda each: [_skill_line(each)], none, skill_json)


@on_project("skills reindex")
def reindex(memories: Runtime, dry_run: DryRun = False) -> None:
    """Scan the folders of skills. Lists unreadable files."""
    scanned = api.reindex_skills(memories, dry_run=dry_run)
    would = "would be " if dry_run else ""
    kinds = ("added", "changed", "restored", "archived")
    lines = [f"{would}{kind} {path}" for kind in kinds for path in getattr(scanned, kind)]
    lines.append(f"unchanged: {len(scanned.unchanged)}")
    show.report(scanned, lines, (f"{each.path} {each.reason}" for each in scanned.problems))


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
    started = api.start_mission(memories, goal, id=id)
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
    ended = api.end_mission(memories, _choose_mission(id, memories), outcome.value, reason=reason)
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
        found = api.get_mission(memories, _choose_mission(id, memories))
        return show.table(as_dict(found) | {"memories": _counts(found, memories)})
    if id is not None:
        return show.memories(api.list_mission_memories(memories, id))
    missions = api.list_missions(memories, running=running)
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
    show.one("copied", api.promote_from_mission(memories, id))


def _choose_mission(id: str | None, memories: Runtime) -> str:
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
