"""The commands as typer has them: for help, completion, and command lines with a mistake.

Typer is imported here alone, as loading it takes longer than most commands.
"""

from __future__ import annotations

import sys
from difflib import get_close_matches
from functools import cache, wraps
from inspect import Parameter as Argument
from inspect import Signature
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer
from typer.core import TyperGroup

from ademem import __version__
from ademem.core.errors import USAGE, AdememError, UsageError
from ademem.doors.cli import commands as own
from ademem.doors.cli.commands import GROUPS, HELP, Command, module_of, modules
from ademem.doors.cli.options import flags_of, metavar_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from ademem.operations.signatures import Parameter

_ParserError: Any = typer.BadParameter.__base__
"""Wrong usage in typer; which module defines it depends on its version."""


class Panels(TyperGroup):
    """The commands; the module of one is loaded when it is asked for."""

    def list_commands(self, ctx: Any) -> list[str]:
        return " ".join(modules().values()).split()

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        if cmd_name not in self.commands and (module := module_of(cmd_name)):
            self._build([module])
        return self.commands.get(cmd_name)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        if not module_of(args[0]) and not ctx.resilient_parsing:
            names = self.list_commands(ctx)
            close = "".join(map(repr, get_close_matches(args[0], names, 1)))
            ctx.fail(f"No such command {args[0]!r}." + (f" Did you mean {close}?" if close else ""))
        return super().resolve_command(ctx, args)

    def _build(self, names: Iterable[str]) -> None:
        self.commands.update(typer.main.get_group(load(names)).commands)


app = typer.Typer(
    name="ademem",
    cls=Panels,
    help="Project memory for Claude Code that a team can trust.",
    context_settings={"help_option_names": HELP},
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


@cache
def group_of(path: str) -> typer.Typer:
    if not path:
        return app
    above, _, name = path.rpartition(" ")
    group = typer.Typer(help=GROUPS[path], no_args_is_help=True)
    group_of(above).add_typer(group, name=name, hidden=path in own.hidden())
    return group


_added: set[str] = set()


def load(names: Iterable[str] | None = None) -> typer.Typer:
    """Return the app with the commands of the named modules, by default of all."""
    own.load(names)
    for name, command in own.commands.items():
        if name not in _added:
            _added.add(name)
            group, _, last = name.rpartition(" ")
            group_of(group).command(last, hidden=command.is_hidden)(_callback(command))
    return app


def _callback(command: Command) -> Callable[..., None]:
    """Return the function of a command with parameters as typer declares them."""

    @wraps(command.function)
    def run(**given: Any) -> None:
        command.call(given)

    parameters = [_declare(each) for each in command.parameters]
    run.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {each.name: each.annotation for each in parameters}
    return run


def _declare(parameter: Parameter) -> Argument:
    about, flags = parameter.about, flags_of(parameter)
    shared: dict[str, Any] = {
        "help": _sentence(about.help),
        "metavar": metavar_of(parameter) or None,
        "min": about.least,
        "max": about.most,
        "envvar": about.variable or None,
        "show_envvar": False,
    }
    default = ... if parameter.is_required else parameter.default
    declared: Any = typer.Option if flags else typer.Argument
    is_optional = not parameter.is_required and parameter.default is None
    return Argument(
        parameter.variable,
        Argument.KEYWORD_ONLY,
        default=declared(default, *flags, **shared),
        annotation=parameter.kind | None if is_optional else parameter.kind,
    )


def _sentence(help: str) -> str:
    return help if help.endswith((".", "…")) else f"{help}." * bool(help)


def _path_of(command: Any, arguments: Sequence[str]) -> str:
    """Return the command that the first arguments name, for an error without its own."""
    path = ["ademem"]
    for word in arguments:
        command = getattr(command, "commands", {}).get(word)
        if command is None:
            break
        path.append(word)
    return " ".join(path)


def run(arguments: Sequence[str]) -> NoReturn:
    commands = typer.main.get_command(app)
    try:
        code = commands.main(list(arguments), prog_name="ademem", standalone_mode=False)
        sys.exit(code or 0)
    except _ParserError as error:
        if not error.message:  # of a missing argument
            error.message = getattr(getattr(error, "param", None), "help", "")
        if " " in getattr(error, "option_name", ""):
            error.message += " (write -- before a text that begins with a dash)"
        if type(error).show is not _ParserError.show:  # of a group alone: its help
            error.show()
            sys.exit(USAGE)
        context = error.ctx.command_path if error.ctx else _path_of(commands, arguments)
        message = error.format_message().removesuffix(".")
        raise UsageError(message, f"`{context} --help` shows its options") from error
    except typer.Abort as error:
        raise AdememError("no answer was given") from error
