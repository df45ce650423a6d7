"""The app with all commands: modules, panels of the help, shared options."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from enum import StrEnum
from functools import cache, partial, wraps
from importlib import import_module
from importlib.machinery import PathFinder
from inspect import Parameter, Signature, signature
from io import TextIOWrapper
from pathlib import Path
from typing import Annotated, Any, NoReturn, TextIO, TypeVar

import typer
from typer.core import TyperGroup

from ademem import __version__, operations
from ademem.core import plugins, process, who
from ademem.core.errors import USAGE, AdememError, UsageError
from ademem.core.memory import SCOPES, Category, Importance, Scope
from ademem.core.settings import load_configuration
from ademem.doors.cli import show, wants_json
from ademem.store.runtime import Runtime

MODULES = {
    "memory": (
        "add learn topic-key recall search timeline context get list log undo"
        " promote reject archive restore pin delete edit"
    ),
    "placing": "at",
    "sessions": "session prompts why",
    "reviewing": "review propose relations",
    "upkeep": "backup work sweep scrub doctor projects",
    "files": "files core merge-file",
    "importing": "import export",
    "model": "model serve",
    "setup": "init install uninstall config trust",
    "reports": "status cost guard",
}
"""Modules of this package, with the commands and groups that each defines; parts add theirs."""

PANELS = {
    "Every day": "recall search add at get list",
    "Review": "review promote reject edit pin archive restore delete undo propose",
    "Team": "files core import export trust",
    "Set-up": "init install uninstall config model",
    "Upkeep": "doctor backup sweep scrub projects",
    "Insight": "status log why session prompts relations guard",
}

OF_PARTS = {
    "exchange": "sync",
    "hub": "hub",
    "mcp": "mcp",
    "page": "web",
    "procedures": "mission procedures",
    "terminal": "tui",
    "verify": "verify",
}
"""Parts of this package, with the commands that the help lists of each."""

HIDDEN = frozenset(
    (
        *("learn", "topic-key", "timeline", "context", "work", "merge-file", "serve"),
        "cost",
    )
)
"""Commands and groups for scripts, git and agents, which no help lists."""

GROUPS = {
    "files": "The git-reviewable files of memory.",
    "core": "The project brief.",
    "model": "The embedding model, for recall by meaning.",
    "guard": "Recall before changes.",
    "relations": "Relations between memories.",
    "session": "Sessions of Claude Code and other programs.",
    "prompts": "What you typed in sessions.",
    "config": "Settings, and where they come from.",
    "projects": "The projects of this machine.",
}

HELP = ["--help", "-h"]


@cache
def modules(*, by_others: bool = True) -> dict[str, str]:
    """Return the modules with the commands of each, those of parts by their whole names."""
    found = dict(MODULES)
    for _, given in plugins.added("COMMANDS", by_others=by_others):
        found |= given
    return found


def module_of(command: str) -> str | None:
    """Return the module of a command; no part is loaded for one of the core's."""
    defined = {word: module for module, names in MODULES.items() for word in names.split()}
    for by_others in (False, True):
        if command in defined:
            break
        parts = modules(by_others=by_others).items()
        defined |= {word: module for module, names in parts for word in names.split()}
    return defined.get(command)


def hidden() -> frozenset[str]:
    """Return the commands and groups that no help lists."""
    of_parts = (name for _, given in plugins.added("HIDDEN") for name in given)
    return HIDDEN.union(of_parts)


def _of_part(function: Callable[..., object], seam: str) -> Any:
    """Return what the part with this function adds; an empty tuple for the core."""
    return getattr(sys.modules[function.__module__.rpartition(".")[0]], seam, ())


def panels(*, whole: bool = False) -> Iterator[tuple[str, list[str]]]:
    """Yield each panel with its commands, those of parts behind the core's.

    Commands of parts that lack a package are left out, unless *whole*.
    """
    of_parts: dict[str, list[str]] = {}
    for part, given in plugins.added("PANELS", by_others=True):
        for panel, names in given.items():
            if whole or not missing_of(part):
                of_parts.setdefault(panel, []).extend(names.split())
    for panel in (*PANELS, *(name for name in of_parts if name not in PANELS)):
        yield panel, [*PANELS.get(panel, "").split(), *of_parts.get(panel, [])]


