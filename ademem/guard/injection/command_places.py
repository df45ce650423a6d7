"""Find the commands in a text that no memory may order."""

from __future__ import annotations

from ademem.core import regex
from ademem.core.text import normal
from ademem.core.untrusted import visible
from ademem.core.value import Value
from ademem.guard.injection import PROGRAMS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_CHARS = 60_000
MAX_PLACES = 500
"""Limits of candidates and of their characters; a text with more is quarantined."""
SENTENCE_CHARS = 1500
"""Longest command where nothing marks its end."""

TOO_MANY = "has more commands than can be read"


class Place(Value):
    start: int
    end: int
    command: str
    marked: bool
    """True between backticks and in a code block."""


_NAME = r"(?<![\w-])[\w-]++(?=[ \t]\S)"
_ASSIGNED = r"(?<![\w$`-])[A-Z][A-Z0-9_]{3,}=(?=[^\s=])"
_FENCE = r"(?ms)^[ \t]*(```|~~~)[^\n]*\n(.*?)(?:^[ \t]*\1[ \t]*$|\Z)"
_TICKED = r"(``?)(?!`)([^`]+)\1"
_NESTED = r"(?<![^\s(\"':,;])`(?=\S)[^`\n]*[\s\"'=(]`(?=[\w$~])[^`\n]+`[^`\n]*`"
"""A command between backticks that has a substitution between backticks."""
_SENTENCE_END = r"(?<=[^.\s]{2})[.!?](?=\s+[A-Z\u0400-\u04ff]|\s*$)|\n|\u3002"
_JSON_SCRIPT = r"\"(?:pre|post)?(?:install|prepare|test|build)\"\s*:\s*\"((?:[^\"\\]|\\.)*)\""


def command_in(text: str) -> str | None:
    """Return the effect of the first command that no memory may order; None if there is none."""
    if not text.isascii():
        text = visible(normal("NFKC", text))
    read = 0
    for count, place in enumerate(places(text), 1):
        from ademem.guard.injection.commands import effect  # most texts have no command

        read += len(place.command)
        if read > MAX_CHARS or count > MAX_PLACES:
            return TOO_MANY
        found = effect(place.command, marked=place.marked)
        if found and not is_prohibited(text, place):
            return found
    return None


def places(text: str) -> Iterator[Place]:
    """Yield code blocks, text between backticks, and sentences from a program's name on."""
    for script in regex.finditer(_JSON_SCRIPT, text) if '"' in text else ():
        yield Place(start=script.start(), end=script.end(), command=script[1], marked=True)
    for nested in regex.finditer(_NESTED, text) if text.count("`") >= 4 else ():
        start, end = nested.span()
        yield Place(start=start, end=end, command=nested[0][1:-1], marked=True)
    blank = list(text)
    for pattern in (_FENCE, _TICKED) if "`" in text or "~~~" in text else ():
        for found in regex.finditer(pattern, "".join(blank)):
            code = found[2]
            if pattern is _FENCE:  # each line, because one syntax error would hide the others
                for line in filter(str.strip, code.split("\n")):
                    bare = regex.sub(r"^\s*[$>%#]\s+", "", line)
                    yield Place(start=found.start(), end=found.end(), command=bare, marked=True)
            else:
                code = code.replace("\n", " ")  # as Markdown shows it
            yield Place(start=found.start(), end=found.end(), command=code, marked=True)
            blank[found.start() : found.end()] = "\x00" * (found.end() - found.start())
    rest, at = "".join(blank), 0
    for end in (*(found.start() for found in regex.finditer(_SENTENCE_END, rest)), len(rest)):
        named = [
            name for name in regex.compile(_NAME).finditer(rest, at, end) if name[0] in PROGRAMS
        ]
        paths = [_path_start(rest, name.start()) for name in named]
        assigned = [found.start() for found in regex.compile(_ASSIGNED).finditer(rest, at, end)]
        for start in sorted([*assigned, *(path for path in paths if path is not None)]):
            line = text[start : min(end, start + SENTENCE_CHARS)]
            yield Place(start=start, end=end, command=line, marked=False)
        at = end


def _path_start(text: str, at: int) -> int | None:
    """Return where the path of the name at *at* begins; None if the name is part of a word."""
    start = at
    while start and (text[start - 1].isalnum() or text[start - 1] in "_./-"):
        start -= 1
    if start < at and text[at - 1] != "/":
        return None
    if start < at and text[start - 1 : start] == "~":
        start -= 1
    return None if start and text[start - 1] in "`~$" else start


_BETWEEN = (
    r"(?:\s+(?:use|using|run|running|execute|executing|call|calling|type|add|pass|set|pipe|install|enter"
    r"|write|commit|push|with|the|a|an|any|ever|in|on|docs?|code|directly|sudo|from|do|of|like|such|as|it"
    r"|via|by|these|this|commands?|to|utiliser|utilise|utilisez|lancer|usar|uses|use|ejecutar|ejecutes"
    r"|executar|verwenden|benutzen|nutze|benutze|verwende|pas|de|la|le|il|el|en|na|no|in|im|der|den"
    r"|dokumentation|используй|используйте|запускай|запускайте|выполняй))*\s*"
)
_FORBIDS = (
    r"(?i)(?:\b(?:never|do\s+not|don'?t|don\u2019t|must\s+not|mustn'?t|should\s+not|shouldn'?t|may\s+not"
    r"|not|avoid|instead\s+of|rather\s+than|nie|niemals|nicht|kein\w*|ne|jamais|nunca|jam[aá]s|n[aã]o|no"
    r"|не|никогда(?:\s+не)?|нельзя|without\s+using)"
    rf"{_BETWEEN}"
    r"|\b(?:refuses?|rejects?|blocks?|forbids?|bans?|prevents?|disallows?|detects?|flags|catches"
    r"|fails\s+on)(?:[ ](?!unless|until|if|without|before|except|but|so|then|when|run|use"
    r"|until)[^\s,;:]+){0,5}[ ]*|(?:不要|禁止|不得|切勿|勿|别)[^\s,.;，。`]{0,8}\s*)[`'\"\u201c]*$"
)
_IS_FORBIDDEN = (
    r"(?i)^[`'\"\u201d]*\s*(?:(?:on|in|for|to)\s[^,.;:`]{1,30}\s)?(?:(?:is|are|was|were)\s(?:\w+\s)?"
    r"(?:forbidden|banned|blocked|refused|rejected|prohibited|disallowed|discouraged|not\sallowed"
    r"|the\scause)|(?:auf|in|im|bei|für)?\s?[\w ]{0,20}(?:nicht|nie|niemals)\s(?:verwenden|benutzen"
    r"|nutzen|ausführen)|を?(?:使わない|使用しない|実行しない|使用禁止|禁止))"
    r"(?![^.]*\b(?:but|unless|however|instead|anyway|except|run|use|it)\b)"
)


def is_prohibited(text: str, place: Place) -> bool:
    before = text[max(0, place.start - 120) : place.start].rpartition("\n")[2]
    before = regex.split(r"[.!?;:,](?=\s)", before)[-1]
    if regex.search(_FORBIDS, before):
        return True
    after = text[place.end : place.end + 160] if place.marked else ""
    return bool(regex.search(_IS_FORBIDDEN, after))
