"""Reading a script: one command of plain words by itself, all else by the grammar."""

from __future__ import annotations

from ademem.guard.shell.values import Command, Script, Word

KEYWORDS = frozenset(
    "if then elif else fi for while until do done case esac in select function coproc time ! false"
    " exit return".split()
)
"""First words that make a command more than its words, or end what comes after it."""

_SAFE = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:=,@%+^")
_SAFE_QUOTED = _SAFE | frozenset(" ~#&|;<>()[]{}*?")


def parse(command: str) -> Script | None:
    """Read a script as bash would; None when it is not one, such as an unclosed quote."""
    single = plain(command)
    if single is not None:
        return Script(commands=(single,))
    from ademem.guard.shell import grammar  # with its patterns, which plain words need not wait for

    return grammar.parse(command)


def plain(command: str) -> Command | None:
    """The command, if no sign in it means anything to a shell; None leaves it to the grammar."""
    words: list[Word] = []
    at, end = 0, len(command)
    while at < end:
        sign = command[at]
        if sign == " ":
            at += 1
            continue
        if sign in "\"'":
            close = command.find(sign, at + 1)
            text, quoted, after = command[at + 1 : close], True, close + 1
        else:
            close = command.find(" ", at)
            after = end if close < 0 else close
            text, quoted = command[at:after], False
        if (close < 0 and quoted) or command[after : after + 1] not in ("", " "):
            return None
        if not (_SAFE_QUOTED if quoted else _SAFE).issuperset(text):
            return None
        words.append(Word(text=text, quoted=quoted))
        at = after
    if not words or words[0].quoted or words[0].text in KEYWORDS or "=" in words[0].text:
        return None
    return Command(words=tuple(words))
