"""Parse shell commands into values, without running anything.

A command of plain words is parsed here, any other by `grammar`. Programs that run other programs
are unwrapped: sudo, env, xargs, sh -c, find -exec. `guard.writers` names the files they change.
"""

from __future__ import annotations

from itertools import pairwise, takewhile

from ademem.core.caching import lru_cache
from ademem.core.value import Value, replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    Script = tuple["Command", ...]
    """Every simple command, including those in substitutions, groups, branches and functions."""


class Word(Value):
    text: str
    expands: bool = False
    """True if only a running shell knows a part: a variable, a command's output, a pattern."""
    quoted: bool = False


class Redirect(Value):
    operator: str
    fd: str | None
    target: Word

    @property
    def writes(self) -> bool:
        """True if it may write a file: not for `2>&1`, `>&-` and `> >(…)`."""
        number = self.target.text.removesuffix("-")
        copies = self.operator == ">&" and (not number or (number.isascii() and number.isdecimal()))
        substituted = self.target.text.startswith(">(") and not self.target.quoted
        return ">" in self.operator and not (copies or substituted)


class Command(Value):
    """A simple command, or the redirections of a compound one if it has no words."""

    words: tuple[Word, ...] = ()
    assignments: tuple[Word, ...] = ()
    redirects: tuple[Redirect, ...] = ()
    stdin: Word | None = None
    """Standard input where the script has it: a heredoc, a here-string, an echo piped in."""
    source: Command | None = None
    """The command that is piped into this one."""
    reached: bool = True
    """True if it runs when every command before it succeeds; `false` never does."""
    subshells: tuple[int, ...] = ()
    """Numbers of the subshells and substitutions around it, the outermost first."""

    @property
    def name(self) -> str:
        """The program: `/usr/bin/git` is `git`, while `./git` stays as it is."""
        if not self.words:
            return ""
        typed = self.words[0].text
        folder, _, name = typed.rpartition("/")
        return name if not folder or folder[0] in "/~" or folder.endswith("bin") else typed

    @property
    def line(self) -> str:
        return " ".join(word.text for word in self.words)


KEYWORDS = frozenset(
    "if then elif else fi for while until do done case esac in select function coproc time ! false"
    " exit return".split()
)
"""First words that need the grammar."""

_SAFE = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:=,@%+^")
_SAFE_QUOTED = _SAFE | frozenset(" ~#&|;<>()[]{}*?")


MAX_CHARS = 40_000
"""Length up to which a command is parsed; a thousand characters can take 50 ms."""


@lru_cache(maxsize=4)
def parse(command: str, most: int = MAX_CHARS) -> Script | None:
    """Parse a script as bash would; None for a syntax error, or more than *most* characters."""
    if len(command) > most:
        return None
    single = parse_plain(command)
    if single is not None:
        return (single,)
    from ademem.guard.shell import grammar  # costs time that plain words save

    return grammar.parse(command)


def parse_plain(command: str) -> Command | None:
    words = _split_plain(command)
    if not words or words[0].quoted or words[0].text in KEYWORDS or "=" in words[0].text:
        return None
    return Command(words=tuple(words))


def _split_plain(command: str) -> list[Word] | None:
    """Return the words between blanks; None where a sign may mean something to a shell."""
    words: list[Word] = []
    at, end = 0, len(command)
    while at < end:
        sign = command[at]
        if sign == " ":
            at += 1
            continue
        quoted = sign in "\"'"
        start = at + quoted
        close = command.find(sign if quoted else " ", start)
        if close < 0 and quoted:
            return None
        text = command[start : close if close >= 0 else end]
        at = start + len(text) + quoted
        is_safe = (_SAFE_QUOTED if quoted else _SAFE).issuperset(text)
        if not is_safe or command[at : at + 1] not in ("", " "):
            return None
        words.append(Word(text=text, quoted=quoted))
    return words


def any_expands(words: Iterable[Word]) -> bool:
    return any(word.expands for word in words)


def is_option(word: str) -> bool:
    return len(word) > 1 and word[0] == "-"


def is_assignment(word: str) -> bool:
    name, equals, _ = word.partition("=")
    return bool(equals) and name.isascii() and name.isidentifier()


def sets_option(word: str, option: str) -> bool:
    """True if *word* sets *option*: alone, with a value, abbreviated, or in a cluster: `-xzf`."""
    if len(option) == 2:
        letters = word[1:] if word[:1] == "-" and word[:2] != "--" else ""
        cluster = takewhile(lambda sign: sign.isascii() and sign.isalnum(), letters)
        return word == option or option[1] in cluster
    name = word.partition("=")[0]
    return name == option or (name.startswith("--") and len(name) > 2 and option.startswith(name))


def takes_value(word: str, valued: list[str]) -> bool:
    """True if the word after *word* is its value; *valued* lists the options that have one."""
    if word.startswith("--") or word in valued:
        return word in valued
    at = next((i for i in range(1, len(word)) if f"-{word[i]}" in valued), None)
    return at is not None and at == len(word) - 1


