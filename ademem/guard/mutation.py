"""Judge calls: a command not listed as reading is a change; some cannot be taken back."""

from __future__ import annotations

from itertools import pairwise

from ademem.core import regex
from ademem.core.settings import GuardSettings
from ademem.core.value import Value
from ademem.guard import programs, shell
from ademem.guard.programs import IRREVERSIBLE_VERBS, matches
from ademem.guard.shell import Command, Word, any_expands, is_option, sets_option, takes_value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from ademem.guard.shell import Script

_READERS = frozenset(programs.READERS.split())
_RENEWING = regex.compile(r"(?!.*(?:AUTO|DISABLE|NO|SKIP)_)(?:[A-Z\d]+_)*UPDATE(?:_[A-Z\d]+)*")
"""Variables such as UPDATE_SNAPSHOTS and INSTA_UPDATE, with which tests write what they expect."""
_ONE_DASH = ("find", "go", "terraform")
"""Programs with options of one dash and a word, never clusters of letters."""


class Judgement(Value):
    mutates: bool
    reason: str
    commands: tuple[str, ...] = ()


class CommandPart(Value):
    key: str
    """The program and its subcommands, as the tables name them."""
    options: tuple[Word, ...]
    """The words between the program and its subcommands."""
    arguments: tuple[Word, ...]
    """The words behind the key, without the values of `VALUE_OPTIONS`."""
    command: Command
    settings: GuardSettings

    @property
    def program(self) -> str:
        return self.key.partition(" ")[0]

    @property
    def operands(self) -> list[str]:
        texts = (word.text for word in self.arguments)
        return [text for text in texts if not is_option(text) and text not in programs.DEVICES]

    def has_option(self, option: str) -> bool:
        """True if *option* is among the arguments, or may be once the shell has expanded them."""
        texts = (text for word in self.arguments for text in _pieces(word))
        if self.program in _ONE_DASH:
            names = (text.partition("=")[0].lstrip("-") for text in texts if is_option(text))
            return option.lstrip("-") in names
        return any(sets_option(text, option) for text in texts)


def judge(command: str, settings: GuardSettings | None = None) -> Judgement:
    """Judge every command that could run, reached or not."""
    settings = settings or GuardSettings()
    script = shell.parse(command)
    if script is None:
        return _mutates("it cannot be read as a shell command")
    parts = list(parts_in(script, settings))
    judged = list(map(judge_part, parts))
    changing = [judgement for judgement in judged if judgement.mutates]
    reasons = dict.fromkeys(judgement.reason for judgement in changing[:1] or judged)
    return Judgement(
        mutates=bool(changing),
        reason="; ".join(reasons) or "it runs nothing",
        commands=tuple(part.command.line for part in parts if part.command.words),
    )


def parts_in(script: Script, settings: GuardSettings) -> Iterator[CommandPart]:
    for outer in script:
        for inner in shell.unwrap(outer):
            yield look_up(inner, settings)


def look_up(command: Command, settings: GuardSettings) -> CommandPart:
    key, words = programs.SYNONYMS.get(command.name, command.name), command.words[1:]
    if key not in _READERS and key not in programs.SUBCOMMANDS:
        key = key.rstrip("0123456789.") or key  # `python3.11` is `python`
    options: tuple[Word, ...] = ()
    while _subcommands(key) is not None:
        valued, at = programs.VALUE_OPTIONS.get(key, "").split(), 0
        while at < len(words) and words[at].text[:1] in ("-", "+"):
            at += 2 if takes_value(words[at].text, valued) else 1
        if at >= len(words):
            break
        options += words[:at]
        key, words = f"{key} {words[at].text}", words[at + 1 :]
    arguments = tuple(shell.without_values(words, programs.VALUE_OPTIONS.get(key, "").split()))
    return CommandPart(
        key=key, options=options, arguments=arguments, command=command, settings=settings
    )


def _subcommands(key: str) -> str | None:
    return programs.SUBCOMMANDS.get(key, programs.SUBCOMMANDS.get(f"{key.rpartition(' ')[0]} *"))


def _pieces(word: Word) -> list[str]:
    if not word.expands:
        return [word.text]
    return [word.text, *regex.split(r"[\s{}(),:$\"'`]+", word.text)]


def redirection(part: CommandPart) -> Judgement | None:
    for redirect in part.command.redirects:
        target = redirect.target.text
        if redirect.writes and target not in programs.DEVICES:
            return _mutates(f"`{redirect.operator} {target}` writes a file")
    return None


