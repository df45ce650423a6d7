"""Commands that follow from operations: options, limits and help are those of the signatures."""

from __future__ import annotations

from ademem.core.client import TurnKey, session_of
from ademem.core.value import replace
from ademem.doors.calls import check_arguments
from ademem.doors.cli import show
from ademem.doors.cli.commands import Command, commands, is_unlisted, open_project
from ademem.doors.cli.options import Option
from ademem.operations import memory_operations, writing

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from typing import Any

    from ademem.core.memory import Origin
    from ademem.core.project import Project
    from ademem.operations.signatures import Operation, Parameter, Row
    from ademem.store.runtime import Runtime

    Lines = Callable[[Row], Iterable[str]]


class TerminalCall:
    """The call of a person or an agent at the command line."""

    client, how, door = "", "--project", "cli"
    others: Mapping[str, Runtime] = {}

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self.turn = TurnKey(session_id=session_of(runtime.environment))
        self.projects: tuple[Project, ...] = (runtime.project,)

    def origin(self) -> Origin:
        return writing.origin(self._runtime)


def option_of(parameter: Parameter) -> Parameter:
    """Return a parameter as an option, or as an argument where it is required."""
    name = parameter.name.replace("_", "-")
    flags = f"--{name}/--no-{name}" if parameter.default is True else f"--{name}"
    about = Option(
        flags=() if parameter.is_required else (flags,),
        metavar=name.upper() if parameter.is_required else None,
        help=parameter.about.help,
        least=parameter.about.least,
        most=parameter.about.most,
    )
    of = getattr(parameter.kind, "__origin__", None)
    kind = list[str] if of is tuple else parameter.kind if parameter.kind in PLAIN else str
    return replace(parameter, kind=kind, about=about, default=parameter.default)


PLAIN = (str, int, float, bool)
"""Types that a command line has; the schema says which texts another one takes."""


def define(operation: Operation, name: str, lines: Lines = show.table_lines) -> None:
    """Define the command of an operation, which shows its answer as *lines*, or as JSON."""
    schema = {
        "properties": {each.name: each.schema for each in operation.parameters},
        "required": [each.name for each in operation.parameters if each.is_required],
    }

    def run(runtime: Runtime, **given: Any) -> None:
        wanted = {each.name: given[each.variable] for each in operation.parameters}
        arguments = check_arguments(schema, wanted)
        answer = operation.call(runtime, TerminalCall(runtime), arguments)
        notes = [answer["why"]] if "why" in answer else ()
        show.report(answer, lines(answer), notes, fence=operation.shows_text)

    run.__doc__ = operation.run.__doc__
    run.__module__ = __name__
    commands[name] = Command(
        name=name,
        function=run,
        given=tuple(map(option_of, operation.parameters)),
        opened=open_project,
        is_hidden=is_unlisted(run, name),
    )


def _beside(found: Row) -> Iterable[str]:
    rows = [*found["before"], found["focus"], *found["after"]]
    return (show.preview_line(row, focus=row is found["focus"]) for row in rows)


LINES: dict[str, Lines] = {"timeline": _beside}
"""How an answer is shown to a person, where a table of its keys is not enough."""

for each in memory_operations.OPERATIONS:
    if each.command:
        define(each, each.command, LINES.get(each.command, show.table_lines))
