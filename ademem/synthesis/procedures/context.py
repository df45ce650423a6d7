"""What one session did, as procedures see it: a task, its steps, and how it ended."""

from __future__ import annotations

import re

from ademem.core.value import Value
from ademem.guard import shell

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from datetime import datetime

    from ademem.guard.shell import Command, Word
    from ademem.store.episodes import Action

SUCCEEDED, FAILED, UNKNOWN = "succeeded", "failed", "unknown"
"""How it ended; of the last nobody can tell."""

RUN, EDIT, USE = "run", "edit", "use"
"""What a step does: a command, a file, a tool of somebody else."""

_SHELLS = frozenset({"Bash", "PowerShell"})
_LOOKING = frozenset({"read", "search", "web"})
"""Kinds of action that change nothing."""
_LOOKS = frozenset(
    """
    ademem awk basename bat bd cal cat cd clear cut date df diff dirname du echo env export fd file
    find grep head help hostname jq less ll ls man more printenv printf ps pwd readlink realpath rg
    seq sleep sort stat tail tee test [ top tr tree true type uname uniq wait wc which who whoami
    """.split()
)
"""Programs that look around: what they are run for differs from one time to the next."""
_GIT_LOOKS = frozenset(
    "blame branch describe diff fetch log ls-files rev-parse show status".split()
)
_INTERPRETERS = frozenset(
    "bash bun deno node perl php python python3 ruby sh ts-node tsx zsh".split()
)
_DEEP = frozenset(
    """
    cargo-make docker-compose gh-issue gh-pr gh-release gh-workflow go-mod npm-run npm-exec pnpm-run
    pnpm-exec poetry-run uv-pip uv-run yarn-run yarn-workspace
    """.split()
)
"""Program and word after which one more word tells what is done."""
_SUBCOMMAND = re.compile(r"[a-z][a-z0-9:_-]*")
_HEREDOC = re.compile(r"""<<-?\s*(['"]?)(\w+)\1(?:; |\n).*?(?:; |\n)\2(?:; |\n|$)""", re.DOTALL)
"""A document in a command, its lines parted by semicolons."""
_BLOCK = re.compile(r"\b(do|then|else)\s*;")
_OPENING = re.compile(r"""["'`]|<<|\$\(""")
"""Where a command opens what may never be closed."""
_ASIDE = frozenset(
    "-C -H -c -f -n -w --context --git-dir --namespace --prefix --work-tree --workspace".split()
)
"""Options before the subcommand of `git`, `kubectl`, `make`, … that take a word."""
MOST_STEPS = 200
"""Of one session, the last ones."""


class Step(Value):
    sign: str
    """What two steps that are one and the same have in common."""
    words: tuple[str, ...]
    """The command with its arguments, or the file."""

    @property
    def kind(self) -> str:
        return self.sign.partition(" ")[0]


class Context(Value):
    id: str
    """Of the memory that it is told by."""
    session: str
    """The mission or session; for what reviewers said, the pull request."""
    task: str
    outcome: str
    at: datetime
    steps: tuple[Step, ...] = ()
    skills: tuple[str, ...] = ()
    """Names of skills that were loaded."""
    pitfalls: tuple[str, ...] = ()
    """What a person corrected."""
    weight: float = 1.0
    """For how many contexts it counts."""
    review: bool = False
    """It is what reviewers of a pull request asked for."""
    files: str = ""
    """The pattern of files that a review spoke of."""


def steps(actions: Iterable[Action]) -> tuple[Step, ...]:
    """What was done to change something, in order; a step repeated at once is one."""
    found: list[Step] = []
    for action in actions:
        for step in _steps(action):
            if found and found[-1].sign == step.sign:
                found[-1] = step
            else:
                found.append(step)
    return tuple(found[-MOST_STEPS:])


def command_steps(command: str) -> list[Step]:
    """The steps that a shell command takes, of one that is cut short or put on one line, too."""
    line = _BLOCK.sub(r"\1 ", _HEREDOC.sub("<<'-'\n…\n-\n", command.rstrip("…")))
    script = shell.parse(line) or shell.parse(_OPENING.split(line, maxsplit=1)[0])
    said = (_step(each) for each in script.commands) if script else ()
    return [step for step in said if step]


def edit_step(path: str) -> Step:
    return Step(sign=f"{EDIT} {path}", words=(path,))


def in_folder(step: Step) -> Step:
    """An edit as one of any file of this ending in its folder; other steps as they are."""
    if step.kind != EDIT:
        return step
    folder, _, name = step.words[0].rpartition("/")
    _, dot, ending = name.rpartition(".")
    return edit_step("/".join(filter(None, (folder, f"*{dot}{ending}" if dot else name))))


def anywhere(step: Step) -> Step:
    """An edit as one of any file of this ending; other steps as they are."""
    if step.kind != EDIT:
        return step
    return edit_step(in_folder(step).words[0].rpartition("/")[2])


def _steps(action: Action) -> Iterator[Step]:
    if action.kind in _LOOKING or not action.target:
        return
    if action.tool in _SHELLS:
        yield from command_steps(action.target)
    elif action.kind == EDIT:
        yield edit_step(action.target)
    elif action.tool.startswith("mcp__"):
        yield Step(sign=f"{USE} {action.tool}", words=(action.tool,))


def _step(command: Command) -> Step | None:
    words = tuple(_said(word) for word in command.words)
    if not words or not command.name or _looks(command.name, words):
        return None
    return Step(sign=f"{RUN} {_name(command.name, words)}", words=(command.name, *words[1:]))


def _said(word: Word) -> str:
    """What a command prints into it differs each time."""
    return "…" if word.expands and _OPENING.search(word.text) else word.text


def _looks(name: str, words: tuple[str, ...]) -> bool:
    return name in _LOOKS or (name == "git" and _name(name, words)[len("git ") :] in _GIT_LOOKS)


def _name(program: str, words: tuple[str, ...]) -> str:
    """The program with the words that tell what it does: `npm run build`, `git tag`."""
    rest = words[1:]
    while rest[:1] and rest[0] in _ASIDE and program not in _INTERPRETERS:
        rest = rest[2:]
    if program in _INTERPRETERS:
        named = rest[:2] if rest[:1] == ("-m",) else [word for word in rest if word[0] != "-"][:1]
        return " ".join([program, *named])
    plain = [word for word in rest if not word.startswith("-")]
    if not plain or not _SUBCOMMAND.fullmatch(plain[0]):
        return program
    if f"{program}-{plain[0]}" in _DEEP and len(plain) > 1:
        return f"{program} {plain[0]} {plain[1]}"
    return f"{program} {plain[0]}"
