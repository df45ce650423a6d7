"""Refuse what only a person may do: approve quarantined memories, and write settings files."""

from __future__ import annotations

from itertools import pairwise

from ademem.core import regex, who
from ademem.core.settings import GuardSettings, find_key
from ademem.guard import mutation, programs, shell
from ademem.guard.shell import Command, Word, any_expands, is_option, without_values

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence


APPROVING = ("promote", "edit", "pin")
"""Subcommands that take ids; refused where one of them is of a quarantined memory."""
AGREEING = ("trust",)
"""Subcommands that are refused unless an option makes them read."""
VERBS = (*APPROVING, *AGREEING, "review", "config")
SHOWING = frozenset({"--show", "--help"})
SHOWN = SHOWING | {"--settings", "--files", "--database", "--json"}
"""All that may stand behind such a subcommand that reads."""
RUNNERS = frozenset(
    "at batch expect flock osascript parallel screen script setpriv socat ssh su systemd-run tmux"
    " unbuffer unshare node perl ruby php deno bun lua".split()
)
"""Programs that run commands from their arguments, often in another terminal or process."""
LAUNCHERS = frozenset("emacsclient open osascript ssh systemd-run xdg-open".split())
"""Programs that have another one run a command: a desktop, a login or a terminal of the person."""
_VALUED = "--project --content --title --category -c --importance --tags --path --anchor --command"
_SETTINGS = r"(?i)\.ade/+(?:\./+)*(?:config|[^/\s]*[*?\[{])"
"""A settings file in a word, or a pattern that may match one."""
_KEEPING = ("git add", "git commit", "git push", "git stage", "ademem config")
"""Commands that change something, but no file that they name."""
_IN_CODE = r"\b(?:promote|edit|pin|agree|register_store|quarantine_reason)\b"
"""Names that a program in another language needs for an approval."""


def refusal(
    command: str, settings: GuardSettings, is_quarantined: Callable[[str], bool]
) -> str | None:
    """Name the approving command in a shell command; None if there is none.

    *is_quarantined* is True if the memory with this id, or prefix of one, is quarantined; for an
    empty id, if any is.
    """
    script = shell.parse(command)
    if script is None:
        return _by_its_words(command, is_quarantined)
    commands = [part.command for part in mutation.parts_in(script, settings)]
    found = (_approves(command, is_quarantined) for command in commands)
    approving = next(filter(None, found), None)
    if approving or not any(map(_may_hide_ademem, commands)):
        return approving
    text = " ".join(command.line for command in commands)
    for verb in regex.findall(rf"\b({'|'.join(VERBS)})\b", text):
        if verb in (*AGREEING, "config") or is_quarantined(""):
            return f"`ademem {verb}`"
    return None


def _may_hide_ademem(command: Command) -> bool:
    """True for an alias of ademem, or of what expands, behind which an approval may stand."""
    return command.name == "alias" and ("ademem" in command.line or any_expands(command.words))


def writes_settings(command: str, settings: GuardSettings) -> bool:
    script = shell.parse(command)
    if script is None:
        return regex.search(_SETTINGS, command) is not None
    parts = list(mutation.parts_in(script, settings))
    texts = [word.text for part in parts for word in _words_of(part.command)]
    in_folder = any(text.rstrip("/").endswith(".ade") for text in texts)

    return any(_names_settings(text, in_folder) for text in (command, *texts)) and any(
        part.key not in _KEEPING
        and _may_name_settings(part.command, in_folder)
        and mutation.judge_part(part).mutates
        for part in parts
    )


def _may_name_settings(command: Command, in_folder: bool) -> bool:
    words = _words_of(command)
    return any_expands(words) or any(_names_settings(word.text, in_folder) for word in words)


def _names_settings(text: str, in_folder: bool) -> bool:
    """True for a settings file; a command *in_folder* needs no path to it."""
    is_inside = in_folder and ("config" in text.lower() or not set("*?[{").isdisjoint(text))
    return is_inside or regex.search(_SETTINGS, text) is not None


