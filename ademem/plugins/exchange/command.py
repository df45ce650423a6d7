"""The command that exchanges memories through folders and the hub."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from ademem.core import plugins, who
from ademem.core.errors import AdememError, NotFound, UsageError
from ademem.core.text import counted, preview
from ademem.core.value import Value, as_dict
from ademem.doors.cli import show
from ademem.doors.cli.commands import command, open_project
from ademem.doors.cli.options import flag, option
from ademem.doors.cli.parameters import DryRun, Project
from ademem.plugins.exchange import exchanging
from ademem.plugins.exchange.exchanging import Preview
from ademem.plugins.exchange.folder import Exchanged
from ademem.store.runtime import Runtime

PREVIEW_CHARS = 60


class Partners(Value):
    folders: list[str]
    others: list[Any]
    """Modules of parts at the seam `EXCHANGE`."""


@command()
def sync(
    folder: str | None = option("--dir FOLDER", "Such a folder; else all that are enrolled."),
    status: bool = flag("--status", "Show the folders, and what waits."),
    leave: bool = flag("--leave", "End the exchange with the folder."),
    engram: bool = flag("--engram", "Write a chunk for Engram into `.engram/` instead."),
    import_: bool = flag("--import", "Read the chunks in `.engram/` that are new here."),
    force: bool = flag(
        "--force", "Also a folder of another project name, or an emptied one; all, for Engram."
    ),
    dry_run: DryRun = False,
    project: Project = None,
) -> None:
    """Exchange memories with others. Folders and the hub carry them.

    Exit code 1 if a part of it fails.
    """
    ways = {"status": status, "leave": leave, "import_": import_, "dry_run": dry_run}
    _check_ways(**ways, engram=engram, folder=folder)
    with open_project(project) as memories:
        if engram:
            sync_chunks: Callable[..., None] = _load_carrier("engram").sync
            return sync_chunks(memories, force=force, **ways)
        if status:
            return _show_status(memories)
        if leave:
            return _leave(memories, folder)
        partners = _choose_partners(memories, folder)
        if dry_run:
            return _preview(memories, partners, force)
        if folder and os.path.realpath(folder) not in exchanging.list_folders(memories):
            who.require_person(memories.by, f"to share memories through {folder}")
        return _exchange(memories, partners, force)


def _check_ways(
    *, status: bool, leave: bool, import_: bool, dry_run: bool, engram: bool, folder: str | None
) -> None:
    if sum((status, leave, dry_run)) > 1:
        raise UsageError("only one of --status, --leave and --dry-run can be given")
    if (engram and folder) or (import_ and (status or leave or not engram)):
        raise UsageError("--import is of --engram, which has no folder", "one of them at a time")


def _choose_partners(memories: Runtime, folder: str | None) -> Partners:
    """Return the folder that was named, or all that are enrolled and the parts that joined."""
    if folder:
        return Partners(folders=[folder], others=[])
    folders, others = exchanging.list_folders(memories), _load_others()
    joined = [other for other in others if other.is_enrolled(memories.store)]
    if not folders and not joined:
        raise UsageError("no folder is enrolled", _tell_ways(others))
    return Partners(folders=folders, others=joined)


def _tell_ways(others: list[Any]) -> str:
    """Return how to enrol a folder, and how to join what the parts exchange with."""
    hints = ("`ademem sync --dir FOLDER` enrols one", *(other.HINT for other in others))
    return ", ".join(hints)


def _load_others() -> list[Any]:
    return list(plugins.modules("EXCHANGE", by_others=True))


def _leave(memories: Runtime, folder: str | None) -> None:
    hint = "`ademem sync --status` shows the folders"
    if folder is None:
        raise UsageError("--leave needs --dir", hint)
    who.require_person(memories.by, f"`ademem sync --leave --dir {folder}`")
    if not exchanging.leave_folder(memories, folder):
        raise NotFound(f"{folder} is not enrolled", hint)
    line = f"left {folder}; its files stay, and so do the memories that came from it"
    show.report({"left": folder}, [line])


def _preview(memories: Runtime, partners: Partners, force: bool) -> None:
    plans = [exchanging.preview_sync(memories, each, force=force) for each in partners.folders]
    lines = [line for plan in plans for line in _plan_lines(plan)]
    values: dict[str, Any] = {"folders": plans}
    for other in partners.others:
        values[other.NAME], of_other = other.preview(memories)
        lines += of_other
    show.report(values, lines)


def _load_carrier(name: str) -> Any:
    """Return the module of a part that exchanges memories in a way of its own."""
    for module in plugins.modules_by_word("CARRIERS").get(name, ()):
        if loaded := plugins.load(module):
            return loaded
    raise UsageError(f"there is no part for {name}", "`ademem doctor` says why")


def _exchange(memories: Runtime, partners: Partners, force: bool) -> None:
    failed: list[str] = []
    reports = _exchange_with_others(memories, partners, failed)
    done = _exchange_with_folders(memories, partners, failed, force)
    problems = [*failed, *(f"{one.path}: {text}" for one in done for text in one.problems)]
    lines = [line for one in done for line in _done_lines(one)]
    values: dict[str, object] = {"folders": done, "problems": problems}
    for name, (value, of_other) in reports.items():
        values[name] = value
        lines += of_other
    show.report(values, lines, problems, fails=bool(problems))


def _exchange_with_others(
    memories: Runtime, partners: Partners, failed: list[str]
) -> dict[str, tuple[Any, list[str]]]:
    reports = {}
    for other in partners.others:
        try:
            reports[other.NAME] = other.exchange(memories)
        except AdememError as error:
            if not partners.folders:
                raise
            failed.append(str(error))
    return reports


def _exchange_with_folders(
    memories: Runtime, partners: Partners, failed: list[str], force: bool
) -> list[Exchanged]:
    done = []
    for folder in partners.folders:
        try:
            done.append(exchanging.sync_folder(memories, folder, force=force))
        except AdememError as error:
            if len(partners.folders) == 1 and not partners.others:
                raise
            failed.append(f"{folder}: {error}")
    return done


def _done_lines(done: Exchanged) -> list[str]:
    lines = []
    if done.is_new:
        lines.append(f"enrolled {done.path}; `ademem sync` exchanges with it from now on")
    received = f"{counted(len(done.read), 'chunk')} read, {done.changed} changed here"
    lines.append(f"{done.path}: {received}, {counted(done.sent, 'record')} sent")
    return [*lines, *_undo_lines(done.event), *held_back_lines(done.held_back)]


def _undo_lines(event: str) -> list[str]:
    return [f"`ademem undo {event}` takes back what changed here"] if event else []


def held_back_lines(ids: tuple[str, ...]) -> list[str]:
    names = ", ".join(ids[:5])
    hint = "(`ademem scrub` redacts them)"
    return [f"not sent, as they have a secret: {names} {hint}"] if ids else []


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


def _show_status(memories: Runtime) -> None:
    found, lines = exchanging.get_status(memories), []
    values = as_dict(found)
    for other in _load_others():
        value, of_other = other.show_status(memories)
        if value:
            values[other.NAME] = value
            lines += of_other
    for each in found.folders:
        if not each.is_there:
            lines.append(f"{each.path}: not there; {counted(each.waiting, 'record')} to send")
            continue
        databases = counted(len(each.replicas), "database")
        lines.append(
            f"{each.path}: {counted(each.waiting, 'record')} to send,"
            f" {counted(len(each.unread), 'chunk')} to read, {databases} there"
        )
    if not found.folders and not lines:
        lines.append(f"off: no folder is enrolled ({_tell_ways(_load_others())})")
    if found.deferred:
        waiting = counted(found.deferred, "record")
        lines.append(f"{waiting} of others waiting since {found.oldest[:10]}")
    lines += [f"given up: {each}" for each in found.dead]
    show.report(values, lines)
