"""Commands a memory names, and whether one of them is about to run."""

from __future__ import annotations

import re

from ademem.core.errors import AdememError
from ademem.guard import shell
from ademem.search.hints.globs import escaped

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

LONGEST = 200
"""Characters of a command in a text; longer ones are listings."""
MOST_WORDS = 8
"""Words of a command that count."""
READ_CHARS = 20_000
"""Of what is about to run, how much is looked at."""

_BACKTICKED = re.compile(r"(?<!`)`(?:\$ )?([^`\n]+)`(?!`)")
_PROGRAM = re.compile(r"[\w.+/~-]+")
_WORD = re.compile(r"[\w./:=@%+,~-]+")
_BETWEEN = str.maketrans(dict.fromkeys("\t\n\r;|&()<>{}`$\"'=", " "))


class NoSuchCommand(AdememError):
    hint = 'a program and its first words, such as "git push"'


def named(text: str) -> list[str]:
    """The commands that stand in backticks in a text; one word alone is more likely a name."""
    candidates = [found for found in _BACKTICKED.findall(text) if len(found) <= LONGEST]
    return [line for found in candidates if " " in found.strip() and (line := words(found, 2))]


def checked(command: str) -> str:
    """The command, if it is one that can be recognised; raises NoSuchCommand."""
    if not words(command):
        raise NoSuchCommand(f"{command!r} names no command")
    return command


def words(command: str, least: int = 1) -> str:
    """The words that tell the command, wrappers off, separated by a blank; empty: it is none.

    What only stands for something (`<branch>`, `"$file"`, `…`) and all after it is left out.
    """
    given: list[str] = []
    for word in command.split():
        if not _WORD.fullmatch(word):
            break
        given.append(word)
    if len(given) < least or not _PROGRAM.fullmatch(given[0]):
        return ""
    script = shell.parse(" ".join(given))
    argv = next(shell.argvs(script), ()) if script else ()
    return " ".join([_name(argv[0]), *argv[1:MOST_WORDS]]) if argv else ""


def program(words: str) -> str:
    """The key under which a command is found."""
    return words.partition(" ")[0]


def programs(command: str) -> set[str]:
    """All words of a shell command that may be its programs; cheap, and more than there are."""
    return {_name(word) for word in command[:READ_CHARS].translate(_BETWEEN).split()}


def runs(command: str) -> list[tuple[str, ...]]:
    """The commands that a shell command is sure to run, as lists of words."""
    script = shell.parse(command[:READ_CHARS])
    return [(_name(argv[0]), *argv[1:]) for argv in shell.argvs(script)] if script else []


def follows(words: Sequence[str], argv: Sequence[str]) -> bool:
    """Whether *argv* is the program with these arguments, whatever stands between them."""
    rest = iter(argv[1:])
    return words[0] == argv[0] and all(word in rest for word in words[1:])


def basic(words: str) -> str:
    """A basic regular expression for all command lines that run the command, and more."""
    return ".*".join(map(escaped, words.split()))


def _name(program: str) -> str:
    return program[program.rfind("/") + 1 :]