def missing_of(part: Any) -> str:
    """Return the first package that a part needs and this installation lacks."""
    needed = getattr(part, "PACKAGES", ())
    return next((name for name in needed if PathFinder.find_spec(name) is None), "")


USUAL = {
    "prompts": ("search", "delete"),
    "relations": ("list", "judge", "scan", "deferred"),
}
"""Commands of groups, of which the first is meant where none is named."""


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
            close = ", ".join(map(repr, get_close_matches(args[0], names)))
            ctx.fail(f"No such command {args[0]!r}." + (f" Did you mean {close}?" if close else ""))
        return super().resolve_command(ctx, args)

    def _build(self, names: Iterable[str]) -> None:
        self.commands.update(typer.main.get_group(load(names)).commands)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        if len(self.commands) < len(self.list_commands(ctx)):
            self._build(modules())
        for panel, names in panels():
            width = formatter.width - 6 - 12
            shown = [(name, self.commands[name].get_short_help_str(width)) for name in names]
            with formatter.section(panel):
                formatter.write_dl(shown)
        absent = [
            f"{name} ({part.__name__.rpartition('.')[2]})"
            for part, given in plugins.added("PANELS")
            if missing_of(part)
            for names in given.values()
            for name in names.split()
        ]
        if absent:
            formatter.write_paragraph()
            formatter.write_text(
                f"With their extras: {', '.join(absent)}; each says how it is added."
            )
        left_out = [names for part, names in OF_PARTS.items() if plugins.named(part) is None]
        if left_out:
            formatter.write_paragraph()
            formatter.write_text(
                f"Parts that are not there would add: {', '.join(' '.join(left_out).split())}."
            )


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


_hidden = set(HIDDEN)
"""With those of the parts that were loaded."""


@cache
def group_of(path: str) -> typer.Typer:
    if not path:
        return app
    above, _, name = path.rpartition(" ")
    group = typer.Typer(help=GROUPS[path], no_args_is_help=True)
    group_of(above).add_typer(group, name=name, hidden=path in _hidden)
    return group


def load(names: Iterable[str] | None = None) -> typer.Typer:
    for name in modules() if names is None else names:
        import_module(name if "." in name else f"{__package__}.{name}")
    return app


def run() -> NoReturn:
    arguments = complete_form(sys.argv[1:])
    commands = typer.main.get_command(app)
    try:
        code = commands.main(arguments, prog_name="ademem", standalone_mode=False)
        sys.exit(code or 0)
    except _ParserError as error:
        if not error.message:  # of a missing argument
            error.message = getattr(getattr(error, "param", None), "help", "")
        if " " in getattr(error, "option_name", ""):
            error.message += " (write -- before a text that begins with a dash)"
        if not wants_json(arguments):
            error.show()
            sys.exit(USAGE)
        context = error.ctx.command_path if error.ctx else "ademem"
        message = error.format_message()
        raise UsageError(message, f"`{context} --help` shows its options") from error
    except typer.Abort as error:
        raise AdememError("no answer was given") from error


def complete_form(arguments: Sequence[str]) -> list[str]:
    """Add the usual command of a group where none is named."""
    if arguments and arguments[0] in USUAL:
        group, *rest = arguments
        if not rest or rest[0] not in (*HELP, *USUAL[group]):
            return [group, USUAL[group][0], *rest]
    return list(arguments)


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
Limit = Annotated[int, typer.Option("--limit", "-n", min=1, max=1000, help="Maximum number.")]
CategoryName = Annotated[str | None, typer.Option("--category", "-c", help=", ".join(Category))]
ScopeName = Annotated[str | None, typer.Option("--scope", help=", ".join(SCOPES))]
Owner = Annotated[
    str | None, typer.Option("--owner", help="Agent or mission the memory belongs to.")
]
ImportanceName = Annotated[str | None, typer.Option("--importance", help=", ".join(Importance))]
Tags = Annotated[str | None, typer.Option("--tags", help="Words separated by commas.")]
PathGlob = Annotated[
    str | None, typer.Option("--path", help="Files the memory is about.", metavar="GLOB")
]
Branch = Annotated[str | None, typer.Option("--branch", help="Memories of this unmerged branch.")]
Anchors = Annotated[
    list[str] | None, typer.Option("--anchor", help="Place in the code.", metavar="FILE:LINES")
]
Places = Annotated[
    list[str] | None,
    typer.Option("--at", help="Where it applies: src/**, `npm install` …", metavar="KEY"),
]
Commands = Annotated[
    list[str] | None,
    typer.Option("--command", help="Shell command before which it is shown.", metavar="WORDS"),
]


