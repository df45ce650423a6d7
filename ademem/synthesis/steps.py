"""The steps of a shell command that change something, with names by which two are the same."""

from __future__ import annotations

import re

from ademem.capture.checks import is_check
from ademem.core.settings import GuardSettings
from ademem.core.value import Value, replace
from ademem.guard import shell
from ademem.guard.mutation import CommandPart, judge_part, look_up
from ademem.guard.shell import Command
from ademem.guard.writers import edits_by_command

RUN, EDIT, USE = "run", "edit", "use"
"""Kinds of steps: a command, a file, a tool of an MCP server."""
_BOOKKEEPING = frozenset({"ademem", "bd", "export"})
_OPTIONS_WITH_VALUE = frozenset({"-C", "-c", "-f", "-n"})
INTERPRETERS = frozenset(
    "bash bun deno node perl php python python3 ruby sh ts-node tsx zsh".split()
)
_SUBCOMMAND = re.compile(r"[a-z][a-z0-9:_-]*")
_HEREDOC = re.compile(
    r"""<<-?\s*(['"]?)(\w+)\1([^;\n]*)(?:; |\n).*?(?:; |\n)\2(?:; |\n|$)""", re.DOTALL
)
"""A document in a command whose lines are joined by semicolons."""
_BLOCK = re.compile(r"\b(do|then|else)\s*;")
_UNCLOSED = re.compile(r"""["'`]|<<|\$\(""")
"""Openings that a command which was cut short may never close."""


class Step(Value):
    signature: str
    """Equal for two steps that do the same: kind, and program with subcommand or file."""
    words: tuple[str, ...]
    """The command with its arguments, or the file."""
    varies: bool = False
    """Sessions gave the command other arguments."""

    @property
    def kind(self) -> str:
        return self.signature.partition(" ")[0]


def command_steps(command: str) -> list[Step]:
    """Return the steps of a shell command, also of one that is cut short or joined to one line."""
    line = _BLOCK.sub(r"\1 ", _HEREDOC.sub(r"<<'-'\3\n…\n-\n", command.rstrip("…")))
    script = shell.parse(line) or shell.parse(_UNCLOSED.split(line, maxsplit=1)[0])
    if script is None:
        return []
    found: list[Step | None] = []
    for each, edits in edits_by_command(script):
        found += [edit_step(edit.path) for edit in edits if edit.is_whole] or [_command_step(each)]
    return [step for step in found if step and not _is_edit_elsewhere(step)]


def _is_edit_elsewhere(step: Step) -> bool:
    return step.kind == EDIT and step.words[0].startswith(("/", "~", ".."))


def _command_step(command: Command) -> Step | None:
    """Return None for a command that only reads; a check does not count as reading.

    Words that depend on the output of another command are masked.
    """
    words = tuple(
        "…" if word.expands and _UNCLOSED.search(word.text) else word.text for word in command.words
    )
    if not words or not command.name or command.name in _BOOKKEEPING:
        return None
    inner = next(shell.unwrap(replace(command, redirects=())), command)
    part = look_up(inner, GuardSettings())
    if not judge_part(part).mutates and not is_check(command.line):
        return None
    return Step(signature=f"{RUN} {_name(part)}", words=(command.name, *words[1:]))


def _name(part: CommandPart) -> str:
    """Return the program with its subcommand, such as `npm run build` or `git tag`."""
    rest = [word.text for word in part.command.words[1:]]
    if part.key in INTERPRETERS:
        named = rest[:2] if rest[:1] == ["-m"] else [word for word in rest if word[:1] != "-"][:1]
        return " ".join([part.key, *named])
    if " " in part.key:
        return part.key
    while rest and rest[0] in _OPTIONS_WITH_VALUE:
        rest = rest[2:]
    plain = next((word for word in rest if word[:1] != "-"), "")
    return f"{part.key} {plain}" if _SUBCOMMAND.fullmatch(plain) else part.key


def edit_step(path: str) -> Step:
    return Step(signature=f"{EDIT} {path}", words=(path,))
