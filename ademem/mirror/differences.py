"""What happened to the files since they and the store last agreed: pure comparison."""

from __future__ import annotations

from ademem.mirror.reading import Line, Placed, Snapshot
from ademem.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator


class Told(Value):
    """A line about a memory is new, or says something else."""

    id: str
    line: Line
    before: Line | None


class Edited(Value):
    """An item says what neither the files before nor its line say: somebody typed it."""

    id: str
    now: Placed
    before: Placed | None


class Gone(Value):
    """Item or line was there, and is not any more."""

    id: str
    before: Placed | Line


class Added(Value):
    """An item without an id, or a second one about the same memory."""

    item: Placed
    doubtful: bool = False


class Foreign(Value):
    """A line that ademem did not write."""

    line: Line


Difference = Told | Edited | Gone | Added | Foreign


def differences(before: Snapshot, now: Snapshot) -> Iterator[Difference]:
    """In the order in which they can be taken over."""
    for id, line in now.lines.items():
        known = before.lines.get(id)
        if known is None or known.record != line.record:
            yield Told(id=id, line=line, before=known)
    yield from (Foreign(line=line) for line in now.foreign if line not in before.foreign)
    for id, items in now.placed.items():
        yield from _edits(id, items, before, now)
    yield from _gone(before, now)
    yield from (Added(item=item) for item in now.unnamed)


def _edits(
    id: str, items: tuple[Placed, ...], before: Snapshot, now: Snapshot
) -> Iterator[Difference]:
    earlier = next(iter(before.placed.get(id, ())), None)
    line = now.lines.get(id)
    fresh = [item for item in items if earlier is None or item.said != earlier.said]
    typed = [item for item in fresh if line is None or item.said != line.said]
    if not typed:
        return
    if len(typed) == len(items) and not (len(items) > 1 and _is_news(line, before.lines.get(id))):
        yield Edited(id=id, now=typed[0], before=earlier)
        typed = typed[1:]
    told = line.said[2] if line and line.said else ""
    yield from (Added(item=item, doubtful=True) for item in typed if item.said[2] != told)


def _is_news(line: Line | None, before: Line | None) -> bool:
    """The line came of a merge that knew more than its pages: of several items, none is right."""
    return line is not None and (before is None or before.record != line.record)


def _gone(before: Snapshot, now: Snapshot) -> Iterator[Gone]:
    """Only out of files that are there and sound; a file that is missing is written again."""
    for id, items in before.placed.items():
        if id not in now.placed and all(item.path in now.read for item in items):
            yield Gone(id=id, before=items[0])
    for id, line in before.lines.items():
        if id not in now.lines and id not in before.placed and line.path in now.read:
            yield Gone(id=id, before=line)
