"""Options and arguments of commands, and the usual forms of a command line.

Help, completion and mistakes are left to typer, by `typer_app`: loading it takes longer than most
commands.
"""

from __future__ import annotations

import os

from ademem.core.value import replace
from ademem.operations.signatures import About

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from typing import Any

    from ademem.operations.signatures import Parameter


def flag(name: str, help: str) -> Any:
    return About(spelled=name, help=help, default=False)


def option(
    names: str,
    help: str,
    default: Any = None,
    *,
    min: float | None = None,
    max: float | None = None,
    variable: str = "",
) -> Any:
    """Declare an option by its names and metavar: `--at TIME`."""
    return About(spelled=names, help=help, default=default, least=min, most=max, variable=variable)


def argument(metavar: str, help: str, default: Any = ...) -> Any:
    return About(spelled=metavar, help=help, default=default)


def shared(about: About, default: Any = None) -> Any:
    """Declare an option that operations have, too."""
    return replace(about, default=default)


def flags_of(parameter: Parameter) -> tuple[str, ...]:
    """Return `--limit` and `-n`, or nothing for an argument."""
    return tuple(word for word in parameter.about.spelled.split() if word[0] == "-")


def metavar_of(parameter: Parameter) -> str:
    return " ".join(word for word in parameter.about.spelled.split() if word[0] != "-")


DIGITS = 15
"""Of the longest number that is read here."""


def parse(parameters: Sequence[Parameter], words: Iterable[str]) -> dict[str, Any] | None:
    """Return the values of the parameters; None for whatever typer has to read or explain."""
    switches, valued = _flags(parameters)
    given: dict[str, Any] = {}
    free: list[str] = []
    unread = iter(words)
    for word in unread:
        if word == "--":
            free.extend(unread)
        elif word == "-" or not word.startswith("-"):
            free.append(word)
        elif word in switches:
            variable, is_set = switches[word]
            given[variable] = is_set
        elif not _read_option(valued, word, unread, given):
            return None
    is_complete = _place(parameters, free, given) and _fill(parameters, given)
    return given if is_complete else None


def _read_option(
    valued: Mapping[str, Parameter], word: str, unread: Iterator[str], given: dict[str, Any]
) -> bool:
    """Read an option with its value, which may be the next word; return False for another one."""
    name, equals, text = word.partition("=")
    found = valued.get(name)
    if found is None or (equals and not name.startswith("--")):
        return False
    if not equals:
        text = next(unread, "--")
        if text != "-" and text.startswith("-"):
            return False
    value = _read(_kind(found), text)
    if value is None or not _is_within(found.about, value):
        return False
    if _is_list(found):
        given.setdefault(found.variable, []).append(value)
    else:
        given[found.variable] = value
    return True


def _fill(parameters: Iterable[Parameter], given: dict[str, Any]) -> bool:
    """Give the others their defaults; return False where one has none, or a variable tells it."""
    others = [each for each in parameters if each.variable not in given]
    given |= {each.variable: each.default for each in others}
    return not any(each.is_required or each.about.variable for each in others)


def _flags(
    parameters: Iterable[Parameter],
) -> tuple[dict[str, tuple[str, bool]], dict[str, Parameter]]:
    """Return flags with the variable and the value that each sets, and those with a value."""
    switches: dict[str, tuple[str, bool]] = {}
    valued: dict[str, Parameter] = {}
    for each in parameters:
        for names in flags_of(each):
            on, _, off = names.partition("/")
            if each.kind is not bool:
                valued[names] = each
                continue
            switches |= {on: (each.variable, True)} | ({off: (each.variable, False)} if off else {})
    return switches, valued


def _is_list(parameter: Parameter) -> bool:
    return getattr(parameter.kind, "__origin__", None) is list


def _kind(parameter: Parameter) -> Any:
    return parameter.kind.__args__[0] if _is_list(parameter) else parameter.kind


def _place(parameters: Iterable[Parameter], free: list[str], given: dict[str, Any]) -> bool:
    """Give the arguments their words; return False where these are too few or too many."""
    for each in parameters:
        if flags_of(each):
            continue
        if _is_list(each):
            taken, free = free, []
            if taken:
                given[each.variable] = taken
        elif free:
            if (value := _read(each.kind, free.pop(0))) is None:
                return False
            given[each.variable] = value
    return not free


def _is_within(about: About, value: Any) -> bool:
    low, high = about.least, about.most
    return (low is None or value >= low) and (high is None or value <= high)


def _read(kind: Any, text: str) -> Any:
    """Return a text as a value; None where typer has to read it."""
    if kind is str:
        return text
    if kind is int:
        is_number = text.isascii() and text.isdecimal() and len(text) <= DIGITS
        return int(text) if is_number else None
    if isinstance(kind, type) and issubclass(kind, str):
        return next((each for each in kind if each == text), None)  # type: ignore[attr-defined]
    if isinstance(kind, type) and issubclass(kind, os.PathLike):
        return kind(text)  # type: ignore[call-arg]
    return None
