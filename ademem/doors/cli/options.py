"""Arguments and options that several commands share, and their values."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable
from datetime import datetime, timedelta
from enum import StrEnum
from io import TextIOWrapper
from typing import Annotated, Any, TextIO, TypeVar

import typer

from ademem import api
from ademem.api.files import Inspection
from ademem.core.errors import UsageError
from ademem.core.memory import Category, Importance, Scope, Status
from ademem.core.settings import load_configuration
from ademem.doors.cli import show
from ademem.store.runtime import Runtime

Project = Annotated[
    str | None, typer.Option("--project", help="Folder of the project.", metavar="DIR")
]
Id = Annotated[str, typer.Argument(metavar="ID", help="Of a memory, or its beginning.")]
Title = Annotated[
    str | None, typer.Option("--title", help="A heading, under which a text may be long.")
]
BriefAgent = Annotated[
    str, typer.Option("--agent", metavar="NAME", help="The brief of this agent instead.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Machine-readable output.")]
DryRun = Annotated[
    bool, typer.Option("--dry-run", help="Show what would change, and change nothing.")
]
Http = Annotated[bool, typer.Option("--http", help="Over HTTP, to this machine alone.")]
Port = Annotated[str, typer.Argument(metavar="[PORT]", help="Port for --http; 0 is any.")]
Limit = Annotated[int, typer.Option("--limit", "-n", min=1, max=1000, help="At most so many.")]
CategoryName = Annotated[str | None, typer.Option("--category", "-c", help=", ".join(Category))]
ScopeName = Annotated[
    str | None, typer.Option("--scope", help="project, agent (user) or mission (lane).")
]
Owner = Annotated[
    str | None, typer.Option("--owner", help="Agent or mission the memory belongs to.")
]
ImportanceName = Annotated[str | None, typer.Option("--importance", help=", ".join(Importance))]
StatusName = Annotated[str | None, typer.Option("--status", help=", ".join(Status))]
Tags = Annotated[str | None, typer.Option("--tags", help="Words separated by commas.")]
PathGlob = Annotated[
    str | None, typer.Option("--path", help="Files the memory is about.", metavar="GLOB")
]
Branch = Annotated[str | None, typer.Option("--branch", help="Memories of this unmerged branch.")]
Anchors = Annotated[
    list[str] | None, typer.Option("--anchor", help="Place in the code.", metavar="FILE:LINES")
]
Commands = Annotated[
    list[str] | None,
    typer.Option("--command", help="Shell command before which it is shown.", metavar="WORDS"),
]


def flag(name: str, help: str) -> Any:
    """Declare an option without a value, as the default of a parameter."""
    return typer.Option(False, name, help=help)


def option(names: str, help: str, default: Any = None, **rest: Any) -> Any:
    """Declare an option by its names, with what else typer takes: metavar, min, max."""
    return typer.Option(default, *names.split(), help=help, **rest)


def argument(metavar: str, help: str, default: Any = ..., **rest: Any) -> Any:
    """Declare an argument, which is required unless it has a default."""
    return typer.Argument(default, metavar=metavar, help=help, **rest)


Kind = TypeVar("Kind", bound=StrEnum)
UNITS = {"m": timedelta(minutes=1), "h": timedelta(hours=1), "d": timedelta(days=1)}


def open_project(project: str | None, *, catch_up: bool = True) -> Runtime:
    """Open the project and import pending changes of its files, unless *catch_up* is False."""
    memories = api.open_memories(project, on_import=import_progress(), catch_up=catch_up)
    show.notices(memories)
    return memories


def open_inspection(project: str | None) -> Inspection:
    inspection = api.inspect_files(project)
    show.notices(inspection.runtime)
    return inspection


def warn(project: str | None) -> None:
    """Print the warnings about settings, for a command that opens no memory."""
    show.warn(load_configuration(api.find_project(project), os.environ).warnings)


def progress(text: str, end: str = "") -> None:
    """Replace the last line on standard error."""
    typer.echo(f"\r\x1b[K{text}{end}", nl=False, err=True)


def import_progress() -> Callable[[int, int], None] | None:
    """Return a function that shows the progress of an import; None without a terminal."""
    if not sys.stderr.isatty():
        return None

    def show(done: int, total: int) -> None:
        progress(f"importing the files: {done:,} of {total:,} changes", "\n" * (done >= total))

    return show


def text_or_stdin(text: str) -> str:
    """Return the text, or standard input for `-`; raises UsageError when that is no UTF-8."""
    text.encode()  # bytes of another encoding would be stored as question marks
    try:
        return stdin("strict").read() if text == "-" else text
    except UnicodeDecodeError as error:
        raise UsageError("standard input is no text in UTF-8", "pipe in a text") from error


def stdin(errors: str = "replace") -> TextIO:
    """Return standard input decoded as UTF-8, whatever the locale."""
    if isinstance(sys.stdin, TextIOWrapper):
        sys.stdin.reconfigure(encoding="utf-8", errors=errors)
    return sys.stdin


def split_words(text: str | None) -> tuple[str, ...]:
    return tuple(word.strip() for word in text.split(",") if word.strip()) if text else ()


def parse_scope(text: str | None) -> Scope | None:
    if text is None:
        return None
    try:
        return Scope.parse(text)
    except ValueError as error:
        raise UsageError(f"no scope {text!r}", "project, agent or mission") from error


def parse_choice(kind: type[Kind], text: str | None) -> Kind | None:
    """Parse a member of an enumeration; raises UsageError with all members."""
    if text is None:
        return None
    try:
        return kind(text.strip().lower())
    except ValueError as error:
        raise UsageError(f"no {kind.__name__.lower()} {text!r}", ", ".join(kind)) from error


def parse_time(text: str, now: datetime) -> datetime:
    """Read ISO 8601, by default in local time, or an age; a day alone means its end."""
    age = re.fullmatch(r"(\d{1,5})([mhd])", text.strip())
    if age:
        return now - int(age[1]) * UNITS[age[2]]
    try:
        moment = datetime.fromisoformat(text.strip()).astimezone()
    except ValueError as error:
        raise UsageError(
            f"{text!r} is no time", "2026-01-31, 2026-01-31T18:00, or ago: 45m, 3h, 2d"
        ) from error
    return moment + timedelta(days=1) if len(text.strip()) == len("2026-01-31") else moment
