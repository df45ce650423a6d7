"""Commands for the files of a project: refresh, import and check them, and briefs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from difflib import unified_diff
from pathlib import Path
from typing import Any, NoReturn

from ademem.core.clock import now
from ademem.core.errors import NO, AdememError
from ademem.core.memory import claimed_name
from ademem.core.shared_files import write_bytes
from ademem.core.untrusted import import_label
from ademem.core.value import replace
from ademem.doors.cli import show
from ademem.doors.cli.agents import agent_lines
from ademem.doors.cli.commands import command, on_project, open_project
from ademem.doors.cli.options import argument, flag, option
from ademem.doors.cli.parameters import BriefAgent, DryRun, Project
from ademem.files import BRIEF, project_brief
from ademem.files.texts import Problem
from ademem.operations import files
from ademem.operations.files import Inspection
from ademem.store.runtime import Runtime
from ademem.sync.importer import ImportReport
from ademem.sync.merging import merge_versions
from ademem.sync.mirror import File
from ademem.sync.tracked_files import NOT_TEXT


@contextmanager
def open_inspection(project: Project = None) -> Iterator[Inspection]:
    with files.inspect_files(project) as inspection:
        show.notices(inspection.runtime)
        yield inspection


@command("files refresh")
def refresh(
    force: bool = flag("--force", "Overwrite edits instead of importing them."),
    dry_run: DryRun = False,
    project: Project = None,
) -> None:
    """Import edits of the files, then write the files."""
    if dry_run:
        return _preview_refresh(project, force)
    with open_project(project, catch_up=False) as memories:
        done = files.refresh_files(memories, force=force, on_batch=show.import_progress())
    lines = [*_import_lines(done.taken), *(f"wrote {path}" for path in done.written)]
    unread = "it cannot be read (`ademem files check` says why)"
    edited = "it was edited by hand (--force overwrites it)"
    kept = [f"kept {path}: {unread if path in done.unread else edited}" for path in done.kept]
    lines += [] if done.written or kept else ["up to date"]
    if done.copied:
        lines.append(f"copied the files as they were to {done.copied}")
    names = ("taken", "written", "removed", "kept", "copied")
    values = {name: getattr(done, name) for name in names}
    return show.report(values, lines, (*map(_problem_line, done.taken.problems), *kept))


def _preview_refresh(project: str | None, force: bool) -> None:
    with open_inspection(project) as inspection:
        preview = files.preview_files(inspection, force=force)
    verbs = {
        file.path: ("remove" if file.wanted is None else "write") if file.ours or force else "keep"
        for file in preview.files
    }
    values: dict[str, Any] = {"taken": preview.taken}
    for key, verb in (("written", "write"), ("removed", "remove"), ("kept", "keep")):
        values[key] = [path for path, each in verbs.items() if each == verb]
    lines = _import_lines(preview.taken, would=True)
    lines += [f"would {verb} {path}" for path, verb in verbs.items()] or ["up to date"]
    show.report(values, lines, map(_problem_line, preview.taken.problems))


@command("files import")
def import_files(
    only: bool = flag("--only", "Leave the files as they are, even where they lag."),
    dry_run: DryRun = False,
    project: Project = None,
) -> None:
    """Import edits of the files. Exit code 1 if one cannot be read."""
    if dry_run:
        with open_inspection(project) as inspection:
            brief, unread = files.read_pending_brief(inspection.runtime)
            report = files.preview_files(inspection).taken
    else:
        with open_project(project, catch_up=False) as memories:
            brief, unread = files.read_pending_brief(memories)
            bar = show.import_progress()
            if only:
                report = files.import_files(memories, on_batch=bar)
            else:
                report = files.import_and_write(memories, bar)
    if unread and show.as_json:
        fault = Problem(path=BRIEF, line=None, message=f"{unread}; {unread.hint}")
        report = replace(report, problems=(*report.problems, fault))
    lines = _import_lines(report, would=dry_run) + _brief_lines(brief, would=dry_run)
    if not any((report.count, report.problems, brief, unread)):
        lines.append("the files say nothing new")
    show.report(report, lines, map(_problem_line, report.problems))
    if unread and not show.as_json:
        raise unread
    raise SystemExit(unread.exit_code if unread else 1 if report.problems else 0)


@command("files check", on=open_inspection)
def check(
    inspection: Inspection,
    diff: bool = flag("--diff", "Show what an import and a refresh would change instead."),
) -> None:
    """Check that the files are valid and current. Exit code 1 if not."""
    if diff:
        _show_diff(inspection)
    problems = files.check_files(inspection)
    found = [{"path": each.path, "line": each.line, "message": each.message} for each in problems]
    lines = [f"{each.path}:{each.line or 1}: {each.message}" for each in problems]
    show.report({"problems": found}, lines or ["the files are sound"], fails=bool(problems))


def _brief_lines(brief: project_brief.CoreMemory | None, *, would: bool) -> list[str]:
    if brief is None:
        return []
    return [f"the project brief {'would be' if would else 'is'} at version {brief.version}"]


def _show_diff(inspection: Inspection) -> NoReturn:
    preview = files.preview_files(inspection)
    taken = preview.taken
    rows = [
        {"path": file.path, "change": _change(file), "diff": _diff(file)} for file in preview.files
    ]
    notes = map(_problem_line, taken.problems)
    show.report({"taken": taken, "files": rows}, _import_lines(taken, would=True), notes)
    for file, row in () if show.as_json else zip(preview.files, rows, strict=True):
        if not file.ours:
            show.echo(f"{file.path}: was edited; `ademem files refresh --force` overwrites it")
        show.fenced(row["diff"].splitlines())
    if not (show.as_json or taken.count or preview.files):
        show.echo("up to date")
    raise SystemExit(1 if taken.count or taken.problems or preview.files else 0)


def _diff(file: File) -> str:
    if file.present == NOT_TEXT:
        return ""
    before, after = ((text or "").splitlines(keepends=True) for text in (file.present, file.wanted))
    names = (
        f"a/{file.path}" if file.present is not None else "/dev/null",
        f"b/{file.path}" if file.wanted is not None else "/dev/null",
    )
    return "".join(unified_diff(before, after, *names))


def _change(file: File) -> str:
    if not file.ours:
        return "kept"
    return "add" if file.present is None else "remove" if file.wanted is None else "update"


def _import_lines(report: ImportReport, *, would: bool = False) -> list[str]:
    lines = []
    if report.count and would:
        lines.append(f"to be imported: {report.summary}")
    elif report.count:
        lines.append(f"{report.summary[:-1]}{show.name_undo(report.event)}")
    return [*lines, report.advice] if report.advice else lines


def _problem_line(problem: Problem) -> str:
    hint = f" (`{problem.hint}`)" if problem.hint else ""
    return f"{problem.path}:{problem.line or 1}: {problem.message}{hint}"


@command("merge-file")
def merge_file(
    base: Path = argument("BASE", "What both come from."),
    ours: Path = argument("OURS", "Gets the result."),
    theirs: Path = argument("THEIRS", "The other."),
    name: str = argument("NAME", "What the file is called."),
) -> None:
    """Merge two versions of a memory file into OURS, for git."""
    texts = []
    for path in (base, ours, theirs):
        try:
            text = path.read_bytes().decode()
        except OSError as error:
            raise CannotMerge(f"{path} cannot be read: {error.strerror}") from error
        except UnicodeDecodeError as error:
            raise CannotMerge(
                f"{path} is not text: {error.reason} at byte {error.start}"
            ) from error
        if "\0" in text:
            raise CannotMerge(f"{path} is not text: it has a NUL at character {text.index(chr(0))}")
        texts.append(text)
    write_bytes(str(ours), merge_versions(name, *texts).encode())
    show.report({"merged": str(ours)}, ())


class CannotMerge(AdememError):
    """Git takes its exit code for a conflict; OURS stays as it is."""

    exit_code = NO
    hint = "nothing was changed; merge it by hand, then `git add` it"


@on_project("core show")
def show_core(
    memories: Runtime,
    agent: BriefAgent = "",
    agents: bool = flag("--agents", "List the agents instead."),
) -> None:
    """Show the project brief."""
    if agents:
        worked = files.list_agents(memories)
        return show.listing("agents", worked, agent_lines, "no agent worked here yet")
    found = files.get_brief(memories, agent, labelled=not show.as_json)
    document = found or project_brief.CoreMemory(updated_at=now())
    author = document.claimed_author
    values = project_brief.as_json(document) | ({} if found else {"updatedAt": None})
    values |= {"claimed": list(document.claimed), "claimedAuthor": claimed_name(author)}
    lines = [f"{name}: {text}" for name, text in project_brief.lines(document)]
    lines += [f"({import_label(author)}: {text})" for text in document.claimed]
    begin = f"ademem core set{f' --agent {agent}' if agent else ''}"
    notes = [] if found else [f'no brief yet (`{begin} focus "…"` starts one)']
    return show.report(values, lines, notes, fails=not found)


@on_project("core set")
def set_core(
    memories: Runtime,
    field: str = argument("FIELD", "summary, conventions, preferences, focus or notes."),
    text: list[str] | None = argument(
        "TEXT", "The summary, or one item an argument; none empties it.", None
    ),
    agent: BriefAgent = "",
    version: int | None = option("--version", "Refuse unless the brief is at this version."),
) -> None:
    """Replace one field of the project brief."""
    changes = project_brief.field_of(field, text or ())
    document = files.update_brief(memories, changes, agent, expect_version=version)
    line = f"the brief{f' of {agent}' if agent else ''} is at version {document.version}"
    show.report(project_brief.as_json(document), [line])
