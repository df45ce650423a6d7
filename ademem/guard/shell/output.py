"""What a command prints, where that can be told from reading it."""

from __future__ import annotations

import re

from ademem.guard.shell.values import Command, Word

_ESCAPE = r"(?s)\\(x[0-9A-Fa-f]{1,2}|u[0-9A-Fa-f]{1,4}|U[0-9A-Fa-f]{1,8}|[0-7]{1,3}|c.|.)"
_LETTERS = {"a": "\a", "b": "\b", "e": "\x1b", "E": "\x1b", "f": "\f", "n": "\n"}
_LETTERS |= {"r": "\r", "t": "\t", "v": "\v", "\\": "\\", "'": "'", '"': '"', "?": "?"}
_CONVERSION = r"(?s)%(.)"


def unescaped(text: str) -> str:
    r"""Resolve `\n`, `\x41` and their like as `$'…'`, `echo -e` and `printf` do."""
    return re.sub(_ESCAPE, _character, text) if "\\" in text else text


def printed(command: Command) -> Word | None:
    """The output of a plain echo, printf or cat, without the last line break; None if unknown."""
    if any(redirect.operator[0] in ">&" for redirect in command.redirects):
        return None
    return _PRINTERS[command.name](command) if command.name in _PRINTERS else None


def _echo(command: Command) -> Word:
    words = command.words[1:]
    escapes = False
    while words and re.fullmatch(r"-[neE]+", words[0].text):
        escapes = escapes or "e" in words[0].text
        words = words[1:]
    text = " ".join(word.text for word in words)
    return _word(unescaped(text) if escapes else text, words)


def _printf(command: Command) -> Word | None:
    words = command.words[1:]
    if not words or set(re.findall(_CONVERSION, words[0].text)) - {"s", "%"}:
        return None
    form, *values = (word.text for word in words)
    if form.count("%s") < len(values):
        return None
    left = iter(values)
    filled = re.sub(
        _CONVERSION, lambda found: "%" if found[1] == "%" else next(left, ""), unescaped(form)
    )
    return _word(filled, words)


def _cat(command: Command) -> Word | None:
    return command.stdin if all(word.text == "-" for word in command.words[1:]) else None


_PRINTERS = {"echo": _echo, "printf": _printf, "cat": _cat}


def _word(text: str, words: tuple[Word, ...]) -> Word:
    return Word(text=text.rstrip("\n"), expands=any(word.expands for word in words), quoted=True)


def _character(escape: re.Match[str]) -> str:
    code = escape[1]
    if code in _LETTERS:
        return _LETTERS[code]
    if code[0] in "xuU" and len(code) > 1:
        number = int(code[1:], 16)
        return (
            chr(number)
            if number < 0xD800 or 0xDFFF < number < 0x110000
            else "\N{REPLACEMENT CHARACTER}"
        )
    if code[0] in "01234567":
        return chr(int(code, 8) & 0xFF)
    return chr(ord(code[1]) & 0x1F) if code[0] == "c" and len(code) > 1 else escape[0]
