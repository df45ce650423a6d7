"""The app with all commands: their modules, their panels in the help, and replaced forms."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Sequence
from importlib import import_module
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from ademem import __version__
from ademem.core.errors import USAGE, AdememError, UsageError
from ademem.doors.cli import REPLACED, wants_json

MODULES = {
    "memory": "add learn topic-key recall search timeline context get list log undo",
    "sessions": "session prompts why",
    "relating": "relations",
    "projects": "projects",
    "curating": "promote reject archive restore pin delete edit",
    "reviewing": "review propose",
    "upkeep": "backup work sweep verify scrub doctor",
    "practice": "mission procedures skills",
    "files": "files core import export merge-file",
    "exchange": "sync",
    "hub": "hub",
    "model": "model serve",
    "setup": "init install uninstall config trust",
    "servers": "mcp rpc web ui tui",
    "reports": "status cost guard eval",
}
"""Modules of this package, with the commands and groups that each defines."""

PANELS = {
    "Every day": tuple("recall search timeline add get list".split()),
    "Review": tuple(
        "web tui review promote reject edit pin archive restore delete undo propose".split()
    ),
    "Team": (
        *("files refresh", "files import", "files check", "core show", "core set"),
        *("sync", "import", "export", "trust", "hub join", "hub leave", "hub serve", "hub migrate"),
        *("hub check", "hub project add", "hub project list", "hub project close", "hub invite"),
        *("hub member list", "hub member role", "hub member remove", "hub token list"),
        *("hub token revoke", "hub audit", "hub purge", "hub receipts", "hub compact"),
        *("hub backup", "hub restore", "hub move"),
    ),
    "Set-up": (
        *("init", "install", "uninstall", "mcp", "config list", "config set"),
        *("model install", "model status", "model remove"),
    ),
    "Upkeep": (
        *("doctor", "backup", "sweep", "scrub", "verify"),
        *("projects list", "projects merge", "projects consolidate", "projects forget"),
    ),
    "Insight": (
        *("status", "log", "why", "session list", "session show", "session start", "session end"),
        *("session summary", "session delete", "prompts search", "prompts delete"),
        *("relations list", "relations judge", "relations scan", "relations deferred"),
        *("guard explain", "mission start", "mission end", "mission list"),
        *("procedures list", "procedures export"),
    ),
}
"""Commands that the help lists, by panel; scripts, git and agents call the others."""

FORMS = {
    "agents list": "core show --agents",
    "agents set": "core set --agent",
    "agents show": "core show --agent",
    "at": "list --at",
    "candidates": "list --status candidate",
    "capture pr": "import --format pr",
    "config get": "config list",
    "consolidate": "sweep --merge",
    "digest": "status commits",
    "episodes": "log --episodes",
    "files diff": "files check --diff",
    "guard log": "log --guard",
    "guard status": "status guard",
    "history": "get --history",
    "hub member add": "hub invite",
    "mission status": "mission list --status",
    "model verify": "model status --verify",
    "procedures show": "procedures list",
    "refusals": "log --refused",
    "settle": "review --settle",
    "stats": "status impressions",
    "sync deferred": "relations deferred",
    "sync status": "sync --status",
    "unpin": "pin --off",
}
"""Replaced forms of commands, which still work, and the listed form of each."""

USUAL = {"prompts": "search", "relations": "list"}
"""Commands of groups that are meant where none of the group is named."""


_ParserError: Any = typer.BadParameter.__base__
"""Wrong usage in typer; which module defines it depends on its version."""


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
            _hide(below.typer_instance, f"{prefix}{below.name} ")
            below.hidden = all(not name.startswith(f"{prefix}{below.name} ") for name in listed)


def run() -> None:
    """Parse the command line and run its command; ends the process."""
    arguments = replace_form(sys.argv[1:])
    word = arguments[0] if arguments else ""
    named = [module for module, names in MODULES.items() if word in names.split()]
    everything = not named or "_ADEMEM_COMPLETE" in os.environ
    commands = typer.main.get_command(load(MODULES if everything else named))
    try:
        code = commands.main(arguments, prog_name="ademem", standalone_mode=False)
        sys.exit(code or 0)
    except _ParserError as error:
        error.message = error.message.replace("Value error, ", "")  # of the library that checks it
        if not wants_json(arguments):
            error.show()
            sys.exit(USAGE)
        context = error.ctx.command_path if error.ctx else "ademem"
        message = error.format_message()
        raise UsageError(message, f"`{context} --help` shows its options") from error
    except typer.Abort as error:
        raise AdememError("no answer was given") from error


def replace_form(arguments: Sequence[str]) -> list[str]:
    """Return the arguments in their listed form; name it on standard error where it is another."""
    if arguments and arguments[0] in USUAL:
        group, *rest = arguments
        commands = {f"{group} --help", *(name for names in PANELS.values() for name in names)}
        if not rest or f"{group} {rest[0]}" not in commands:
            return [group, USUAL[group], *rest]
    for words in (1, 2, 3):
        old, rest = " ".join(arguments[:words]), list(arguments[words:])
        if old in FORMS:
            print(REPLACED.format(old=old, new=FORMS[old]), file=sys.stderr)
            if FORMS[old].endswith(("--agent", "--at", "--settle")):  # which takes the first value
                at = next((at for at, word in enumerate(rest) if not word.startswith("-")), 0)
                rest = rest[at:] + rest[:at]
            return [*FORMS[old].split(), *rest]
    return list(arguments)
