"""Commands by which a person confirms, edits and removes single memories."""

from __future__ import annotations

import os
import shlex
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import typer

from ademem import api
from ademem.core import caller, clock, process
from ademem.core import project as project_
from ademem.core.anchor import replace_parts
from ademem.core.errors import UsageError
from ademem.core.memory import STOP, Category, Importance, Trust
from ademem.core.text import counted, preview
from ademem.core.value import as_dict
from ademem.doors.cli import show
from ademem.doors.cli.commands import (
    Anchors,
    CategoryName,
    Commands,
    DryRun,
    Id,
    ImportanceName,
    Limit,
    PathGlob,
    Project,
    Tags,
    Title,
    app,
    argument,
    command,
    flag,
    on_project,
    open_project,
    option,
    parse_choice,
    split_words,
    text_or_stdin,
)
from ademem.store.runtime import Runtime, personal_project
from ademem.store.verdicts import VERBS, Verdict


@on_project(app)
def promote(memories: Runtime, id: Id) -> None:
    """Confirm a candidate, or approve a quarantined one."""
    require_person(memories, id, "promote")
    show.one("promoted", api.promote(memories, id))


@on_project(app)
def reject(memories: Runtime, id: Id) -> None:
    """Archive a candidate for good."""
    show.one("rejected", api.reject(memories, id))


@on_project(app)
def archive(memories: Runtime, id: Id) -> None:
    """Remove a memory from recall and files."""
    show.one("archived", api.archive(memories, id))


@command(app)
def restore(
    id: str | None = argument("ID", "Of a memory.", None),
    backup: str | None = option(
        "--backup",
        "Replace the database by this backup: latest, a name or its beginning, a path.",
        metavar="NAME",
    ),
    own: bool = flag("--personal", "A backup of your own memories of all projects."),
    force: bool = flag("--force", "Accept a backup of another project."),
    dry_run: DryRun = False,
    project: Project = None,
) -> None:
    """Restore an archived or deleted memory, or a backup."""
    if backup is not None and id is None:
        from ademem.api import recovery

        if not dry_run:
            caller.refuse_client(os.environ, "to replace the database")
        here = project_.find(project, os.environ, os.getcwd()) if not own else None
        done = recovery.restore_backup(
            *(here or personal_project(os.environ), os.environ, backup, clock.now()),
            force=force,
            dry_run=dry_run,
            on_wait=lambda: show.echo("waiting for the worker of this project", err=True),
        )
        verb = "would restore" if dry_run else "restored"
        lines = [f"{verb} {counted(done.memories, 'memory')} of {done.backup}", *done.done]
        if done.replaced:
            lines.append(f"the database that was there is kept: {done.replaced}")
        return show.report({"dry_run": dry_run} | as_dict(done), lines)
    if id is None or backup is not None:
        raise UsageError("name a memory or a backup", "`ademem backup --list` shows the backups")
    with open_project(project) as memories:
        memory = api.get(memories, id) if dry_run else api.restore(memories, id)
    return show.one("would restore" if dry_run else "restored", memory)


@on_project(app)
def pin(
    memories: Runtime, id: Id, off: bool = flag("--off", "Show it only when it is relevant.")
) -> None:
    """Show a memory in every briefing."""
    if not off:
        require_person(memories, id, "pin")
    memory = api.pin(memories, id, pinned=not off)
    show.one("unpinned" if off else "pinned", memory)


@on_project(app)
def delete(
    memories: Runtime,
    id: Id,
    hard: bool = flag("--hard", "For good: no byte of it stays."),
    dry_run: DryRun = False,
) -> None:
    """Delete a memory; `restore` undoes it unless --hard."""
    memory = api.get(memories, id) if dry_run else api.delete(memories, id, hard=hard)
    show.one("would delete" if dry_run else "deleted", memory)


@on_project(app)
def edit(
    memories: Runtime,
    id: Id,
    content: str | None = option("--content", "New text; - reads standard input."),
    find: str | None = option("--find", "Part of the text; --replace takes its place."),
    replacement: str | None = option("--replace", "See --find."),
    revision: int | None = option("--revision", "Refuse unless it is at this revision."),
    title: Title = None,
    category: CategoryName = None,
    importance: ImportanceName = None,
    topic_key: str | None = option("--topic-key", "Its topic, which later texts replace."),
    tags: Tags = None,
    path: PathGlob = None,
    anchor: Anchors = None,
    command: Commands = None,
    stop: bool | None = option(
        "--stop/--no-stop", "Deny calls that it is about until they are made again."
    ),
) -> None:
    """Change a memory; without options the text opens in $EDITOR."""
    require_person(memories, id, "edit")
    given: dict[str, Any] = {
        "content": None if content is None else text_or_stdin(content),
        "find": find,
        "replacement": replacement,
        "title": title,
        "topic_key": topic_key,
        "category": parse_choice(Category, category),
        "importance": parse_choice(Importance, importance),
        "tags": None if tags is None else split_words(tags),
        "file_scope_pattern": path,
        "anchors": (
            None
            if anchor is None and command is None
            else replace_parts(api.get(memories, id).anchors, anchor, command)
        ),
    }
    if stop is not None:
        others = api.get(memories, id).tags if tags is None else given["tags"]
        given["tags"] = (*(tag for tag in others if tag != STOP), *((STOP,) if stop else ()))
    changes = {name: value for name, value in given.items() if value is not None}
    done = "edited"
    if changes and api.get_speaker(memories) is not Trust.USER:
        updated = api.update_by_agent(
            memories, id, api.origin(memories), revision=revision, **changes
        )
        memory = updated.memory
        if updated.proposed_for:
            done = f"{updated.proposed_for} is a person's; a candidate beside it:"
    elif not changes:
        memory = api.get(memories, id)
        with editing(memory.content) as edited:
            if edited.strip() in ("", memory.content):
                raise UsageError("nothing was changed", "save the editor's file, or pass --content")
            memory = api.edit(memories, id, revision=revision, content=edited)
    else:
        memory = api.edit(memories, id, revision=revision, **changes)
    show.one(done, memory)


