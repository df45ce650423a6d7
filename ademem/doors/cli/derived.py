"""Commands that follow from operations: options, limits and help are those of the signatures."""

from __future__ import annotations

from itertools import filterfalse

from ademem.core.value import Value, replace
from ademem.doors.cli import show
from ademem.doors.cli.commands import PROJECT, Command, commands, is_unlisted, open_project
from ademem.doors.cli.options import flags_of
from ademem.doors.person_call import PersonCall
from ademem.operations import memory_operations
from ademem.operations.arguments import check_arguments, parse_typed
from ademem.operations.memory_operations import TERMINAL
from ademem.operations.signatures import bind, operation_of, read_parameters, schema_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable
    from typing import Any

    from ademem.operations.signatures import Operation, Parameter, Row
    from ademem.store.runtime import Runtime

    Lines = Callable[[Row], Iterable[str]]


class Asked(Value):
    """A call of an operation from the command line, with its memory open."""

    runtime: Runtime
    operation: Operation
    given: Row
    """Values of the operation's parameters, by their variables."""

    def call(self, **given: Any) -> Any:
        """Return what the operation returns, with some values in place of those that were typed."""
        return self.call_other(self.operation.run, **self.given | given)

    def call_other(self, function: Callable[..., Any], **given: Any) -> Any:
        return function(self.runtime, PersonCall(self.runtime, TERMINAL), **given)


def _always(given: Row) -> bool:
    return True


def _never(project: str | None, given: Row, **typed: Any) -> bool:
    return False


def follow(
    function: Callable[..., Any],
    name: str = "",
    *,
    without: Collection[str] = (),
    catches_up: Callable[[Row], bool] = _always,
    instead: Callable[..., bool] = _never,
    **fixed: Any,
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Define a command that shows a person what an operation returns.

    Its options are those of the operation but *without* some and those that are *fixed*, and its
    own: the parameters behind the first, which is the call as `Asked`. *catches_up* tells of what
    is given whether changed files are imported first. *instead* gets project and options before
    the project is opened, and returns True where that was all.
    """
    operation, left_out = operation_of(function), {*without, *fixed}

    def followed() -> list[Parameter]:
        given = operation.parameters_of("people")
        return [each for each in given if each.variable not in left_out]

    def define(shown: Callable[..., None]) -> Callable[..., None]:
        def run(project: str | None, **typed: Any) -> None:
            parameters = followed()
            wanted = {each.name: parse_typed(each, typed.pop(each.variable)) for each in parameters}
            given = bind(parameters, check_arguments(schema_of(parameters), wanted, cuts=False))
            if instead(project, given, **typed):
                return
            with open_project(project, catch_up=catches_up(given)) as runtime:
                asked = Asked(runtime=runtime, operation=operation, given=given | fixed)
                shown(asked, **typed)

        def parameters_of_command() -> tuple[Parameter, ...]:
            own = read_parameters(shown, after=1)
            arguments = filterfalse(flags_of, own)
            return (*arguments, *map(option_of, followed()), *filter(flags_of, own), PROJECT)

        run.__doc__, run.__module__ = shown.__doc__ or function.__doc__, shown.__module__
        full = name or shown.__name__
        commands[full] = Command(
            name=full,
            function=run,
            given=parameters_of_command,
            is_hidden=is_unlisted(run, full),
        )
        return shown

    return define


def option_of(parameter: Parameter) -> Parameter:
    """Return a parameter as an option, or as an argument where it is required."""
    about, name = parameter.about, parameter.name.replace("_", "-")
    if parameter.is_required:
        spelled = name.upper()
    else:
        spelled = f"--{name}/--no-{name}" if parameter.default is True else f"--{name}"
    kind, default = parameter.kind, parameter.default
    if getattr(kind, "__origin__", None) is tuple:
        kind, default = (str if about.is_joined else list[str]), None
    elif kind not in PLAIN:  # the schema says which texts it takes
        kind, default = str, default and str(default)
    help = about.help or ", ".join(parameter.schema.get("enum", ()))
    about = replace(about, spelled=about.spelled or spelled, help=help)
    return replace(parameter, kind=kind, about=about, default=default)


PLAIN = (str, int, float, bool)


def define(operation: Operation) -> None:
    """Define the command of an operation, which shows its answer in lines, or as JSON."""
    lines = LINES.get(operation.command, show.table_lines)

    def shown(asked: Asked) -> None:
        answer = asked.call()
        if operation.row:
            answer = operation.row(asked.runtime, PersonCall(asked.runtime, TERMINAL), answer)
        notes = [answer["why"]] if "why" in answer else ()
        show.report(answer, lines(answer), notes, fence=operation.shows_text)

    follow(operation.run, operation.command)(shown)


def _beside(found: Row) -> Iterable[str]:
    rows = [*found["before"], found["focus"], *found["after"]]
    return (show.preview_line(row, focus=row is found["focus"]) for row in rows)


LINES: dict[str, Lines] = {
    "timeline": _beside,
    "context": lambda found: found["text"].splitlines(),
}
"""How an answer is shown to a person, where a table of its keys is not enough."""

for each in memory_operations.OPERATIONS:
    if each.command:
        define(each)
