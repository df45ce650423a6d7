"""Compare the files with the merge base: what was added, changed, removed and decided."""

from __future__ import annotations

from ademem.core.value import Value, replace
from ademem.files.conflicts import losing_id
from ademem.files.markdown import Entry
from ademem.files.pages import SHEET
from ademem.files.snapshot import Line, Offered, Placed, Snapshot, item_values
from ademem.sync.merging import merge_items

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Container, Iterator
    from typing import Any

    from ademem.core.memory import Memory
    from ademem.sync.merge_artefacts import MergeArtefacts


class ChangedLine(Value):
    """A line about a memory is new or changed."""

    id: str
    line: Line
    before: Line | None


class Edited(Value):
    """An item differs from both the base and its line: a person edited it."""

    id: str
    now: Placed
    before: Placed | None


class Removed(Value):
    """An item or a line was removed."""

    id: str
    before: Placed | Line


class Added(Value):
    """An item without an id, or a second one about the same memory."""

    item: Placed
    doubtful: bool = False


class ConcurrentLine(Value):
    """A line that lost: its memory was archived, or changed by another line, at the same time."""

    line: Line
    newer: Line


class Foreign(Value):
    """A line that ademem did not write."""

    line: Line


class Reviewed(Value):
    """A candidate of the sheet is new, changed or ticked."""

    now: Offered
    before: Offered | None


class Refused(Value):
    """A candidate was removed from the sheet."""

    id: str
    before: Offered | None
    offered: bool
    """True if the sheet itself lists it as offered."""


Difference = ChangedLine | ConcurrentLine | Edited | Removed | Added | Foreign | Reviewed | Refused


def find_differences(
    before: Snapshot, now: Snapshot, joins: MergeArtefacts | None = None
) -> Iterator[Difference]:
    """Yield the differences in the order of their import, removals of lines first.

    *joins* tells apart what git put together where it merged without us.
    """
    for id, line in now.lost.items():
        yield ConcurrentLine(line=line, newer=now.lines[id])
    for id, line in sorted(now.lines.items(), key=lambda told: not told[1].gone):
        known = before.lines.get(id)
        if known is None or not known.says_the_same(line):
            yield ChangedLine(id=id, line=line, before=known)
    known_lines = {line.raw for line in before.foreign}
    yield from (Foreign(line=line) for line in now.foreign if line.raw not in known_lines)
    told = _Lazily(lambda: _contents(now))
    for id, items in now.placed.items():
        typed = _find_edits(id, items, before, now, joins)
        yield from (one for one in typed if isinstance(one, Edited) or one.item.said[2] not in told)
    won = _Lazily(
        lambda: frozenset(losing_id(id, line.record["content"]) for id, line in now.lines.items())
    )
    yield from _find_removed(before, now, won)
    yield from _find_decisions(before, now, won)
    yield from (Added(item=item) for item in now.unnamed)


def changed_fields(difference: Edited, known: Memory) -> dict[str, Any]:
    """Return the fields in which the item differs from the base, or else from the memory."""
    now = difference.now
    seen = difference.before.said if difference.before else item_values(known)
    wanted = {
        "category": now.category,
        "title": now.entry.title,
        "content": now.entry.content,
        "tags": now.entry.tags,
        "file_scope_pattern": now.entry.path,
    }
    differing = {
        name: value
        for (name, value), new, old in zip(wanted.items(), now.said, seen, strict=True)
        if new != old
    }
    return differing if now.said != item_values(known) else {}


def _find_edits(
    id: str,
    items: tuple[Placed, ...],
    before: Snapshot,
    now: Snapshot,
    joins: MergeArtefacts | None,
) -> Iterator[Edited | Added]:
    earlier = next(iter(before.placed.get(id, ())), None)
    line = now.lines.get(id)
    typed = _find_typed(items, earlier, line)
    if typed and joins:
        parts = (part for item in items for part in joins.apart(item))
        items = tuple({part.said: part for part in parts}.values())
        typed = _find_typed(items, earlier, line)
    news = _is_news(line, before.lines.get(id))
    known = before.lines if len(items) == 1 else {}
    typed = tuple(item for item in typed if not _is_losing_text(id, item, now.lines, known))
    if len(items) > 1 and typed == items and not news:
        typed = items = _merge_typed(earlier, typed)
    gone = news and line is not None and line.gone
    if typed and not gone and len(typed) == len(items) and not (len(items) > 1 and news):
        yield Edited(id=id, now=typed[0], before=earlier)
        typed = typed[1:]
    yield from (Added(item=item, doubtful=True) for item in typed)


