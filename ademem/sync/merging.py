"""Merging two versions of a file of memory: by memory and field, in either order the same.

Of a page, an item that one side deleted and the other changed stays; of two texts, both. Lines know
when they were said, so that they tell which of the two counts: see `records`.
"""

from __future__ import annotations

import os
from itertools import product

from ademem.core.value import replace
from ademem.files import entry, index, sheet, topics
from ademem.files.entry import Entry, Loose
from ademem.files.pages import INDEX
from ademem.files.sheet import Item, Sheet
from ademem.sync import records
from ademem.sync.records import CONFLICT, three_way

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    Variants = tuple[Entry, ...]

_FIELDS = ("title", "content", "tags", "path")


def merged(path: str, base: str, ours: str, theirs: str) -> str:
    """The file at *path*, whose versions are given; the same when the sides are exchanged."""
    if path.endswith(".jsonl"):
        return records.merged(base, ours, theirs)
    if os.path.basename(path) == os.path.basename(INDEX):
        return _index(base, ours, theirs)
    if os.path.basename(path) == sheet.NAME:
        return _sheet(base, ours, theirs)
    return _page(base, ours, theirs)


def _index(*versions: str) -> str:
    """Ours, to be written anew, with the hand-written regions that both sides left there."""
    base, ours, theirs = (set(index.regions(text)) for text in versions)
    kept = three_way(base, ours, theirs)
    text = index.without_regions(versions[1], ours - kept)
    for region in sorted(kept - ours, key=lambda region: region.lines):
        text = index.with_region(text, region)
    return text


def _page(*versions: str) -> str:
    """Items in the order of the base, new ones behind them; a rendering brings them into theirs."""
    base, ours, theirs = _named(*(_items(text) for text in versions))
    kept: dict[object, Variants] = {}
    order = sorted((ours.keys() | theirs.keys()) - base.keys(), key=str)
    for id in (*base, *order):
        kept[id] = variants(base.get(id, ()), ours.get(id, ()), theirs.get(id, ()))
    loose = three_way(*(set(_loose(text)) for text in versions))
    head = _head(versions)
    blocks = [text for after, text in sorted(loose, key=str) if after not in kept]
    for id, items in kept.items():
        blocks += [entry.item(one) for one in items]
        blocks += [text for after, text in sorted(loose, key=str) if after == id and items]
    return "\n\n".join([*head, *(blocks or [entry.NOTHING])]) + "\n"


def _sheet(*versions: str) -> str:
    """Candidates with what either side decided about them, and what both were offered."""
    sheets = [sheet.read(text) for text in versions]
    base, ours, theirs = (_candidates(one) for one in sheets)
    kept: list[Item] = []
    for id in (*base, *sorted((ours.keys() | theirs.keys()) - base.keys(), key=str)):
        kept += _candidate(base.get(id), ours.get(id), theirs.get(id))
    offered = three_way(*(set(one.offered) for one in sheets))
    loose = three_way(*({(part.after, part.text) for part in one.loose} for one in sheets))
    return sheet.written(
        Sheet(
            items=tuple(kept),
            offered=tuple(sorted(offered)),
            loose=tuple(
                Loose(line=0, after=after, text=text) for after, text in sorted(loose, key=str)
            ),
        )
    )


def _candidate(base: Item | None, ours: Item | None, theirs: Item | None) -> list[Item]:
    """One candidate, and beside it, without a name, the text that lost; nothing if it was deleted.

    A tick, like any change, is kept; of two changed texts the greater, as a sheet knows no times.
    """
    if ours == theirs or theirs == base:
        return [ours] if ours else []
    if ours == base or ours is None or theirs is None:
        kept = theirs if ours == base else ours or theirs
        return [kept] if kept else []
    before = base or replace(ours, entry=Entry(line=0), ticked=False, category="")
    texts = variants((before.entry,) if base else (), (ours.entry,), (theirs.entry,))
    won, *lost = sorted(texts, key=_said, reverse=True)
    filed = {before.category, ours.category, theirs.category} - {before.category}
    item = Item(
        entry=won,
        ticked=before.ticked ^ (ours.ticked != before.ticked or theirs.ticked != before.ticked),
        category=max(filed, default=before.category),
        told_by=max(ours.told_by, theirs.told_by),
    )
    losers = (replace(text, id=None, tags=(*text.tags, CONFLICT)) for text in lost)
    return [item, *(replace(item, entry=text, ticked=False) for text in losers)]


def _candidates(given: Sheet) -> dict[object, Item]:
    """By id; one without an id by what it says."""
    found = (replace(item, entry=replace(item.entry, line=0)) for item in given.items)
    return {item.entry.id or _said(item.entry): item for item in found}


def variants(base: Variants, ours: Variants, theirs: Variants) -> Variants:
    """What the item says, or each text that it was given; nothing when it was deleted."""
    if ours == theirs or theirs == base:
        return ours
    if ours == base or not ours:
        return theirs
    if not theirs:
        return ours
    before = base[0] if len(base) == 1 else Entry(line=0)  # of several, nobody said which counts
    pairs = (_both(before, mine, yours) for mine, yours in product(ours, theirs))
    distinct = {_said(item): item for pair in pairs for item in pair}
    news = [said for said in distinct if distinct[said] not in base]
    return tuple(distinct[said] for said in sorted(news or distinct))  # or each took one


def _both(before: Entry, ours: Entry, theirs: Entry) -> tuple[Entry, Entry]:
    """Ours with what only they changed, theirs with what only we changed."""
    mine, yours = {}, {}
    for name in _FIELDS:
        then, we, they = (getattr(item, name) for item in (before, ours, theirs))
        mine[name] = they if we == then else we
        yours[name] = we if they == then else they
    return replace(ours, **mine), replace(theirs, **yours)


def _items(text: str) -> dict[object, Variants]:
    """By id; one without an id by what it says."""
    found: dict[object, Variants] = {}
    for part in entry.parse(text):
        item = replace(part, line=0)
        name = item.id or _said(item)
        found[name] = tuple(dict.fromkeys((*found.get(name, ()), item)))
    return found


def _named(*sides: dict[object, Variants]) -> list[dict[object, Variants]]:
    """An item that got its id on one side has it on the others, too, while it says the same."""
    ids = {
        _said(replace(item, id=None)): name
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


def _said(item: Entry) -> tuple[str, ...]:
    return tuple(str(getattr(item, name)) for name in (*_FIELDS, "id"))


def _loose(text: str) -> Iterable[tuple[str | None, str]]:
    return ((part.after, part.text) for part in topics.loose(text))


def _head(versions: Iterable[str]) -> list[str]:
    """Title and purpose of the page, which say the same on both sides."""
    for text in sorted(filter(None, versions)):
        first = next(iter(entry.parts(text)), None)
        if isinstance(first, Loose):
            return topics.ours(first)
    return []
