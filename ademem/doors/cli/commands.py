"""The commands by their modules: each loads its own, and runs without a parser of options.

A command is a function whose parameters are its options, as `options` declares them.
"""

from __future__ import annotations

import gc
import os
import sys

from ademem import operations
from ademem.core import plugins, who
from ademem.core.caching import cache, partial
from ademem.core.errors import AdememError
from ademem.core.value import Value
from ademem.doors.cli import show
from ademem.doors.cli.options import flag, option, parse
from ademem.operations.signatures import Parameter, read_parameters

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from typing import Any

    from ademem.store.runtime import Runtime

    Function = Callable[..., object]

MODULES = {
    "recalling": "recall",
    "memory": (
        "add learn topic-key search get list log undo"
        " promote reject archive restore pin delete edit"
    ),
    "placing": "at",
    "adopting": "adopt",
    "sessions": "session prompts why",
    "reviewing": "review propose relations",
    "upkeep": "backup work sweep scrub doctor projects",
    "files": "files core merge-file",
    "agents": "agents",
    "importing": "import export",
    "model": "model serve",
    "setup": "init install uninstall config trust",
    "reports": "status cost guard",
}
"""Modules of this package, with the commands and groups that each defines; parts add theirs."""

PANELS = {
    "Every day": "recall search add at get list",
    "Review": "review promote reject edit pin archive restore delete undo propose",
    "Team": "files core agents import export trust",
    "Set-up": "init install uninstall adopt config model",
    "Upkeep": "doctor backup sweep scrub projects",
    "Insight": "status log why guard",
}

OF_PARTS = {
    "exchange": "sync",
    "hub": "hub",
    "mcp": "mcp",
    "page": "web",
    "procedures": "procedures",
    "replay": "replay",
    "terminal": "tui",
    "verify": "verify",
}
"""Parts of this package, with the commands that the help lists of each."""

HIDDEN = frozenset(
    (
        *("learn", "topic-key", "timeline", "context", "work", "merge-file", "serve", "cost"),
        *("session", "prompts", "relations"),
    )
)
"""Commands and groups for scripts, git, agents and rare needs, which no help lists."""

GROUPS = {
    "files": "The files of memory, for git.",
    "core": "The project brief.",
    "agents": "Kinds of agents that work here.",
    "model": "The model for recall by meaning.",
    "guard": "Recall before changes.",
    "relations": "Relations between memories.",
    "session": "Sessions of Claude Code and other programs.",
    "prompts": "What you typed in sessions.",
    "config": "Settings and their sources.",
    "projects": "The projects of this machine.",
}

HELP = ["--help", "-h"]


@cache
def modules(*, by_others: bool = True) -> dict[str, str]:
    """Return the modules with the commands of each, those of parts by their whole names."""
    found = dict(MODULES)
    for _, given in plugins.added("COMMANDS", by_others=by_others):
        found |= given
    return found | ({"derived": " ".join(derived())} if by_others else {})


def module_of(command: str) -> str | None:
    """Return the module of a command; no part is loaded for one of the core's."""
    defined = {word: module for module, names in MODULES.items() for word in names.split()}
    for by_others in (False, True):
        if command in defined:
            break
        parts = modules(by_others=by_others).items()
        defined |= {word: module for module, names in parts for word in names.split()}
    return defined.get(command)


def derived() -> list[str]:
    """Return the commands that follow from operations alone."""
    from ademem.operations.memory_operations import OPERATIONS

    return [each.command for each in OPERATIONS if each.command]


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
    from importlib.machinery import PathFinder

    needed = getattr(part, "PACKAGES", ())
    return next((name for name in needed if PathFinder.find_spec(name) is None), "")


USUAL = {
    "agents": ("show", "set"),
    "prompts": ("search", "delete"),
    "relations": ("list", "judge", "scan", "deferred"),
}
"""Commands of groups, of which the first is meant where none is named."""

INTERRUPTED = 130
"""Exit code of a program that SIGINT ends."""

YOUNG = 100_000
"""Objects from which a collection is worth it: what a command loads is more than the default."""

AS_JSON = Parameter(
    name="as_json",
    variable="as_json",
    kind=bool,
    about=flag("--json", "Machine-readable output."),
    default=False,
)


