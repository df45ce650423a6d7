"""The help of `ademem`: all commands in panels, of which none is loaded for it."""

from __future__ import annotations

from importlib import import_module

from ademem.core import plugins
from ademem.doors.cli.commands import GROUPS, OF_PARTS, commands, missing_of, module_of, panels
from ademem.doors.cli.summaries import SUMMARIES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

HEAD = """\
Usage: ademem [OPTIONS] COMMAND [ARGS]...

  Project memory for Claude Code that a team can trust.

Options:
  --version             Show the version.
  --install-completion  Install completion for the current shell.
  --show-completion     Show completion for the current shell, to copy it or
                        customize the installation.
  -h, --help            Show this message and exit.
"""


def show() -> None:
    print(*lines(), sep="\n", flush=True)


def lines() -> Iterator[str]:
    yield HEAD.rstrip()
    groups = dict(GROUPS)
    for _, given in plugins.added("GROUPS", by_others=True):
        groups |= given
    for panel, names in panels():
        yield from ("", f"{panel}:")
        width = max(map(len, names))
        for name in names:
            yield f"  {name:<{width}}  {groups.get(name) or summary_of(name)}".rstrip()
    absent = [
        f"{name} ({part.__name__.rpartition('.')[2]})"
        for part, given in plugins.added("PANELS")
        if missing_of(part)
        for names in given.values()
        for name in names.split()
    ]
    if absent:
        yield from ("", f"With their extras: {', '.join(absent)}; each says how it is added.")
    left_out = [names for part, names in OF_PARTS.items() if plugins.named(part) is None]
    if left_out:
        named = ", ".join(" ".join(left_out).split())
        yield from ("", f"Parts that are not there would add: {named}.")


def summary_of(name: str) -> str:
    """Return the first sentence on a command, for one of another package from its docstring."""
    if name not in SUMMARIES and (module := module_of(name)):
        import_module(module)
        return (commands[name].function.__doc__ or "").partition("\n")[0]
    return SUMMARIES.get(name, "")
