"""The command `replay`."""

from __future__ import annotations

import sys
import time
from functools import partial

from ademem.core.clock import parse, stamp
from ademem.core.errors import suppress
from ademem.core.text import counted, preview
from ademem.core.times import parse_time
from ademem.core.untrusted import visible
from ademem.core.who import require_person
from ademem.doors.cli import show
from ademem.doors.cli.commands import command, open_project
from ademem.doors.cli.options import flag, option
from ademem.doors.cli.overview import BOLD, CYAN, DIM, YELLOW, styled
from ademem.doors.cli.parameters import confirm
from ademem.plugins.replay import adding, replaying
from ademem.plugins.replay.replaying import FEWEST_SESSIONS, Replay, Row
from ademem.store.effects import KINDS
from ademem.store.runtime import Runtime

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

MOST_ROWS = 10
"""Rows of a table that are printed; the page has all."""
QUIET_S = 1.0
"""Seconds before progress is shown."""
WIDTHS = (7, 34, 34, 34)


@command(on=partial(open_project, catch_up=False))
def replay(
    memories: Runtime,
    since: str = option("--since DATE", "Only from then on: ISO 8601, or ago: 3h, 30d.", ""),
    all: bool = flag("--all", "With print mode, and each call that met a rule without proof."),
    add: bool = flag("--add", "Go through what you said twice and memory has not."),
) -> None:
    """Try memories on past sessions.

    It tells what they would have met, and where they would have been in the way.
    """
    if add:
        require_person(memories.by, "adding what was said again")
    found = replaying.replay(
        memories,
        since=stamp(parse_time(since, memories.clock())) if since else "",
        all=all,
        on_session=_progress(sys.stderr.isatty()),
    )
    if not memories.is_read_only:
        with suppress(OSError):  # the page shows the one before
            replaying.save(found, memories)
    _print(found, all=all)
    if add:
        _add(found, memories)


def _print(found: Replay, *, all: bool) -> None:
    if show.as_json or show.to_model():
        return show.report(
            replaying.to_json(found), _lines(found, all=all), _notes(found), fence=True
        )
    for line in _lines(found, all=all):
        show.echo(line)
    for note in _notes(found):
        show.echo(note, err=True)


def _progress(is_terminal: bool) -> Callable[[int, int], None] | None:
    if not is_terminal:
        return None
    began = time.monotonic()

    def tell(done: int, total: int) -> None:
        if time.monotonic() - began > QUIET_S:
            show.progress(f"{done:,} of {counted(total, 'session')}", "\n" * (done == total))

    return tell


def _lines(found: Replay, *, all: bool) -> Iterator[str]:
    read = f"{counted(found.calls, 'call')}, {counted(found.prompts, 'prompt')}"
    period = describe_period(found)
    head = ", ".join(filter(None, (counted(found.sessions, "past session"), period)))
    yield f"{styled('◆', CYAN)} {styled(head, BOLD)} {styled(f'· {read}', DIM)}"
    yield ""
    yield from _figures(found)
    yield from _table(("When", "What Claude did", "Memory", "What proves it"), found.mistakes)
    if found.in_the_way:
        yield from _table(("When", "What would have been stopped", "Memory", ""), found.in_the_way)
    if all and found.unproven:
        yield from _table(("When", "What met a rule, unproven", "Memory", ""), found.unproven)
    yield from _footnotes(found, all=all)


def describe_period(found: Replay, month: str = "%B") -> str:
    """Return `14 September to 12 November`, or one day."""
    days = [day(at, month) for at in (found.first, found.last)]
    return " to ".join(dict.fromkeys(filter(None, days)))


def _figures(found: Replay) -> Iterator[str]:
    missing = f"{len(found.to_add):,} not in memory"
    figures = [
        (len(found.mistakes), "mistakes that a memory would have met before they happened", CYAN),
        (len(found.answered), "questions of yours that a memory answers", CYAN),
        (
            len(found.repeated),
            f"things you said twice or more, of them {styled(missing, YELLOW)}",
            CYAN,
        ),
        (len(found.in_the_way), "times it would have stopped a call that was right", YELLOW),
    ]
    for count, what, colour in figures:
        yield f"  {styled(f'{count:<4,}', colour)} {what}"
    if found.has_few:
        few = f"too few sessions to say which rules met nothing: {FEWEST_SESSIONS} are enough"
        yield styled(f"       {few}", DIM)
    else:
        idle = f"of {counted(found.rules, 'rule')} met nothing"
        yield styled(f"  {len(found.met_nothing):<4,} {idle}", DIM)


def _table(head: Sequence[str], rows: Sequence[Row]) -> Iterator[str]:
    if not rows:
        return
    yield ""
    yield styled(_columns(head), DIM)
    for row in rows[:MOST_ROWS]:
        yield _columns((day(row.at), row.what, row.text, describe_proof(row)))
    if len(rows) > MOST_ROWS:
        yield f" and {len(rows) - MOST_ROWS:,} more: ademem web"


def _columns(texts: Sequence[str]) -> str:
    parts = zip(texts, WIDTHS, strict=True)
    return (
        " " + " ".join(f"{preview(visible(text), width):<{width}}" for text, width in parts)
    ).rstrip()


def day(at: str, month: str = "%b") -> str:
    """Return a local day as `3 Oct`; empty for what is no time."""
    try:
        moment = parse(at).astimezone()
    except ValueError:
        return ""
    return f"{moment.day} {moment.strftime(month)}"


def describe_proof(row: Row) -> str:
    match row.proof:
        case "rejected":
            return "you refused it"
        case "said":
            return f"you: “{row.detail}”"
        case "taken back":
            return f"taken back {row.detail}"
    return ""


def _footnotes(found: Replay, *, all: bool) -> Iterator[str]:
    yield ""
    calls = len({(row.session, row.number) for row in found.unproven})
    if calls:
        match = "matches" if calls == 1 else "match"
        yield (
            f"{calls:,} more {'call' if calls == 1 else 'calls'} {match} a rule without proof"
            f"{'' if all else ' (--all)'}."
        )
    for later in found.from_now_on[:MOST_ROWS]:
        before = f"{counted(later.calls, 'such call')} before it was said"
        yield f"From now on ({before}): {visible(later.text)}"
    if found.live.get("sessions"):
        done = ", ".join(f"{kind} {found.live[kind]}" for kind in KINDS)
        yield f"Not counted: in {counted(found.live['sessions'], 'session')} ademem ran ({done})."
    yield "Rules are tried only after the day you first said them."
    if found.to_add:
        offers = f"(offers the {len(found.to_add):,})"
        yield f"Next: {styled('ademem replay --add', BOLD)} {styled(offers, DIM)}"


def _notes(found: Replay) -> Iterator[str]:
    if found.is_partial:
        yield "interrupted: this is what was read until then"
    if found.left_out:
        yield f"left out: {counted(found.left_out, 'session')} of print mode (--all)"
    if found.skipped_lines or found.skipped_files:
        lines, files = counted(found.skipped_lines, "line"), counted(found.skipped_files, "file")
        yield f"skipped: {lines} and {files} that could not be read"


def _add(found: Replay, memories: Runtime) -> None:
    for each in found.to_add:
        when = f"{day(each.first)} to {day(each.last)}"
        show.say(f"\n“{each.sentence}”\nsaid in {each.sessions} sessions, {when}")
        if confirm("Add it to memory?"):
            written = adding.add(each.sentence, memories)
            kept = f"kept as {written.memory.id}" if written.memory else "not kept"
            show.say(f"{kept}{': ' * (not written.memory)}{written.reason}".rstrip())
