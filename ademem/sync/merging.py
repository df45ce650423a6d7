"""Three-way merge of a tracked file by memory and field; the order of sides does not matter.

Of a page, an item that one side deleted and the other changed stays; of two texts, both. Lines know
when they were said, so that they tell which of the two counts: see `records`.
"""

from __future__ import annotations

import json
import os
from itertools import product

from ademem.core.value import replace
from ademem.files import conflicts, index, knowledge, markdown, review_sheet, topics
from ademem.files.markdown import Entry, Loose
from ademem.files.pages import INDEX
from ademem.files.review_sheet import Item, Sheet

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    Variants = tuple[Entry, ...]

    from collections.abc import Hashable, Sequence
    from typing import Any, TypeVar

    Key = TypeVar("Key", bound=Hashable)
    Record = dict[str, Any]


_FIELDS = ("title", "content", "tags", "path")


def merge_versions(path: str, base: str, ours: str, theirs: str) -> str:
    """Merge the versions of the file at *path*."""
    if path.endswith(".jsonl"):
        return merge_lines(base, ours, theirs)
    if os.path.basename(path) == os.path.basename(INDEX):
        return _merge_index(base, ours, theirs)
    if os.path.basename(path) == review_sheet.NAME:
        return _merge_sheet(base, ours, theirs)
    return _merge_page(base, ours, theirs)


def _merge_index(*versions: str) -> str:
    """Return our page with the hand-written regions of the merge."""
    base, ours, theirs = (set(index.regions(text)) for text in versions)
    kept = three_way(base, ours, theirs)
    text = index.without_regions(versions[1], ours - kept)
    for region in sorted(kept - ours, key=lambda region: region.lines):
        text = index.with_region(text, region)
    return text


def _merge_page(*versions: str) -> str:
    """Merge items in the order of the base, followed by new ones."""
    base, ours, theirs = _with_ids(*(_items(text) for text in versions))
    kept: dict[object, Variants] = {}
    order = sorted((ours.keys() | theirs.keys()) - base.keys(), key=str)
    for id in (*base, *order):
        kept[id] = merge_items(base.get(id, ()), ours.get(id, ()), theirs.get(id, ()))
    loose = three_way(
        *({(part.after, part.text) for part in topics.own_lines(text)} for text in versions)
    )
    head = _page_head(versions)
    blocks = [text for after, text in sorted(loose, key=str) if after not in kept]
    for id, items in kept.items():
        blocks += [markdown.render_item(one) for one in items]
        blocks += [text for after, text in sorted(loose, key=str) if after == id and items]
    return "\n\n".join([*head, *(blocks or [markdown.NOTHING])]) + "\n"


def _merge_sheet(*versions: str) -> str:
    """Merge candidates with the decisions of both sides, and the lists of what was offered."""
    sheets = [review_sheet.parse_sheet(text) for text in versions]
    base, ours, theirs = (_candidates(one) for one in sheets)
    kept: list[Item] = []
    for id in (*base, *sorted((ours.keys() | theirs.keys()) - base.keys(), key=str)):
        kept += _merge_candidate(base.get(id), ours.get(id), theirs.get(id))
    offered = three_way(*(set(one.offered) for one in sheets))
    loose = three_way(*({(part.after, part.text) for part in one.loose} for one in sheets))
    return review_sheet.render_sheet(
        Sheet(
            items=tuple(kept),
            offered=tuple(sorted(offered)),
            loose=tuple(
                Loose(line=0, after=after, text=text) for after, text in sorted(loose, key=str)
            ),
        )
    )


def _merge_candidate(base: Item | None, ours: Item | None, theirs: Item | None) -> list[Item]:
    """Merge a candidate; a losing text becomes a second item without an id.

    A tick, like any change, is kept; of two changed texts the greater, as a sheet knows no times.
    """
    if ours == theirs or theirs == base:
        return [ours] if ours else []
    if ours == base or ours is None or theirs is None:
        kept = theirs if ours == base else ours or theirs
        return [kept] if kept else []
    before = base or replace(ours, entry=Entry(line=0), ticked=False, category="")
    texts = merge_items((before.entry,) if base else (), (ours.entry,), (theirs.entry,))
    won, *lost = sorted(texts, key=_content_of, reverse=True)
    filed = {before.category, ours.category, theirs.category} - {before.category}
    item = Item(
        entry=won,
        ticked=before.ticked ^ (ours.ticked != before.ticked or theirs.ticked != before.ticked),
        category=max(filed, default=before.category),
        origin_text=max(ours.origin_text, theirs.origin_text),
    )
    losers = (replace(text, id=None, tags=(*text.tags, CONFLICT)) for text in lost)
    return [item, *(replace(item, entry=text, ticked=False) for text in losers)]


