"""Words and commands after quoting is resolved; parsing of one command of plain words."""

from __future__ import annotations

from functools import lru_cache
from itertools import takewhile

from ademem.core.value import Value


class Word(Value):
    text: str
    expands: bool = False
    """True if only a running shell knows a part: a variable, a command's output, a pattern."""
    quoted: bool = False


class Redirect(Value):
    operator: str
    fd: str | None
    target: Word

    @property
    def writes(self) -> bool:
        """True if it may write a file: not for `2>&1`, `>&-` and `> >(…)`."""
        number = self.target.text.removesuffix("-")
        copies = self.operator == ">&" and (not number or (number.isascii() and number.isdecimal()))
        substituted = self.target.text.startswith(">(") and not self.target.quoted
        return ">" in self.operator and not (copies or substituted)


class Command(Value):
    """A simple command, or the redirections of a compound one if it has no words."""

    words: tuple[Word, ...] = ()
    assignments: tuple[Word, ...] = ()
    redirects: tuple[Redirect, ...] = ()
    stdin: Word | None = None
    """Standard input where the script has it: a heredoc, a here-string, an echo piped in."""
    source: Command | None = None
    """The command that is piped into this one."""
    reached: bool = True
    """True if it runs when every command before it succeeds; `false` never does."""

    @property
    def name(self) -> str:
        """The program: `/usr/bin/git` is `git`, while `./git` stays as it is."""
        if not self.words:
            return ""
        typed = self.words[0].text
        folder, _, name = typed.rpartition("/")
        return name if not folder or folder[0] in "/~" or folder.endswith("bin") else typed

    @property
    def line(self) -> str:
        return " ".join(word.text for word in self.words)


class Script(Value):
    commands: tuple[Command, ...]
    """Every simple command, including those in substitutions, groups, branches and functions."""
    functions: frozenset[str] = frozenset()


KEYWORDS = frozenset(
    "if then elif else fi for while until do done case esac in select function coproc time ! false"
    " exit return".split()
)
"""First words that need the grammar."""

_SAFE = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:=,@%+^")
_SAFE_QUOTED = _SAFE | frozenset(" ~#&|;<>()[]{}*?")


@lru_cache(maxsize=4)
def parse(command: str) -> Script | None:
    """Parse a script as bash would; None for a syntax error such as an unclosed quote."""
    single = parse_plain(command)
    if single is not None:
        return Script(commands=(single,))
    from ademem.guard.shell import grammar  # costs time that plain words save

    return grammar.parse(command)


def parse_plain(command: str) -> Command | None:
    """Parse a command without special characters; None leaves it to the grammar."""
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


def is_option(word: str) -> bool:
    return len(word) > 1 and word[0] == "-"


def is_assignment(word: str) -> bool:
    name, equals, _ = word.partition("=")
    return bool(equals) and name.isascii() and name.isidentifier()


def sets_option(word: str, option: str) -> bool:
    """True if *word* sets *option*: alone, with a value, abbreviated, or in a cluster: `-xzf`."""
    if len(option) == 2:
        letters = word[1:] if word[:1] == "-" and word[:2] != "--" else ""
        cluster = takewhile(lambda sign: sign.isascii() and sign.isalnum(), letters)
        return word == option or option[1] in cluster
    name = word.partition("=")[0]
    return name == option or (name.startswith("--") and len(name) > 2 and option.startswith(name))


def takes_value(word: str, valued: list[str]) -> bool:
    """True if the word after *word* is its value; *valued* lists the options that have one."""
    if word.startswith("--") or word in valued:
        return word in valued
    at = next((i for i in range(1, len(word)) if f"-{word[i]}" in valued), None)
    return at is not None and at == len(word) - 1
