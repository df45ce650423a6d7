"""Commands for the files of a project: mirror, core brief, import and export."""

from __future__ import annotations

import sys
from difflib import unified_diff
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import orjson
import typer

from ademem import api
from ademem.core.atomic_files import write_bytes
from ademem.core.errors import AdememError, UsageError
from ademem.core.text import counted
from ademem.core.value import as_dict
from ademem.doors.cli import show
from ademem.doors.cli.commands import app
from ademem.doors.cli.options import (
    AsJson,
    BriefAgent,
    BriefField,
    BriefTexts,
    BriefVersion,
    DryRun,
    Project,
    importing,
    inspected,
    opened,
    stdin,
)
from ademem.files import project_brief as core_
from ademem.sync.merging import merge_versions
from ademem.sync.survey import NOT_TEXT

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ademem.sync import File, ImportReport

files = typer.Typer(help="The git-reviewable files of memory.", no_args_is_help=True)
core = typer.Typer(help="The project brief.", no_args_is_help=True)
app.add_typer(files, name="files")
agents_ = typer.Typer(help="Agents, and their briefs.", no_args_is_help=True)
capture = typer.Typer(help="Memories from other tools.", no_args_is_help=True)
app.add_typer(core, name="core")
app.add_typer(capture, name="capture")
app.add_typer(agents_, name="agents")


@files.command()
def refresh(
    force: Annotated[
        bool, typer.Option("--force", help="Overwrite edits instead of importing them.")
    ] = False,
    dry_run: DryRun = False,
    project: Project = None,
) -> None:
    """Import edits of the files, then write the files."""
    if dry_run:
        return _preview(project, force=force)
    with opened(project, catch_up=False) as memories:
        refreshed = api.refresh_files(memories, force=force, on_import=importing())
    _report(refreshed.taken)
    for path in refreshed.written:
        typer.echo(f"wrote {path}")
    for path in refreshed.kept:
        typer.echo(f"kept {path}: it was edited by hand (--force overwrites it)", err=True)
    if not refreshed.written and not refreshed.kept:
        typer.echo("up to date")
    return None


@files.command("import")
def import_files(
    only: Annotated[
        bool, typer.Option("--only", help="Leave the files as they are, even where they lag.")
    ] = False,
    dry_run: DryRun = False,
    project: Project = None,
    as_json: AsJson = False,
) -> None:
    """Import edits of the files. Exit code 1 if one cannot be read."""
    if dry_run:
        with inspected(project) as inspection:
            brief, unread = api.read_pending_brief(inspection.runtime)
            taken = api.preview_files(inspection).taken
    else:
        with opened(project, catch_up=False) as memories:
            brief, unread = api.read_pending_brief(memories)
            taken = (
                api.import_files(memories, on_import=importing())
                if only
                else api.refresh_files(memories, on_import=importing()).taken
            )
    if as_json:
        show.json(_as_json(taken))
    else:
        _report(taken, would=dry_run)
        if brief:
            verb = "would be" if dry_run else "is"
            typer.echo(f"the project brief {verb} at version {brief.version}")
        if not (taken.count or taken.problems or brief or unread):
            typer.echo("the files say nothing new")
    if unread:
        raise unread
    raise typer.Exit(1 if taken.problems else 0)


@files.command()
def diff(project: Project = None, as_json: AsJson = False) -> None:
    """Show what an import and a refresh would change. Exit code 1 if anything."""
    with inspected(project) as inspection:
        preview = api.preview_files(inspection)
    if as_json:
        show.json(
            {
                "taken": _as_json(preview.taken),
                "files": [
                    {"path": file.path, "change": _change(file), "diff": differing(file)}
                    for file in preview.files
                ],
            }
        )
    else:
        _report(preview.taken, would=True)
        for file in preview.files:
            if not file.ours:
                typer.echo(f"{file.path}: was edited; `ademem files refresh --force` overwrites it")
            show.fenced(differing(file).splitlines())
        if not preview.taken.count and not preview.files:
            typer.echo("up to date")
    raise typer.Exit(1 if preview.taken.count or preview.taken.problems or preview.files else 0)


def differing(file: File) -> str:
    """How the file would change; empty for bytes that are no text."""
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


