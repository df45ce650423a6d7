"""Parse scripts of POSIX shells and bash: lists, pipelines, compound commands, heredocs."""

from __future__ import annotations

from functools import cached_property

from ademem.guard.shell import Command, Redirect, Script, Word
from ademem.guard.shell.words import PLAIN, TextCursor, Unreadable, Words, printed_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

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
