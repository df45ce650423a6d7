"""What a script itself tells about its variables, loops, arguments and aliases.

A variable may have several values: each that the script assigns counts, wherever it stands.
"""

from __future__ import annotations

import posixpath
from itertools import islice, product

from ademem.core import regex
from ademem.core.value import Value, replace
from ademem.guard import shell
from ademem.guard.shell import Command, Redirect, Word, is_assignment, is_option

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from ademem.guard.shell import Script

MOST_VALUES = 16
"""Combinations of values for which a command is read; further ones are left out."""

_LOOP = r"\bfor\s+(\w+)\s+in\s+([^;\n]+)"
_FUNCTION = r"(?<![\w.-])([\w.-]+)\s*\(\s*\)\s*[{(\n]|\bfunction\s+([\w.-]+)"
_REFERENCE = (
    r"\$(\w+|[@*])|\$\{(\w+|[@*])(?:\[[@*\d]+\])?(?::?[-=]([^{}]*)|([^{}]*))\}"
    r"|\$\(\s*(pwd|git\s+rev-parse\s+--show-toplevel)\s*\)|`(pwd)`"
    r"|\$\(\s*dirname\s+\"?([^()\"$`\s]+)\"?\s*\)"
)
_DECLARING = ("export", "local", "declare", "readonly", "typeset")


class Variables(Value):
    values: dict[str, tuple[Word, ...]]
    """Values of variables and parameters, each as the script has it."""
    aliases: dict[str, str]
    root: str
    """Folder that a repository's own commands call its top."""


def read_variables(script: Script, text: str, root: str = ".") -> Variables:
    """Collect assignments, loops, aliases, and the arguments of functions and of `set --`."""
    values: dict[str, list[Word]] = {}
    aliases: dict[str, str] = {}
    if "for " in text:
        for name, items in regex.findall(_LOOP, text):
            values.setdefault(name, []).extend(_words_of(items))
    functions = (
        {one or other for one, other in regex.findall(_FUNCTION, text)} if "(" in text else ()
    )
    for command in script:
        declared = command.words[1:] if command.name in _DECLARING else ()
        _assign(values, (*command.assignments, *declared), root)
        aliases |= _read_aliases(command)
        _add_arguments(values, _arguments_of(command, functions))
        for variable, part in _read_input(command):
            values.setdefault(variable, []).append(Word(text=part))
    return Variables(
        values={name: tuple(items) for name, items in values.items()}, aliases=aliases, root=root
    )


def _assign(values: dict[str, list[Word]], assigned: Sequence[Word], root: str) -> None:
    """Add what assignments give to variables; those before them are known by then."""
    for at, word in enumerate(assigned):
        if not is_assignment(word.text.replace("+=", "=", 1)):
            continue
        variable, _, value = word.text.partition("=")
        last = {each: found[-1:] for each, found in values.items() if found}
        chosen = {each: tuple(found) for each, found in last.items()}
        items = list(_expand(replace(word, text=value, quoted=True), chosen, root))
        if not value:  # an array, or nothing
            rest = assigned[at + 1 :]
            items = list(rest) if not any(is_assignment(each.text) for each in rest) else []
        values.setdefault(variable.rstrip("+"), []).extend(items)


def _read_aliases(command: Command) -> dict[str, str]:
    pairs = (word.text.partition("=") for word in command.words[1:] if command.name == "alias")
    return {name: value for name, sign, value in pairs if sign}


def _read_input(command: Command) -> Iterator[tuple[str, str]]:
    """Yield the variables that `read` fills from a text that the script has, with their values."""
    if command.name == "read" and command.stdin and not command.stdin.expands:
        names = [word.text for word in command.words[1:] if word.text.isidentifier()]
        yield from zip(names[::-1], command.stdin.text.split()[::-1], strict=False)


def _arguments_of(command: Command, functions: Collection[str]) -> Sequence[Word]:
    """Return the arguments that a function, `set --` or a script of a shell gets."""
    words, name = command.words, command.name
    if name in functions:
        return words[1:]
    if name == "set" and words[1:2] and words[1].text == "--":
        return words[2:]
    return _arguments_of_script(words) if name in shell.SHELLS and len(words) > 3 else ()


def _arguments_of_script(words: Sequence[Word]) -> Sequence[Word]:
    """Return the arguments of a script: of `sh -c 'rm "$1"' _ legacy`, or of one by `-s`."""
    texts = [word.text for word in words]
    if "-c" in texts:
        return words[texts.index("-c") + 3 :]
    if "-s" in texts:
        return [word for word in words[1:] if not is_option(word.text)]
    return ()


def _add_arguments(values: dict[str, list[Word]], words: Sequence[Word]) -> None:
    for at, word in enumerate(words, 1):
        for name in (str(at), "@", "*"):
            values.setdefault(name, []).append(word)


def _words_of(items: str) -> list[Word]:
    script = shell.parse(f"x {items.strip()}")
    return list(script[-1].words[1:]) if script else [Word(text=word) for word in items.split()]


def resolve(command: Command, known: Variables) -> list[Command]:
    """Return the command with known values in place of its variables, once for each combination."""
    if script := _behind_alias(command, known.aliases):
        return [*script[:-1], *resolve(script[-1], known)]
    if not any(map(_refers, _words_in(command))):
        return [command]
    choices = islice(_combinations(command, known), MOST_VALUES)
    return [_replaced(command, chosen, known.root) for chosen in choices]