def _preview(project: str | None, *, force: bool) -> None:
    """What `refresh` would do."""
    with inspected(project) as inspection:
        preview = api.preview_files(inspection, force=force)
    _report(preview.taken, would=True)
    for file in preview.files:
        verb = "remove" if file.wanted is None else "write"
        typer.echo(f"would {verb if file.ours or force else 'keep'} {file.path}")
    if not preview.files:
        typer.echo("up to date")


def _as_json(taken: ImportReport) -> dict[str, Any]:
    return as_dict(taken) | {"problems": [as_dict(problem) for problem in taken.problems]}


def _report(taken: ImportReport, *, would: bool = False) -> None:
    if taken.count and would:
        typer.echo(f"to be taken over: {taken.summary}")
    elif taken.count:
        typer.echo(f"{taken.summary[:-1]} (`ademem undo {taken.event}` takes it back)")
    for problem in taken.problems:
        typer.echo(f"{problem.path}:{problem.line or 1}: {problem.message}", err=True)


@app.command("merge-file")
def merge_file(
    base: Annotated[Path, typer.Argument(metavar="BASE", help="What both come from.")],
    ours: Annotated[Path, typer.Argument(metavar="OURS", help="Gets the result.")],
    theirs: Annotated[Path, typer.Argument(metavar="THEIRS", help="The other.")],
    name: Annotated[str, typer.Argument(metavar="NAME", help="What the file is called.")],
) -> None:
    """Merge two versions of a memory file into OURS, for git."""
    texts = [_text_of(path) for path in (base, ours, theirs)]
    write_bytes(str(ours), merge_versions(name, *texts).encode())


class CannotMerge(AdememError):
    """Its exit code tells git of a conflict; OURS stays as it is."""

    hint = "nothing was changed; merge it by hand, then `git add` it"


