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

from ademem import api
from ademem.core import caller, clock, process
from ademem.core import project as project_
from ademem.core.anchor import replace_parts
from ademem.core.errors import UsageError
from ademem.core.memory import STOP, Category, Importance
from ademem.core.text import counted
from ademem.core.value import as_dict
from ademem.doors.cli import show
from ademem.doors.cli.commands import app
from ademem.doors.cli.options import (
    Anchors,
    AsJson,
    CategoryName,
    Commands,
    DryRun,
    Id,
    ImportanceName,
    PathGlob,
    Project,
    Tags,
    Title,
    argument,
    flag,
    open_project,
    option,
    parse_choice,
    split_words,
    text_or_stdin,
)
from ademem.store.runtime import Runtime, personal_project


def _register(name: str, done: str, help: str) -> None:
    """Register a command that calls the function of this name for one memory."""

    def command(id: Id, project: Project = None, as_json: AsJson = False) -> None:
        with open_project(project) as memories:
            if name == "promote":
                require_person(memories, id, name)
            memory = getattr(api, name)(memories, id)
        show.one(done, memory, as_json)

    app.command(name, help=help)(command)


_register("promote", "promoted", "Confirm a candidate, or approve a quarantined one.")
_register("reject", "rejected", "Archive a candidate for good.")
_register("archive", "archived", "Remove a memory from recall and files.")


@app.command()
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
    as_json: AsJson = False,
) -> None:
    """Restore an archived or deleted memory, or a backup."""
    if backup is not None and id is None:
        place = personal_project(os.environ) if own else None
        place = place or project_.find(project, os.environ, os.getcwd())
        return _restore_backup(backup, place, force=force, dry_run=dry_run, as_json=as_json)
    if id is None or backup is not None:
        raise UsageError("name a memory or a backup", "`ademem backup --list` shows the backups")
    with open_project(project) as memories:
        memory = api.get(memories, id) if dry_run else api.restore(memories, id)
    return show.one("would restore" if dry_run else "restored", memory, as_json)


def _restore_backup(
    named: str, place: project_.Project, *, force: bool, dry_run: bool, as_json: bool
) -> None:
    from ademem.api import recovery

    done = recovery.restore_backup(
        place,
        os.environ,
        named,
        clock.now(),
        force=force,
        dry_run=dry_run,
        on_wait=lambda: show.echo("waiting for the worker of this project", err=True),
    )
    verb = "would restore" if dry_run else "restored"
    lines = [f"{verb} {counted(done.memories, 'memory')} of {done.backup}", *done.done]
    if done.replaced:
        lines.append(f"the database that was there is kept: {done.replaced}")
    show.report({"dry_run": dry_run} | as_dict(done), lines, as_json=as_json)


@app.command()
def pin(
    id: Id,
    off: bool = flag("--off", "Show it only when it is relevant."),
    project: Project = None,
    as_json: AsJson = False,
) -> None:
    """Show a memory in every briefing."""
    with open_project(project) as memories:
        if not off:
            require_person(memories, id, "pin")
        memory = api.pin(memories, id, pinned=not off)
    show.one("unpinned" if off else "pinned", memory, as_json)


@app.command()
def delete(
    id: Id,
    hard: bool = flag("--hard", "For good: no byte of it stays."),
    dry_run: DryRun = False,
    project: Project = None,
    as_json: AsJson = False,
) -> None:
    """Delete a memory; `restore` undoes it unless --hard."""
    with open_project(project) as memories:
        memory = api.get(memories, id) if dry_run else api.delete(memories, id, hard=hard)
    show.one("would delete" if dry_run else "deleted", memory, as_json)


@app.command()
def edit(
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
    project: Project = None,
    as_json: AsJson = False,
) -> None:
    """Change a memory; without options the text opens in $EDITOR."""
    with open_project(project) as memories:
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
        if not changes:
            memory = api.get(memories, id)
            with editing(memory.content) as edited:
                if edited.strip() in ("", memory.content):
                    raise UsageError(
                        "nothing was changed", "save the editor's file, or pass --content"
                    )
                memory = api.edit(memories, id, revision=revision, content=edited)
        else:
            memory = api.edit(memories, id, revision=revision, **changes)
    show.one("edited", memory, as_json)


def require_person(memories: Runtime, id: str, verb: str) -> None:
    """Raise NotByPerson for an act that only a person may do.

    A quarantined memory takes a terminal, and to confirm or pin any a shell that no client opened.
    """
    memory = api.get(memories, id)
    if memory.quarantine_reason:
        caller.require_person(os.environ, f"to {verb} {memory.id}, which is quarantined,")
    elif verb != "edit" and (client := caller.client_of(os.environ)):
        raise caller.NotByPerson(
            f"to {verb} {memory.id} is a person's to decide, and {client} runs this shell"
        )


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