def flag(name: str, help: str) -> Any:
    return typer.Option(False, name, help=help)


def option(names: str, help: str, default: Any = None, **rest: Any) -> Any:
    """Declare an option by its names and metavar (`--at TIME`), with what else typer takes."""
    words = names.split()
    metavar = " ".join(word for word in words if word[0] != "-") or None
    flags = (word for word in words if word[0] == "-")
    return typer.Option(default, *flags, help=help, metavar=metavar, **rest)


def argument(metavar: str, help: str, default: Any = ..., **rest: Any) -> Any:
    return typer.Argument(default, metavar=metavar, help=help, **rest)


Kind = TypeVar("Kind", bound=StrEnum)


def open_project(project: Project = None, *, catch_up: bool = True) -> Runtime:
    """Open the project and import pending changes of its files, unless *catch_up* is False."""
    memories = operations.open_memories(
        project, on_import=show.import_progress(), catch_up=catch_up, by=who.of_process()
    )
    show.notices(memories)
    if catch_up:
        show.unread_edits(memories)
    return memories


Function = Callable[..., object]


def command(
    name: str = "", *, on: Callable[[Any], Any] | None = None
) -> Callable[[Function], Function]:
    """Define a command, by default of the function's name, with `--json` for `show`.

    With *on* its first argument is what that opens, and the first argument of that is an option.
    """

    group, _, last = name.rpartition(" ")

    def define(function: Function) -> Function:
        own = [*signature(function, eval_str=True).parameters.values()]
        opened_by = [*signature(on, eval_str=True).parameters.values()][:1] if on else []
        as_json = Parameter("as_json", Parameter.KEYWORD_ONLY, default=False, annotation=AsJson)
        options = [*own[len(opened_by) :], *opened_by, as_json]

        @wraps(function)
        def run(*, as_json: bool, **given: Any) -> None:
            show.as_json = as_json
            if on is None:
                function(**given)
                return
            with on(given.pop(opened_by[0].name)) as opened:
                function(opened, **given)

        run.__signature__ = Signature(options)  # type: ignore[attr-defined]
        run.__annotations__ = {each.name: each.annotation for each in options}
        own_name = last or function.__name__
        GROUPS.update(_of_part(function, "GROUPS"))
        _hidden.update(_of_part(function, "HIDDEN"))
        is_hidden = f"{group} {own_name}".strip() in _hidden
        group_of(group).command(own_name, hidden=is_hidden)(run)
        return function

    return define


on_project = partial(command, on=open_project)


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
    if isinstance(sys.stdin, TextIOWrapper):
        sys.stdin.reconfigure(encoding="utf-8", errors=errors)
    return sys.stdin


@contextmanager
def editing(text: str) -> Iterator[str]:
    """Yield the text as the person saved it in $EDITOR; the file stays where the act is refused."""
    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR")
    if not (editor or who.has_terminal()):
        raise UsageError("there is no terminal to edit the text in", "--content gives the new one")
    import tempfile  # which other commands need not load

    editor = editor or "vi"
    path = Path(tempfile.mkdtemp(prefix="ademem-"), "memory.md")
    path.write_text(text, encoding="utf-8")
    edited = text
    try:
        try:
            code = process.run_in_terminal([*shlex.split(editor), str(path)])
            if code:
                raise OSError(f"exit status {code}")
            data = path.read_bytes()
        except (OSError, ValueError) as error:
            hint = "set $EDITOR, or pass --content"
            raise UsageError(f"{editor}: {error}", hint) from None
        edited = data.decode(errors="replace")
        if edited.encode() != data:
            raise UsageError("the text is not UTF-8", "save it so, or pass --content")
        yield edited
        edited = text
    finally:
        if edited.strip() in ("", text.strip()):
            shutil.rmtree(path.parent)
        else:
            show.echo(f"your text is in {path}", err=True)


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
