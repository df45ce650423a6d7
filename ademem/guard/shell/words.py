"""Tokenize the words of a shell script: quotes, escapes, expansions."""

from __future__ import annotations

import re

from ademem.guard.shell import Command, Word

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable


class Unreadable(Exception):
    """The text is not a complete shell script, or nests too deep."""


class TextCursor:
    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0

    @property
    def done(self) -> bool:
        return self.at >= len(self.text)

    @property
    def char(self) -> str:
        return self.text[self.at : self.at + 1]

    def sees(self, *literals: str) -> bool:
        return self.text.startswith(literals, self.at)

    def takes(self, literal: str) -> bool:
        if not self.text.startswith(literal, self.at):
            return False
        self.at += len(literal)
        return True

    def take(self, length: int) -> str:
        taken = self.text[self.at : self.at + length]
        self.at += len(taken)
        return taken

    def peek(self, pattern: str) -> re.Match[str] | None:
        return re.compile(pattern).match(self.text, self.at)

    def match(self, pattern: str) -> re.Match[str] | None:
        """Match *pattern* here and move behind it."""
        found = self.peek(pattern)
        if found:
            self.at = found.end()
        return found

    def through(self, literal: str) -> str:
        """Return the text before the next *literal* and move behind it."""
        end = self.text.find(literal, self.at)
        if end < 0:
            raise Unreadable(f"no closing {literal}")
        taken = self.text[self.at : end]
        self.at = end + len(literal)
        return taken


_ESCAPE = r"(?s)\\(x[0-9A-Fa-f]{1,2}|u[0-9A-Fa-f]{1,4}|U[0-9A-Fa-f]{1,8}|[0-7]{1,3}|c.|.)"
_LETTERS = {"a": "\a", "b": "\b", "e": "\x1b", "E": "\x1b", "f": "\f", "n": "\n"}
_LETTERS |= {"r": "\r", "t": "\t", "v": "\v", "\\": "\\", "'": "'", '"': '"', "?": "?"}
_CONVERSION = r"(?s)%(.)"


def unescape(text: str) -> str:
    r"""Resolve `\n`, `\x41` and their like as `$'…'`, `echo -e` and `printf` do."""
    return re.sub(_ESCAPE, _character, text) if "\\" in text else text


def printed_text(command: Command) -> Word | None:
    """Return the output of an echo, printf or cat without the last line break; None if unknown."""
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
    return _output(unescape(text) if escapes else text, words)


def _printf(command: Command) -> Word | None:
    words = command.words[1:]
    if not words or set(re.findall(_CONVERSION, words[0].text)) - {"s", "%"}:
        return None
    form, *values = (word.text for word in words)
    if form.count("%s") < len(values):
        return None
    left = iter(values)
    filled = re.sub(
        _CONVERSION, lambda found: "%" if found[1] == "%" else next(left, ""), unescape(form)
    )
    return _output(filled, words)


def _cat(command: Command) -> Word | None:
    return command.stdin if all(word.text == "-" for word in command.words[1:]) else None


_PRINTERS = {"echo": _echo, "printf": _printf, "cat": _cat}


def _output(text: str, words: tuple[Word, ...]) -> Word:
    return Word(text=text.rstrip("\n"), expands=any(word.expands for word in words), quoted=True)


def _character(escape: re.Match[str]) -> str:
    code = escape[1]
    if code in _LETTERS:
        return _LETTERS[code]
    if code[0] in "xuU" and len(code) > 1:
        number = int(code[1:], 16)
        is_valid = number < 0xD800 or 0xDFFF < number < 0x110000
        return chr(number) if is_valid else "\N{REPLACEMENT CHARACTER}"
    if code[0] in "01234567":
        return chr(int(code, 8) & 0xFF)
    return chr(ord(code[1]) & 0x1F) if code[0] == "c" and len(code) > 1 else escape[0]


PLAIN = r"[^ \t\n|&;()<>\\'\"`$]+"
_LOOSE = r"[^ \t\n<>\\'\"`$]+"
_IN_DOUBLE = r"[^\"\\`$]+"
_IN_HEREDOC = r"[^\\`$]+"
_IN_BRACES = r"[^\"'\\`$<>}]+"
_IN_ARITHMETIC = r"[^\"'\\`$()]+"
_IN_BACKQUOTES = r"(?s)((?:[^`\\]|\\.)*)`"
_ANSI_C = r"(?s)((?:[^'\\]|\\.)*)'"
_VARIABLE = r"(?a)\w+|[@*#?$!-]"


class WordBuilder:
    """A word under construction; `shape` is its unquoted part, where patterns count."""

    __slots__ = ("expands", "quoted", "shape", "text")

    def __init__(self) -> None:
        self.text: list[str] = []
        self.shape: list[str] = []
        self.expands = False
        self.quoted = False

    def bare(self, text: str) -> None:
        self.text.append(text)
        self.shape.append(text)

    def literal(self, text: str) -> None:
        self.text.append(text)
        self.quoted = True

    def unknown(self, source: str) -> None:
        self.text.append(source)
        self.expands = True

    def word(self) -> Word:
        expands = self.expands or _is_pattern("".join(self.shape))
        return Word(text="".join(self.text), expands=expands, quoted=self.quoted)


