"""Commands that import memories in the formats of the core and of parts, and export them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import StrEnum
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import Any

import orjson

from ademem.core import plugins
from ademem.core.errors import UsageError
from ademem.core.text import counted, join_counts, preview, replace_surrogates
from ademem.core.value import as_dict
from ademem.doors.cli import show
from ademem.doors.cli.commands import command, open_project
from ademem.doors.cli.formats import (
    Format,
    Source,
    join_all,
    load_format,
    progress_of,
    report_waiting,
    show_lines,
)
from ademem.doors.cli.options import argument, flag, option
from ademem.doors.cli.parameters import DryRun, Project, stdin
from ademem.files import readers
from ademem.files.readers import Report
from ademem.operations import files
from ademem.store.runtime import Runtime


class Destination(StrEnum):
    PROJECT = "project"
    PERSONAL = "personal"


WHERE_CHARS = 120
COPIED = ("claude", "rules")
"""Former formats, whose files stay where they are."""
OPTIONS = ("--as personal", "--from-project", "--status", "--follow")
"""Options that not every format takes."""


def _import_lines(memories: Runtime, source: Source) -> None:
    imported = files.import_lines(
        *(memories, _lines(source.path), progress_of("line")),
        confirms=not show.to_model(),
        dry_run=source.dry_run,
    )
    show_lines(memories, imported, dry_run=source.dry_run)


def _import_feedback(memories: Runtime, source: Source) -> None:
    text = replace_surrogates("".join(_lines(source.path)))
    captured = files.import_feedback(memories, text, dry_run=source.dry_run)
    counts = {name: len(ids) for name, ids in as_dict(captured).items() if isinstance(ids, tuple)}
    refused = (f"not kept: {reason}" for reason in captured.refused)
    show.report(captured, [join_all(counts, dry_run=source.dry_run)], refused)


def _import_foreign(format: str, memories: Runtime, source: Source) -> None:
    report = files.import_foreign(
        memories,
        source.path,
        format=format,
        project=source.project,
        personal=source.personal,
        dry_run=source.dry_run,
        follow=source.follow,
        on_progress=progress_of("item"),
    )
    report_waiting(memories, dry_run=source.dry_run)
    _show_foreign(report, source.dry_run)


def _compare_foreign(format: str, memories: Runtime, source: Source) -> list[readers.Comparison]:
    return files.compare_foreign(memories, source.path, format=format, project=source.project)[1]


def _show_foreign(report: Report, dry_run: bool) -> None:
    names = ("inserted", "merged", "known", "rejected", "briefs", "prompts")
    counts = {name: getattr(report, name) for name in names}
    head = {"format": report.format, "dry_run": dry_run, "event": report.event}
    rest = {name: getattr(report, name) for name in ("skipped", "cut", "dropped")}
    figures = join_counts(counts)
    would = "would be " if dry_run and figures else ""
    line = f"{report.format}: {would}{figures or 'nothing there'}{show.name_undo(report.event)}"
    notes = [*_loss_lines(report)]
    if report.inserted and not dry_run:
        notes.append("places and occasions for what has none: `ademem at --pending`")
    show.report(head | counts | rest, [line], notes)


def _loss_lines(report: Report) -> Iterator[str]:
    """Yield what was not imported, or not all of it, and why."""
    for each in report.skipped:
        yield f"skipped {preview(each.where, WHERE_CHARS)}: {each.why}"
    for each in report.cut:
        yield f"stored in part, {preview(each.where, WHERE_CHARS)}: {each.why}"
    if report.dropped:
        yield f"not imported: {report.dropped}"


def _comparison_line(format: str, found: readers.Comparison) -> str:
    return f"{found.project or format}: {found.known} imported, {found.new} new"


FORMATS = (
    Format(name="jsonl", run=_import_lines),
    Format(name="ademem", run=_import_lines),
    Format(name="pr", run=_import_feedback),
)


def _find(path: str) -> str:
    """Return the name of the format that fits a path; raises UsageError unless one does."""
    of_parts = list(plugins.modules_by_word("FORMATS"))
    fitting = [each.name for each in filter(None, map(load_format, of_parts)) if each.fits(path)]
    return readers.find_format(path, fitting, known=of_parts)


def _choose(name: str) -> Format:
    core = (each for each in FORMATS if each.name == name)
    if chosen := next(core, None) or load_format(name):
        return chosen
    if name in (of_readers := readers.names()):
        run, compare = partial(_import_foreign, name), partial(_compare_foreign, name)
        return Format(name=name, run=run, options=OPTIONS, compare=compare)
    of_core, of_parts = (each.name for each in FORMATS), plugins.modules_by_word("FORMATS")
    known = ", ".join((*of_core, "auto", *of_parts, *of_readers))
    raise UsageError(f"no format {name!r}", readers.IN_PLACE if name in COPIED else known)


@command("import")
def import_(
    source: str = argument("FILE|DIR|-", "- is standard input, of jsonl and pr alone."),
    format: str = option(
        "--format",
        "jsonl, ademem (our own export), pr (JSON of `gh`), auto,"
        f" or one of: {', '.join((*plugins.modules_by_word('FORMATS'), *readers.names()))}.",
        "jsonl",
    ),
    as_: Destination = option("--as", "personal: your own, in every project.", Destination.PROJECT),
    from_project: str = option("--from-project NAME", "One of the source's projects.", ""),
    status: bool = flag("--status", "Count what is imported and what is new, only."),
    follow: bool = flag("--follow", "Tell at a session's start when its files changed."),
    dry_run: DryRun = False,
    project: Project = None,
) -> None:
    """Import memories through the gate. A second run changes nothing."""
    chosen = _choose(_find(source) if format == "auto" else format)
    given = dict(
        zip(OPTIONS, (as_ is Destination.PERSONAL, from_project, status, follow), strict=True)
    )
    if unknown := [name for name, value in given.items() if value and name not in chosen.options]:
        hint = "leave it out, or name another format"
        raise UsageError(f"{chosen.name} has no `{unknown[0]}`", hint)
    asked = Source(
        path=source,
        project=from_project,
        personal=as_ is Destination.PERSONAL,
        follow=follow,
        dry_run=dry_run,
    )
    with open_project(project) as memories:
        if status and chosen.compare:
            found = chosen.compare(memories, asked)
            values = {"format": chosen.name, "count": len(found), "projects": found}
            return show.report(values, map(partial(_comparison_line, chosen.name), found))
        return chosen.run(memories, asked)


EXPORTS = " or ".join(("jsonl", *plugins.modules_by_word("EXPORTS")))


@command()
def export(
    target: str = argument("FILE|-", "- writes to standard output.", "-"),
    format: str = option("--format", f"{EXPORTS}.", "jsonl"),
    include_personal: bool = flag("--include-personal", "Yours and those of agents, too."),
    project: Project = None,
) -> None:
    """Export memories as JSON lines. `import` restores them exactly."""
    chosen = None
    if format != "jsonl":
        of_part = load_format(format, "EXPORTS")
        if not (of_part and (chosen := of_part.export)):
            raise UsageError(f"no format {format!r}", EXPORTS)
    if chosen and include_personal:
        hint = "leave it out"
        raise UsageError(f"personal memories are in no export for {format}", hint)
    with open_project(project) as memories:
        rows, data = chosen(memories) if chosen else _export_lines(memories, include_personal)
    if target == "-" and show.as_json:
        return show.json({"count": len(rows), "memories": rows})
    if target == "-":
        return show.write(data)
    _write(target, data)
    line = f"wrote {counted(len(rows), 'memory')} to {target}"
    return show.report({"count": len(rows), "path": target}, [line])


def _write(path: str, data: bytes) -> None:
    try:
        Path(path).write_bytes(data)
    except (FileNotFoundError, IsADirectoryError, NotADirectoryError) as error:
        raise UsageError(
            f"cannot write {path}: {error.strerror}", "name a file in a folder that is there"
        ) from error


def _export_lines(memories: Runtime, include_personal: bool) -> tuple[list[Any], bytes]:
    """Return the rows of memories and all lines; tell of personal ones."""
    found = list(files.export_memories(memories, include_personal=include_personal))
    rows = [row for row in found if "relation" not in row]
    own = sum(row["scope"] == "agent" and not row["scope_owner_id"] for row in rows)
    if own:
        show.echo(f"{counted(own, 'personal memory')} among them", err=True)
    return rows, _to_lines(found)


def _to_lines(rows: Iterable[dict[str, Any]]) -> bytes:
    import jsonlines  # which no other command of this module needs

    text = BytesIO()
    with jsonlines.Writer(text, dumps=orjson.dumps) as writer:
        writer.write_all(rows)
    return text.getvalue()


def _lines(source: str) -> Iterator[str]:
    if source == "-":
        yield from stdin("surrogateescape")
        return
    try:
        with open(source, encoding="utf-8", errors="surrogateescape") as file:
            yield from file
    except OSError as error:
        raise UsageError(
            f"cannot read {source}: {error.strerror}",
            "name a file, or - for standard input; `--format auto` tells what a folder has",
        ) from error
