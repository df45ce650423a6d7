"""Formats of `ademem import` and `ademem export`, each with an import of its own."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from typing import Any

from ademem.core import plugins
from ademem.core.errors import UsageError
from ademem.core.text import counted
from ademem.core.value import Value
from ademem.doors.cli import show
from ademem.doors.cli.parameters import can_ask, confirm
from ademem.files.readers import Comparison
from ademem.files.records import Imported
from ademem.operations import configuring, curation, reports
from ademem.store.runtime import Runtime

OTHER_FORMAT = "if another program wrote it, `--format auto` names the format"


class Source(Value):
    """What is imported, and how."""

    path: str
    """- is standard input."""
    project: str = ""
    """One of the source's; empty where it has one."""
    personal: bool = False
    follow: bool = False
    dry_run: bool = False


class Format(Value):
    name: str
    run: Callable[[Runtime, Source], None]
    """Imports the source, and shows what came of it."""
    options: tuple[str, ...] = ()
    """Those options of `import` that it takes, of the ones that not every format takes."""
    fits: Callable[[str], bool] = lambda path: False
    """Is it at this path; `--format auto` asks."""
    compare: Callable[[Runtime, Source], list[Comparison]] | None = None
    """Counts what of the source is imported, by its projects: `--status`."""
    export: Callable[[Runtime], tuple[list[dict[str, Any]], bytes]] | None = None
    """Returns the memories as rows, and the file that has them."""


def load_format(name: str, seam: str = "FORMATS") -> Format | None:
    """Return a format of a part out of the tuple FORMATS of its module, if a part has it."""
    for named in plugins.modules_by_word(seam).get(name, ()):
        module = plugins.load(named)
        if module is None:
            raise UsageError(f"the part for {name} cannot be loaded: {plugins.faults[named]}")
        formats: tuple[Format, ...] = module.FORMATS
        return next(each for each in formats if each.name == name)
    return None


def progress_of(noun: str) -> Callable[[int], None] | None:
    """Return a function that shows the number of items, or None where no terminal is."""
    if not sys.stderr.isatty():
        return None
    return lambda count: show.progress(counted(count, noun))


def report_waiting(memories: Runtime, *, dry_run: bool) -> None:
    """End the line of the progress, and say what waits for review."""
    if sys.stderr.isatty():
        show.progress("")
    if dry_run:
        return
    if not show.as_json and (waiting := show.join_waiting(curation.count_queue(memories))):
        show.echo(f"to review: {waiting}", err=True)
    if raised := configuring.raise_project_limit(memories, partial(_ask_to_raise, memories)):
        show.echo(
            f"raised {configuring.PROJECT_LIMIT} to {raised.limit:,} in {raised.path}, as a sweep"
            " archives candidates above it",
            err=True,
        )
    elif overfull := reports.find_overfull(memories):
        show.echo(overfull, err=True)


def _ask_to_raise(memories: Runtime, limit: int) -> bool:
    """Ask a person; a script is told what a sweep will do.

    An interruption means no: the import is done, and its outcome is still to be shown.
    """
    if not can_ask(memories):
        return False
    name = configuring.PROJECT_LIMIT
    with suppress(EOFError, KeyboardInterrupt):
        return confirm(
            f"More memories live than {name} allows: raise it to {limit:,} on this machine?"
        )
    show.echo()
    return False


def join_all(counts: Mapping[str, int], *, dry_run: bool) -> str:
    figures = ", ".join(f"{name} {count}" for name, count in counts.items())
    return f"would be: {figures}" if dry_run else figures


def show_lines(memories: Runtime, imported: Imported, *, dry_run: bool) -> None:
    """Show the outcome of lines that were imported one by one; as JSON where no terminal is."""
    show.as_json |= not sys.stdout.isatty()
    report_waiting(memories, dry_run=dry_run)
    counts = {name: getattr(imported, name) for name in ("inserted", "merged", "rejected")}
    if imported.errors and not any(counts.values()):
        show.echo(f"no line could be read: {OTHER_FORMAT}", err=True)
    errors = [{"line": number, "message": message} for number, message in imported.errors]
    show.report(
        counts | {"event": imported.event, "errors": errors},
        [f"{join_all(counts, dry_run=dry_run)}{show.name_undo(imported.event)}"],
        (f"line {number}: {message}" for number, message in imported.errors),
    )
