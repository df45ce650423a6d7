"""Merge of a tracked file by git's driver; the order of sides does not matter.

Lines are joined. Of a page, an item that one side deleted and the other changed stays; of two
texts, both.

Some lines changed without a stamp: git sets a line back to an earlier state when it reverts a
commit, and an older ademem writes no stamps. Both are read as a write on top of what the line said
before.
"""

from __future__ import annotations

import os
from itertools import product

from ademem.core import record_json, registers
from ademem.core.clock import parse
from ademem.core.text import sha256_hex
from ademem.core.value import replace
from ademem.files import INDEX, SHEET, knowledge, markdown
from ademem.files.markdown import FreeText, ListItem
from ademem.files.texts import clean_lines

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Iterator, Mapping
    from typing import TypeVar

    from ademem.core.registers import Record

    Variants = tuple[ListItem, ...]
    Key = TypeVar("Key", bound=Hashable)


CONFLICT = "conflict"

_DECISIONS = ("ticked", "category", "origin_text")
"""Fields of candidates, of which the greater of two changed ones is kept."""
_FIELDS = ("title", "content", "tags", "path")


def merge_versions(path: str, base: str, ours: str, theirs: str) -> str:
    if path.endswith(".jsonl"):
        return merge_lines(base, ours, theirs)
    name = os.path.basename(path)
    if name == os.path.basename(INDEX):  # our page with the hand-written regions of the merge
        before, mine, yours = ({*markdown.split_regions(text)[0]} for text in (base, ours, theirs))
        merged = three_way(before, mine, yours)
        added = sorted(merged - mine, key=lambda region: region.lines)
        return markdown.replace_regions(ours, mine - merged, added)
    merge = _merge_sheet if name == os.path.basename(SHEET) else _merge_page
    return merge(base, ours, theirs)


def three_way(base: set[Key], ours: set[Key], theirs: set[Key]) -> set[Key]:
    return (ours & theirs) | (ours - base) | (theirs - base)


def _merge_page(*versions: str) -> str:
    items = [
        (str(id), "\n\n".join(map(markdown.render_item, merged)))
        for id, merged in _merge_each(map(markdown.parse_items, versions))
    ]
    heads = (markdown.page_head(text) for text in sorted(filter(None, versions)))
    head = next((head for head in heads if head is not None), [])
    free_texts = _merge_free_texts(map(markdown.free_texts_of, versions))
    blocks = list(markdown.follow_with(free_texts, items))
    return "\n\n".join([*head, *(blocks or [markdown.NOTHING])]) + "\n"


def _merge_sheet(*versions: str) -> str:
    """A losing text becomes a second candidate without an id; the greater wins, without times."""
    from ademem.files.review_sheet import Sheet, parse_sheet, render_sheet  # there is none mostly

    sheets = [parse_sheet(text) for text in versions]
    kept: list[ListItem] = []
    for _, merged in _merge_each(one.candidates for one in sheets):
        kept += merged[-1:]
        for lost in merged[:-1]:
            kept.append(replace(lost, id=None, tags=(*lost.tags, CONFLICT), ticked=False))
    return render_sheet(
        Sheet(
            candidates=tuple(kept),
            offered=tuple(sorted(three_way(*(set(one.offered) for one in sheets)))),
            free_texts=tuple(_merge_free_texts(one.free_texts for one in sheets)),
        )
    )


def _merge_each(versions: Iterable[Iterable[ListItem]]) -> Iterator[tuple[Hashable, Variants]]:
    base, ours, theirs = _items_by_id(versions)
    for id in (*base, *sorted({*ours, *theirs} - {*base}, key=str)):
        if merged := _merge_items(base.get(id, ()), ours.get(id, ()), theirs.get(id, ())):
            yield id, merged


def _merge_free_texts(versions: Iterable[Iterable[FreeText]]) -> list[FreeText]:
    merged = three_way(*map(set, versions))
    return sorted(merged, key=lambda part: str((part.after, part.text)))


def _merge_items(base: Variants, ours: Variants, theirs: Variants) -> Variants:
    """Merge an item; return each text where both sides changed it, nothing if it was deleted."""
    if ours == theirs or theirs == base or (ours != base and not theirs):
        return ours
    if ours == base or not ours:
        return theirs
    return _combine_changes(base, ours, theirs)


def _combine_changes(base: Variants, ours: Variants, theirs: Variants) -> Variants:
    """Return each text that an item gets by the changes of both sides."""
    before = base[0] if len(base) == 1 else ListItem(line=0)  # of several, none is the base
    pairs = (_exchange_changes(before, mine, yours) for mine, yours in product(ours, theirs))
    distinct = {_content_of(item): item for pair in pairs for item in pair}
    new = [content for content in distinct if distinct[content] not in base]
    return tuple(distinct[content] for content in sorted(new or distinct))  # or each took one


