"""Commands for the files of a project: mirror, core brief, import and export."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import orjson
import typer

from ademem import core as core_
from ademem.cli import app, show
from ademem.cli.options import AsJson, Project, opened
from ademem.errors import UsageError
from ademem.mirror.merging import merged
from ademem.value import as_dict

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ademem.mirror import Taken

files = typer.Typer(help="The git-reviewable files of memory.", no_args_is_help=True)
core = typer.Typer(help="The standing brief of the project.", no_args_is_help=True)
app.add_typer(files, name="files")
app.add_typer(core, name="core")


@files.command()
def refresh(
    force: Annotated[
        bool, typer.Option("--force", help="Overwrite edits instead of taking them over.")
    ] = False,
    project: Project = None,
) -> None:
    """Take over what was edited in the files, then render them from the database."""
    with opened(project) as memories:
        refreshed = memories.refresh_files(force=force)
    _tell(refreshed.taken)
    for path in refreshed.written:
        typer.echo(f"wrote {path}")
    for path in refreshed.kept:
        typer.echo(f"kept {path}: it was edited by hand (--force overwrites it)", err=True)
    if not refreshed.written and not refreshed.kept:
        typer.echo("up to date")


@files.command("import")
def take(project: Project = None, as_json: AsJson = False) -> None:
    """Take over what people and git did to the files; exit code 1 if some was not understood."""
    with opened(project) as memories:
        taken = memories.refresh_files().taken
    if as_json:
        show.json(as_dict(taken) | {"problems": [as_dict(problem) for problem in taken.problems]})
    else:
        _tell(taken)
        if not taken.count and not taken.problems:
            typer.echo("the files say nothing new")
    raise typer.Exit(1 if taken.problems else 0)


def _tell(taken: Taken) -> None:
    if taken.count:
        typer.echo(f"{taken.summary[:-1]} (`ademem undo {taken.event}` takes it back)")
    for problem in taken.problems:
        typer.echo(f"{problem.path}:{problem.line or 1}: {problem.message}", err=True)


@app.command("merge-file")
def merge_file(
    base: Annotated[Path, typer.Argument(metavar="BASE")],
    ours: Annotated[Path, typer.Argument(metavar="OURS")],
    theirs: Annotated[Path, typer.Argument(metavar="THEIRS")],
    name: Annotated[str, typer.Argument(metavar="NAME", help="What the file is called.")],
) -> None:
    """Merge two versions of a file of memory into OURS, as git asks for it."""
    texts = [path.read_bytes().decode() for path in (base, ours, theirs)]
    ours.write_bytes(merged(name, *texts).encode())


@files.command()
def check(project: Project = None, as_json: AsJson = False) -> None:
    """Check that the files are sound and up to date; exit code 1 if not."""
    with opened(project) as memories:
        problems = memories.check_files()
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
def show_core(project: Project = None, as_json: AsJson = False) -> None:
    """Show the standing brief."""
    with opened(project) as memories:
        document = memories.core()
    if as_json:
        return show.json(core_.as_json(document) if document else None)
    if document is None:
        typer.echo('no brief yet (`ademem core set summary "…"` starts one)', err=True)
        raise typer.Exit(1)
    for name, text in core_.lines(document):
        typer.echo(f"{name}: {text}")


@core.command("set")
def set_core(
    field: Annotated[str, typer.Argument(help="summary, conventions, preferences, focus or notes")],
    text: Annotated[
        list[str], typer.Argument(help="The summary, or one item an argument; none empties it.")
    ],
    version: Annotated[
        int | None, typer.Option("--version", help="Refuse unless the brief is at this version.")
    ] = None,
    project: Project = None,
) -> None:
    """Replace one field of the standing brief."""
    with opened(project) as memories:
        document = memories.update_core(core_.field_of(field, text), expect_version=version)
    typer.echo(f"the brief is at version {document.version}")


@app.command("import")
def import_(
    source: Annotated[str, typer.Argument(metavar="FILE|-")],
    format: Annotated[
        str, typer.Option("--format", help="jsonl or ademem (our own export).")
    ] = "jsonl",
    project: Project = None,
    as_json: AsJson = False,
) -> None:
    """Import JSON lines through the gate; a second run changes nothing; a pipe gets JSON."""
    if format not in ("jsonl", "ademem"):
        raise UsageError(f"no format {format!r}", "jsonl or ademem")
    with opened(project) as memories:
        bar = _progress if sys.stderr.isatty() else None
        imported = memories.import_lines(_lines(source), bar)
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
        return
    typer.echo(
        f"inserted {imported.inserted}, merged {imported.merged}, rejected {imported.rejected}"
    )
    for number, message in imported.errors:
        typer.echo(f"line {number}: {message}", err=True)


@app.command()
def export(
    target: Annotated[str, typer.Argument(metavar="FILE|-")] = "-",
    include_personal: Annotated[
        bool, typer.Option("--include-personal", help="Agent-scoped memories too.")
    ] = False,
    project: Project = None,
) -> None:
    """Export memories as JSON lines; an import elsewhere restores them exactly."""
    with opened(project) as memories:
        lines = [
            orjson.dumps(row) + b"\n" for row in memories.export(include_personal=include_personal)
        ]
    if target == "-":
        sys.stdout.buffer.write(b"".join(lines))
        return
    Path(target).write_bytes(b"".join(lines))
    typer.echo(f"wrote {len(lines)} memories to {target}")


def _lines(source: str) -> Iterator[str]:
    if source == "-":
        yield from sys.stdin
        return
    try:
        with open(source, encoding="utf-8", errors="replace") as file:
            yield from file
    except OSError as error:
        raise UsageError(
            f"cannot read {source}: {error.strerror}", "name a file, or - for standard input"
        ) from error


def _progress(count: int) -> None:
    typer.echo(f"\r{count} lines", nl=False, err=True)
