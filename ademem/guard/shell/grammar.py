"""Parse scripts of POSIX shells and bash: words, lists, pipelines, compound commands, heredocs."""

from __future__ import annotations

from ademem.core import regex
from ademem.core.caching import cached_property
from ademem.core.value import replace
from ademem.guard.shell import Command, Redirect, Word

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from ademem.guard.shell import Script


class Unreadable(Exception):
    """The text is not a complete shell script, or nests too deep."""


_ESCAPE = r"(?s)\\(x[0-9A-Fa-f]{1,2}|u[0-9A-Fa-f]{1,4}|U[0-9A-Fa-f]{1,8}|[0-7]{1,3}|c.|.)"
_LETTERS = {"a": "\a", "b": "\b", "e": "\x1b", "E": "\x1b", "f": "\f", "n": "\n"}
_LETTERS |= {"r": "\r", "t": "\t", "v": "\v", "\\": "\\", "'": "'", '"': '"', "?": "?"}


def unescape(text: str) -> str:
    r"""Resolve `\n`, `\x41` and their like as `$'…'`, `echo -e` and `printf` do."""
    return regex.sub(_ESCAPE, _character, text) if "\\" in text else text


def printed_text(command: Command) -> Word | None:
    """Return the output of an echo, printf or cat without the last line break; None if unknown."""
    words = command.words[1:]
    if any(redirect.operator[0] in ">&" for redirect in command.redirects):
        return None
    if command.name == "cat":
        return command.stdin if all(word.text == "-" for word in words) else None
    prints = {"echo": _echoed, "printf": _formatted}.get(command.name)
    text = prints([word.text for word in words]) if prints else None
    if text is None:
        return None
    return Word(text=text.rstrip("\n"), expands=any(word.expands for word in words), quoted=True)


def _echoed(words: list[str]) -> str:
    escapes = False
    while words and regex.fullmatch(r"-[neE]+", words[0]):
        escapes = escapes or "e" in words[0]
        words = words[1:]
    return unescape(" ".join(words)) if escapes else " ".join(words)


def _formatted(words: list[str]) -> str | None:
    """Return what printf prints with `%s` alone; None for other conversions, or too many values."""
    if not words:
        return None
    form, *values = words
    conversion = r"(?s)%(.)"
    if set(regex.findall(conversion, form)) - {"s", "%"} or form.count("%s") < len(values):
        return None
    left = iter(values)
    return regex.sub(
        conversion, lambda found: "%" if found[1] == "%" else next(left, ""), unescape(form)
    )


def _character(escape: regex.Match[str]) -> str:
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

    def output(self, printed: Word, *, in_quotes: bool) -> None:
        """Add what a command prints, which is known where it becomes exactly one word."""
        if printed.expands or (not in_quotes and _splits(printed.text)):
            self.unknown(printed.text)
        else:
            self.literal(printed.text)

    def word(self) -> Word:
        expands = self.expands or _is_pattern("".join(self.shape))
        return Word(text="".join(self.text), expands=expands, quoted=self.quoted)


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
_REDIRECT = r"(?a)(\d+|\{\w+\})?(&>>|&>|<<<|<<-|<<|<>|<&|>>|>\||>&|<(?!\()|>(?!\())"
_QUOTES = ("'", '"', "$", "`", "\\")
_ANSWERS = {"false": False, "exit": None, "return": None}


def parse(command: str) -> Script | None:
    grammar = Grammar(command)
    try:
        grammar.commands("")
        read = [replace(draft.command, subshells=draft.subshells) for draft in grammar.drafts]
    except (Unreadable, RecursionError):
        return None
    return tuple(each for each in read if each.words or each.assignments or each.redirects)


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
        self.subshells: tuple[int, ...] = ()

    @cached_property
    def command(self) -> Command:
        source = self.source.command if self.source else None
        return Command(
            words=tuple(self.words),
            assignments=tuple(self.assignments),
            redirects=tuple(self.redirects),
            stdin=self.stdin or (printed_text(source) if source else None),
            source=source,
            reached=self.reached,
        )


