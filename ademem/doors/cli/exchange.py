"""The command that exchanges memories through folders."""

from __future__ import annotations

from typing import Annotated

import typer

from ademem import api
from ademem.api.exchanging import Preview, SyncStatus
from ademem.core.errors import NO, AdememError, NotFound, UsageError
from ademem.core.text import counted, preview
from ademem.core.value import as_dict
from ademem.doors.cli import show
from ademem.doors.cli.commands import app
from ademem.doors.cli.options import AsJson, DryRun, Project, open_project
from ademem.store.runtime import Runtime
from ademem.sync.folder import Exchanged

PREVIEW_CHARS = 60


@app.command()
def sync(
    folder: Annotated[
        str | None,
        typer.Option("--dir", metavar="FOLDER", help="Such a folder; else all that are enrolled."),
    ] = None,
    status: Annotated[
        bool, typer.Option("--status", help="Show the folders, and what waits.")
    ] = False,
    leave: Annotated[
        bool, typer.Option("--leave", help="End the exchange with the folder.")
    ] = False,
    force: Annotated[
        bool,
        typer.Option("--force", help="Also a folder of another project name, or an emptied one."),
    ] = False,
    dry_run: DryRun = False,
    project: Project = None,
    as_json: AsJson = False,
) -> None:
    """Exchange memories through a shared folder. Exit code 1 if a part of it fails."""
    if sum((status, leave, dry_run)) > 1:
        raise UsageError("only one of --status, --leave and --dry-run can be given")
    with open_project(project) as memories:
        if status:
            found = api.get_exchange_status(memories)
            return show.report(_status_json(found), _status_lines(found), as_json=as_json)
        if leave:
            return _leave(memories, folder, as_json)
        folders = [folder] if folder else api.list_folders(memories)
        if not folders:
            raise UsageError("no folder is enrolled", "`ademem sync --dir FOLDER` enrols one")
        if dry_run:
            plans = [api.preview_sync(memories, each, force=force) for each in folders]
            lines = [line for plan in plans for line in _plan_lines(plan)]
            return show.report(
                {"folders": [as_dict(plan) for plan in plans]}, lines, as_json=as_json
            )
        return _exchange(memories, folders, force, as_json)


def _exchange(memories: Runtime, folders: list[str], force: bool, as_json: bool) -> None:
    done, failed = [], []
    for each in folders:
        try:
            done.append(api.sync_folder(memories, each, force=force))
        except AdememError as error:
            if len(folders) == 1:
                raise
            failed.append(f"{each}: {error}")
    problems = [*failed, *(f"{one.path}: {text}" for one in done for text in one.problems)]
    lines = [line for one in done for line in _lines(one)]
    values = {"folders": [as_dict(one) for one in done], "problems": problems}
    show.report(values, lines, as_json=as_json)
    if not as_json:
        for problem in problems:
            show.echo(problem, err=True)
    raise typer.Exit(NO if problems else 0)


def _lines(done: Exchanged) -> list[str]:
    lines = []
    if done.is_new:
        lines.append(f"enrolled {done.path}; `ademem sync` exchanges with it from now on")
    received = f"{counted(len(done.read), 'chunk')} read, {done.changed} changed here"
    lines.append(f"{done.path}: {received}, {counted(done.sent, 'record')} sent")
    if done.event:
        lines.append(f"`ademem undo {done.event}` takes back what changed here")
    if done.held_back:
        lines.append(
            f"not sent, as they have a secret: {', '.join(done.held_back[:5])}"
            " (`ademem scrub` redacts them)"
        )
    return lines


def _plan_lines(plan: Preview) -> list[str]:
    lines = [f"would enrol {plan.path}"] if plan.is_new else []
    lines.append(
        f"{plan.path}: would read {counted(len(plan.unread), 'chunk')}"
        f" and send {counted(len(plan.entries), 'record')}"
    )
    for entry in plan.entries:
        written = entry["registers"]
        text = written.get("content") or written.get("relation") or written.get("life") or ""
        id = written.get("id") or written["sync_id"]
        lines.append(f"  {entry['entity']} {id} {preview(str(text), PREVIEW_CHARS)}")
    return lines


def _status_json(found: SyncStatus) -> dict[str, object]:
    return as_dict(found) | {"folders": [as_dict(each) for each in found.folders]}


def _status_lines(found: SyncStatus) -> list[str]:
    lines = []
    for each in found.folders:
        if not each.is_there:
            lines.append(f"{each.path}: not there; {counted(each.waiting, 'record')} to send")
            continue
        others = counted(len(each.replicas), "database")
        lines.append(
            f"{each.path}: {counted(each.waiting, 'record')} to send,"
            f" {counted(len(each.unread), 'chunk')} to read, {others} there"
        )
    if not found.folders:
        lines.append("off: no folder is enrolled (`ademem sync --dir FOLDER` enrols one)")
    if found.deferred:
        waiting = counted(found.deferred, "record")
        lines.append(f"{waiting} of others waiting since {found.oldest[:10]}")
    lines += [f"given up: {each}" for each in found.dead]
    return lines


def _leave(memories: Runtime, folder: str | None, as_json: bool) -> None:
    if folder is None:
        raise UsageError("--leave needs --dir", "`ademem sync --status` shows the folders")
    if not api.leave_folder(memories, folder):
        raise NotFound(f"{folder} is not enrolled", "`ademem sync --status` shows the folders")
    line = f"left {folder}; its files stay, and so do the memories that came from it"
    show.report({"left": folder}, [line], as_json=as_json)