def _behind_alias(command: Command, aliases: dict[str, str]) -> Sequence[Command]:
    """Return the commands that an alias stands for, the last with the words behind the alias."""
    words = command.words
    value = aliases.get(words[0].text) if words else ""
    script = shell.parse(value) if value else ()
    if not script or not script[-1].words or script[-1].words[0] == words[0]:
        return ()
    last = script[-1]
    whole = replace(last, words=last.words + words[1:], redirects=command.redirects)
    return (*script[:-1], whole)


def _combinations(command: Command, known: Variables) -> Iterator[dict[str, tuple[Word, ...]]]:
    """Yield the values of the variables in a command: all of a list, one of each other."""
    names = {name for word in _words_in(command) for name in _names(word) if name in known.values}
    lists = names & {"@", "*"} | {name for name in names if f"{name}[" in _text_of(command)}
    single = sorted(names - lists)
    whole = {name: known.values[name] for name in lists}
    for combination in product(*(known.values[name] for name in single)):
        yield {name: (word,) for name, word in zip(single, combination, strict=True)} | whole


def _words_in(command: Command) -> Iterator[Word]:
    yield from command.words
    yield from (redirect.target for redirect in command.redirects)
    if command.stdin:
        yield command.stdin


def _text_of(command: Command) -> str:
    return " ".join(word.text for word in _words_in(command))


def _refers(word: Word) -> bool:
    return word.expands and ("$" in word.text or "`" in word.text)


def _names(word: Word) -> list[str]:
    if not _refers(word):
        return []
    return [found[1] or found[2] or "" for found in regex.finditer(_REFERENCE, word.text)]


def _replaced(command: Command, chosen: dict[str, tuple[Word, ...]], root: str) -> Command:
    words = tuple(each for word in command.words for each in _expand(word, chosen, root))
    redirects = tuple(
        Redirect(operator=each.operator, fd=each.fd, target=_expand(each.target, chosen, root)[0])
        for each in command.redirects
    )
    stdin = _expand(replace(command.stdin, quoted=True), chosen, root)[0] if command.stdin else None
    return replace(command, words=words, redirects=redirects, stdin=stdin)


def _expand(word: Word, chosen: dict[str, tuple[Word, ...]], root: str) -> tuple[Word, ...]:
    if not _refers(word):
        return (word,)
    whole = regex.fullmatch(_REFERENCE, word.text)
    if whole and (values := chosen.get(_name_of(whole))):
        return values if word.quoted else tuple(_split_values(values))
    text = regex.sub(_REFERENCE, lambda found: _value_of(found, chosen, root), word.text)
    expands = "$" in text or "`" in text or (not word.quoted and _is_pattern(text))
    return (replace(word, text=text, expands=expands),)


def _name_of(found: regex.Match[str]) -> str:
    return found[1] or found[2] or ""


def _split_values(values: Iterable[Word]) -> Iterator[Word]:
    """Yield the words that values are without quotes around their variable."""
    for value in values:
        parts = [value.text] if _refers(value) else value.text.split() or [""]
        yield from (Word(text=part, expands=value.expands or _is_pattern(part)) for part in parts)


def _value_of(found: regex.Match[str], chosen: dict[str, tuple[Word, ...]], root: str) -> str:
    """Return what stands for a reference within a word; an unknown one stays."""
    if values := chosen.get(_name_of(found)):
        return " ".join(_without(value.text, found[4] or "") for value in values)
    if folder := found[5] or found[6]:
        return "." if folder == "pwd" else root
    if found[7]:
        return posixpath.dirname(found[7]) or "."
    usual = _USUAL.get(_name_of(found), found[3])
    return found[0] if usual is None else str(usual)


_USUAL = {"PWD": ".", "HOME": "~"}


def _without(value: str, change: str) -> str:
    """Take away what `${f%.py}`, `${f%/*}` or `${f##*/}` takes away; other changes are none."""
    pattern = change.lstrip("%#")
    match change[:1], pattern:
        case "%", "/*":
            return value.rpartition("/")[0] or value
        case "%", ".*":
            return value.rpartition(".")[0] or value
        case "#", "*/":
            return value.rpartition("/")[2]
        case "%", _:
            return value.removesuffix(pattern)
    return value.removeprefix(pattern or "\0")


def _is_pattern(text: str) -> bool:
    return any(sign in text for sign in "*?[{")


def expand_braces(word: Word) -> list[Word]:
    """Return the words that `{a,b}` stands for; a range such as `{1..3}` becomes a pattern."""
    if not word.expands or "{" not in word.text:
        return [word]
    return [replace(word, text=text) for text in _alternatives(word.text)]


_BRACE = regex.compile(r"(?<!\$)\{([^{},]*(?:,[^{},]*)+|[^{}]*\.\.[^{}]*)\}")


def _alternatives(text: str) -> list[str]:
    found = [text]
    while len(found) < MOST_VALUES and (brace := _BRACE.search(found[0])):
        choices = brace[1].split(",") if "," in brace[1] else ["*"]
        source = brace[0]
        found = [each.replace(source, one, 1) for each in found for one in choices[:MOST_VALUES]]
    return found
