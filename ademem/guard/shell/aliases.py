"""Names that stand for the beginning of a command: `alias gs='git status'`."""

from __future__ import annotations

from ademem.core.value import replace
from ademem.guard.shell.options import is_option
from ademem.guard.shell.reading import parse
from ademem.guard.shell.wrappers import unwrapped

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ademem.guard.shell.values import Command

    Aliases = dict[str, tuple[str, ...]]

_MARK = "the-rest-of-the-call"


def definitions(commands: Iterable[Command]) -> Iterator[str]:
    """The aliases that the commands make: `gs=git status`."""
    for command in commands:
        if command.name == "alias":
            texts = (word.text for word in command.words[1:])
            yield from (text for text in texts if "=" in text and not is_option(text))


def meanings(definitions: Iterable[str]) -> Aliases:
    """What each name may stand for; one that is defined anew may still have its old meaning."""
    found: Aliases = {}
    for definition in definitions:
        name, _, value = definition.partition("=")
        found[name.strip()] = (*found.get(name.strip(), ()), value)
    return found


def expanded(command: Command, aliases: Aliases) -> Iterator[Command]:
    """What *command* may mean where its name is an alias; nothing where it is none.

    A name is not replaced twice, and not where it is quoted.
    """
    name = command.words[0] if command.words else None
    if name is None or name.quoted or name.expands:
        return
    for value in aliases.get(name.text, ()):
        others = {other: meant for other, meant in aliases.items() if other != name.text}
        for meant in _meant(command, value):
            yield from expanded(meant, others) if _is_alias(meant, others) else (meant,)


def _meant(command: Command, value: str) -> Iterator[Command]:
    """The commands that *value* makes with the rest of the call behind it.

    A mark keeps the place of the rest, which then brings its redirections and its input along.
    One that makes aliases may be any command.
    """
    script = parse(f"{value} {_MARK}")
    found = script.commands if script else ()
    texts = [word.text for each in found for word in each.words]
    if texts.count(_MARK) != 1 or any(each.name == "alias" for each in found):
        yield replace(command, words=(replace(command.words[0], text=value, expands=True),))
        return
    for each in found:
        texts = [word.text for word in each.words]
        if _MARK in texts:
            at = texts.index(_MARK)
            each = replace(
                each,
                words=each.words[:at] + command.words[1:] + each.words[at + 1 :],
                assignments=each.assignments + command.assignments,
                redirects=each.redirects + command.redirects,
                stdin=command.stdin or each.stdin,
                reached=each.reached and command.reached,
            )
        yield from unwrapped(each)


def _is_alias(command: Command, aliases: Aliases) -> bool:
    return bool(command.words) and command.words[0].text in aliases