def variable(part: CommandPart) -> Judgement | None:
    declared = part.command.words[1:] if part.key in programs.DECLARING else ()
    for word in (*part.command.assignments, *declared):
        name, _, value = word.text.partition("=")
        name = name.rstrip("+")
        if _RENEWING.fullmatch(name) and value not in programs.UNSET:
            return _mutates(f"`{word.text}` has tests write what they expect")
        if program := programs.OPTION_VARIABLES.get(name):
            mutates = judge(f"{program} {value}", part.settings).mutates
        elif regex.fullmatch(programs.COMMAND_VARIABLES, name):
            mutates = judge(value, part.settings).mutates
        else:
            mutates = regex.fullmatch(programs.SETTING_VARIABLES, name) is not None and not all(
                regex.fullmatch(programs.HARMLESS_SETTING, each) for each in value.split()
            )
        if mutates:
            return _mutates(f"`{word.text}` may have anything run")
    return None


def expansion(part: CommandPart) -> Judgement | None:
    if not part.command.words:
        return _reads("it sets variables of the shell")
    is_known = not part.command.words[0].expands
    return None if is_known else _mutates(f"`{part.command.line}` may be any command")


def project_entry(part: CommandPart) -> Judgement | None:
    for entry in part.settings.changes:
        if _has_words_of(entry, part.command):
            return _mutates(f"`guard.changes` has `{entry}`")
    for entry in part.settings.reads:
        if _begins_with(entry, part.command):
            return _reads(f"`guard.reads` has `{entry}`")
    return None


def always_allowed(part: CommandPart) -> Judgement | None:
    verbs, why = programs.ALWAYS_ALLOWED.get(part.program, ("", ""))
    is_allowed = part.key.partition(" ")[2] in verbs.split()
    return _reads(f"`{part.key}` {why}") if is_allowed else None


def help_or_version(part: CommandPart) -> Judgement | None:
    """`--version` or `--help` alone, or `--help` behind nothing but subcommands."""
    texts = [word.text for word in part.command.words[1:]]
    grouped = part.program in programs.SUBCOMMANDS and not any(map(is_option, texts[:-1]))
    asks = (
        texts in (["--version"], ["--help"])
        or (texts in (["-v"], ["-V"]) and part.program in programs.VERSION_PROGRAMS.split())
        or (grouped and texts[-1:] == ["--help"])
    )
    return _reads(f"`{part.key}` only tells about itself") if asks else None


def git_setting(part: CommandPart) -> Judgement | None:
    texts = [word.text for word in part.options] if part.program == "git" else []
    for option, value in pairwise([*texts, ""]):
        is_harmless = value.startswith(programs.GIT_SETTINGS) or value == "core.pager=cat"
        if option == "-c" and not is_harmless:
            return _mutates(f"`git -c {value}` may run any command")
        if option.startswith(("--config-env", "--exec-path=")):
            return _mutates(f"`git {option}` may run any command")
    return None


def not_listed(part: CommandPart) -> Judgement | None:
    parent, _, last = part.key.rpartition(" ")
    renews = programs.RENEWING_WORDS.intersection(programs.split_words(last.partition(":")[2]))
    names = (_subcommands(parent) or "").split()
    is_listed = not renews and any(matches(last, name) for name in names)
    reads = is_listed if parent else part.key in _READERS
    return None if reads else _mutates(f"`{part.key}` is not known to only read")


def writing_option(part: CommandPart) -> Judgement | None:
    options = programs.WRITING_OPTIONS.get(part.key.partition(":")[0], "").split()
    given = next((option for option in options if part.has_option(option)), None)
    return _mutates(f"`{part.key} {given}` does more than read") if given else None


def checked_arguments(part: CommandPart) -> Judgement | None:
    pattern = programs.READING_ARGUMENTS.get(part.key)
    if pattern is None:
        return None
    marks = any("\0" in word.text or "\x01" in word.text for word in part.arguments)
    if not marks and regex.fullmatch(
        pattern, "\0".join(map(_marked, part.arguments)), regex.DOTALL
    ):
        return None
    return _mutates(f"`{part.key}` does more than read with these arguments")


def _marked(word: Word) -> str:
    """Return an argument as the patterns have it: `-` for one that may expand to an option."""
    if not word.expands or word.text.startswith("-"):
        return word.text
    may_be_option = any(piece.startswith("-") for piece in _pieces(word))
    return "-" if may_be_option else f"\x01{word.text}"


def reading_option(part: CommandPart) -> Judgement | None:
    if part.key not in programs.READING_OPTIONS and part.key not in programs.MAX_OPERANDS:
        return None
    options = set(programs.READING_OPTIONS.get(part.key, "").split())
    texts = [word.text for word in part.arguments]
    if "--" in texts and part.program == "git":
        texts = texts[: texts.index("--")]
    given = [text for text in texts if text in options or text.partition("=")[0] in options]
    reads = bool(given) and not any(map(_is_unset, given))
    if reads or len(part.operands) <= programs.MAX_OPERANDS.get(part.key, -1):
        return None
    return _mutates(f"`{part.key}` does more than read with these arguments")