class Grammar:
    """Recursive descent; every command read is appended to `drafts`."""

    def __init__(self, text: str, outer: Grammar | None = None) -> None:
        self.text = text
        self.at = 0
        self.drafts: list[UnfinishedCommand] = outer.drafts if outer else []
        self.reached: bool = outer.reached if outer else True
        self._heredocs: list[tuple[UnfinishedCommand, Word, bool]] = []

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

    def peek(self, pattern: str) -> regex.Match[str] | None:
        return regex.compile(pattern).match(self.text, self.at)

    def match(self, pattern: str) -> regex.Match[str] | None:
        found = self.peek(pattern)
        if found:
            self.at = found.end()
        return found

    def commands(self, *closers: str, possible: bool = True) -> tuple[str, bool | None]:
        """Parse commands up to one of *closers*; return the closer and the last answer.

        Every command counts as successful unless it is known to fail.
        """
        outer, self.reached = self.reached, self.reached and possible
        answer: bool | None = True
        separated = True
        while True:
            separated = self.skip_lines() or separated
            closer = self._closer(closers)
            if closer is not None:
                self.reached = outer
                return closer, answer
            if not separated:
                raise Unreadable("two commands with nothing between them")
            first = len(self.drafts)
            answer = self._and_or()
            self.reached = self.reached and answer is not None
            separated = not self.sees(";;", ";&") and (self.takes(";") or self._ends_beside(first))

    def _ends_beside(self, first: int) -> bool:
        """Read `&`: the shell goes on at once, and what was read since runs in another one."""
        if not self.takes("&"):
            return False
        self._enclose(first)
        return True

    def _closer(self, closers: tuple[str, ...]) -> str | None:
        if self.done:
            if "" in closers:
                return ""
            raise Unreadable(f"no {' or '.join(closers)}")
        word = self.reserved()
        if word and word in closers:
            self.take(len(word))
            return word
        signs = (closer for closer in closers if closer and closer not in _RESERVED)
        return next((sign for sign in signs if self.takes(sign)), None)

    def _and_or(self) -> bool | None:
        reached, answer = self.reached, self._pipeline()
        while self.sees("&&", "||"):
            runs = answer is (self.take(2) == "&&")
            self.reached = reached and runs
            self.skip_lines()
            right = self._pipeline()
            answer = right if runs else answer
        self.reached = reached
        return answer

    def _pipeline(self) -> bool | None:
        negated = False
        while (word := self.reserved()) in ("!", "time"):
            self.take(len(word))
            self.match(r"[ \t]+-p(?=[ \t])")
            negated = negated is not (word == "!")
        first, draft = len(self.drafts), self._command()
        while self.match(r"\|(?!\|)&?"):
            self._enclose(first)  # the last one is in none in some shells
            self.skip_lines()
            first, source, draft = len(self.drafts), draft, self._command()
            draft.source = source
        return draft.answer if draft.answer is None else draft.answer is not negated

    def _command(self) -> UnfinishedCommand:
        if self.takes("(("):
            self.arithmetic()
            return self._compound(True)
        if self.takes("("):
            first = len(self.drafts)
            _, answer = self.commands(")")
            self._enclose(first)
            return self._compound(answer is not False)
        word = self.reserved()
        if not word:
            return self._simple()
        if word not in COMPOUNDS:
            raise Unreadable(f"{word} out of place")
        self.take(len(word))
        return self._compound(COMPOUNDS[word](self))

    def _enclose(self, first: int) -> None:
        """Put what was read since into a subshell, whose number is that of its first command."""
        for draft in self.drafts[first:]:
            draft.subshells = (first, *draft.subshells)

    def _compound(self, answer: bool | None) -> UnfinishedCommand:
        draft = UnfinishedCommand(self.reached, answer)
        while self._redirect(draft):
            pass
        self.drafts.append(draft)
        return draft

    def _simple(self) -> UnfinishedCommand:
        draft = UnfinishedCommand(self.reached)
        start = self.at
        while self._redirect(draft) or self._argument(draft):
            if len(draft.words) == 1 and self.match(r"[ \t]*\([ \t]*\)"):
                return self.function()
        if self.at == start:
            raise Unreadable("no command")
        if draft.words:
            draft.answer = _ANSWERS.get(draft.words[0].text, True)
        self.drafts.append(draft)
        return draft

    def function(self) -> UnfinishedCommand:
        self.skip_lines()
        reached, self.reached = self.reached, False
        body = self._command()
        self.reached = reached
        if body.words:
            raise Unreadable("a function without a body")
        return UnfinishedCommand(reached)

    def _argument(self, draft: UnfinishedCommand) -> bool:
        self._blanks()
        assigns = self.peek(r"(?a)[A-Za-z_]\w*(?:\[[^\]\n]*\])?\+?=")
        word = self.word()
        if word is None:
            return False
        (draft.assignments if assigns and not draft.words else draft.words).append(word)
        if assigns and word.text.endswith("=") and self.takes("("):
            self.skip_lines()
            while not self.takes(")"):
                item = self.word()
                if item is None:
                    raise Unreadable("no closing )")
                draft.assignments.append(item)
                self.skip_lines()
        return True

    def word(self) -> Word | None:
        self._blanks()
        if self.done or (self.char in "\n|&;()<>" and not self.sees("<(", ">(")):
            return None
        return self._word()

    def _redirect(self, draft: UnfinishedCommand) -> bool:
        self._blanks()
        found = self.match(_REDIRECT)
        if not found:
            return False
        self._blanks()
        target = self._word()
        if not target.text and not target.quoted:
            raise Unreadable(f"nothing after {found[0]}")
        draft.redirects.append(Redirect(operator=found[2], fd=found[1], target=target))
        if found[2] == "<<<":
            draft.stdin = target
        elif found[2] in ("<<", "<<-"):
            self._heredocs.append((draft, target, found[2] == "<<-"))
        return True

    def reserved(self) -> str:
        self._blanks()
        found = self.peek(PLAIN)
        if not found or found[0] not in _RESERVED:
            return ""
        return "" if self.text.startswith(_QUOTES, found.end()) else found[0]

    def _blanks(self) -> None:
        self.match(_BLANKS)
        if self.char == "#":
            self.match(r"[^\n]*")

    def skip_lines(self) -> bool:
        self._blanks()
        start = self.at
        while self.takes("\n"):
            for draft, mark, tabs in self._heredocs:
                draft.stdin = self._heredoc(mark, tabs)
            self._heredocs.clear()
            self._blanks()
        return self.at > start

    def _heredoc(self, mark: Word, tabs: bool) -> Word:
        lines: list[str] = []
        while not self.done and (found := self.match(r"([^\n]*)\n?")):
            line = found[1].lstrip("\t") if tabs else found[1]
            if line == mark.text:
                break
            lines.append(line)
        body = "\n".join(lines)
        if mark.quoted:
            return Word(text=body, quoted=True)
        rest, word = Grammar(body, outer=self), WordBuilder()
        while not rest.done:
            rest._soft(word, r"[^\\`$]+", special="\\`$")
        return Word(text="".join(word.text), expands=word.expands, quoted=True)

    def _substitution(self) -> Word | None:
        outer, self._heredocs, first = self._heredocs, [], len(self.drafts)
        self.commands(")")
        self._heredocs = outer
        self._enclose(first)
        return self._printed_text(first)

    def _printed_text(self, first: int) -> Word | None:
        return printed_text(self.drafts[first].command) if len(self.drafts) == first + 1 else None

    def _word(self) -> Word:
        word = WordBuilder()
        while not self.done:
            if run := self.match(PLAIN):
                word.bare(run[0])
            elif not self._part(word):
                break
        return word.word()

    def test_word(self) -> Word:
        word = WordBuilder()
        while not self.done and self.char not in " \t\n":
            if run := self.match(r"[^ \t\n<>\\'\"`$]+"):
                word.bare(run[0])
            elif not self._part(word):
                word.bare(self.take(1))
        return word.word()

    def arithmetic(self) -> None:
        """Move behind `))`; parse the commands before it."""
        ignored, depth = WordBuilder(), 0
        while depth or not self.takes("))"):
            if self.takes("("):
                depth += 1
            elif depth and self.takes(")"):
                depth -= 1
            elif not self.match(r"[^\"'\\`$()]+") and not self._part(ignored):
                raise Unreadable("no closing ))")

    def _part(self, word: WordBuilder) -> bool:
        """Read a quoted or expanding part of a word; False if there is none."""
        if self.takes("'"):
            word.literal(self._closed(r"([^']*)'", "'"))
        elif self.takes('"') or self.takes('$"'):
            self._double_quoted(word)
        elif self.takes("\\"):
            escaped = self.take(1)
            if escaped != "\n":
                word.literal(escaped or "\\")
        elif self.takes("$'"):
            text = self._closed(r"(?s)((?:[^'\\]|\\.)*)'", "'")
            word.literal(unescape(text).partition("\0")[0])
        elif self.sees("<(", ">("):
            start = self.at
            self.take(2)
            self._substitution()
            word.unknown(self.text[start : self.at])
        elif self.char in ("$", "`"):
            self._expansion(word)
        else:
            return False
        return True

    def _double_quoted(self, word: WordBuilder) -> None:
        word.literal("")
        while not self.takes('"'):
            if self.done:
                raise Unreadable('no closing "')
            self._soft(word, r"[^\"\\`$]+", special='"\\`$')

    def _soft(self, word: WordBuilder, plain: str, special: str) -> None:
        """Read a piece in double quotes: backslashes escape only *special* characters."""
        if run := self.match(plain):
            word.literal(run[0])
        elif self.takes("\\"):
            escaped = self.take(1)
            if escaped != "\n":
                word.literal(escaped if escaped and escaped in special else "\\" + escaped)
        else:
            self._expansion(word, special)

    def _expansion(self, word: WordBuilder, special: str = "") -> None:
        """Read a `$…` or backquoted part: its value if known, else its source."""
        start, part = self.at, None
        if self.takes("`"):
            part = self._backquoted(special or "\\`$")
        elif self.takes("$(("):
            self.arithmetic()
        elif self.takes("$("):
            part = self._substitution()
        elif self.takes("${"):
            self._parameter(soft=bool(special))
        elif self.takes("$") and not self.match(r"(?a)\w+|[@*#?$!-]"):
            word.bare("$")
            return
        if part is None:
            word.unknown(self.text[start : self.at])
        else:
            word.output(part, in_quotes=bool(special))

    def _backquoted(self, escapable: str) -> Word | None:
        body = self._closed(r"(?s)((?:[^`\\]|\\.)*)`", "`")
        plain = regex.sub(r"(?s)\\(.)", lambda found: found[found[1] in escapable], body)
        first = len(self.drafts)
        Grammar(plain, outer=self).commands("")
        self._enclose(first)
        return self._printed_text(first)

    def _parameter(self, *, soft: bool) -> None:
        ignored = WordBuilder()
        if self.char in " \t\n|(":
            raise Unreadable("not a parameter")
        while not self.takes("}"):
            if soft and self.sees("'", "$'"):
                raise Unreadable("an apostrophe that may be a quote or not")
            if not self.match(r"[^\"'\\`$<>}]+") and not self._part(ignored) and not self.take(1):
                raise Unreadable("no closing }")

    def _closed(self, pattern: str, closing: str) -> str:
        body = self.match(pattern)
        if not body:
            raise Unreadable(f"no closing {closing}")
        return body[1]


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
    if grammar.match(r"[ \t]*\(\("):
        grammar.arithmetic()
    else:
        grammar.word()
        grammar.skip_lines()
        if grammar.reserved() == "in":
            grammar.take(2)
            while grammar.word():
                pass
    grammar.takes(";")
    grammar.commands("do", "{")
    grammar.commands("done", "}")
    return True


