"""Whether a shell command changes anything: it does unless all of it is known to only read."""

from __future__ import annotations

from itertools import pairwise, takewhile

from ademem.core.settings import GuardSettings
from ademem.core.value import Value, replace
from ademem.guard import shell, simple_command
from ademem.guard.forms import DEVICES, FIRST, OPERANDS, READING, VERSION, WRITING
from ademem.guard.programs import (
    CHECKED,
    CMDLETS,
    COMMAND_VARIABLES,
    DECLARING,
    GIT_SETTINGS,
    NOTES,
    TARGETS,
    TELLING,
)
from ademem.guard.shell import Command, Word
from ademem.guard.shell.options import is_option
from ademem.guard.simple_command import Part
from ademem.guard.subcommands import SUBCOMMANDS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from ademem.guard.shell import Script

MAX_CHARS = 40_000
"""Longest command that is read; a thousand characters can take 50 ms."""

_TABLES_ALONE = GuardSettings()


class Judgement(Value):
    mutates: bool
    reason: str
    """Names the part that it rests on."""
    commands: tuple[str, ...] = ()
    """What would run, wrappers removed."""


def judge(command: str, settings: GuardSettings = _TABLES_ALONE) -> Judgement:
    """By every command that could run, whether or not it is reached."""
    if len(command) > MAX_CHARS:
        return _mutates("it is too long to be read in the time a tool call can wait")
    script = shell.parse(command)
    if script is None:
        return _mutates("it cannot be read as a shell command")
    found = list(parts_in(script, settings))
    judged = [_judged(part) for part in found]
    decisive = [each for each in judged if each.mutates][:1] or judged
    return Judgement(
        mutates=any(each.mutates for each in judged),
        reason="; ".join(dict.fromkeys(each.reason for each in decisive)) or "it runs nothing",
        commands=tuple(part.command.line for part in found if part.command.words),
    )


def parts_in(script: Script, settings: GuardSettings) -> Iterator[Part]:
    """Every command of the script, wrappers removed and aliases expanded."""
    found = [
        simple_command.look_up(inner, settings, script.functions if inner is outer else frozenset())
        for outer in script.commands
        for inner in shell.unwrapped(outer)
    ]
    if not settings.aliases and not any(part.key == "alias" for part in found):
        yield from found
        return
    from ademem.guard.shell import aliases

    own = aliases.definitions(part.command for part in found)
    meanings = aliases.meanings((*settings.aliases, *own))
    for part in found:
        meant = [
            simple_command.look_up(each, settings)
            for each in aliases.expanded(part.command, meanings)
        ]
        yield from meant
        if not meant or _is_known(part):  # a shell without aliases would run what has this name
            yield part


def _is_known(part: Part) -> bool:
    return bool(part.listed or part.effect or project_entry(part))


def redirection(part: Part) -> Judgement | None:
    for redirect in part.command.redirects:
        operator, target = redirect.operator, redirect.target
        copies = operator == ">&" and _is_descriptor(target.text)
        substituted = target.text.startswith(">(") and not target.quoted
        nothing = target.text == "$null" and _is_cmdlet(part.key)
        if ">" in operator and not (copies or substituted or nothing or target.text in DEVICES):
            return _mutates(f"`{operator} {target.text}` writes a file")
    return None


def variable(part: Part) -> Judgement | None:
    """Some variables hold a command that programs run."""
    declared = part.command.words[1:] if part.key in DECLARING else ()
    for word in (*part.command.assignments, *declared):
        name, _, value = word.text.partition("=")
        if name in COMMAND_VARIABLES.split() and judge(value, part.settings).mutates:
            return _mutates(f"`{word.text}` runs a command that may change anything")
    return None


def no_command(part: Part) -> Judgement | None:
    return None if part.command.words else _reads("it sets variables of the shell")


def expansion(part: Part) -> Judgement | None:
    name = part.command.words[0]
    return _mutates(f"`{part.command.line}` may be any command") if name.expands else None


def project_entry(part: Part) -> Judgement | None:
    """What the project says of its own commands goes before what is known of others."""
    settings = part.settings
    if not (settings.reads or settings.changes):
        return None
    from ademem.guard import project_commands

    if entry := project_commands.changes(part.command, settings.changes):
        return _mutates(f"`guard.changes` has `{entry}`")
    entry = project_commands.reads(part.command, settings.reads)
    return _reads(f"`guard.reads` has `{entry}`") if entry else None


def note(part: Part) -> Judgement | None:
    """What ademem and bd write is what they are for."""
    verbs, why = NOTES.get(part.program, ("", ""))
    written = part.key.partition(" ")[2] in verbs.split()
    return _reads(f"`{part.key}` {why}") if written else None


