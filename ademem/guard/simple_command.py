"""One command of a script, looked up in the tables."""

from __future__ import annotations

from ademem.core.settings import GuardSettings
from ademem.core.value import Value
from ademem.guard.forms import DEVICES
from ademem.guard.programs import EFFECTS, READERS, SAME
from ademem.guard.shell import Command, Word
from ademem.guard.shell.options import gives, is_option, takes_next
from ademem.guard.subcommands import SUBCOMMANDS, VALUED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_READERS = frozenset(READERS.split())
_ONE_DASH = ("clang-format", "find", "go", "openssl", "sqlite3", "terraform")
"""Programs whose options are words behind one dash, never clusters of letters."""


class Part(Value):
    key: str
    """The program and its subcommands, as the tables name them."""
    options: tuple[Word, ...]
    """The words between the program and its subcommands."""
    arguments: tuple[Word, ...]
    """The words behind the key, without the values of known options."""
    command: Command
    functions: frozenset[str]
    """What the script defines itself, where such a name can be called."""
    settings: GuardSettings
    """What the project says of its own commands."""

    @property
    def program(self) -> str:
        return self.key.partition(" ")[0]

    @property
    def operands(self) -> list[str]:
        texts = (word.text for word in self.arguments)
        return [text for text in texts if not is_option(text) and text not in DEVICES]

    @property
    def listed(self) -> bool:
        """Whether the tables have it among what reads."""
        parent, _, last = self.key.rpartition(" ")
        if not parent:
            return self.key in _READERS
        return any(
            last.startswith(name[:-1]) if name.endswith("*") else last == name
            for name in (_subcommands(parent) or "").split()
        )

    @property
    def effect(self) -> str:
        """What it does when it does not only read; empty for a stranger."""
        for name in (self.key, self.program):
            for effect, programs in EFFECTS.items():
                if name in programs.split(", "):
                    return effect
        return ""

    def gives(self, option: str) -> bool:
        """Whether *option* is among the arguments, or may be once the shell has expanded them."""
        return any(self._sets(text, option) for word in self.arguments for text in _texts(word))

    def _sets(self, text: str, option: str) -> bool:
        if self.program in _ONE_DASH:
            return is_option(text) and text.partition("=")[0].lstrip("-") == option.lstrip("-")
        return gives(text, option)


def look_up(
    command: Command, settings: GuardSettings, functions: frozenset[str] = frozenset()
) -> Part:
    key, words = _program(command.name), command.words[1:]
    options: tuple[Word, ...] = ()
    while _subcommands(key) is not None:
        at = _first_operand(words, VALUED.get(key, "").split())
        if at == len(words):
            break
        options += words[:at]
        key, words = f"{key} {words[at].text}", words[at + 1 :]
    return Part(
        key=key,
        options=options,
        arguments=tuple(_without_values(words, VALUED.get(key, "").split())),
        command=command,
        functions=functions,
        settings=settings,
    )


def _program(name: str) -> str:
    """`python3.11` is `python`, where the tables do not have it as it is."""
    name = SAME.get(name, name)
    known = name in _READERS or name in SUBCOMMANDS
    return name if known else name.rstrip("0123456789.") or name


def _subcommands(key: str) -> str | None:
    return SUBCOMMANDS.get(key, SUBCOMMANDS.get(f"{key.rpartition(' ')[0]} *"))


def _first_operand(words: tuple[Word, ...], valued: list[str]) -> int:
    at = 0
    while at < len(words) and words[at].text[:1] in ("-", "+"):
        at += 2 if takes_next(words[at].text, valued) else 1
    return min(at, len(words))


def _without_values(words: tuple[Word, ...], valued: list[str]) -> Iterator[Word]:
    left = iter(words)
    for word in left:
        yield word
        if is_option(word.text) and takes_next(word.text, valued):
            next(left, None)


def _texts(word: Word) -> list[str]:
    """The word, and what stands in it where the shell may split or replace it."""
    if not word.expands:
        return [word.text]
    import re

    return [word.text, *re.split(r"[\s{}(),:$\"'`]+", word.text)]