def _text_of(path: Path) -> str:
    try:
        text = path.read_bytes().decode()
    except OSError as error:
        raise CannotMerge(f"{path} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise CannotMerge(f"{path} is no text: {error.reason} at byte {error.start}") from error
    if "\0" in text:
        raise CannotMerge(f"{path} is no text: it has a NUL at character {text.index(chr(0))}")
    return text


@files.command()
def check(project: Project = None, as_json: AsJson = False) -> None:
    """Check that the files are valid and current. Exit code 1 if not."""
    with inspected(project) as inspection:
        problems = api.check_files(inspection)
    if as_json:
        show.json(
            {"problems": [{"path": p.path, "line": p.line, "message": p.message} for p in problems]}
        )
    else:
        for problem in problems:
            typer.echo(f"{problem.path}:{problem.line or 1}: {problem.message}")
        if not problems:
            typer.echo("the files are sound")
    raise typer.Exit(1 if problems else 0)


@core.command("show")
def show_core(
    agent: BriefAgent = "",
    agents: Annotated[bool, typer.Option("--agents", help="List the agents instead.")] = False,
    project: Project = None,
    as_json: AsJson = False,
) -> None:
    """Show the project brief."""
    if agents:
        return list_agents(project, as_json)
    with opened(project) as memories:
        document = api.get_brief(memories, agent, labelled=not as_json)
    command = f"ademem core set --agent {agent}" if agent else "ademem core set"
    return show.brief(document, command, as_json_=as_json)


@core.command("set")
def set_core(
    field: BriefField,
    text: BriefTexts = None,
    agent: BriefAgent = "",
    version: BriefVersion = None,
    project: Project = None,
) -> None:
    """Replace one field of the project brief."""
    with opened(project) as memories:
        changes = core_.field_of(field, text or ())
        document = api.update_brief(memories, changes, agent, expect_version=version)
    typer.echo(f"the brief{f' of {agent}' if agent else ''} is at version {document.version}")


AgentName = Annotated[str, typer.Argument(metavar="NAME", help="Name of the agent in the client.")]


@agents_.command("list")
def list_agents(project: Project = None, as_json: AsJson = False) -> None:
    """List agents that worked here, have memories or a brief."""
    with opened(project) as memories:
        found = api.list_agents(memories)
    if as_json:
        return show.json({"count": len(found), "agents": [as_dict(agent) for agent in found]})
    for agent in found:
        brief = f"brief at version {agent.version}" if agent.version else "no brief"
        count = counted(agent.memories, "memory")
        show.say(f"{agent.name}: {count}, {brief} (.ade/agents/{agent.folder})")
    if not found:
        typer.echo("no agent worked here yet", err=True)
    return None


@agents_.command("show")
def show_agent(name: AgentName, project: Project = None, as_json: AsJson = False) -> None:
    """Show the brief of an agent."""
    show_core(name, False, project, as_json)


@agents_.command("set")
def set_agent(
    name: AgentName,
    field: BriefField,
    text: BriefTexts = None,
    version: BriefVersion = None,
    project: Project = None,
) -> None:
    """Replace one field of the brief of an agent."""
    set_core(field, text, name, version, project)


@app.command("import")
def import_(
    source: Annotated[
        str, typer.Argument(metavar="FILE|DIR|-", help="- is standard input, DIR for beads.")
    ],
    format: Annotated[
        str,
        typer.Option(
            "--format", help="jsonl, ademem (our own export), beads, or pr (JSON of `gh`)."
        ),
    ] = "jsonl",
    project: Project = None,
    as_json: AsJson = False,
) -> None:
    """Import memories through the gate. A second run changes nothing."""
    if format == "pr":
        return _import_feedback(source, project, as_json)
    if format not in ("jsonl", "ademem", "beads"):
        raise UsageError(f"no format {format!r}", "jsonl, ademem, beads or pr")
    with opened(project) as memories:
        bar = _progress if sys.stderr.isatty() else None
        if format == "beads":
            imported = api.import_beads(memories, source)
        else:
            imported = api.import_lines(memories, _lines(source), bar)
        overfull = api.find_overfull(memories)
    if overfull:
        typer.echo(overfull, err=True)
    if as_json or not sys.stdout.isatty():
        errors = [{"line": number, "message": message} for number, message in imported.errors]
        show.json(
            {
                "inserted": imported.inserted,
                "merged": imported.merged,
                "rejected": imported.rejected,
                "errors": errors,
            }
        )
        return None
    typer.echo(
        f"inserted {imported.inserted}, merged {imported.merged}, rejected {imported.rejected}"
    )
    for number, message in imported.errors:
        typer.echo(f"line {number}: {message}", err=True)
    return None


@capture.command()
def pr(
    source: Annotated[str, typer.Argument(metavar="FILE|-", help="- reads standard input.")],
    project: Project = None,
    as_json: AsJson = False,
) -> None:
    """Write candidates from review comments, in the JSON that `gh` prints."""
    _import_feedback(source, project, as_json)


def _import_feedback(source: str, project: str | None, as_json: bool) -> None:
    with opened(project) as memories:
        captured = api.import_feedback(memories, "".join(_lines(source)))
    if as_json:
        return show.json(as_dict(captured))
    counts = {name: len(ids) for name, ids in as_dict(captured).items() if isinstance(ids, tuple)}
    typer.echo(", ".join(f"{name} {count}" for name, count in counts.items()))
    for reason in captured.refused:
        typer.echo(f"not kept: {reason}", err=True)
    return None


@app.command()
def export(
    target: Annotated[
        str, typer.Argument(metavar="FILE|-", help="- writes to standard output.")
    ] = "-",
    include_personal: Annotated[
        bool, typer.Option("--include-personal", help="Agent-scoped memories too.")
    ] = False,
    project: Project = None,
) -> None:
    """Export memories as JSON lines. `import` restores them exactly."""
    with opened(project) as memories:
        lines = [
            orjson.dumps(row) + b"\n"
            for row in api.export_memories(memories, include_personal=include_personal)
        ]
    if target == "-":
        sys.stdout.buffer.write(b"".join(lines))
        return
    try:
        Path(target).write_bytes(b"".join(lines))
    except (FileNotFoundError, IsADirectoryError, NotADirectoryError) as error:
        raise UsageError(
            f"cannot write {target}: {error.strerror}", "name a file in a folder that is there"
        ) from error
    typer.echo(f"wrote {counted(len(lines), 'memory')} to {target}")


def _lines(source: str) -> Iterator[str]:
    if source == "-":
        yield from stdin()
        return
    try:
        with open(source, encoding="utf-8", errors="replace") as file:
            yield from file
    except OSError as error:
        raise UsageError(
            f"cannot read {source}: {error.strerror}",
            "name a file, or - for standard input; `--format beads` takes a folder",
        ) from error


def _progress(count: int) -> None:
    typer.echo(f"\r{counted(count, 'line')}", nl=False, err=True)