def without_values(words: Iterable[Word], valued: list[str]) -> Iterator[Word]:
    left = iter(words)
    for word in left:
        yield word
        if is_option(word.text) and takes_value(word.text, valued):
            next(left, None)


_DEEPEST = 8
_UNKNOWN = Word(text="{}", expands=True)
SHELLS = frozenset({"sh", "bash", "zsh", "dash", "ksh", "ash"})
_EXECS = {
    "find": "-exec -execdir -ok -okdir",
    **dict.fromkeys(("fd", "fdfind"), "--exec --exec-batch -X -x"),
}
"""Programs that search files, and their options before a command."""
_NODE_TOOLS = "ava biome eslint jest mocha playwright prettier pyright stylelint tap tsc vitest"
_EXEC_VALUED = "-e -u -w --detach-keys --env --env-file --index --user --workdir"
_PYTHON_TOOLS = "black flake8 isort mypy pylint pyright pytest ruff"
_MODULES = "ademem black coverage flake8 isort json.tool mypy pip pylint pytest ruff tox unittest"


class Prefix(Value):
    """A program whose remaining arguments are another command."""

    valued: str = ""
    operands: int = 0
    stops: str = ""
    """Options with which it runs nothing, or something unknown."""
    only: str = ""
    """The only programs to unwrap, where names do not stand for programs on PATH."""
    marked: bool = False
    """True if the command stands behind `--`."""
    joins: bool = False
    """True if a shell parses its words as one text."""


LONGEST_PREFIX = 3
"""Words of the longest name in PREFIXES."""
PREFIXES = {
    "sudo": Prefix(valued="-u -g -h -p -C -r -t -T -U -D -R --user --group", stops="-e --edit"),
    "doas": Prefix(valued="-u -C"),
    "env": Prefix(valued="-u -C --unset --chdir", stops="-S --split-string"),
    "nice": Prefix(valued="-n --adjustment"),
    "time": Prefix(valued="-f --format", stops="-o --output"),
    "timeout": Prefix(valued="-s -k --signal --kill-after", operands=1),
    "stdbuf": Prefix(valued="-i -o -e --input --output --error"),
    **dict.fromkeys(("nohup", "setsid", "builtin"), Prefix()),
    **dict.fromkeys(("poetry run", "pipenv run", "bundle exec"), Prefix()),
    "command": Prefix(stops="-v -V"),
    "exec": Prefix(valued="-a"),
    "xargs": Prefix(valued="-I -n -P -L -d -E -s -a --max-args --max-procs --delimiter --arg-file"),
    "watch": Prefix(valued="-n --interval", joins=True),
    **dict.fromkeys(
        ("docker exec", "docker compose exec", "docker-compose exec", "podman exec"),
        Prefix(valued=_EXEC_VALUED, operands=1),
    ),
    "kubectl exec": Prefix(marked=True),
    "npx": Prefix(stops="-c --call -p --package", only=_NODE_TOOLS),
    **dict.fromkeys(("pnpm exec", "yarn exec"), Prefix(only=_NODE_TOOLS)),
    "python -m": Prefix(only=_MODULES),
    "coverage run": Prefix(valued="--source --omit --include --rcfile", only="pytest unittest"),
    "uv run": Prefix(valued="--with --extra --group --python --project -p", stops="-m --module"),
    **dict.fromkeys(
        ("uvx", "pipx run"), Prefix(valued="--from --with --python -p", only=_PYTHON_TOOLS)
    ),
}


def argvs(script: Script) -> Iterator[tuple[str, ...]]:
    """Yield the words of every command that is sure to run, wrappers removed."""
    for command in script:
        for inner in unwrap(command):
            if inner.reached and inner.words:
                yield tuple(word.text for word in inner.words)


def unwrap(command: Command, depth: int = 0) -> Iterator[Command]:
    """Yield the commands that *command* runs; itself too if it does more than run them."""
    if depth == _DEEPEST:
        yield replace(command, words=(Word(text=command.line, expands=True),))
        return
    for inner in _unwrap_once(command):
        if inner is command:
            yield command
        else:
            reached = inner.reached and command.reached
            yield from unwrap(replace(inner, reached=reached), depth + 1)


def _unwrap_once(command: Command) -> list[Command]:
    name = command.name
    if name in SHELLS:
        script = _script_of_shell(command)
        return _parse_text(command, script) if script else [command]
    if name == "eval":
        return _parse_text(command, _join(command.words[1:]))
    if name == "trap" and len(command.words) > 2:
        return _parse_text(command, command.words[1])
    if name in _EXECS:
        return [command, *_commands_of_exec(command)]
    program = "python" if name.startswith(("python", "pypy")) else name
    prefix, length = find_prefix(
        [program, *(word.text for word in command.words[1:LONGEST_PREFIX])], PREFIXES
    )
    return unwrap_prefix(command, prefix, length) if prefix else [command]


