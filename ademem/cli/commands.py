"""All commands, by their options."""

from __future__ import annotations

from importlib import import_module

import typer

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
    memory reviewing curating past capturing upkeep missions episodes procedures skills telling
    agents files model places serve project evaluation cost
    """.split()
)
"""Modules of commands, in the order in which `--help` shows them."""


def run() -> None:
    """Parse the command line and do what it says; ends the process."""
    for module in COMMANDS:
        import_module(f"ademem.cli.{module}")
    app()
