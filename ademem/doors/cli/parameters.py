"""Parameters that several commands have, and how texts of people are read."""

from __future__ import annotations

import os
import sys

from ademem import operations
from ademem.core.errors import UsageError
from ademem.core.memory import SCOPES, Scope
from ademem.core.settings import load_configuration
from ademem.doors.cli import show
from ademem.doors.cli.options import argument, option
from ademem.operations import parameters
from ademem.operations.signatures import Annotated

TYPE_CHECKING = False
if TYPE_CHECKING:
    from enum import StrEnum
    from typing import TextIO, TypeVar

    from ademem.store.runtime import Runtime

    Kind = TypeVar("Kind", bound=StrEnum)

Project = Annotated[str | None, option("--project DIR", "Folder of the project.")]
Id = Annotated[str, parameters.ID]
Title = Annotated[str | None, parameters.TITLE]
BriefAgent = Annotated[str, option("--agent NAME", "The brief of this agent instead.")]
DryRun = Annotated[bool, parameters.DRY_RUN]
Port = Annotated[str, argument("[PORT]", "Port for --http; 0 is any.")]
Limit = Annotated[int, parameters.LIMIT]
CategoryName = Annotated[str | None, parameters.CATEGORY]
Type = Annotated[str | None, parameters.TYPE]
Tags = Annotated[str | None, parameters.TAGS]
Repeats = Annotated[str | None, parameters.REPEATS]
Replaces = Annotated[str | None, parameters.REPLACES]
Contradicts = Annotated[str | None, parameters.CONTRADICTS]
Heard = Annotated[str | None, parameters.HEARD]


def warn(project: str | None) -> None:
    """Print the warnings about settings, for a command that opens no memory."""
    show.warn(load_configuration(operations.find_project(project), os.environ).warnings)


def text_or_stdin(text: str) -> str:
    text.encode()  # bytes of another encoding would be stored as question marks
    try:
        return stdin("strict").read() if text == "-" else text
    except UnicodeDecodeError as error:
        raise UsageError("standard input is not UTF-8 text", "pipe in a text") from error


def stdin(errors: str = "replace") -> TextIO:
    """Return standard input decoded as UTF-8, whatever the locale."""
    from io import TextIOWrapper

    if isinstance(sys.stdin, TextIOWrapper):
        sys.stdin.reconfigure(encoding="utf-8", errors=errors)
    return sys.stdin


def can_ask(memories: Runtime) -> bool:
    """Tell whether a person is there who can answer."""
    return not show.as_json and memories.by.is_person and sys.stdin.isatty()


def confirm(question: str) -> bool:
    """Ask a person; raises EOFError where nobody answers."""
    while True:
        answer = input(f"{question} [y/N]: ").strip().lower()
        if answer in ("", "n", "no", "y", "yes"):
            return answer.startswith("y")
        show.echo("Error: invalid input")


def split_words(text: str | None) -> tuple[str, ...]:
    return tuple(word.strip() for word in text.split(",") if word.strip()) if text else ()


def parse_scope(text: str | None) -> Scope | None:
    if text is None:
        return None
    try:
        return Scope.parse(text)
    except ValueError as error:
        raise UsageError(f"no scope {text!r}", ", ".join(SCOPES)) from error


def parse_choice(kind: type[Kind], text: str | None) -> Kind | None:
    if text is None:
        return None
    try:
        return kind(text.strip().lower())
    except ValueError as error:
        raise UsageError(f"no {kind.__name__.lower()} {text!r}", ", ".join(kind)) from error
