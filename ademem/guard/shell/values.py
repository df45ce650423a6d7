"""Words, redirections and commands after quoting is resolved."""

from __future__ import annotations

from ademem.core.value import Value


class Word(Value):
    text: str
    expands: bool = False
    """Part of it is known only to a running shell: a variable, a command's output, a pattern."""
    quoted: bool = False


class Redirect(Value):
    operator: str
    fd: str | None
    target: Word


class Command(Value):
    """One simple command; without words it is the redirections of a compound one."""

    words: tuple[Word, ...] = ()
    assignments: tuple[Word, ...] = ()
    redirects: tuple[Redirect, ...] = ()
    stdin: Word | None = None
    """What it reads, when that is written out: a heredoc, a here-string, a plain echo piped in."""
    source: Command | None = None
    """The command whose output is piped into it."""
    reached: bool = True
    """Whether it runs if every command before it succeeds; `false` never does."""

    @property
    def name(self) -> str:
        """The program: `/usr/bin/git` is `git`, while `./git` may be anything."""
        if not self.words:
            return ""
        folder, _, name = self.words[0].text.rpartition("/")
        return (
            name
            if not folder or folder[0] in "/~" or folder.endswith("bin")
            else self.words[0].text
        )

    @property
    def line(self) -> str:
        return " ".join(word.text for word in self.words)


class Script(Value):
    commands: tuple[Command, ...]
    """Every simple command, also those inside substitutions, groups, branches and functions."""
    functions: frozenset[str] = frozenset()
