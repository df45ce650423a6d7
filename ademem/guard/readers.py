"""Commands that surely only read, as lists for readers that do not parse: the shell, the client."""

from __future__ import annotations

from ademem.core import regex
from ademem.guard import programs, wrappers

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ademem.core.settings import GuardSettings

OTHERS = {"ademem", "echo", "printf", "tee", "xargs", "exec", "command", "env", "bash", "sh", "zsh"}
OTHERS |= {"trap", "cd", "pushd", "popd", "time", "find", "fd", "fdfind"}
"""Programs whose arguments may be commands, that move what follows, or only speak: for Python."""
RUNNERS = {"npm", "pnpm", "yarn", "bun", "deno", "poetry", "composer", "docker", "kubectl", "uv"}
"""Programs whose subcommands run scripts of the project or reach elsewhere: for Python."""


def list_reading() -> list[str]:
    """Return programs, and programs with a subcommand, that only read whatever their operands."""
    restricted = {
        *programs.READING_ARGUMENTS,
        *programs.READING_OPTIONS,
        *programs.MAX_OPERANDS,
        *programs.SUBCOMMANDS,
        *programs.SYNONYMS,
        *wrappers.RUNNERS,
        *programs.DECLARING,
        *programs.SUBSCRIPTED.split(),
        *OTHERS,
    }
    nested = {key.partition(" ")[0] for key in programs.SUBCOMMANDS if key.endswith(" *")}
    named = [
        f"{program} {name}"
        for program, names in programs.SUBCOMMANDS.items()
        if not {program, *program.split()} & {*RUNNERS, *nested, "ademem"} and " " not in program
        for name in names.split()
    ]
    found = [*programs.READERS.split(), *named]
    is_plain = regex.compile(r"\w+(?: \w[\w-]*)?").fullmatch
    return [name for name in found if is_plain(name) and name not in restricted]


def list_plain(settings: GuardSettings) -> list[str]:
    """Return those of `list_reading` that have no writing option, and that no setting names."""
    changing = {entry.partition(" ")[0] for entry in settings.changes}
    return [
        name
        for name in list_reading()
        if name not in programs.WRITING_OPTIONS and name.partition(" ")[0] not in changing
    ]