def find_combined(*versions: str) -> dict[ListItem, Variants]:
    """Return the items of git's result that neither side has, with what the driver makes of them.

    The *versions* of a page are the base, both sides, and the result.
    """
    base, ours, theirs, result = _items_by_id(map(markdown.parse_items, versions))
    return {
        item: _merge_items(base.get(id, ()), ours.get(id, ()), theirs.get(id, ()))
        for id, items in result.items()
        for item in items
        if item not in (*ours.get(id, ()), *theirs.get(id, ()))
    }


def _exchange_changes(before: ListItem, ours: ListItem, theirs: ListItem) -> Variants:
    """Return ours with the fields only they changed, and theirs with the fields only we changed."""
    mine, yours = {}, {}
    for name in (*_FIELDS, *_DECISIONS):
        then, we, they = (getattr(item, name) for item in (before, ours, theirs))
        if name in _DECISIONS and then not in (we, they):
            we = they = max(we, they)
        mine[name] = they if we == then else we
        yours[name] = we if they == then else they
    return replace(ours, **mine), replace(theirs, **yours)


def _items_by_id(versions: Iterable[Iterable[ListItem]]) -> list[dict[Hashable, Variants]]:
    """Return items by id, which equal ones share, or by content without one."""
    sides = [[replace(item, line=0) for item in items] for items in versions]
    ids = {_content_of(replace(one, id=None)): one.id for side in sides for one in side if one.id}
    found = []
    for side in sides:
        by_id: dict[Hashable, Variants] = {}
        for item in side:
            id = item.id or ids.get(_content_of(item))
            name = id or _content_of(item)
            by_id[name] = tuple(dict.fromkeys((*by_id.get(name, ()), replace(item, id=id))))
        found.append(by_id)
    return found


def _content_of(item: ListItem) -> tuple[str, ...]:
    return tuple(str(getattr(item, name)) for name in (*_FIELDS, "id"))


def merge_lines(*versions: str) -> str:
    joined = _join_records(*map(_records_of, versions))
    ordered = sorted(joined.values(), key=lambda record: (record.created_at, record.id))
    others = three_way(*(set(_other_lines(text)) for text in versions))
    present = [raw for text in versions for raw in clean_lines(text)]
    found = filter(None, map(knowledge.parse_line, present))
    hidden = {str(line.get("id")) for line in found if knowledge.is_hidden(line)}
    lines = sorted(knowledge.ordered_lines(ordered, present, hidden=hidden))
    return "".join((*(text for _, text in lines), *sorted(others)))


def _join_records(
    base: Mapping[str, Record], ours: Mapping[str, Record], theirs: Mapping[str, Record]
) -> dict[str, Record]:
    """Join the records by id; leave out what one side deleted and the other left as it was."""
    joined: dict[str, Record] = {}
    for id in ours.keys() | theirs.keys():
        before = base.get(id)
        sides = [side[id] for side in (ours, theirs) if id in side]
        if len(sides) == 2 or before != sides[0]:
            sides = [restamp(before, side) if before else side for side in sides]
            joined |= registers.join_all(sides)
    return joined


def _records_of(text: str) -> dict[str, Record]:
    lines = map(knowledge.parse_line, clean_lines(text))
    found = (knowledge.from_line(line) for line in lines if not record_json.is_newer(line))
    return registers.join_all(filter(None, found))


def _other_lines(text: str) -> Iterator[str]:
    """Yield the lines that this ademem did not write."""
    for raw in filter(None, clean_lines(text)):
        if (found := knowledge.parse_line(raw)) is None:
            yield f"{raw}\n"
        elif record_json.is_newer(found) or knowledge.from_line(found) is None:
            yield knowledge.render_line(found)


def restamp(before: Record, after: Record) -> Record:
    """Return the later version of a line with stamps for what changed without one.

    These are the same on every machine, and those of different changes are of different replicas.
    """
    if not registers.has_writes_of(before, after) and has_stamps(after):
        return after
    time = registers.time_of(after.last_stamp or registers.FIRST_STAMP)
    replica = sha256_hex("unstamped", repr(registers.values_of(after)))[:8]
    return write_over(before, after, registers.next_stamp(before.last_stamp, parse(time), replica))


def write_over(before: Record, after: Record, stamp: str) -> Record:
    """Return *before* with the values of *after* as one write; a tombstone has life alone.

    The act knows the texts that either line has, or whose memory was archived with it.
    """
    seen = (stamp for one in (before, after) for stamp in (*one.over.values(), *one.seen.values()))
    values = registers.values_of(after) if after.texts else {registers.LIFE: after.life}
    found = registers.write(replace(before, over=registers.latest(seen)), values, stamp)
    return found if stamp in found.texts else replace(found, over=before.over)


def has_stamps(record: Record) -> bool:
    """Return True if an ademem that knows stamps wrote the record."""
    stamps = [*record.over.values(), *(at for at, _ in record.registers.values())]
    return any(registers.replica_of(at) != registers.OLD_REPLICA for at in stamps)