def help(part: Part) -> Judgement | None:
    """`--version` or `--help` alone, or `--help` behind nothing but subcommands."""
    texts = [word.text for word in part.command.words[1:]]
    grouped = part.program in SUBCOMMANDS and not any(map(is_option, texts[:-1]))
    asks = (
        texts in (["--version"], ["--help"])
        or (texts == ["-v"] and part.program in VERSION.split())
        or (grouped and texts[-1:] == ["--help"])
    )
    return _reads(f"`{part.key}` only tells about itself") if asks else None


def targets(part: Part) -> Judgement | None:
    if part.key not in TARGETS:
        return None
    options = takewhile(is_option, (word.text for word in part.arguments))
    if not set(TELLING[part.key].split()).isdisjoint(options):
        return _reads(f"`{part.key}` only tells what it would do")
    tests = part.operands and set(part.operands) <= set(TARGETS[part.key].split())
    return _reads(f"`{part.key}` only tests") if tests else _mutates(f"`{part.key}` builds")


def first_argument(part: Part) -> Judgement | None:
    first = part.arguments[0].text if part.arguments else ""
    looks = first in FIRST.get(part.key, "").split()
    return _reads(f"`{part.key} {first}` runs no code") if looks else None


def cmdlet(part: Part) -> Judgement | None:
    """PowerShell's verbs say what they do; the commands between braces count too."""
    if not _is_cmdlet(part.key):
        return None
    name = part.key.lower()
    if not {name, name.partition("-")[0]} & set(CMDLETS.split()):
        return _mutates(f"`{part.key}` is not known to only read")
    blocks = (_judged(block) for block in _blocks(part))
    return next((each for each in blocks if each.mutates), _reads(f"`{part.key}` only reads"))


def git_setting(part: Part) -> Judgement | None:
    """A setting that comes with the command may name a program to run."""
    texts = [word.text for word in part.options] if part.program == "git" else []
    for option, value in pairwise([*texts, ""]):
        if option == "-c" and not value.startswith(GIT_SETTINGS):
            return _mutates(f"`git -c {value}` may run any command")
        if option.startswith(("--config-env", "--exec-path=")):
            return _mutates(f"`git {option}` may run any command")
    return None


def not_listed(part: Part) -> Judgement | None:
    if part.listed:
        return None
    if part.key in part.functions and not part.effect:
        return _reads(f"`{part.key}` is a function of the script")
    return _mutates(f"`{part.key}` {part.effect or 'is not known to only read'}")


def writing_option(part: Part) -> Judgement | None:
    options = WRITING.get(part.key, "").split()
    given = next((option for option in options if part.gives(option)), None)
    return _mutates(f"`{part.key} {given}` does more than read") if given else None


def checked_arguments(part: Part) -> Judgement | None:
    if part.key not in CHECKED:
        return None
    from ademem.guard.arguments import CHECKS

    check = CHECKS[part.key]
    name = replace(part.command.words[0], text=part.key.rpartition(" ")[2])
    if check(replace(part.command, words=(name, *part.arguments))):
        return None
    return _mutates(f"`{part.key}` does more than read with these arguments")


def reading_option(part: Part) -> Judgement | None:
    if part.key not in READING and part.key not in OPERANDS:
        return None
    options = set(READING.get(part.key, "").split())
    texts = [word.text for word in part.arguments]
    if "--" in texts and part.program == "git":
        texts = texts[: texts.index("--")]
    reads = any({text, text.partition("=")[0]} & options for text in texts)
    if reads or len(part.operands) <= OPERANDS.get(part.key, -1):
        return None
    return _mutates(f"`{part.key}` {part.effect or 'does more than read with these arguments'}")


RULES = (
    redirection,
    variable,
    no_command,
    expansion,
    project_entry,
    note,
    help,
    targets,
    first_argument,
    cmdlet,
    git_setting,
    not_listed,
    writing_option,
    checked_arguments,
    reading_option,
)
"""The first that answers decides; a command that passes them all only reads."""


def _judged(part: Part) -> Judgement:
    answers = (rule(part) for rule in RULES)
    return next(filter(None, answers), _reads(f"`{part.key}` only reads"))


def _blocks(part: Part) -> Iterator[Part]:
    """What stands first behind an opening brace is a command, unless it is a variable."""
    for block in part.command.line.split("{")[1:]:
        words = tuple(Word(text=text) for text in block.split())
        if words and words[0].text[0] not in "$}":
            yield simple_command.look_up(Command(words=words), part.settings)


def _mutates(reason: str) -> Judgement:
    return Judgement(mutates=True, reason=reason)


def _reads(reason: str) -> Judgement:
    return Judgement(mutates=False, reason=reason)


def _is_descriptor(target: str) -> bool:
    """What `>&` copies from: a number, closed afterwards if a dash follows, or a dash alone."""
    return target == "-" or (target.isascii() and target.removesuffix("-").isdecimal())


def _is_cmdlet(name: str) -> bool:
    """`Verb-Noun`, as PowerShell names its commands."""
    verb, _, noun = name.partition("-")
    return all(each.isascii() and each.isalpha() and each[0].isupper() for each in (verb, noun))