def _find_typed(
    items: tuple[Placed, ...], earlier: Placed | None, line: Line | None
) -> tuple[Placed, ...]:
    """Return the items that differ from both the base and the line of their memory."""
    known = {earlier.said if earlier else None}
    known |= {line.said, line.said_alone} if line else set()
    return tuple(item for item in items if item.said not in known)


def _merge_typed(earlier: Placed | None, items: tuple[Placed, ...]) -> tuple[Placed, ...]:
    """Merge several edits as the merge driver does."""
    base = (replace(earlier.entry, line=0),) if earlier else ()
    found: tuple[Entry, ...] = (replace(items[0].entry, line=0),)
    for item in items[1:]:
        found = merge_items(base, found, (replace(item.entry, line=0),))
    return tuple(replace(items[0], entry=one) for one in found)


def _is_news(line: Line | None, before: Line | None) -> bool:
    """Return True for a new or changed line, which is more reliable than several items."""
    return line is not None and (before is None or not before.says_the_same(line))


def _is_losing_text(id: str, item: Placed, lines: Container[str], known: Container[str]) -> bool:
    """Return True if the lines have the text as a separate candidate."""
    name = losing_id(id, item.entry.content)
    return name in lines and name not in known


class _Lazily:
    """A set that is computed on first use."""

    def __init__(self, make: Callable[[], Collection[str]]) -> None:
        self._make = make
        self._made: Collection[str] | None = None

    def __contains__(self, text: object) -> bool:
        if self._made is None:
            self._made = self._make()
        return text in self._made


def _contents(now: Snapshot) -> frozenset[str]:
    """Return the texts that lines have for live memories."""
    every = (line for lines in (now.lines, now.lost) for line in lines.values())
    said = (line.said for line in every if not line.gone)
    return frozenset(one[2] for one in said if one)


def _find_removed(before: Snapshot, now: Snapshot, won: Container[str]) -> Iterator[Removed]:
    """Yield removals from readable files alone; a missing file is written again.

    A text that lost once and *won* by now is no loss: its memory says it.
    """
    for id in before.placed:
        if id in now.placed or id in now.survived:
            continue
        items = before.placed[id]
        if all(item.path in now.read for item in items):
            yield Removed(id=id, before=items[0])
    for id, line in before.lines.items():
        told = id in now.lines or id in before.placed or line.gone
        if not told and line.path in now.read and id not in won:
            yield Removed(id=id, before=line)


def _find_decisions(
    before: Snapshot, now: Snapshot, won: Container[str]
) -> Iterator[Reviewed | Refused]:
    """Yield decisions on the sheet; a candidate moved to a topic file counts as ticked."""
    for id, offer in now.sheet.items():
        earlier = before.sheet.get(id)
        line = now.lines.get(id)
        told = earlier is None and line is not None and line.said == offer.item.said
        if (told or id in won) and not offer.ticked:
            continue
        if earlier is None or (earlier.says, earlier.ticked) != (offer.says, offer.ticked):
            yield Reviewed(now=offer, before=earlier)
    yield from (Reviewed(now=offer, before=None) for offer in now.proposed)
    if SHEET not in now.read:
        return
    for id in sorted((now.offered | before.sheet.keys()) - now.sheet.keys()):
        if id in won:
            continue
        earlier = before.sheet.get(id)
        if id in now.placed and earlier:
            moved = Offered(item=now.placed[id][0], ticked=True)
            yield Reviewed(now=moved, before=earlier)
        elif id not in now.placed:
            yield Refused(id=id, before=earlier, offered=id in now.offered)
