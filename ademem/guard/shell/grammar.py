"""Parse scripts of POSIX shells and bash: words, lists, pipelines, compound commands, heredocs."""

from __future__ import annotations

import re
from functools import cached_property

from ademem.guard.shell import Command, Redirect, Script, Word

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


_BLANKS = r"(?:[ \t]|\\\n)+"
_ASSIGNMENT = r"(?a)[A-Za-z_]\w*(?:\[[^\]\n]*\])?\+?="
_EMPTY_PARENTHESES = r"[ \t]*\([ \t]*\)"
_REDIRECT = r"(?a)(\d+|\{\w+\})?(&>>|&>|<<<|<<-|<<|<>|<&|>>|>\||>&|<(?!\()|>(?!\())"
_OTHERS = ("then", "elif", "else", "fi", "do", "done", "in", "esac", "time", "!", "}")
_QUOTES = ("'", '"', "$", "`", "\\")
_ANSWERS = {"false": False, "exit": None, "return": None}


def parse(command: str) -> Script | None:
    grammar = Grammar(command)
    try:
        grammar.commands("")
        read = [draft.command for draft in grammar.drafts]
    except (Unreadable, RecursionError):
        return None
    commands = tuple(each for each in read if each.words or each.assignments or each.redirects)
    return Script(commands=commands, functions=frozenset(grammar.functions))


class UnfinishedCommand:
    """A command under construction: its heredoc may follow on a later line.

    *answer*: True if it succeeds, as far as parsing can tell; None if nothing after it runs.
    """

    def __init__(self, reached: bool, answer: bool | None = True) -> None:
        self.words: list[Word] = []
        self.assignments: list[Word] = []
        self.redirects: list[Redirect] = []
        self.stdin: Word | None = None
        self.source: UnfinishedCommand | None = None
        self.reached = reached
        self.answer = answer

    @cached_property
    def command(self) -> Command:
        source = self.source.command if self.source else None
        piped = printed_text(source) if source else None
        return Command(
            words=tuple(self.words),
            assignments=tuple(self.assignments),
            redirects=tuple(self.redirects),
            stdin=self.stdin or piped,
            source=source,
            reached=self.reached,
        )


