"""Commands by which a person decides about memories that are there."""

from __future__ import annotations

import os
import shlex
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ademem import api
from ademem.core import caller, process
from ademem.core.anchor import replaced
from ademem.core.errors import UsageError
from ademem.core.memory import Category, Importance, Memory
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
    one_of,
    opened,
    text_or_stdin,
    words_of,
)

if TYPE_CHECKING:
    from ademem.store.runtime import Runtime


def _acts(
    name: str,
    done: str,
    help: str,
    *,
    approves: bool = False,
) -> None:
    """Register a command that calls the function of this name for one memory.

    One that *approves* needs a person where the memory is quarantined.
    """

    def command(id: Id, project: Project = None, as_json: AsJson = False) -> None:
        with opened(project) as memories:
            if approves:
                require_person(memories, id, name)
            memory = getattr(api, name)(memories, id)
        show.one(done, memory, as_json)

    app.command(name, help=help)(command)


_acts("promote", "promoted", "Confirm a candidate, or approve a quarantined one.", approves=True)
_acts("reject", "rejected", "Archive a candidate for good.")
_acts("archive", "archived", "Remove a memory from recall and files.")
_acts("restore", "restored", "Restore an archived or deleted memory.")


@app.command()
def pin(
    id: Id,
    off: Annotated[bool, typer.Option("--off", help="Show it only when it is relevant.")] = False,
    project: Project = None,
    as_json: AsJson = False,
) -> None:
    """Show a memory in every briefing."""
    with opened(project) as memories:
        if not off:
            require_person(memories, id, "pin")
        memory = api.pin(memories, id, pinned=not off)
    show.one("unpinned" if off else "pinned", memory, as_json)


@app.command()
def unpin(id: Id, project: Project = None, as_json: AsJson = False) -> None:
    """Show a memory only when it is relevant."""
    pin(id, True, project, as_json)


@app.command()
def delete(
    id: Id,
    hard: Annotated[bool, typer.Option("--hard", help="For good: no byte of it stays.")] = False,
    dry_run: DryRun = False,
    project: Project = None,
) -> None:
    """Delete a memory; `restore` undoes it unless --hard."""
    with opened(project) as memories:
        memory = api.get(memories, id) if dry_run else api.delete(memories, id, hard=hard)
    show.say(f"{'would delete' if dry_run else 'deleted'} {show.line(memory, 120)}")


@app.command()
def edit(
    id: Id,
    content: Annotated[
        str | None, typer.Option("--content", help="New text; - reads standard input.")
    ] = None,
    title: Title = None,
    category: CategoryName = None,
    importance: ImportanceName = None,
    tags: Tags = None,
    path: PathGlob = None,
    anchor: Anchors = None,
    command: Commands = None,
    project: Project = None,
    as_json: AsJson = False,
) -> None:
    """Change a memory; without options the text opens in $EDITOR."""
    with opened(project) as memories:
        require_person(memories, id, "edit")
        given = {
            "content": None if content is None else text_or_stdin(content),
            "title": title,
            "category": one_of(Category, category),
            "importance": one_of(Importance, importance),
            "tags": words_of(tags) if tags is not None else None,
            "file_scope_pattern": path,
            "anchors": _anchors(api.get(memories, id), anchor, command),
        }
        changes = {name: value for name, value in given.items() if value is not None}
        if not changes:
            edited = in_editor(api.get(memories, id).content)
            if edited.strip() in ("", api.get(memories, id).content):
                raise UsageError("nothing was changed", "save the editor's file, or pass --content")
            changes["content"] = edited
        memory = api.edit(memories, id, **changes)
    show.one("edited", memory, as_json)


def require_person(memories: Runtime, id: str, verb: str) -> None:
    """Raise NotByPerson where the memory is quarantined and no person types this in a terminal."""
    memory = api.get(memories, id)
    if memory.quarantine_reason:
        caller.require_person(os.environ, f"to {verb} {memory.id}, which is quarantined,")


def _anchors(
    memory: Memory, places: list[str] | None, commands: list[str] | None
) -> tuple[str, ...] | None:
    """What the memory is tied to from now on; None when nothing was said of it."""
    given = places is not None or commands is not None
    return replaced(memory.anchors, places, commands) if given else None


def in_editor(text: str) -> str:
    """What the person's editor leaves of the text."""
    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi"
    with tempfile.TemporaryDirectory(prefix="ademem-") as folder:
        path = Path(folder, "memory.md")
        path.write_text(text, encoding="utf-8")
        try:
            code = process.run_in_terminal([*shlex.split(editor), str(path)])
            failure = f"exit status {code}" if code else ""
        except OSError as error:
            failure = str(error)
        if failure:
            raise UsageError(f"{editor}: {failure}", "set $EDITOR, or pass --content")
        return path.read_text(encoding="utf-8")