def require_person(memories: Runtime, id: str, verb: str) -> None:
    """Raise NotByPerson for an act that only a person may do.

    A quarantined memory takes a terminal, and to confirm or pin any a shell that no client opened.
    """
    memory = api.get(memories, id)
    if memory.quarantine_reason:
        caller.require_person(os.environ, f"to {verb} {memory.id}, which is quarantined,")
    elif verb != "edit":
        caller.refuse_client(os.environ, f"to {verb} {memory.id}")


@contextmanager
def editing(text: str) -> Iterator[str]:
    """Yield the text as the person saved it in $EDITOR; the file stays where the act is refused."""
    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR")
    if not (editor or caller.has_terminal()):
        raise UsageError("there is no terminal to edit the text in", "--content gives the new one")
    editor = editor or "vi"
    path = Path(tempfile.mkdtemp(prefix="ademem-"), "memory.md")
    path.write_text(text, encoding="utf-8")
    edited = text
    try:
        try:
            code = process.run_in_terminal([*shlex.split(editor), str(path)])
            if code:
                raise OSError(f"exit status {code}")
            data = path.read_bytes()
        except (OSError, ValueError) as error:
            hint = "set $EDITOR, or pass --content"
            raise UsageError(f"{editor}: {error}", hint) from None
        edited = data.decode(errors="replace")
        if edited.encode() != data:
            raise UsageError("the text is not UTF-8", "save it so, or pass --content")
        yield edited
        edited = text
    finally:
        if edited.strip() in ("", text.strip()):
            shutil.rmtree(path.parent)
        else:
            show.echo(f"your text is in {path}", err=True)


relations = typer.Typer(help="Relations between memories.", no_args_is_help=True)
app.add_typer(relations, name="relations")

TEXT_CHARS = 80


@on_project(relations, "list")
def list_(
    memories: Runtime,
    id: str | None = argument("ID", "Of this memory; else all.", None),
    status: str | None = option("--status", "pending, judged, ignored or orphaned."),
    limit: Limit = 100,
) -> None:
    """List relations, the latest first."""
    found = api.list_relations(memories, id, status, limit)
    show.listing("relations", found, _lines, "no relations")


@on_project(relations)
def judge(
    memories: Runtime,
    id: str = argument("REL", "A proposal, or a memory with --other."),
    verb: str = argument("VERB", ", ".join(VERBS)),
    other: str = option("--other", "The other memory, without a proposal.", "", metavar="ID"),
    reason: str = option("--reason", "Why.", ""),
    evidence: str = option("--evidence", "What shows it.", ""),
    confidence: float = option("--confidence", "How sure it is.", 1.0, min=0, max=1),
) -> None:
    """Say what two memories have to do with each other."""
    pair = {"id": id, "other": other} if other else {"judgment_id": id}
    judged = api.judge(
        memories, verb, **pair, reason=reason, evidence=evidence, confidence=confidence
    )
    show.report(judged, [f"{judged['relation_id']} {judged['status']}: {judged['effect']}"])


@on_project(relations)
def scan(
    memories: Runtime,
    apply: bool = flag("--apply", "Store the pairs that are found."),
    limit: int = option("--limit -n", "Memories of a page.", 100, min=1, max=100),
    cursor: int = option("--cursor", "The next page.", 0, min=0),
) -> None:
    """Look for memories that contradict each other."""
    found, rest = api.scan_relations(memories, apply=apply, limit=limit, cursor=cursor)
    rows = [
        {
            "earlier": pair.earlier.id,
            "later": pair.later.id,
            "relation": pair.relation,
            "score": pair.score,
            "why": pair.why,
        }
        for pair in found
    ]
    lines = (f"{row['earlier']}  {row['relation']}  {row['later']}: {row['why']}" for row in rows)
    end = f"; `--cursor {rest}` goes on" if rest else ""
    note = f"{len(rows)} {'stored' if apply else 'found'}{end}"
    values = {"applied": apply, "count": len(rows), "pairs": rows, "next_cursor": rest}
    show.report(values, lines, [note], fence=True)


@command(relations)
def deferred(
    replay: bool = flag("--replay", "Apply those that can be."),
    drop: str = option("--drop", "Forget this one.", "", metavar="ID"),
    project: Project = None,
) -> None:
    """List records of other stores that wait for a memory."""
    if replay and drop:
        raise UsageError("--replay and --drop exclude each other", "give one of them")
    with open_project(project) as memories:
        if drop:
            api.drop_deferred(memories, drop)
        applied = api.replay_deferred(memories) if replay else 0
        found = api.list_deferred(memories)
    values = {"applied": applied, "count": len(found), "deferred": found}
    lines = (f"{row['id']}  {row['entity']}  {row['reason']}" for row in found)
    show.report(values, lines, [f"{applied} applied, {len(found)} wait"], fence=True)


def _lines(verdict: Verdict) -> Iterator[str]:
    pair = f"{verdict.source or '(deleted)'} {verdict.relation} {verdict.target or '(deleted)'}"
    yield f"{verdict.id}  {pair}  ({verdict.status}, {verdict.actor}, {verdict.confidence:.0%})"
    if verdict.reason:
        yield f"    {preview(verdict.reason, TEXT_CHARS)}"