def _candidates(given: Sheet) -> dict[object, Item]:
    """Return items by id, or by content without one."""
    found = (replace(item, entry=replace(item.entry, line=0)) for item in given.items)
    return {item.entry.id or _content_of(item.entry): item for item in found}


def merge_items(base: Variants, ours: Variants, theirs: Variants) -> Variants:
    """Merge an item; return each text where both sides changed it, nothing if it was deleted."""
    if ours == theirs or theirs == base:
        return ours
    if ours == base or not ours:
        return theirs
    if not theirs:
        return ours
    before = base[0] if len(base) == 1 else Entry(line=0)  # of several, nobody said which counts
    pairs = (_exchange_changes(before, mine, yours) for mine, yours in product(ours, theirs))
    distinct = {_content_of(item): item for pair in pairs for item in pair}
    news = [said for said in distinct if distinct[said] not in base]
    return tuple(distinct[said] for said in sorted(news or distinct))  # or each took one


def _exchange_changes(before: Entry, ours: Entry, theirs: Entry) -> tuple[Entry, Entry]:
    """Return ours with the fields only they changed, and theirs with the fields only we changed."""
    mine, yours = {}, {}
    for name in _FIELDS:
        then, we, they = (getattr(item, name) for item in (before, ours, theirs))
        mine[name] = they if we == then else we
        yours[name] = we if they == then else they
    return replace(ours, **mine), replace(theirs, **yours)


def _items(text: str) -> dict[object, Variants]:
    """Return items by id, or by content without one."""
    found: dict[object, Variants] = {}
    for part in markdown.parse(text):
        item = replace(part, line=0)
        name = item.id or _content_of(item)
        found[name] = tuple(dict.fromkeys((*found.get(name, ()), item)))
    return found


def _with_ids(*sides: dict[object, Variants]) -> list[dict[object, Variants]]:
    """Give an item the id that an equal one got on another side."""
    ids = {
        _content_of(replace(item, id=None)): name
        for side in sides
        for name, items in side.items()
        for item in items
        if item.id
    }
    named = []
    for side in sides:
        found: dict[object, Variants] = {}
        for name, items in side.items():
            id = ids.get(name) if isinstance(name, tuple) else None  # known by what it says
            items = tuple(replace(item, id=id) for item in items) if id else items
            found[id or name] = tuple(dict.fromkeys((*found.get(id or name, ()), *items)))
        named.append(found)
    return named


def _content_of(item: Entry) -> tuple[str, ...]:
    return tuple(str(getattr(item, name)) for name in (*_FIELDS, "id"))


def _page_head(versions: Iterable[str]) -> list[str]:
    """Return title and purpose of the page."""
    for text in sorted(filter(None, versions)):
        first = next(iter(markdown.parts(text)), None)
        if isinstance(first, Loose):
            return topics.page_head(first)
    return []


CONFLICT = "conflict"
"""The tag of a losing text."""

_EARLIER = ("created_at", "ts")
"""Fields of which the earlier value counts."""


def merge_lines(*versions: str) -> str:
    """Merge base, ours and theirs, oldest memory first."""
    base, ours, theirs = (_records_by_name(text) for text in versions)
    kept: dict[str, Record] = {}
    losers: list[Record] = []
    for name in base.keys() | ours.keys() | theirs.keys():
        for record in _merge_record(base.get(name), ours.get(name), theirs.get(name)):
            if name in kept:
                losers.append(record)
            else:
                kept[name] = record
    for lost in losers:
        kept.setdefault(_record_name(lost), lost)
    ordered = sorted(kept.values(), key=_record_order)
    unread = three_way(
        *(
            {raw for raw in markdown.lines_of(text) if raw and knowledge.read(raw) is None}
            for text in versions
        )
    )
    return "".join(map(knowledge.line, ordered)) + "".join(f"{raw}\n" for raw in sorted(unread))