class Grammar:
    """Recursive descent; every command read is appended to `drafts`."""

    def __init__(self, text: str, outer: Grammar | None = None) -> None:
        self.cursor = TextCursor(text)
        self.words = Words(self.cursor, self._substitution, self._script)
        self.drafts: list[UnfinishedCommand] = outer.drafts if outer else []
        self.functions: set[str] = outer.functions if outer else set()
        self.reached: bool = outer.reached if outer else True
        self._heredocs: list[tuple[UnfinishedCommand, Word, bool]] = []

    def commands(self, *closers: str, possible: bool = True) -> tuple[str, bool | None]:
        """Parse commands up to one of *closers*; return the closer and the last answer.

        Every command counts as successful unless it is known to fail.
        """
        outer, self.reached = self.reached, self.reached and possible
        answer: bool | None = True
        separated = True
        while True:
            separated = self.lines() or separated
            closer = self._closer(closers)
            if closer is not None:
                self.reached = outer
                return closer, answer
            if not separated:
                raise Unreadable("two commands with nothing between them")
            answer = self._and_or()
            self.reached = self.reached and answer is not None
            separated = not self.cursor.sees(";;", ";&") and (
                self.cursor.takes(";") or self.cursor.takes("&")
            )

    def _closer(self, closers: tuple[str, ...]) -> str | None:
        if self.cursor.done:
            if "" in closers:
                return ""
            raise Unreadable(f"no {' or '.join(closers)}")
        word = self.reserved()
        if word and word in closers:
            self.cursor.take(len(word))
            return word
        signs = (closer for closer in closers if closer and closer not in _RESERVED)
        return next((sign for sign in signs if self.cursor.takes(sign)), None)

    def _and_or(self) -> bool | None:
        reached, answer = self.reached, self._pipeline()
        while self.cursor.sees("&&", "||"):
            runs = answer is (self.cursor.take(2) == "&&")
            self.reached = reached and runs
            self.lines()
            right = self._pipeline()
            answer = right if runs else answer
        self.reached = reached
        return answer

    def _pipeline(self) -> bool | None:
        negated = False
        while (word := self.reserved()) in ("!", "time"):
            self.cursor.take(len(word))
            self.cursor.match(r"[ \t]+-p(?=[ \t])")
            negated = negated is not (word == "!")
        draft = self._command()
        while self._bar():
            self.lines()
            source, draft = draft, self._command()
            draft.source = source
        return draft.answer if draft.answer is None else draft.answer is not negated

    def _bar(self) -> bool:
        self._blanks()
        return not self.cursor.sees("||") and (self.cursor.takes("|&") or self.cursor.takes("|"))

    def _command(self) -> UnfinishedCommand:
        if self.cursor.takes("(("):
            self.words.arithmetic()
            return self._compound(True)
        if self.cursor.takes("("):
            _, answer = self.commands(")")
            return self._compound(answer is not False)
        word = self.reserved()
        if not word:
            return self._simple()
        if word not in COMPOUNDS:
            raise Unreadable(f"{word} out of place")
        self.cursor.take(len(word))
        return self._compound(COMPOUNDS[word](self))

    def _compound(self, answer: bool | None) -> UnfinishedCommand:
        draft = UnfinishedCommand(self.reached, answer)
        while self._redirect(draft):
            pass
        self.drafts.append(draft)
        return draft

    def add(self, words: list[Word]) -> None:
        draft = UnfinishedCommand(self.reached)
        draft.words = words
        self.drafts.append(draft)

    def _simple(self) -> UnfinishedCommand:
        draft = UnfinishedCommand(self.reached)
        start = self.cursor.at
        while self._redirect(draft) or self._argument(draft):
            if len(draft.words) == 1 and self.cursor.match(_EMPTY_PARENTHESES):
                return self.function(draft.words[0].text)
        if self.cursor.at == start:
            raise Unreadable("no command")
        if draft.words:
            draft.answer = _ANSWERS.get(draft.words[0].text, True)
        self.drafts.append(draft)
        return draft

    def function(self, name: str) -> UnfinishedCommand:
        """Parse the body of a function; nothing in it counts as reached."""
        self.functions.add(name)
        self.lines()
        reached, self.reached = self.reached, False
        body = self._command()
        self.reached = reached
        if body.words:
            raise Unreadable(f"{name}() has no body")
        return UnfinishedCommand(reached)

    def _argument(self, draft: UnfinishedCommand) -> bool:
        self._blanks()
        assigns = self.cursor.peek(_ASSIGNMENT)
        word = self.word()
        if word is None:
            return False
        (draft.assignments if assigns and not draft.words else draft.words).append(word)
        if assigns and word.text.endswith("=") and self.cursor.takes("("):
            self.lines()
            while not self.cursor.takes(")"):
                item = self.word()
                if item is None:
                    raise Unreadable("no closing )")
                draft.assignments.append(item)
                self.lines()
        return True

    def word(self) -> Word | None:
        cursor = self.cursor
        self._blanks()
        if cursor.done or (cursor.char in "\n|&;()<>" and not cursor.sees("<(", ">(")):
            return None
        return self.words.word()

    def _redirect(self, draft: UnfinishedCommand) -> bool:
        self._blanks()
        found = self.cursor.match(_REDIRECT)
        if not found:
            return False
        self._blanks()
        target = self.words.word()
        if not target.text and not target.quoted:
            raise Unreadable(f"nothing after {found[0]}")
        draft.redirects.append(Redirect(operator=found[2], fd=found[1], target=target))
        if found[2] == "<<<":
            draft.stdin = target
        elif found[2] in ("<<", "<<-"):
            self._heredocs.append((draft, target, found[2] == "<<-"))
        return True

    def reserved(self) -> str:
        """Return the reserved word at the cursor without moving."""
        self._blanks()
        found = self.cursor.peek(PLAIN)
        if not found or found[0] not in _RESERVED:
            return ""
        return "" if self.cursor.text.startswith(_QUOTES, found.end()) else found[0]

    def _blanks(self) -> None:
        self.cursor.match(_BLANKS)
        if self.cursor.char == "#":
            self.cursor.match(r"[^\n]*")

    def lines(self) -> bool:
        """Skip blanks, comments, line breaks and heredocs; True if there was a line break."""
        self._blanks()
        start = self.cursor.at
        while self.cursor.takes("\n"):
            for draft, mark, tabs in self._heredocs:
                draft.stdin = self._heredoc(mark, tabs)
            self._heredocs.clear()
            self._blanks()
        return self.cursor.at > start

    def _heredoc(self, mark: Word, tabs: bool) -> Word:
        lines: list[str] = []
        while not self.cursor.done and (found := self.cursor.match(r"([^\n]*)\n?")):
            line = found[1].lstrip("\t") if tabs else found[1]
            if line == mark.text:
                break
            lines.append(line)
        body = "\n".join(lines)
        if mark.quoted:
            return Word(text=body, quoted=True)
        return Grammar(body, outer=self).words.heredoc()

    def _substitution(self) -> Word | None:
        """Parse commands up to `)`; return the text that replaces them, if known."""
        outer, self._heredocs, first = self._heredocs, [], len(self.drafts)
        self.commands(")")
        self._heredocs = outer
        return self._printed_text(first)

    def _script(self, text: str) -> Word | None:
        first = len(self.drafts)
        Grammar(text, outer=self).commands("")
        return self._printed_text(first)

    def _printed_text(self, first: int) -> Word | None:
        return printed_text(self.drafts[first].command) if len(self.drafts) == first + 1 else None


