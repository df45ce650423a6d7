"""All commands, by their options."""

from __future__ import annotations

import os
import sys
from importlib import import_module
from typing import TYPE_CHECKING, Annotated

import typer
from typer.core import TyperGroup

from ademem import __version__

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

MODULES = {
    "memory": "add learn recall search get list candidates",
    "reviewing": "review propose",
    "curating": "promote reject archive restore pin unpin delete edit",
    "past": "history log at undo",
    "upkeep": "sweep consolidate settle",
    "missions": "mission",
    "episodes": "episodes",
    "procedures": "procedures",
    "skills": "skills",
    "files": "files core agents import export capture merge-file",
    "model": "model",
    "places": "verify",
    "serve": "serve",
    "project": "init install uninstall doctor work scrub",
    "configuring": "config trust",
    "reports": "status guard refusals digest stats cost",
    "evaluation": "eval",
}
"""Modules of this package, with the commands and groups that each defines."""

PANELS = {
    "Every day": ("recall", "add", "learn", "get", "list"),
    "Review": tuple("review promote reject edit pin archive restore delete undo propose".split()),
    "Team": (
        *("files refresh", "files import", "files check", "core show", "core set"),
        *("import", "export", "trust"),
    ),
    "Set-up": (
        *("init", "install", "uninstall", "config list", "config get", "config set"),
        *("model install", "model status", "model remove"),
    ),
    "Upkeep": ("doctor", "work", "sweep", "scrub", "verify"),
    "Insight": (
        *("status", "log", "guard explain", "mission start", "mission end", "mission list"),
        *("procedures list", "procedures export"),
    ),
}
"""Commands that the help lists, by panel; all others are hidden."""

INSTEAD = {
    "agents list": "core show --agents",
    "agents set": "core set --agent NAME",
    "agents show": "core show --agent NAME",
    "at": "list --at TIME",
    "candidates": "list --status candidate",
    "capture pr": "import --format pr",
    "consolidate": "sweep --merge",
    "cost": "status cost",
    "digest": "status commits",
    "episodes": "list --category episode",
    "eval add": "",
    "eval gate": "",
    "eval run": "",
    "files diff": "files refresh --dry-run",
    "guard log": "log --guard",
    "guard status": "status guard",
    "history": "get ID --history",
    "merge-file": "",
    "mission promote": "",
    "mission status": "mission list",
    "model verify": "model status --verify",
    "procedures outcome": "",
    "procedures show": "get ID",
    "refusals": "log --refused",
    "search": "recall --no-count",
    "serve": "",
    "settle": "review --settle ID OTHER",
    "skills list": "",
    "skills reindex": "",
    "stats": "status impressions",
    "unpin": "pin --off",
}
"""Hidden commands, with the listed form that does the same; empty for those that others call."""


class Panels(TyperGroup):
    """A group whose help lists its commands by panel."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        for panel, names in PANELS.items():
            tops = dict.fromkeys(name.partition(" ")[0] for name in names)
            rows = [
                (name, self.commands[name].get_short_help_str(formatter.width - 6 - 12))
                for name in tops
                if name in self.commands
            ]
            if rows:
                with formatter.section(panel):
                    formatter.write_dl(rows)


app = typer.Typer(
    name="ademem",
    cls=Panels,
    help="Project memory for Claude Code that a team can trust.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"ademem {__version__}")
        raise typer.Exit


Version = Annotated[
    bool,
    typer.Option("--version", callback=_print_version, is_eager=True, help="Show the version."),
]


@app.callback()
def _all(version: Version = False) -> None:
    """Options before every command."""


def load(modules: Iterable[str] = MODULES) -> typer.Typer:
    """Define the commands of these modules, and hide those in no panel."""
    for module in modules:
        import_module(f"{__package__}.{module}")
    _hide(app, "")
    return app


def _hide(group: typer.Typer, prefix: str) -> None:
    listed = {name for names in PANELS.values() for name in names}
    for command in group.registered_commands:
        name = command.name or getattr(command.callback, "__name__", "")
        command.hidden = f"{prefix}{name}" not in listed
    for below in group.registered_groups:
        if below.typer_instance and isinstance(below.name, str):
            _hide(below.typer_instance, f"{below.name} ")
            below.hidden = all(not name.startswith(f"{below.name} ") for name in listed)


def run() -> None:
    """Parse the command line and run its command; ends the process."""
    word = sys.argv[1] if len(sys.argv) > 1 else ""
    named = [module for module, names in MODULES.items() if word in names.split()]
    everything = not named or "_ADEMEM_COMPLETE" in os.environ
    load(MODULES if everything else named)(prog_name="ademem")
