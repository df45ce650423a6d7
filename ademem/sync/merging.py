"""Three-way merge of a tracked file by memory and field; the order of sides does not matter.

Of a page, an item that one side deleted and the other changed stays; of two texts, both. Lines have
the time of their last change, which decides between two of them.
"""

from __future__ import annotations

import json
import os
from itertools import product

from ademem.core.value import replace
from ademem.files import INDEX, SHEET, knowledge
from ademem.files.markdown import NOTHING, FreeText, ListItem, parse_items, render_item
from ademem.files.pages import free_texts_of, page_head, regions_of, replace_regions
from ademem.files.review_sheet import Candidate, Sheet, parse_sheet, render_sheet
from ademem.files.texts import clean_lines

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence
    from typing import Any, TypeVar

    from ademem.files.knowledge import Record

    Variants = tuple[ListItem, ...]
    Key = TypeVar("Key", bound=Hashable)

CONFLICT = "conflict"
"""The tag of a losing text."""

_ITEM_FIELDS = ("title", "content", "tags", "path")
_EARLIER = ("created_at", "ts")
"""Fields of which the earlier value counts."""


def merge_versions(path: str, base: str, ours: str, theirs: str) -> str:
    if path.endswith(".jsonl"):
        return merge_lines(base, ours, theirs)
    if os.path.basename(path) == os.path.basename(INDEX):
        return _merge_index(base, ours, theirs)
    if os.path.basename(path) == os.path.basename(SHEET):
        return _merge_sheet(base, ours, theirs)
    return _merge_page(base, ours, theirs)


def three_way(base: set[Key], ours: set[Key], theirs: set[Key]) -> set[Key]:
    """Return what both sides have, and what one of them added."""
    return (ours & theirs) | (ours - base) | (theirs - base)


def _merge_index(*versions: str) -> str:
    """Return our page with the hand-written regions of the merge."""
    base, ours, theirs = (set(regions_of(text)) for text in versions)
    kept = three_way(base, ours, theirs)
    added = sorted(kept - ours, key=lambda region: region.lines)
    return replace_regions(versions[1], ours - kept, added)


def _merge_page(*versions: str) -> str:
    """Merge items in the order of the base, followed by new ones."""
    base, ours, theirs = _with_ids(*(_items_by_id(text) for text in versions))
    kept: dict[object, Variants] = {}
    order = sorted((ours.keys() | theirs.keys()) - base.keys(), key=str)
    for id in (*base, *order):
        kept[id] = merge_items(base.get(id, ()), ours.get(id, ()), theirs.get(id, ()))
    sides = ({(part.after, part.text) for part in free_texts_of(text)} for text in versions)
    free_texts = sorted(three_way(*sides), key=str)
    heads = (page_head(text) for text in sorted(filter(None, versions)))
    head = next((head for head in heads if head is not None), [])
    blocks = [text for after, text in free_texts if after not in kept]
    for id, items in kept.items():
        blocks += [render_item(one) for one in items]
        blocks += [text for after, text in free_texts if after == id and items]
    return "\n\n".join([*head, *(blocks or [NOTHING])]) + "\n"


def _merge_sheet(*versions: str) -> str:
    """Merge candidates with the decisions of both sides, and the lists of what was offered."""
    sheets = [parse_sheet(text) for text in versions]
    base, ours, theirs = (
        {
            one.item.id or _content_of(one.item): replace(one, item=replace(one.item, line=0))
            for one in sheet.candidates
        }
        for sheet in sheets
    )
    kept: list[Candidate] = []
    for id in (*base, *sorted((ours.keys() | theirs.keys()) - base.keys(), key=str)):
        kept += _merge_candidate(base.get(id), ours.get(id), theirs.get(id))
    offered = three_way(*(set(one.offered) for one in sheets))
    sides = ({(part.after, part.text) for part in one.free_texts} for one in sheets)
    free_texts = sorted(three_way(*sides), key=str)
    return render_sheet(
        Sheet(
            candidates=tuple(kept),
            offered=tuple(sorted(offered)),
            free_texts=tuple(FreeText(line=0, after=id, text=text) for id, text in free_texts),
        )
    )


def _merge_candidate(
    base: Candidate | None, ours: Candidate | None, theirs: Candidate | None
) -> list[Candidate]:
    """Merge a candidate; a losing text becomes a second one without an id.

    A tick, like any change, is kept; of two changed texts the greater, as a sheet has no times.
    """
    if ours == theirs or theirs == base:
        return [ours] if ours else []
    if ours == base or ours is None or theirs is None:
        kept = theirs if ours == base else ours or theirs
        return [kept] if kept else []
    before = base or replace(ours, item=ListItem(line=0), ticked=False, category="")
    texts = merge_items((before.item,) if base else (), (ours.item,), (theirs.item,))
    won, *lost = sorted(texts, key=_content_of, reverse=True)
    categories = {ours.category, theirs.category} - {before.category}
    candidate = Candidate(
        item=won,
        ticked=before.ticked ^ (ours.ticked != before.ticked or theirs.ticked != before.ticked),
        category=max(categories, default=before.category),
        origin_text=max(ours.origin_text, theirs.origin_text),
    )
    losers = (replace(text, id=None, tags=(*text.tags, CONFLICT)) for text in lost)
    return [candidate, *(replace(candidate, item=text, ticked=False) for text in losers)]