class Words:
    """Tokenizer at a cursor; *inside* and *script* parse the commands inside a word."""

    def __init__(
        self,
        cursor: TextCursor,
        inside: Callable[[], Word | None],
        script: Callable[[str], Word | None],
    ) -> None:
        self.cursor = cursor
        self._inside = inside
        self._script = script

    def word(self) -> Word:
        cursor, word = self.cursor, WordBuilder()
        while not cursor.done:
            if run := cursor.match(PLAIN):
                word.bare(run[0])
            elif not self._part(word):
                break
        return word.word()

    def loose(self) -> Word:
        """Read a word between `[[` and `]]`, where operators are text."""
        cursor, word = self.cursor, WordBuilder()
        while not cursor.done and cursor.char not in " \t\n":
            if run := cursor.match(_LOOSE):
                word.bare(run[0])
            elif not self._part(word):
                word.bare(cursor.take(1))
        return word.word()

    def heredoc(self) -> Word:
        """Read the rest as the body of a heredoc with an unquoted delimiter."""
        word = WordBuilder()
        while not self.cursor.done:
            self._soft(word, _IN_HEREDOC, special="\\`$")
        return Word(text="".join(word.text), expands=word.expands, quoted=True)

    def arithmetic(self) -> None:
        """Move behind `))`; parse the commands before it."""
        cursor, ignored, depth = self.cursor, WordBuilder(), 0
        while depth or not cursor.takes("))"):
            if cursor.takes("("):
                depth += 1
            elif depth and cursor.takes(")"):
                depth -= 1
            elif not cursor.match(_IN_ARITHMETIC) and not self._part(ignored):
                raise Unreadable("no closing ))")

    def _part(self, word: WordBuilder) -> bool:
        """Read a quoted or expanding part of a word; False if there is none."""
        cursor = self.cursor
        if cursor.takes("'"):
            word.literal(cursor.through("'"))
        elif cursor.takes('"') or cursor.takes('$"'):
            word.literal("")
            while not cursor.takes('"'):
                if cursor.done:
                    raise Unreadable('no closing "')
                self._soft(word, _IN_DOUBLE, special='"\\`$')
        elif cursor.takes("\\"):
            escaped = cursor.take(1)
            if escaped != "\n":
                word.literal(escaped or "\\")
        elif cursor.takes("$'"):
            word.literal(unescape(self._closed(_ANSI_C, "'")).partition("\0")[0])
        elif cursor.sees("<(", ">("):
            start = cursor.at
            cursor.take(2)
            self._inside()
            word.unknown(cursor.text[start : cursor.at])
        elif cursor.char in ("$", "`"):
            self._substitution(word)
        else:
            return False
        return True

    def _soft(self, word: WordBuilder, plain: str, special: str) -> None:
        """Read a piece in double quotes: backslashes escape only *special* characters."""
        cursor = self.cursor
        if run := cursor.match(plain):
            word.literal(run[0])
        elif cursor.takes("\\"):
            escaped = cursor.take(1)
            if escaped != "\n":
                word.literal(escaped if escaped and escaped in special else "\\" + escaped)
        else:
            self._substitution(word, special)

    def _substitution(self, word: WordBuilder, special: str = "") -> None:
        """Read a `$…` or backquoted part: its value if known, else its source."""
        cursor, start, part = self.cursor, self.cursor.at, None
        if cursor.takes("`"):
            body, escapable = self._closed(_IN_BACKQUOTES, "`"), special or "\\`$"
            plain = re.sub(r"(?s)\\(.)", lambda found: found[found[1] in escapable], body)
            part = self._script(plain)
        elif cursor.takes("$(("):
            self.arithmetic()
        elif cursor.takes("$("):
            part = self._inside()
        elif cursor.takes("${"):
            self._parameter(soft=bool(special))
        elif cursor.takes("$") and not cursor.match(_VARIABLE):
            word.bare("$")
            return
        if part is None:
            word.unknown(cursor.text[start : cursor.at])
        elif part.expands or (not special and _splits(part.text)):
            word.unknown(part.text)
        else:
            word.literal(part.text)

    def _parameter(self, *, soft: bool) -> None:
        cursor, ignored = self.cursor, WordBuilder()
        if cursor.char in " \t\n|(":
            raise Unreadable("not a parameter")
        while not cursor.takes("}"):
            if soft and cursor.sees("'", "$'"):
                raise Unreadable("an apostrophe that may be a quote or not")
            if not cursor.match(_IN_BRACES) and not self._part(ignored) and not cursor.take(1):
                raise Unreadable("no closing }")

    def _closed(self, pattern: str, closing: str) -> str:
        body = self.cursor.match(pattern)
        if not body:
            raise Unreadable(f"no closing {closing}")
        return body[1]


def _splits(text: str) -> bool:
    """True if unquoted output of a command does not become exactly one word."""
    return not text or _is_pattern(text) or any(map(str.isspace, text))


def _is_pattern(shape: str) -> bool:
    """True if the shell may replace the word by file names or by several words."""
    return (
        "*" in shape
        or "?" in shape
        or ("[" in shape and "]" in shape)
        or ("{" in shape and ("," in shape or ".." in shape))
    )
