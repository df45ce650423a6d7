"""Path patterns and commands of memories, and what they mean."""

from __future__ import annotations

from ademem.core import regex
from ademem.core.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

LONGEST_GLOB = 1000
MOST_STARS = 12
"""Stars in one alternative; matching more can take forever."""
MOST_CHOICES = 16
"""Patterns that the braces and the `**/` of one pattern may stand for; more are left out."""

MOST_WORDS = 8

_PROGRAM = r"[\w.+/~-]+"
_WORD = r"[\w./:=@%+,~-]+"


def expand_glob(pattern: str) -> list[str]:
    """The globs, as SQLite reads them, of which a path in the project has to match one.

    `**/` may stand for no folder, `{a,b}` for either, `[!a]` for `[^a]`, `[a]` for itself, too, as
    in `pages/[id].tsx`, a name without a folder for one in any folder, and what may be a folder for
    all that is in it.
    """
    pattern = pattern.strip().removeprefix("./").lstrip("/").replace("[!", "[^")
    if not pattern or len(pattern) > LONGEST_GLOB:
        return []
    from itertools import islice

    pattern = regex.sub(r"(?<![^/{,])\*\*/", "{**/,}", pattern)
    meant = dict.fromkeys((pattern, pattern.replace("[", "[[]")))
    choices = islice((one for each in meant for one in _choices(each)), MOST_CHOICES)
    globs = [other for glob in choices for other in _equivalents(glob)]
    return [glob for glob in dict.fromkeys(globs) if glob.count("*") <= MOST_STARS]


def _choices(pattern: str) -> Iterator[str]:
    braces = regex.search(r"\{([^{}]*,[^{}]*)\}", pattern)
    if braces is None:
        yield pattern
        return
    for item in braces[1].split(","):
        yield from _choices(pattern[: braces.start()] + item + pattern[braces.end() :])


def _equivalents(glob: str) -> list[str]:
    if glob.endswith("/"):
        return _equivalents(glob + "*")
    anywhere = [glob] if "/" in glob or glob.startswith("*") else [glob, f"*/{glob}"]
    last = glob[glob.rfind("/") + 1 :]
    inside = [f"{each}/*" for each in anywhere] if not set("*?[") & set(last) else []
    return [*anywhere, *inside]


class NoSuchCommand(UsageError):
    hint = 'a program and its first words, such as "git push"'


def check_command(command: str) -> str:
    if not command_words(command):
        raise NoSuchCommand(f"{command!r} names no command")
    return command


def command_words(command: str) -> str:
    """The words that tell the command, wrappers off, separated by a blank; empty: it is none.

    What only stands for something (`<branch>`, `"$file"`, `…`) and all after it is left out.
    """
    from itertools import takewhile

    given = list(takewhile(regex.compile(_WORD).fullmatch, command.split()))
    if not given or not regex.fullmatch(_PROGRAM, given[0]):
        return ""
    from ademem.guard import shell

    script = shell.parse(" ".join(given))
    argv = next(shell.argvs(script), ()) if script else ()
    return " ".join([_name(argv[0]), *argv[1:MOST_WORDS]]) if argv else ""


def is_run_by(words: Sequence[str], argv: Sequence[str]) -> bool:
    """Return True if *argv* is the program with these arguments, in order, among others."""
    rest = iter(argv[1:])
    return words[0] == argv[0] and all(word in rest for word in words[1:])


def _name(program: str) -> str:
    return program[program.rfind("/") + 1 :]
