"""`ademem` alone: five lines and the next step, without the parser of options."""

from __future__ import annotations

import os
import sys

from ademem import __version__
from ademem.core.clock import parse
from ademem.core.errors import NotEnrolled
from ademem.core.text import counted
from ademem.core.value import as_dict

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import datetime

    from ademem.operations.overview import Overview

COLUMNS = 10
"""Width of the names."""
CYAN, YELLOW, RED, DIM, BOLD = "36", "33", "31", "2", "1"


def run(arguments: Sequence[str]) -> None:
    """Print the overview of the project of the current folder."""
    from ademem import operations
    from ademem.core import who
    from ademem.doors.cli import show

    show.as_json = "--json" in arguments
    try:
        with operations.open_memories(catch_up=False, by=who.of_process()) as memories:
            from ademem.operations import overview

            show.notices(memories)
            found = overview.get_overview(memories)
            now = memories.clock()
            if not show.as_json:
                overview.note_offer(memories, found.next)
    except NotEnrolled:
        return _print({"version": __version__, "next": "init"}, _outside(), show.as_json)
    return _print(as_dict(found), _lines(found, now), show.as_json)


def _print(values: object, lines: Iterator[str], as_json: bool) -> None:
    from ademem.doors.cli import show

    if as_json:
        import json

        show.echo(show.safe(json.dumps(values, ensure_ascii=False, indent=2, default=as_dict)))
    else:
        for line in lines:
            show.echo(line)


def _outside() -> Iterator[str]:
    yield f"{styled('◆', CYAN)} ademem {__version__} · no memory here"
    yield _row("Next", styled("ademem init", BOLD))


def _lines(found: Overview, now: datetime) -> Iterator[str]:
    from ademem.core.untrusted import visible

    place = " · ".join(filter(None, (found.project, found.branch)))
    yield f"{styled('◆', CYAN)} {styled(visible(place), BOLD)}"
    done = {name: count for name, count in found.effects.items() if name != "days" and count}
    told = " · ".join(f"{name} {styled(f'{count:,}', CYAN)}" for name, count in done.items())
    yield _row(f"In {counted(found.effects['days'], 'day')}", told or "nothing to tell")
    held = f"{counted(found.memories, 'memory')}, {found.confirmed:,} confirmed"
    if found.waiting:
        wait = "waits" if found.waiting == 1 else "wait"
        held += " · " + styled(f"{found.waiting:,} {wait} for your word", YELLOW)
    yield _row("Memory", held)
    if found.pending:
        pending = (f"{visible(each.what)} (`ademem {each.command}`)" for each in found.pending)
        yield _row("Pending", styled("; ".join(pending), YELLOW))
    yield _row("Running", _running(found, now))
    if found.next:
        from ademem.operations.overview import estimate

        more = f" ({estimate(found.waiting)})" if found.next == "review" else ""
        yield _row("Next", f"{styled(f'ademem {found.next}', BOLD)}{styled(more, DIM)}")


def _running(found: Overview, now: datetime) -> str:
    hooks = "hooks" if found.has_hooks else styled("hooks are not registered", RED)
    guard = "the guard is off" if found.guard == "off" else "guard"
    search = "search by meaning" if found.by_meaning else "search by words"
    backup = f"backup {_day_of(found.backup, now)}" if found.backup else "no backup yet"
    running = [hooks, guard, search] if found.has_hooks else [hooks, search]
    return f"{', '.join(running)} {styled('·', DIM)} {backup}"


def _day_of(at: str, now: datetime) -> str:
    """Return “today 08:00”, or the date of another day."""
    moment = parse(at).astimezone()
    today = now.astimezone().date()
    return f"today {moment:%H:%M}" if moment.date() == today else f"{moment:%Y-%m-%d}"


def _row(name: str, text: str) -> str:
    return f"  {styled(f'{name:<{COLUMNS}}', DIM)}  {text}"


def styled(text: str, code: str) -> str:
    """Colour a text, where a terminal shows it and nobody asked for none."""
    plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    return text if plain or not text or not sys.stdout.isatty() else f"\x1b[{code}m{text}\x1b[0m"
