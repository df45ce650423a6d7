"""The grammar of POSIX shells and bash: lists, pipelines, simple commands, heredocs."""

from __future__ import annotations

from functools import cached_property

from ademem.guard.shell.compounds import COMPOUNDS
from ademem.guard.shell.cursor import Cursor, Unreadable
from ademem.guard.shell.output import printed
from ademem.guard.shell.values import Command, Redirect, Script, Word
from ademem.guard.shell.words import PLAIN, Words

_BLANKS = r"(?:[ \t]|\\\n)+"
_ASSIGNMENT = r"(?a)[A-Za-z_]\w*(?:\[[^\]\n]*\])?\+?="
_EMPTY_PARENTHESES = r"[ \t]*\([ \t]*\)"
_REDIRECT = r"(?a)(\d+|\{\w+\})?(&>>|&>|<<<|<<-|<<|<>|<&|>>|>\||>&|<(?!\()|>(?!\())"
_OTHERS = ("then", "elif", "else", "fi", "do", "done", "in", "esac", "time", "!", "}")
_RESERVED = frozenset((*COMPOUNDS, *_OTHERS))
_QUOTES = ("'", '"', "$", "`", "\\")
_ANSWERS = {"false": False, "exit": None, "return": None}


def parse(command: str) -> Script | None:
    """Read a script as bash would; None when it is not one, such as an unclosed quote."""
    grammar = Grammar(command)
    try:
        grammar.commands("")
        read = [draft.command for draft in grammar.drafts]
    except (Unreadable, RecursionError):
        return None
    commands = tuple(each for each in read if each.words or each.assignments or each.redirects)
    return Script(commands=commands, functions=frozenset(grammar.functions))


class Draft:
    """A command whose heredoc may still follow on a later line.

    *answer*: whether it succeeds, as far as reading tells; None when nothing after it runs.
    """

    def __init__(self, reached: bool, answer: bool | None = True) -> None:
        self.words: list[Word] = []
        self.assignments: list[Word] = []
        self.redirects: list[Redirect] = []
        self.stdin: Word | None = None
        self.source: Draft | None = None
        self.reached = reached
        self.answer = answer

    @cached_property
    def command(self) -> Command:
        source = self.source.command if self.source else None
        piped = printed(source) if source else None
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
        self.cursor = Cursor(text)
        self.words = Words(self.cursor, self._substitution, self._script)
        self.drafts: list[Draft] = outer.drafts if outer else []
        self.functions: set[str] = outer.functions if outer else set()
        self.reached: bool = outer.reached if outer else True
        self._heredocs: list[tuple[Draft, Word, bool]] = []

    def commands(self, *closers: str, possible: bool = True) -> tuple[str, bool | None]:
        """Read commands up to one of the words or signs that close them: which, and the answer.

        Every command is taken to succeed unless it is known not to.
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
        negated = self._negated()
        draft = self._command()
        while self._bar():
            self.lines()
            source, draft = draft, self._command()
            draft.source = source
        return draft.answer if draft.answer is None else draft.answer is not negated

    def _bar(self) -> bool:
        self._blanks()
        return not self.cursor.sees("||") and (self.cursor.takes("|&") or self.cursor.takes("|"))

    def _negated(self) -> bool:
        negated = False
        while (word := self.reserved()) in ("!", "time"):
            self.cursor.take(len(word))
            self.cursor.match(r"[ \t]+-p(?=[ \t])")
            negated = negated is not (word == "!")
        return negated

    def _command(self) -> Draft:
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

    def _compound(self, answer: bool | None) -> Draft:
        draft = Draft(self.reached, answer)
        while self._redirect(draft):
            pass
        self.drafts.append(draft)
        return draft

    def add(self, words: list[Word]) -> None:
        draft = Draft(self.reached)
        draft.words = words
        self.drafts.append(draft)

    def _simple(self) -> Draft:
        draft = Draft(self.reached)
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

    def function(self, name: str) -> Draft:
        """The body of a function; it may be called or not, so nothing in it is reached."""
        self.functions.add(name)
        self.lines()
        reached, self.reached = self.reached, False
        body = self._command()
        self.reached = reached
        if body.words:
            raise Unreadable(f"{name}() has no body")
        return Draft(reached)

    def _argument(self, draft: Draft) -> bool:
        self._blanks()
        assigns = self.cursor.peek(_ASSIGNMENT)
        word = self.word()
        if word is None:
            return False
        (draft.assignments if assigns and not draft.words else draft.words).append(word)
        if assigns and word.text.endswith("=") and self.cursor.takes("("):
            self._array(draft)
        return True

    def word(self) -> Word | None:
        """The word that stands here, if one does."""
        cursor = self.cursor
        self._blanks()
        if cursor.done or (cursor.char in "\n|&;()<>" and not cursor.sees("<(", ">(")):
            return None
        return self.words.word()

    def _array(self, draft: Draft) -> None:
        while True:
            self.lines()
            if self.cursor.takes(")"):
                return
            item = self.word()
            if item is None:
                raise Unreadable("no closing )")
            draft.assignments.append(item)

    def _redirect(self, draft: Draft) -> bool:
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
        """The reserved word that stands here, not yet passed."""
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
        """Skip blanks, comments, line breaks and the heredocs behind them; True for a new line."""
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
        """Commands up to `)`; the text that takes their place, if it can be told."""
        outer, self._heredocs, first = self._heredocs, [], len(self.drafts)
        self.commands(")")
        self._heredocs = outer
        return self._known(first)

    def _script(self, text: str) -> Word | None:
        first = len(self.drafts)
        Grammar(text, outer=self).commands("")
        return self._known(first)

    def _known(self, first: int) -> Word | None:
        return printed(self.drafts[first].command) if len(self.drafts) == first + 1 else None