def _script_of_shell(command: Command) -> Word | None:
    """Return the text that a shell runs: behind `-c`, or its input; None where that is a file."""
    words = command.words
    at = _behind_options(words, 1, ["-o", "-O", "--rcfile", "--init-file"], assigns=False)
    options, operands = words[1:at], words[at:]
    if operands and any(sets_option(word.text, "-c") for word in options):
        return operands[0]
    takes_input = not operands or any(word.text == "-s" for word in options)
    return command.stdin if takes_input else None


def find_prefix(words: Sequence[str], table: Mapping[str, Prefix]) -> tuple[Prefix | None, int]:
    """Return the entry for the longest beginning of the words, and how many of them it has."""
    for length in range(min(len(words), LONGEST_PREFIX), 0, -1):
        if prefix := table.get(" ".join(words[:length])):
            return prefix, length
    return None, 0


def unwrap_prefix(command: Command, prefix: Prefix, start: int) -> list[Command]:
    words = command.words
    at = _behind_prefix(words, prefix, start)
    own, inner = words[start:at], words[at + prefix.operands :]
    if not inner or _does_not_run(prefix, own, inner[0]):
        return [command]
    if prefix.joins:
        return _parse_text(replace(command, words=inner), _join(inner))
    assigned = tuple(word for word in own if is_assignment(word.text))
    bare = replace(command, words=inner, assignments=command.assignments + assigned)
    return [_add_input(bare, own)] if command.name == "xargs" else [bare]


def _behind_prefix(words: tuple[Word, ...], prefix: Prefix, start: int) -> int:
    if prefix.marked:
        return next((at for at, word in enumerate(words, 1) if word.text == "--"), len(words))
    return _behind_options(words, start, prefix.valued.split())


def _does_not_run(prefix: Prefix, options: Iterable[Word], program: Word) -> bool:
    """True if an option, or what the program is, keeps the prefix from running it as written."""
    if prefix.only and program.text not in prefix.only.split():
        return True
    return any(sets_option(word.text, stop) for word in options for stop in prefix.stops.split())


def _behind_options(
    words: tuple[Word, ...], at: int, valued: list[str], *, assigns: bool = True
) -> int:
    """Skip options and, where the program *assigns* variables (`env`), assignments.

    A script of `bash -c` that begins with an assignment is none.
    """
    while at < len(words) and (
        is_option(words[at].text) or (assigns and is_assignment(words[at].text))
    ):
        option = words[at].text
        at += 2 if takes_value(option, valued) else 1
        if option == "--":
            break
    return at


def _add_input(inner: Command, options: tuple[Word, ...]) -> Command:
    """Complete a command as xargs does, with its input or with unknown words."""
    for option, following in pairwise((*options, _UNKNOWN)):
        if option.text.startswith("-I"):
            mark = option.text[2:] or following.text
            return replace(inner, words=_mark_placeholders(inner.words, mark), stdin=None)
    parts = inner.stdin and not inner.stdin.expands and inner.stdin.text.split()
    fed = tuple(Word(text=text) for text in parts) if parts else (_UNKNOWN,)
    return replace(inner, words=inner.words + fed, stdin=None)


def _mark_placeholders(words: tuple[Word, ...], mark: str) -> tuple[Word, ...]:
    """Write `{}` for the mark that stands for what is found."""
    return tuple(
        replace(word, text=word.text.replace(mark, "{}"), expands=True)
        if mark in word.text
        else word
        for word in words
    )


def _commands_of_exec(command: Command) -> Iterator[Command]:
    options = _EXECS[command.name].split()
    left = iter(command.words)
    for word in left:
        if word.text in options:
            if inner := _until_end_of_exec(left):
                yield replace(command, words=_mark_placeholders(inner, "{}"))
        elif any(sets_option(word.text, option) for option in options):
            yield replace(command, words=(replace(word, expands=True),))


def _until_end_of_exec(left: Iterator[Word]) -> tuple[Word, ...]:
    """Take the words before `;` or `{} +`."""
    taken: list[Word] = []
    for word in left:
        if word.text == ";" or (word.text == "+" and taken and taken[-1].text == "{}"):
            break
        taken.append(word)
    return tuple(taken)


def _parse_text(command: Command, text: Word) -> list[Command]:
    """Return the commands of a script given as text, and the redirections of its shell."""
    script = parse(text.text)
    if script is None:
        return [command]
    if text.expands:
        return [*script, command]
    rest = replace(command, words=(), stdin=None)
    return [*script, *([rest] if rest.redirects or rest.assignments else [])]


def _join(words: tuple[Word, ...]) -> Word:
    text = " ".join(word.text for word in words)
    return Word(text=text, expands=any_expands(words))