def three_way(base: set[Key], ours: set[Key], theirs: set[Key]) -> set[Key]:
    """Return what both sides have, and what one of them added."""
    return (ours & theirs) | (ours - base) | (theirs - base)


def losing_text(content: str, base: Record) -> Record:
    """Make a candidate of a losing text, equal on every machine and in any order of merges.

    While the memory itself says the text, the store keeps none of it; of lines alone nobody knows
    whether the memory lives.
    """
    name = conflicts.losing_name(str(base.get("id")), content)
    learned = base.get("created_at")
    return {
        "key": f"conflict-{name[: conflicts.ID_CHARS]}",
        "type": base.get("category"),
        "content": content,
        "source": "merge",
        "tags": [CONFLICT],
        "ts": base.get("ts"),
        "bead": "",
        "id": name[: conflicts.ID_CHARS],
        "sync_id": name[:32],
        "category": base.get("category"),
        "status": "candidate",
        "created_at": learned,
        "updated_at": learned,
    }


def _merge_record(
    base: Record | None, ours: Record | None, theirs: Record | None
) -> Sequence[Record]:
    """Merge the line of one memory; losing texts follow it."""
    if ours == theirs or theirs == base:
        return [ours] if ours else []
    if ours == base:
        return [theirs] if theirs else []
    if ours is None or theirs is None:
        kept = ours or theirs
        return [_removed_line(base or {}, kept)] if kept else []
    older, newer = sorted((ours, theirs), key=_record_age)
    if knowledge.is_tombstone(newer):
        return [conflicts.merge_tombstones(older, newer)]
    return _merge_line(base, older, newer)


def _removed_line(base: Record, line: Record) -> Record:
    """Keep a line that the other side removed, with a note."""
    ours = "sync_id" in line and not knowledge.is_tombstone(line)
    return conflicts.with_base_fields(line, base) if ours else line


def _merge_line(base: Record | None, older: Record, newer: Record) -> Sequence[Record]:
    before = base or {}
    told = [side for side in (older, newer) if conflicts.changes_text(side, before)]
    teller = max(told or (older, newer), key=conflicts.text_age)
    names = (name for name in {**newer, **older} if name not in conflicts.NOTES)
    won = {name: _merge_field(name, before, older, newer) for name in names}
    if older["content"] != newer["content"]:
        won |= {name: teller[name] for name in ("content", "key") if name in teller}
    won = knowledge.keyed_anew(won, older, newer)
    won = conflicts.with_text_age(won, teller if told else None, before)
    if conflicts.WAS in older or conflicts.WAS in newer:
        won = conflicts.with_base_fields(won, before)
    texts = dict.fromkeys(str(side["content"]) for side in told)
    lost = (text for text in texts if text not in (won["content"], before.get("content")))
    return [won, *(losing_text(text, base or older) for text in lost)]


def _merge_field(name: str, before: Record, older: Record, newer: Record) -> Any:
    """Return the value of the side that changed it; of two changed ones the greater.

    Learned on both sides, a field that says nothing was not changed.
    """
    then, first, second = (record.get(name) for record in (before, older, newer))
    if name == "updated_at":
        return max(filter(None, (first, second)), key=str, default=None)
    if not before and not (first and second):
        return first or second
    if first in (then, second):
        return second
    if second == then:
        return first
    if name == "key":
        return second
    if name in _EARLIER:
        return min(filter(None, (first, second)))
    return max(first, second, key=json.dumps)


def _records_by_name(text: str) -> dict[str, Record]:
    """Return lines by their memory, the newer of two."""
    found: dict[str, Record] = {}
    for raw in markdown.lines_of(text):
        record = knowledge.read(raw)
        if record is not None:
            name = _record_name(record) or raw
            found[name] = max(found.get(name, record), record, key=_record_age)
    return found


def _record_name(record: Record) -> str:
    """Return the id of the memory, or else the key; a tombstone has its key."""
    return str((not knowledge.is_tombstone(record) and record.get("id")) or record.get("key") or "")


def _record_age(record: Record) -> tuple[str, str]:
    return str(record.get("updated_at")), str(record.get("content"))


def _record_order(record: Record) -> tuple[str, ...]:
    """Sort oldest first, a tombstone beside its line."""
    key = str(record.get("key"))
    return str(record.get("created_at")), str(record.get("id") or key), key
