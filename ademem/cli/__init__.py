"""The door for people: parse, call one function of `api`, show."""

from __future__ import annotations

import os
import sys
from importlib import import_module
from typing import NoReturn

import typer

from ademem.errors import AdememError, UsageError

app = typer.Typer(
    name="ademem",
    help="Project memory for Claude Code that a team can trust.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)


COMMANDS = tuple(
    """
    memory curating past capturing files model places serve project evaluation
    """.split()
)
"""Modules of commands, in the order in which `--help` shows them."""


def main() -> NoReturn:
    """Exit codes: 0 done, 1 refused or nothing found, 2 usage, 3 a bug of ours, with a log file."""
    for module in COMMANDS:
        import_module(f"ademem.cli.{module}")

    try:
        sys.exit(app())
    except UsageError as error:
        _fail(error, 2)
    except AdememError as error:
        _fail(error, 1)
    except Exception as error:
        sys.exit(_report(error))


def _fail(error: AdememError, code: int) -> NoReturn:
    hint = f" ({error.hint})" if error.hint else ""
    print(f"ademem: {error}{hint}", file=sys.stderr)
    sys.exit(code)


def _report(error: Exception) -> int:
    """Our bug: the traceback goes to a file, and the user is told where it is."""
    import traceback

    from ademem.failures import user_log_dir
    from ademem.redact import redact

    folder = user_log_dir(os.environ)
    os.makedirs(folder, mode=0o700, exist_ok=True)
    path = os.path.join(folder, "crash.log")
    with open(path, "a", encoding="utf-8") as file:
        file.write(redact("".join(traceback.format_exception(error))).text)
    print(f"ademem: unexpected {type(error).__name__}: {error} (see {path})", file=sys.stderr)
    return 3