class Command(Value):
    name: str
    """With that of its group: `files check`."""
    function: Function
    given: Callable[[], tuple[Parameter, ...]] | None = None
    """Returns its parameters; None: those of the function."""
    opened: Callable[[Any], Any] | None = None
    """Opens what the function gets first; its first parameter is an option as well."""
    has_json: bool = True
    is_hidden: bool = False

    @property
    def opener(self) -> Parameter | None:
        return read_parameters(_unwrap(self.opened), 0)[0] if self.opened else None

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        if self.given:
            own = self.given()
        else:
            own = read_parameters(self.function, 1 if self.opened else 0)
        json = (AS_JSON,) if self.has_json else ()
        return (*own, *filter(None, [self.opener]), *json)

    def call(self, given: dict[str, Any]) -> None:
        gc.set_threshold(YOUNG)
        gc.enable()
        show.as_json = given.pop("as_json", False)
        if self.opened is None or self.opener is None:
            self.function(**given)
            return
        with self.opened(given.pop(self.opener.variable)) as opened:
            self.function(opened, **given)


def _unwrap(function: Any) -> Any:
    """Return the function behind a decorator or a `partial`."""
    while inner := getattr(function, "__wrapped__", getattr(function, "func", None)):
        function = inner
    return function


commands: dict[str, Command] = {}
"""Those of the modules that were loaded, by their names."""


def is_unlisted(function: Function, name: str) -> bool:
    """Tell whether no help lists a command, or the group that it is in."""
    unlisted = {*HIDDEN, *_of_part(function, "HIDDEN")}
    return not unlisted.isdisjoint((name, name.partition(" ")[0]))


def command(
    name: str = "", *, on: Callable[[Any], Any] | None = None, has_json: bool = True
) -> Callable[[Function], Function]:
    """Define a command, by default of the function's name, with `--json` for `show`.

    With *on* its first argument is what that opens, and the first argument of that is an option.
    """

    def define(function: Function) -> Function:
        full = name or function.__name__
        GROUPS.update(_of_part(function, "GROUPS"))
        commands[full] = Command(
            name=full,
            function=function,
            opened=on,
            has_json=has_json,
            is_hidden=is_unlisted(function, full),
        )
        return function

    return define


PROJECT_ABOUT = option("--project DIR", "Folder of the project.")
PROJECT = Parameter(name="project", variable="project", kind=str, about=PROJECT_ABOUT)


def open_project(
    project: str | None = PROJECT_ABOUT,
    *,
    catch_up: bool = True,
) -> Runtime:
    """Open the project and import pending changes of its files, unless *catch_up* is False."""
    memories = operations.open_memories(
        project, on_import=show.import_progress(), catch_up=catch_up, by=who.of_process()
    )
    show.notices(memories)
    if catch_up:
        show.unread_edits(memories)
    return memories


on_project = partial(command, on=open_project)


def load(names: Iterable[str] | None = None) -> None:
    for name in modules() if names is None else names:
        __import__(name if "." in name else f"{__package__}.{name}")


def find(arguments: Sequence[str]) -> tuple[Command, Sequence[str]] | None:
    """Return the command that is meant, with its words; None where no command is named."""
    word = arguments[0] if arguments else ""
    module = module_of(word) if word else None
    if module is None:
        return None
    load([module])
    for count in (2, 1):
        if found := commands.get(" ".join(arguments[:count])):
            return found, arguments[count:]
    return None


def run(arguments: Sequence[str]) -> bool:
    """Run a command line of a usual form; return False where typer has to read it."""
    found = None if "_ADEMEM_COMPLETE" in os.environ else find(arguments)
    given = parse(found[0].parameters, found[1]) if found else None
    if found is None or given is None:
        return False
    try:
        found[0].call(given)
    except EOFError as error:
        print(file=sys.stderr)
        raise AdememError("no answer was given") from error
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
    return True


def complete_form(arguments: Sequence[str]) -> list[str]:
    """Add the usual command of a group where none is named."""
    if arguments and arguments[0] in USUAL:
        group, *rest = arguments
        if not rest or rest[0] not in (*HELP, *USUAL[group]):
            return [group, USUAL[group][0], *rest]
    return list(arguments)
