"""Compare the files with the merge base: what was added, changed, removed and decided."""

from __future__ import annotations

from functools import cache

from ademem.core.registers import candidate_name
from ademem.core.value import Value, replace
from ademem.files import SHEET
from ademem.files.markdown import ListItem
from ademem.files.snapshot import (
    KnowledgeLine,
    MemoryLines,
    Offer,
    PlacedItem,
    Snapshot,
    values_of,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from ademem.core.memory import Memory
    from ademem.sync.git_history import MergeArtefacts


CANDIDATE_ID_CHARS = 12


class ChangedLine(Value):
    """A line about a memory is new or changed."""

    id: str
    lines: MemoryLines
    before: MemoryLines | None


class ForeignLine(Value):
    """A line that ademem did not write."""

    line: KnowledgeLine


class EditedItem(Value):
    """An item differs from both the base and its line: a person edited it."""

    id: str
    now: PlacedItem
    before: PlacedItem | None


class RemovedItem(Value):
    """An item or a line was removed."""

    id: str
    before: PlacedItem | MemoryLines


class AddedItem(Value):
    """An item without an id, or a second one about the same memory."""

    placed: PlacedItem
    is_second: bool = False


class ReviewedCandidate(Value):
    """A candidate of the sheet is new, changed or ticked."""

    now: Offer
    before: Offer | None


class RefusedCandidate(Value):
    """A candidate was removed from the sheet."""

    id: str
    before: Offer | None
    offered: bool
    """True if the sheet itself lists it as offered."""


Difference = (
    ChangedLine
    | ForeignLine
    | EditedItem
    | RemovedItem
    | AddedItem
    | ReviewedCandidate
    | RefusedCandidate
)


def find_differences(
    before: Snapshot, now: Snapshot, artefacts: MergeArtefacts | None = None
) -> Iterator[Difference]:
    """Yield the differences in the order of their import, removals of lines first.

    *artefacts* splits items that git combined where it merged without our driver.
    """
    for id, lines in now.lines.items():
        known = before.lines.get(id)
        if not lines.is_equal(known):
            yield ChangedLine(id=id, lines=lines, before=known)
    known_lines = {line.raw for line in before.foreign}
    yield from (ForeignLine(line=line) for line in now.foreign if line.raw not in known_lines)

    @cache
    def contents() -> frozenset[str]:
        """Return the texts of all lines."""
        return frozenset(text for lines in now.lines.values() for text in lines.texts)

    @cache
    def losing_ids() -> frozenset[str]:
        """Return the ids of texts that lost once and are those of their memories by now."""
        records = ((id, lines.record) for id, lines in now.lines.items())
        return frozenset(
            candidate_name(id, record.text[0])[:CANDIDATE_ID_CHARS]
            for id, record in records
            if record
        )

    for id, items in now.placed.items():
        for one in _find_edits(id, items, before, now, artefacts):
            if isinstance(one, EditedItem) or one.placed.values[2] not in contents():
                yield one
    removed = set()
    for id in before.placed:  # a missing file is written again, so that it removes nothing
        if id in now.placed or (id in now.lines and now.lines[id].needs_no_item):
            continue
        items = before.placed[id]
        if all(item.path in now.read for item in items) and not now.has_item(id):
            removed.add(id)
            yield RemovedItem(id=id, before=items[0])
    for id, lines in before.lines.items():  # its page may be gone with its last item
        present = id in now.lines or id in removed or now.has_item(id)
        if not present and lines.last.path in now.read and not lines.is_archived:
            yield RemovedItem(id=id, before=lines)
    for id, offer in now.sheet.items():
        earlier = before.sheet.get(id)
        in_lines = now.lines.get(id) if earlier is None else None
        has_line = in_lines is not None and offer.placed.values in in_lines.values
        if not offer.ticked and (has_line or id in losing_ids()):
            continue
        if earlier is None or (earlier.values, earlier.ticked) != (offer.values, offer.ticked):
            yield ReviewedCandidate(now=offer, before=earlier)
    yield from (ReviewedCandidate(now=offer, before=None) for offer in now.proposed)
    if SHEET in now.read:
        for id in sorted((now.offered | before.sheet.keys()) - now.sheet.keys()):
            earlier = before.sheet.get(id)
            if id in losing_ids():
                continue
            if not now.has_item(id):
                yield RefusedCandidate(id=id, before=earlier, offered=id in now.offered)
            elif earlier and id in now.placed:  # moved to a topic file, which counts as ticked
                moved = Offer(placed=now.placed[id][0], ticked=True)
                yield ReviewedCandidate(now=moved, before=earlier)
    yield from (AddedItem(placed=placed) for placed in now.placed.unnamed())


def changed_fields(difference: EditedItem, known: Memory) -> dict[str, Any]:
    """Return the fields in which the item differs from the base, or else from the memory."""
    now, item = difference.now, difference.now.item
    before = difference.before.values if difference.before else values_of(known)
    wanted = {
        "category": now.category,
        "title": item.title,
        "content": item.content,
        "tags": item.tags,
        "file_scope_pattern": item.path,
    }
    differing = {
        name: value
        for (name, value), new, old in zip(wanted.items(), now.values, before, strict=True)
        if new != old
    }
    return differing if now.values != values_of(known) else {}


def _find_edits(
    id: str,
    items: tuple[PlacedItem, ...],
    before: Snapshot,
    now: Snapshot,
    artefacts: MergeArtefacts | None,
) -> Iterator[EditedItem | AddedItem]:
    earlier = next(iter(before.placed.get(id, ())), None)
    lines, lines_before = now.lines.get(id), before.lines.get(id)
    known = {earlier.values if earlier else None} | (lines.values if lines else set())
    edited = tuple(item for item in items if item.values not in known)
    if edited and artefacts:
        parts = (part for item in items for part in artefacts.split(item))
        items = tuple({part.values: part for part in parts}.values())
        edited = tuple(item for item in items if item.values not in known)
    # A new or changed line is more reliable than several items.
    line_is_new = lines is not None and not lines.is_equal(lines_before)
    if edited and lines:  # a page may still have a text that lost
        lost = lines.losing_texts
        if len(items) == 1 and lines_before:
            lost -= lines_before.losing_texts
        edited = tuple(item for item in edited if item.values[2] not in lost)
    if len(items) > 1 and edited == items and not line_is_new:  # merge them as the driver does
        from ademem.sync.merging import merge_items

        base = (replace(earlier.item, line=0),) if earlier else ()
        merged: tuple[ListItem, ...] = (replace(edited[0].item, line=0),)
        for item in edited[1:]:
            merged = merge_items(base, merged, (replace(item.item, line=0),))
        edited = items = tuple(replace(edited[0], item=one) for one in merged)
    archived = line_is_new and lines is not None and lines.is_archived
    all_edited = len(edited) == len(items) and not (len(items) > 1 and line_is_new)
    if edited and all_edited and not archived:
        yield EditedItem(id=id, now=edited[0], before=earlier)
        edited = edited[1:]
    yield from (AddedItem(placed=item, is_second=True) for item in edited)
