"""What a project says of its own commands, in `guard.reads` and `guard.changes`."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from ademem.guard.shell import Command


def reads(command: Command, entries: Iterable[str]) -> str | None:
    """The entry that *command* begins with, word by word; a word that expands is like none."""
    return next((entry for entry in entries if _begins(command, entry.split())), None)


def changes(command: Command, entries: Iterable[str]) -> str | None:
    """The entry whose words stand in *command* in their order, with or without others between."""
    return next((entry for entry in entries if _holds(command, entry.split())), None)


def _begins(command: Command, asked: list[str]) -> bool:
    given = command.words[: len(asked)]
    if not asked or len(given) < len(asked) or any(word.expands for word in given):
        return False
    return _is_program(command, asked[0]) and all(
        _is(word.text, each) for word, each in zip(given[1:], asked[1:], strict=True)
    )


def _holds(command: Command, asked: list[str]) -> bool:
    left = iter(command.words[1:])
    return _is_program(command, asked[0] if asked else "") and all(
        any(_is(word.text, each) for word in left) for each in asked[1:]
    )


def _is_program(command: Command, asked: str) -> bool:
    """By its name, or as it was called: `./check` is not any `check`."""
    return asked in (command.name, command.words[0].text)


def _is(given: str, asked: str) -> bool:
    """`test:*` is all that begins so."""
    return given.startswith(asked[:-1]) if asked.endswith("*") else given == asked