def _case(grammar: Grammar) -> bool:
    grammar.word()
    grammar.skip_lines()
    if grammar.reserved() != "in":
        raise Unreadable("case without in")
    grammar.take(2)
    grammar.skip_lines()
    while grammar.reserved() != "esac":
        grammar.takes("(")
        while grammar.word() or grammar.takes("|"):
            pass
        if not grammar.takes(")"):
            raise Unreadable("no ) after a pattern")
        closer, _ = grammar.commands(";;&", ";;", ";&", "esac", possible=False)
        if closer == "esac":
            return True
        grammar.skip_lines()
    grammar.take(4)
    return True


def _function(grammar: Grammar) -> bool:
    grammar.word()
    grammar.match(r"[ \t]*\([ \t]*\)")
    grammar.function()
    return True


def _test(grammar: Grammar) -> bool:
    draft = UnfinishedCommand(grammar.reached)
    draft.words.append(Word(text="[["))
    grammar.skip_lines()
    while not grammar.match(r"\]\](?=[ \t\n;&|()<>]|\Z)"):
        if grammar.done:
            raise Unreadable("no ]]")
        draft.words.append(grammar.test_word())
        grammar.skip_lines()
    grammar.drafts.append(draft)
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
_RESERVED = frozenset((*COMPOUNDS, *"then elif else fi do done in esac time ! }".split()))
