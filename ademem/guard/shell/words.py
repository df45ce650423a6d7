"""Reading one word: quotes, escapes and expansions."""

from __future__ import annotations

import re

from ademem.guard.shell.cursor import Cursor, Unreadable
from ademem.guard.shell.output import unescaped
from ademem.guard.shell.values import Word

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

PLAIN = r"[^ \t\n|&;()<>\\'\"`$]+"
_LOOSE = r"[^ \t\n<>\\'\"`$]+"
_IN_DOUBLE = r"[^\"\\`$]+"
_IN_HEREDOC = r"[^\\`$]+"
_IN_BRACES = r"[^\"'\\`$<>}]+"
_IN_ARITHMETIC = r"[^\"'\\`$()]+"
_IN_BACKQUOTES = r"(?s)((?:[^`\\]|\\.)*)`"
_ANSI_C = r"(?s)((?:[^'\\]|\\.)*)'"
_VARIABLE = r"(?a)\w+|[@*#?$!-]"


class Building:
    """A word while it is read; `shape` is its unquoted part, where patterns count."""

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
    """Reads words at the cursor; commands inside them go to the grammar through the two calls."""

    def __init__(
        self,
        cursor: Cursor,
        inside: Callable[[], Word | None],
        script: Callable[[str], Word | None],
    ) -> None:
        self.cursor = cursor
        self._inside = inside
        self._script = script

    def word(self) -> Word:
        cursor, word = self.cursor, Building()
        while not cursor.done:
            if run := cursor.match(PLAIN):
                word.bare(run[0])
            elif not self._part(word):
                break
        return word.word()

    def loose(self) -> Word:
        """A word between `[[` and `]]`, where signs are only signs."""
        cursor, word = self.cursor, Building()
        while not cursor.done and cursor.char not in " \t\n":
            if run := cursor.match(_LOOSE):
                word.bare(run[0])
            elif not self._part(word):
                word.bare(cursor.take(1))
        return word.word()

    def heredoc(self) -> Word:
        """The rest of the text, read as the body of a heredoc whose mark was not quoted."""
        word = Building()
        while not self.cursor.done:
            self._soft(word, _IN_HEREDOC, special="\\`$")
        return Word(text="".join(word.text), expands=word.expands, quoted=True)

    def arithmetic(self) -> None:
        """Pass what stands before `))`; commands in it are read."""
        cursor, ignored, depth = self.cursor, Building(), 0
        while depth or not cursor.takes("))"):
            if cursor.takes("("):
                depth += 1
            elif depth and cursor.takes(")"):
                depth -= 1
            elif not cursor.match(_IN_ARITHMETIC) and not self._part(ignored):
                raise Unreadable("no closing ))")

    def _part(self, word: Building) -> bool:
        """A quoted or expanding part of a word."""
        cursor = self.cursor
        if cursor.takes("'"):
            word.literal(cursor.through("'"))
        elif cursor.takes('"') or cursor.takes('$"'):
            self._double(word)
        elif cursor.takes("\\"):
            escaped = cursor.take(1)
            if escaped != "\n":
                word.literal(escaped or "\\")
        elif cursor.takes("$'"):
            word.literal(unescaped(self._closed(_ANSI_C, "'")).partition("\0")[0])
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

    def _double(self, word: Building) -> None:
        word.literal("")
        while not self.cursor.takes('"'):
            if self.cursor.done:
                raise Unreadable('no closing "')
            self._soft(word, _IN_DOUBLE, special='"\\`$')

    def _soft(self, word: Building, plain: str, special: str) -> None:
        """The next piece where quotes are soft: backslashes escape only what is *special*."""
        cursor = self.cursor
        if run := cursor.match(plain):
            word.literal(run[0])
        elif cursor.takes("\\"):
            escaped = cursor.take(1)
            if escaped != "\n":
                word.literal(escaped if escaped and escaped in special else "\\" + escaped)
        else:
            self._substitution(word, special)

    def _substitution(self, word: Building, special: str = "") -> None:
        """A `$…` or backquoted part; what it stands for if that can be told, else its source."""
        cursor, start, known = self.cursor, self.cursor.at, None
        if cursor.takes("`"):
            known = self._script(_unescaped(self._closed(_IN_BACKQUOTES, "`"), special or "\\`$"))
        elif cursor.takes("$(("):
            self.arithmetic()
        elif cursor.takes("$("):
            known = self._inside()
        elif cursor.takes("${"):
            self._parameter(soft=bool(special))
        elif cursor.takes("$") and not cursor.match(_VARIABLE):
            word.bare("$")
            return
        if known is None:
            word.unknown(cursor.text[start : cursor.at])
        elif known.expands or (not special and _splits(known.text)):
            word.unknown(known.text)
        else:
            word.literal(known.text)

    def _parameter(self, *, soft: bool) -> None:
        cursor, ignored = self.cursor, Building()
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


def _unescaped(text: str, special: str) -> str:
    """Without the backslashes before *special* signs."""
    return re.sub(r"(?s)\\(.)", lambda found: found[found[1] in special], text)


def _splits(text: str) -> bool:
    """Whether the output of a command, unquoted, becomes anything else than one word."""
    return not text or _is_pattern(text) or any(map(str.isspace, text))


def _is_pattern(shape: str) -> bool:
    """Whether the shell may replace the word by names of files, or by several words."""
    return (
        "*" in shape
        or "?" in shape
        or ("[" in shape and "]" in shape)
        or ("{" in shape and ("," in shape or ".." in shape))
    )