def _is_unset(option: str) -> bool:
    """Tell of `-check=false`, with which a command does what it does without the option."""
    _, sign, value = option.partition("=")
    return bool(sign) and value.lower() in (*programs.UNSET, "f")


RULES = (
    redirection,
    variable,
    expansion,
    project_entry,
    always_allowed,
    help_or_version,
    git_setting,
    not_listed,
    writing_option,
    checked_arguments,
    reading_option,
)
"""The first rule that returns a judgement decides; a command that passes them all only reads."""


def judge_part(part: CommandPart) -> Judgement:
    judgements = (rule(part) for rule in RULES)
    return next(filter(None, judgements), _reads(f"`{part.key}` only reads"))


def _mutates(reason: str) -> Judgement:
    return Judgement(mutates=True, reason=reason)


def _reads(reason: str) -> Judgement:
    return Judgement(mutates=False, reason=reason)


def _begins_with(entry: str, command: Command) -> bool:
    names = entry.split()
    given = command.words[: len(names)]
    if not names or len(given) < len(names) or any_expands(given):
        return False
    pairs = zip(given[1:], names[1:], strict=True)
    return _is_program(command, names[0]) and all(matches(word.text, name) for word, name in pairs)


def _has_words_of(entry: str, command: Command) -> bool:
    """True if the words of *entry* stand in *command* in this order, others between them or not."""
    names = entry.split()
    left = iter(command.words[1:])
    return bool(names and _is_program(command, names[0])) and all(
        any(matches(word.text, name) for word in left) for name in names[1:]
    )


def _is_program(command: Command, name: str) -> bool:
    """Compare with the name and with the path as typed: `./check` is not any `check`."""
    return name in (command.name, command.words[0].text)


_IRREVERSIBLE = """
    rm, rmdir, unlink, shred, truncate, dropdb, mkfs, alembic upgrade, alembic downgrade, git clean,
    flyway clean, helm install, helm uninstall, helm upgrade, kubectl apply, terraform apply
"""
IRREVERSIBLE_COMMANDS = frozenset(map(str.strip, _IRREVERSIBLE.split(",")))
"""Programs, and subcommands, that no verb of IRREVERSIBLE_VERBS shows."""
IRREVERSIBLE_OPTIONS = regex.compile(r"--force\b.*|--hard|--delete|--prod(uction)?|-D")
IRREVERSIBLE_SQL = regex.compile(r"\b(drop|truncate|delete\s+from)\b", regex.IGNORECASE)
INTERPRETERS = frozenset(
    "bash bun deno lua node npx perl php python ruby sh sudo uv zsh . source".split()
)
"""Programs whose arguments name what they run."""
HARMLESS = ("git stash", "git add", "git commit", "git tag", "git branch", "git checkout")
"""Commands of git whose arguments are names, so that only their options count."""
PRINTERS = ("echo", "printf")
LOOKED_AT = 3
"""Operands that can be a subcommand or a target."""


def is_irreversible_tool(tool: str) -> bool:
    return not IRREVERSIBLE_VERBS.isdisjoint(programs.split_words(tool.rpartition("__")[2]))


def is_irreversible(part: CommandPart) -> bool:
    """True if a command that changes something cannot be taken back."""
    texts = [word.text for word in part.command.words[1:]]
    if any(map(IRREVERSIBLE_OPTIONS.fullmatch, texts)):
        return True
    program, operands = part.program.rpartition("/")[2], _leading_operands(part)
    if not IRREVERSIBLE_COMMANDS.isdisjoint((program, " ".join([program, *operands[:1]]))):
        return True
    if part.key.startswith(HARMLESS) or program in PRINTERS:
        return False
    names = " ".join([program, *_names_of_targets(program, operands)])
    words = regex.split(r"[^a-z]+", names.lower())
    return not IRREVERSIBLE_VERBS.isdisjoint(words) or any(map(IRREVERSIBLE_SQL.search, texts))


def _leading_operands(part: CommandPart) -> list[str]:
    arguments = [word.text for word in part.arguments if not is_option(word.text)]
    return [*part.key.split()[1:], *arguments][:LOOKED_AT]


def _names_of_targets(program: str, operands: list[str]) -> list[str]:
    """Return the names by which a program is told what to do: subcommands, targets, scripts."""
    if program in INTERPRETERS:
        return [text.rpartition("/")[2] for text in operands]
    named = operands[:1] if program == "git" else operands
    return [text for text in named if "/" not in text]