def _words_of(command: Command) -> list[Word]:
    targets = [redirect.target for redirect in command.redirects]
    given = [command.stdin] if command.stdin else []
    return [*command.words, *command.assignments, *targets, *given]


def _approves(command: Command, is_quarantined: Callable[[str], bool]) -> str | None:
    code = " ".join([command.line, command.stdin.text if command.stdin else ""])
    if command.name.startswith(("python", "pypy")) and "ademem" in code:
        words = _behind_module(command)
        if words is None:  # Python runs something else
            called = regex.search(_IN_CODE, code)
            return f"`{called[0]}`" if called and is_quarantined("") else None
    elif found := _typed_elsewhere(command, code):
        return found
    elif command.name in RUNNERS:
        return _by_its_words(code, is_quarantined)
    else:
        words = _behind_program(command)
    return None if words is None else _decides(words, is_quarantined)


def _typed_elsewhere(command: Command, code: str) -> str | None:
    """Name a command of ademem that changes something, in a terminal that is not this shell's."""
    names = {command.name}
    if names.isdisjoint(LAUNCHERS | who.MULTIPLEXERS | frozenset(who.HOSTS)):
        return None
    found = regex.search(r"\bademem\s+(?:-\S+\s+(?:[./~]\S*\s+)?)*([a-z][a-z-]*)", code)
    reads = programs.SUBCOMMANDS["ademem"].split()
    return f"`ademem {found[1]}` in {command.name}" if found and found[1] not in reads else None


def _behind_module(command: Command) -> Sequence[Word] | None:
    """Return what follows `-m ademem`; None where Python runs something else."""
    typed = [word.text for word in command.words]
    for at, (option, module) in enumerate(pairwise(typed)):
        if regex.fullmatch(r"-[A-Za-z]*m", option) and module.partition(".")[0] == "ademem":
            return command.words[at + 2 :]
    return None


def _behind_program(command: Command) -> Sequence[Word] | None:
    """Return what follows `ademem`, or a variable that may be it; None for other programs."""
    if not command.words:
        return None
    first, *words = command.words
    if first.text.rpartition("/")[2] in ("ademem", "ademem.exe"):
        return words
    verb = _operands(words)[:1]
    return words if first.expands and verb and verb[0].text in VERBS else None


def _decides(words: Sequence[Word], is_quarantined: Callable[[str], bool]) -> str | None:
    """Return the command that decides something for the person; None if these words do not."""
    verb, *operands = _operands(words) or [Word(text="")]
    command, decides = verb.text, False
    if verb.text in AGREEING:
        decides = not _only_shows(words)
    elif verb.text == "review":
        decides = not _only_lists(words) and is_quarantined("")
    elif verb.text in APPROVING:
        decides = _takes_quarantined(operands, is_quarantined)
    elif verb.text == "config" and operands and operands[0].text == "set":
        command, decides = "config set", not _sets_shared_key(operands[1:])
    return f"`ademem {command}`" if decides else None


def _takes_quarantined(ids: Iterable[Word], is_quarantined: Callable[[str], bool]) -> bool:
    asked = ("" if id.expands else id.text for id in ids if id.text != "-")
    return any(map(is_quarantined, asked))


def _only_lists(words: Iterable[Word]) -> bool:
    return any(word.text in ("--list", "--json", "--help") for word in words)


def _sets_shared_key(operands: Sequence[Word]) -> bool:
    key = find_key(operands[0].text) if operands else None
    return key is not None and key.is_shared


def _only_shows(words: Sequence[Word]) -> bool:
    options = {word.text for word in words[1:]}
    # A value, or what expands, could be the option that makes it read.
    is_plain = options <= SHOWN and not any_expands(words)
    return is_plain and not options.isdisjoint(SHOWING)


def _operands(words: Iterable[Word]) -> list[Word]:
    return [word for word in without_values(words, _VALUED.split()) if not is_option(word.text)]


def _by_its_words(text: str, is_quarantined: Callable[[str], bool]) -> str | None:
    found = regex.search(rf"\bademem\b[^\n;|&]*?\b({'|'.join(VERBS)})\b", text)
    return f"`ademem {found[1]}`" if found and is_quarantined("") else None
