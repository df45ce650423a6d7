"""The help of `ademem`: all commands in panels, of which none is loaded for it."""

from __future__ import annotations

from importlib import import_module
from itertools import zip_longest
from shutil import get_terminal_size

from ademem.core import plugins
from ademem.doors.cli.commands import GROUPS, OF_PARTS, commands, missing_of, module_of, panels
from ademem.doors.cli.overview import CYAN, DIM, styled
from ademem.doors.cli.summaries import SUMMARIES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

HEAD = """\
Usage: ademem [OPTIONS] COMMAND [ARGS]...

  Project memory for Claude Code that a team can trust.
  Without a command: its state in five lines, and the next step.

Options:
  --version             Show the version.
  --install-completion  Install completion for the current shell.
  --show-completion     Show completion for the current shell, to copy it or
                        customize the installation.
  -h, --help            Show this message and exit.
"""

TWO_IN_A_ROW = 100
"""Columns from which on two panels stand side by side."""
GAP = "  "
"""Between two columns of panels."""
FRAME = 6
"""Characters of a row in a panel beside its name and sentence."""


def show() -> None:
    print(*lines(get_terminal_size().columns), sep="\n", flush=True)


def lines(columns: int) -> Iterator[str]:
    """Yield the help, its panels two in a row where *columns* characters hold both."""
    yield HEAD
    found = {panel: sentences(names) for panel, names in panels()}
    rows = [row for rows in found.values() for row in rows.items()]
    widths = tuple(max(map(len, cells)) for cells in zip(*rows, strict=True))
    boxes = [list(_box(panel, rows, *widths)) for panel, rows in found.items()]
    width = FRAME + sum(widths)
    in_a_row = 2 if columns >= max(TWO_IN_A_ROW, 2 * width + len(GAP)) else 1
    for at in range(0, len(boxes), in_a_row):
        beside = zip_longest(*boxes[at : at + in_a_row], fillvalue=" " * width)
        yield from (GAP.join(cells).rstrip() for cells in beside)
    yield from _absent()


def _box(panel: str, rows: dict[str, str], names: int, sentences: int) -> Iterator[str]:
    side = styled("│", DIM)
    inside = FRAME - 2 + names + sentences
    rule = "─" * (inside - len(f"─ {panel} "))
    yield f"{styled('╭─', DIM)} {panel} {styled(f'{rule}╮', DIM)}"
    for name, sentence in rows.items():
        yield f"{side} {styled(f'{name:<{names}}', CYAN)}  {sentence:<{sentences}} {side}"
    yield styled(f"╰{'─' * inside}╯", DIM)


def sentences(names: Iterable[str]) -> dict[str, str]:
    """Return the first sentence on each command or group."""
    groups = dict(GROUPS)
    for _, given in plugins.added("GROUPS", by_others=True):
        groups |= given
    return {name: groups.get(name) or summary_of(name) for name in names}


def _absent() -> Iterator[str]:
    """Yield a line on commands that lack a package, and one on those of parts that are away."""
    if absent := ", ".join(_lacking()):
        yield from ("", f"With their extras: {absent}; each says how it is added.")
    left_out = [names for part, names in OF_PARTS.items() if plugins.named(part) is None]
    if left_out:
        named = ", ".join(" ".join(left_out).split())
        yield from ("", f"Parts that are not there would add: {named}.")


def _lacking() -> Iterator[str]:
    """Yield the commands of parts that lack a package."""
    for part, given in plugins.added("PANELS"):
        if missing_of(part):
            name = part.__name__.rpartition(".")[2]
            yield from (f"{word} ({name})" for words in given.values() for word in words.split())


def summary_of(name: str) -> str:
    """Return the first sentence on a command, for one of another package from its docstring."""
    if name not in SUMMARIES and (module := module_of(name)):
        import_module(module)
        return (commands[name].function.__doc__ or "").partition("\n")[0]
    return SUMMARIES.get(name, "")
