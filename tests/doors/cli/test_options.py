"""Usual command lines are read without typer, and mean what they mean to it."""

from pathlib import Path

import pytest
import typer

from ademem.doors.cli import commands
from ademem.doors.cli.commands import modules
from ademem.doors.cli.options import flags_of, parse
from tests.docs_tables import leaves

LEAVES = dict(leaves())
commands.load(modules())
OWN = commands.commands


def texts_of(parameter):
    """Return valid texts of a parameter, by its type."""
    kind = getattr(parameter.kind, "__args__", [parameter.kind])[0]
    least = int(parameter.about.least or 0)
    numbers = {int: [str(least), str(least + 1), "-1"], float: ["0.5"], str: ["a b", "-", "-x"]}
    if kind in numbers:
        return numbers[kind]
    is_choice = isinstance(kind, type) and issubclass(kind, str)
    return [str(each.value) for each in kind] if is_choice else ["a/b.txt"]


def command_lines(command):
    """Return command lines with the arguments, and each option in its forms."""
    free = [texts_of(each)[0] for each in command.parameters if not flags_of(each)]
    yield free
    yield []
    yield [*free, "one", "too", "many"]
    for each in command.parameters:
        for names in flags_of(each):
            for name in names.split("/"):
                if each.kind is bool:
                    yield [name, *free]
                    continue
                for text in texts_of(each):
                    yield [*free, name, text]
                    yield [f"{name}={text}", *free]
                yield [*free, name]
                yield [*free, name, "--json"]


def read_by_typer(name, words):
    """Return what typer gives to the function of a command; None for a mistake."""
    try:
        context = LEAVES[name].make_context(name, list(words))
    except (typer.BadParameter.__base__, typer.Exit):
        return None
    return context.params


def plain(values):
    """Without the forms of nothing, of which a command makes no difference."""
    forms = {name: list(v) if isinstance(v, tuple) else v for name, v in values.items()}
    return {name: str(v) if isinstance(v, Path) else v or None for name, v in forms.items()}


@pytest.mark.parametrize("name", sorted(OWN))
def test_values_are_those_that_typer_reads(name):
    command, read = OWN[name], 0
    for words in command_lines(command):
        given = parse(command.parameters, words)
        if given is not None:
            read += 1
            expected = read_by_typer(name, words)
            assert expected is not None, words
            assert plain(given) == plain(expected), words

    assert read or any(each.about.variable for each in command.parameters)