def _if(grammar: Grammar) -> bool:
    closer, possible = "elif", True
    while closer == "elif":
        _, answer = grammar.commands("then", possible=possible)
        closer, _ = grammar.commands("elif", "else", "fi", possible=possible and answer is True)
        possible = possible and answer is False
    if closer == "else":
        grammar.commands("fi", possible=possible)
    return True


def _while(grammar: Grammar, runs_on: bool = True) -> bool:
    _, answer = grammar.commands("do")
    grammar.commands("done", possible=answer is runs_on)
    return True


def _for(grammar: Grammar) -> bool:
    if grammar.cursor.match(r"[ \t]*\(\("):
        grammar.words.arithmetic()
    else:
        grammar.word()
        grammar.lines()
        if grammar.reserved() == "in":
            grammar.cursor.take(2)
            while grammar.word():
                pass
    grammar.cursor.takes(";")
    grammar.commands("do", "{")
    grammar.commands("done", "}")
    return True


def _case(grammar: Grammar) -> bool:
    """Parse a case; none of its branches is certain to run."""
    grammar.word()
    grammar.lines()
    if grammar.reserved() != "in":
        raise Unreadable("case without in")
    grammar.cursor.take(2)
    grammar.lines()
    while grammar.reserved() != "esac":
        grammar.cursor.takes("(")
        while grammar.word() or grammar.cursor.takes("|"):
            pass
        if not grammar.cursor.takes(")"):
            raise Unreadable("no ) after a pattern")
        closer, _ = grammar.commands(";;&", ";;", ";&", "esac", possible=False)
        if closer == "esac":
            return True
        grammar.lines()
    grammar.cursor.take(4)
    return True


def _function(grammar: Grammar) -> bool:
    name = grammar.word()
    grammar.cursor.match(r"[ \t]*\([ \t]*\)")
    grammar.function(name.text if name else "")
    return True


def _test(grammar: Grammar) -> bool:
    words = [Word(text="[[")]
    grammar.lines()
    while not grammar.cursor.match(r"\]\](?=[ \t\n;&|()<>]|\Z)"):
        if grammar.cursor.done:
            raise Unreadable("no ]]")
        words.append(grammar.words.loose())
        grammar.lines()
    grammar.add(words)
    return True


COMPOUNDS: dict[str, Callable[[Grammar], bool | None]] = {
    "if": _if,
    "while": _while,
    "until": lambda grammar: _while(grammar, runs_on=False),
    "for": _for,
    "select": _for,
    "case": _case,
    "function": _function,
    "[[": _test,
    "{": lambda grammar: grammar.commands("}")[1],
}
_RESERVED = frozenset((*COMPOUNDS, *_OTHERS))
