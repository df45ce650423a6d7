"""All commands, by their options."""

from __future__ import annotations

from importlib import import_module
from typing import Annotated

import typer

from ademem import __version__

app = typer.Typer(
    name="ademem",
    help="Project memory for Claude Code that a team can trust.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)


def _tell_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"ademem {__version__}")
        raise typer.Exit


Version = Annotated[
    bool,
    typer.Option("--version", callback=_tell_version, is_eager=True, help="Show the version."),
]


@app.callback()
def _all(version: Version = False) -> None:
    """What may stand before every command."""


COMMANDS = tuple(
    """
    memory reviewing curating past capturing upkeep missions episodes procedures skills briefings
    agents files model places serve project configuring evaluation cost
    """.split()
)
"""Modules of commands, in the order in which `--help` shows them."""


def run() -> None:
    """Parse the command line and do what it says; ends the process."""
    for module in COMMANDS:
        import_module(f"ademem.doors.cli.{module}")
    app()
