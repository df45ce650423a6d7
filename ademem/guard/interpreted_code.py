"""What code does that an interpreter gets as text: programs it starts, and files it may write.

Code is read by its literals. What stands in one is no call: `print("os.system('rm x')")`.
"""

from __future__ import annotations

from itertools import takewhile

from ademem.core import regex
from ademem.core.settings import GuardSettings
from ademem.core.value import replace
from ademem.guard import mutation, shell
from ademem.guard.shell import Command, Word

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

_QUOTED = (
    r'"""[\s\S]*?"""|' + r"'''[\s\S]*?'''"
    r'|"(?:[^"\\\n]|\\.)*+"' + r"|'(?:[^'\\\n]|\\.)*+'"
)
_TEMPLATE = r"`(?:[^`\\]|\\[\s\S])*+`"
_LINE = (
    r"`(?P<quoted>[^`\n]{1,2000})`"
    r"|(?:%x|\bqx) ?(?:[({\[](?P<bracketed>[^)}\]\n]{1,2000})"
    r"|(?P<sign>[/|!])(?P<between>(?:(?!(?P=sign)).){1,2000}))"
)
"""A line for a shell in Ruby, Perl and PHP, as far as its first bracket or between two signs."""
_START = (
    r"(?<!/\.)\b(?P<call>system|p?open[23]?|capture[23]e?|run|call|check_\w+|get(?:status)?output"
    r"|passthru|proc_open|(?:pcntl_|shell_)?exec(?!ute)\w*|(?:posix_)?spawn\w*"
    r"|create_subprocess_(?:exec|shell)|eval)"
    r"(?:\s*\(\s*|\s+(?=[\"'`]))"
)
"""Calls of standard libraries that start a program, but for a match, `/a/.exec(…)`."""
_TOKENS = {
    "node": rf"{_QUOTED}|{_TEMPLATE}|{_START}",
    "ruby": rf"{_QUOTED}|{_LINE}|{_START}",
    "": rf"{_QUOTED}|{_START}",
}
_LANGUAGES = {
    **dict.fromkeys(("bun", "deno", "tsx"), "node"),
    **dict.fromkeys(("perl", "php"), "ruby"),
    "pypy": "python",
}
"""Interpreters whose code is read as that of another one."""
_LIBRARIES = {
    "python": r"\b(?:os|pty|subprocess|asyncio)\b",
    "node": r"\b(?:child_process|Bun|Deno)\b",
}
"""Those that code names where the language itself starts no program."""
_COMMENTS = r"(?m)^\s*(?:#|//).*"
_LITERAL = (
    r"[bfru]{0,2}(?:\"\"\"([\s\S]{1,2000}?)\"\"\"|'''([\s\S]{1,2000}?)'''"
    r"|\"((?:[^\"\\]|\\.){1,2000})\"|'((?:[^'\\]|\\.){1,2000})'|`([^`]{1,2000})`)"
)
_ARGUMENT = rf"[\s,\[({{]*(?:(?:args|cmd)\s*[=:][\s\[(]*)?(?:{_LITERAL}|[^\s,()\[\]\"'`]+)"
_MOST_WORDS, _MOST_CHARS = 200, 20_000
"""Arguments of one call that are read."""


def starts(code: str, program: str, depth: int = 1) -> Iterator[tuple[Word, ...]]:
    """Yield the words of each program that code of an interpreter starts; a single one may be a
    line for a shell. A word that is no literal expands. Of code in code *depth* layers are read.
    """
    name = program.rstrip("0123456789.")
    language = _LANGUAGES.get(name, name)
    code = regex.sub(_COMMENTS, "", code)
    if not regex.search(_LIBRARIES.get(language, ""), code):
        return
    tokens = _TOKENS.get(language, _TOKENS[""])
    for found in regex.finditer(tokens, code, regex.IGNORECASE):
        groups = found.groupdict()
        if line := next(filter(None, map(groups.get, ("quoted", "bracketed", "between"))), None):
            yield (Word(text=line, quoted=True),)
        elif groups["call"]:
            words = tuple(_arguments(code, found.end()))
            yield from _started(groups["call"].lower(), words, program, depth)


def _started(
    call: str, words: tuple[Word, ...], program: str, depth: int
) -> Iterator[tuple[Word, ...]]:
    if call in ("eval", "exec") and words and depth:
        yield from starts(words[0].text, program, depth - 1)
    if call == "open":
        yield from _piped(words)
    elif call != "eval":
        yield words


def _piped(words: Iterable[Word]) -> Iterator[tuple[Word, ...]]:
    """Yield the program that a file is opened on: `open("|make")`."""
    for word in words:
        if "|" in (word.text[:1], word.text[-1:]):
            yield (replace(word, text=word.text.strip("|").strip()),)


def _arguments(code: str, at: int) -> Iterator[Word]:
    """Yield the arguments of the call that begins there, up to its first closing bracket."""
    argument, end = regex.compile(_ARGUMENT), at + _MOST_CHARS
    for _ in range(_MOST_WORDS):
        found = argument.match(code, at, end)
        if not found:
            return
        literal = next(filter(None, found.groups()), None)
        text = regex.sub(r"\\([\"'`\\])", lambda sign: sign[1], literal or "")
        yield Word(text=text, quoted=True) if text else Word(text="$_", expands=True)
        at = found.end()


def commands(words: Sequence[Word]) -> Sequence[Command]:
    """Return the commands of a start, as far as its first words are literals."""
    known = tuple(takewhile(lambda word: not word.expands, words))
    if known and " " in known[0].text:
        return shell.parse(known[0].text) or ()
    return [Command(words=known)] if known else ()


_WRITES = (
    r"(?i)\bopen\([^)]{0,200},\s*(?:mode\s*=\s*)?[fr]?[\"'][rb+]*[wax+]"
    r"|\bopen\b[^;\n]{0,200}[\"']\+?>"
    r"|(?<!stdout\.)(?<!stderr\.)write|unlink|remove|rmtree|rename|replace\([\"'][^\"']{0,200}/|\bcopy"
    r"|\bmove|mkdir|touch\(|truncate|\bdump\(|\bsave|to_csv|\.rm(?:sync)?\b|rmdir|file_put_contents"
    r"|appendfile|symlink|outputstream|delete"
)
_STARTS_ANY = r"(?i)system|subprocess|child_process"
_PATH = r"""["'`](?:\+?[<>]{1,2}\s*)?((?:~|\.{1,2})?/?[\w@.+-]+(?:/[\w@.+\[\]*-]+)*/?)["'`]"""


def may_write(code: str, program: str = "") -> bool:
    """Tell whether code seems to write files, or starts what is not known to only read."""
    if regex.search(_WRITES, code):
        return True
    starts_any = regex.search(_STARTS_ANY, code) is not None
    return any(not _reads(words, starts_any) for words in starts(code, program))


def _reads(words: Sequence[Word], starts_any: bool) -> bool:
    if not words or words[0].expands:
        return not starts_any
    if " " in words[0].text:
        return not mutation.judge(words[0].text).mutates
    part = mutation.look_up(Command(words=tuple(words)), GuardSettings())
    return not mutation.judge_part(part).mutates


def paths(code: str) -> Iterator[tuple[str, bool]]:
    """Yield the literals of code that may be paths, each with True if it has the form of one."""
    for text in dict.fromkeys(regex.findall(_PATH, code)):
        yield text, "/" in text.strip("./") or regex.search(r"\w\.\w+$", text) is not None