def merge_items(base: Variants, ours: Variants, theirs: Variants) -> Variants:
    """Merge an item; return each text where both sides changed it, nothing if it was deleted."""
    if ours == theirs or theirs == base:
        return ours
    if ours == base or not ours:
        return theirs
    if not theirs:
        return ours
    before = base[0] if len(base) == 1 else ListItem(line=0)  # of several, none is the base
    pairs = (_exchange_changes(before, mine, yours) for mine, yours in product(ours, theirs))
    distinct = {_content_of(item): item for pair in pairs for item in pair}
    new = [content for content in distinct if distinct[content] not in base]
    return tuple(distinct[content] for content in sorted(new or distinct))  # or each took one


def _exchange_changes(
    before: ListItem, ours: ListItem, theirs: ListItem
) -> tuple[ListItem, ListItem]:
    """Return ours with the fields only they changed, and theirs with the fields only we changed."""
    mine, yours = {}, {}
    for name in _ITEM_FIELDS:
        then, we, they = (getattr(item, name) for item in (before, ours, theirs))
        mine[name] = they if we == then else we
        yours[name] = we if they == then else they
    return replace(ours, **mine), replace(theirs, **yours)


def _items_by_id(text: str) -> dict[object, Variants]:
    """Return items by id, or by content without one."""
    found: dict[object, Variants] = {}
    for parsed in parse_items(text):
        item = replace(parsed, line=0)
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
    with_ids = []
    for side in sides:
        found: dict[object, Variants] = {}
        for name, items in side.items():
            id = ids.get(name) if isinstance(name, tuple) else None  # it is its content
            items = tuple(replace(item, id=id) for item in items) if id else items
            found[id or name] = tuple(dict.fromkeys((*found.get(id or name, ()), *items)))
        with_ids.append(found)
    return with_ids


def _content_of(item: ListItem) -> tuple[str, ...]:
    return tuple(str(getattr(item, name)) for name in (*_ITEM_FIELDS, "id"))


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
    unread = three_way(
        *(
            {raw for raw in clean_lines(text) if raw and knowledge.read(raw) is None}
            for text in versions
        )
    )
    ordered = sorted(kept.values(), key=_record_order)
    return "".join(map(knowledge.line, ordered)) + "".join(f"{raw}\n" for raw in sorted(unread))


def losing_text(content: str, base: Record) -> Record:
    """Make a candidate of a losing text, equal on every machine and in any order of merges.

    The store drops it while the memory itself has the text; lines alone do not tell whether the
    memory lives.
    """
    name = knowledge.losing_name(str(base.get("id")), content)
    id = name[: knowledge.LOSING_ID_CHARS]
    created_at = base.get("created_at")
    return {
        "key": f"conflict-{id}",
        "type": base.get("category"),
        "content": content,
        "source": "merge",
        "tags": [CONFLICT],
        "ts": base.get("ts"),
        "bead": "",
        "id": id,
        "sync_id": name[:32],
        "category": base.get("category"),
        "status": "candidate",
        "created_at": created_at,
        "updated_at": created_at,
    }


def _merge_record(
    base: Record | None, ours: Record | None, theirs: Record | None
) -> Sequence[Record]:
    """Merge the line of one memory; losing texts follow it."""
    if ours == theirs or theirs == base:
        return [ours] if ours else []
    if ours == base:
        return [theirs] if theirs else []
    if ours is None or theirs is None:  # one side removed it: keep the line, with a note
        kept = ours or theirs
        if kept and "sync_id" in kept and not knowledge.is_tombstone(kept):
            kept = knowledge.with_base_fields(kept, base or {})
        return [kept] if kept else []
    older, newer = sorted((ours, theirs), key=_record_age)
    if knowledge.is_tombstone(newer):
        return [knowledge.merge_tombstones(older, newer)]
    before = base or {}
    changed = [side for side in (older, newer) if knowledge.changes_text(side, before)]
    source = max(changed or (older, newer), key=knowledge.text_age)
    names = (name for name in {**newer, **older} if name not in knowledge.NOTES)
    won = {name: _merge_field(name, before, older, newer) for name in names}
    if older["content"] != newer["content"]:
        won |= {name: source[name] for name in ("content", "key") if name in source}
    won = knowledge.renew_key(won, older, newer)
    won = knowledge.with_text_age(won, source if changed else None, before)
    if knowledge.WAS in older or knowledge.WAS in newer:
        won = knowledge.with_base_fields(won, before)
    texts = dict.fromkeys(str(side["content"]) for side in changed)
    lost = (text for text in texts if text not in (won["content"], before.get("content")))
    return [won, *(losing_text(text, base or older) for text in lost)]


def _merge_field(name: str, before: Record, older: Record, newer: Record) -> Any:
    """Return the value of the side that changed it; of two changed ones the greater.

    Without a base, an empty field was not changed.
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
    for raw in clean_lines(text):
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
