"""Merging lines of memories, by memory and field, in either order the same.

A field that one side changed is taken from that side. Where both changed the text, the newer one
wins and the other becomes a candidate beside it; of other fields the greater value. A line that one
side took away and the other changed stays, with a note of what was changed: its tombstone stands in
another file, and `conflicts` decides between the two.
"""

from __future__ import annotations

import json

from ademem.files import conflicts, entry, knowledge

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Sequence
    from typing import Any, TypeVar

    Key = TypeVar("Key", bound=Hashable)
    Record = dict[str, Any]

CONFLICT = "conflict"
"""The tag of a text that lost against a newer one."""

_EARLIER = ("created_at", "ts")
"""Learned twice, a memory is as old as the first time."""


def merged(*versions: str) -> str:
    """Base, ours and theirs as one text, oldest memory first."""
    base, ours, theirs = (_records(text) for text in versions)
    kept: dict[str, Record] = {}
    losers: list[Record] = []
    for name in base.keys() | ours.keys() | theirs.keys():
        for record in _record(base.get(name), ours.get(name), theirs.get(name)):
            if name in kept:
                losers.append(record)
            else:
                kept[name] = record
    for lost in losers:
        kept.setdefault(_name(lost), lost)
    ordered = sorted(kept.values(), key=_order)
    unread = three_way(*(set(_unread(text)) for text in versions))
    return "".join(map(knowledge.line, ordered)) + "".join(f"{raw}\n" for raw in sorted(unread))


def three_way(base: set[Key], ours: set[Key], theirs: set[Key]) -> set[Key]:
    """What both sides have, and what one of them has that the base had not."""
    return (ours & theirs) | (ours - base) | (theirs - base)


def loser(content: str, base: Record) -> Record:
    """A candidate of its own, the same on every machine and in whatever order it lost.

    While the memory itself says the text, the store keeps none of it; of lines alone nobody knows
    whether the memory lives.
    """
    name = conflicts.lost_name(str(base.get("id")), content)
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


def _record(base: Record | None, ours: Record | None, theirs: Record | None) -> Sequence[Record]:
    """The line of one memory, and the texts that lost; nothing when it was deleted."""
    if ours == theirs or theirs == base:
        return [ours] if ours else []
    if ours == base:
        return [theirs] if theirs else []
    if ours is None or theirs is None:
        kept = ours or theirs
        return [_left(base or {}, kept)] if kept else []
    older, newer = sorted((ours, theirs), key=_age)
    if knowledge.is_tombstone(newer):
        return [conflicts.both(older, newer)]
    return _line(base, older, newer)


def _left(base: Record, line: Record) -> Record:
    """A line that the other side took away."""
    ours = "sync_id" in line and not knowledge.is_tombstone(line)
    return conflicts.noted(line, base) if ours else line


def _line(base: Record | None, older: Record, newer: Record) -> Sequence[Record]:
    before = base or {}
    told = [side for side in (older, newer) if conflicts.says_anew(side, before)]
    teller = max(told or (older, newer), key=conflicts.said)
    names = (name for name in {**newer, **older} if name not in conflicts.NOTES)
    won = {name: _field(name, before, older, newer) for name in names}
    if older["content"] != newer["content"]:
        won |= {name: teller[name] for name in ("content", "key") if name in teller}
    won = knowledge.keyed_anew(won, older, newer)
    won = conflicts.dated(won, teller if told else None, before)
    if conflicts.WAS in older or conflicts.WAS in newer:
        won = conflicts.noted(won, before)
    texts = dict.fromkeys(str(side["content"]) for side in told)
    lost = (text for text in texts if text not in (won["content"], before.get("content")))
    return [won, *(loser(text, base or older) for text in lost)]


def _field(name: str, before: Record, older: Record, newer: Record) -> Any:
    """What the side says that changed it; of two changed ones the greater.

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


def _records(text: str) -> dict[str, Record]:
    """Lines by what they tell of; of two the newer."""
    found: dict[str, Record] = {}
    for raw in entry.lines_of(text):
        record = knowledge.read(raw)
        if record is not None:
            name = _name(record) or raw
            found[name] = max(found.get(name, record), record, key=_age)
    return found


def _name(record: Record) -> str:
    """The id of the memory, or else the key; a tombstone stands beside the line."""
    return str((not knowledge.is_tombstone(record) and record.get("id")) or record.get("key") or "")


def _unread(text: str) -> Iterable[str]:
    return (raw for raw in entry.lines_of(text) if raw and knowledge.read(raw) is None)


def _age(record: Record) -> tuple[str, str]:
    return str(record.get("updated_at")), str(record.get("content"))


def _order(record: Record) -> tuple[str, ...]:
    """Oldest first; a tombstone stands beside the line."""
    key = str(record.get("key"))
    return str(record.get("created_at")), str(record.get("id") or key), key
