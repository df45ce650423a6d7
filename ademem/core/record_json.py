"""Records as JSON: readable values, and one object `stamps` with what these leave out.

`stamps` names the registers by the stamp of their last write: `{"0000-1a2b3c4d": ["text", "life"],
"2026-01-31T23:59:59.123Z-0000-5e6f7a8b": []}`. An empty list is for all others. A stamp of the time
in `updated_at` is written without it. Five words may follow:

- `over`: the last write of each replica that the text replaced
- `seen`: the last text of each replica that the archiving knew, if not all of them
- `heads`: concurrent texts, `[[stamp, content, title], …]`
- `removed`: removed tags and anchors by stamp
- `places`: places of tags and anchors that differ from those in the list

Without stamps all values were written at `updated_at`. Any JSON is read; what is invalid is absent.
A sixth word is of a newer ademem (`is_newer`), whose lines in files stay as they are.
"""

from __future__ import annotations

from itertools import islice

from ademem.core import anchor, json_text
from ademem.core.memory import MAX_KEY_CHARS, MAX_TITLED_BYTES, Category, Importance
from ademem.core.registers import (
    FIELDS,
    FIRST_STAMP,
    LIFE,
    LIVES,
    REMOVED,
    SETS,
    SUPERSEDED,
    TEXT,
    Record,
    all_seen,
    as_time,
    element_of,
    is_stamp,
    latest,
    make_tombstone,
    old_stamp,
    time_of,
    values_of,
)
from ademem.core.text import in_one_line, replace_surrogates, without_controls

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from ademem.core.registers import Text, Write

MAX_CHARS = MAX_KEY_CHARS
MAX_TEXT = MAX_TITLED_BYTES * 2
MAX_ITEMS = 500
MAX_ID = 64
_WORDS = ("over", "seen", "heads", "removed", "places")
_STARTS = tuple(f"{kind}/" for kind in SETS)

_ONE_OF: dict[str, frozenset[Any]] = {
    "category": frozenset(map(str, Category)),
    "status": frozenset(("candidate", "promoted")),
    "importance": frozenset(map(str, Importance)),
    "trust": frozenset((None, "tool", "web")),
}


def to_json(record: Record) -> dict[str, Any]:
    updated_at = time_of(record.last_stamp)
    found = {"id": record.id, "sync_id": record.sync_id, "created_at": record.created_at}
    values = values_of(record)
    lists = {kind: list(values[kind]) for kind in SETS}
    return found | values | lists | {"updated_at": updated_at, "stamps": pack(record, updated_at)}


def is_newer(found: Any) -> bool:
    stamps = _object(found.get("stamps")) if isinstance(found, dict) else {}
    return any(key.isalpha() and key not in _WORDS for key in stamps)


def from_json(found: Any) -> Record | None:
    if not isinstance(found, dict) or not is_id(found.get("id")):
        return None
    return unpack(found, as_time(found.get("updated_at")), _object(found.get("stamps")))


def compact(found: Mapping[str, Any], *, allow_nan: bool = True) -> str:
    """Write an object without blanks, and with "?" for half a character, which no file takes."""
    if allow_nan:
        return replace_surrogates(json_text.compact(found))
    import json  # which a hook need not load

    text = json.dumps(found, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return replace_surrogates(text)


def pack(record: Record, updated_at: str = "") -> dict[str, Any]:
    groups, gone = _writes_by_stamp(record)
    heads = sorted(record.texts, reverse=True)
    if heads:
        groups.setdefault(heads[0], []).append(TEXT)
    over = sorted(set(record.over.values()) - record.texts.keys())
    more: dict[str, Any] = {
        "over": [_short(stamp, updated_at) for stamp in over],
        "heads": [[_short(stamp, updated_at), *record.texts[stamp]] for stamp in heads[1:]],
        "removed": {
            _short(stamp, updated_at): sorted(gone[stamp]) for stamp in sorted(gone, reverse=True)
        },
        "places": dict(sorted(_moved_places(record))),
    }
    packed = _pack_groups(groups, updated_at)
    packed |= {name: value for name, value in more.items() if value}
    life_at = record.registers.get(LIFE, ("", ""))[0]
    if record.seen and record.seen != all_seen(record.life, life_at, record.over):
        seen = sorted(set(record.seen.values()) - {life_at})
        packed["seen"] = [_short(stamp, updated_at) for stamp in seen]
    return packed


Groups = dict[str, list[str]]
"""Names of registers by the stamp of their last write."""


def _writes_by_stamp(record: Record) -> tuple[Groups, Groups]:
    """Return the registers that have a value, and the elements that were removed."""
    groups: Groups = {}
    gone: Groups = {}
    for name, (stamp, value) in record.registers.items():
        is_gone = value is None and name.startswith(_STARTS)
        (gone if is_gone else groups).setdefault(stamp, []).append(name)
    return groups, gone


def _pack_groups(groups: Groups, updated_at: str) -> dict[str, Any]:
    """Name the registers of all stamps but the one of most; leave it out where it is plain."""
    most = max(groups, key=lambda stamp: (len(groups[stamp]), stamp), default="")
    return {
        _short(stamp, updated_at): [] if stamp == most else sorted(groups[stamp])
        for stamp in sorted(groups, reverse=True)
        if stamp != most or stamp != old_stamp(updated_at)
    }


def _moved_places(record: Record) -> Iterator[tuple[str, int]]:
    """Yield elements of lists whose place is not that in the order of the elements."""
    for start in _STARTS:
        elements = sorted(
            (value, name)
            for name, (_, value) in record.registers.items()
            if value and name.startswith(start)
        )
        for index, ((place, _), name) in enumerate(elements):
            if place != index:
                yield name, place


def _plain_values(values: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield the valid values of fields that are not empty."""
    for name in FIELDS:
        if name in values and is_valid(name, values[name]):
            plain = _plain(values[name])
            if plain != "":
                yield name, plain


def _elements(
    values: Mapping[str, Any], places: Mapping[str, Any]
) -> Iterator[tuple[str, tuple[int, str]]]:
    """Yield the names of tags and anchors, with their places and texts."""
    for kind in SETS:
        for index, found in enumerate(_texts(values.get(kind))):
            text = anchor.normal(found) if kind == "anchors" else found
            name = element_of(kind, text)
            place: Any = places.get(name)
            if type(place) is not int or not 0 <= place < 1 << 31:
                place = index
            yield name, (place, text)


def unpack(values: Mapping[str, Any], updated_at: str, stamps: Mapping[str, Any]) -> Record:
    writes = _Stamps(stamps, updated_at)
    id: str = values["id"]
    sync_id: str = values["sync_id"] if is_id(values.get("sync_id")) else ""
    if values.get(LIFE) == REMOVED:
        return make_tombstone(id, sync_id, writes.of(LIFE))
    registers = _read_registers(values, writes, _object(stamps.get("places")))
    for stamp, names in _groups(_object(stamps.get("removed")), updated_at):
        for name in names:
            if name.startswith(_STARTS):
                registers.setdefault(name, (stamp, None))
    texts, over = _read_texts(values, writes.of(TEXT), stamps, updated_at)
    seen: dict[str, str] = {}
    if LIFE in registers:
        knew = latest(_stamps(stamps["seen"], updated_at)) if "seen" in stamps else over
        life_at, life = registers[LIFE]
        seen = all_seen(life, life_at, knew)
    return Record(
        id=id,
        sync_id=sync_id,
        created_at=as_time(values.get("created_at")),
        texts=texts,
        over=over,
        seen=seen,
        registers=registers,
    )


class _Stamps:
    """The stamps of last writes: of the registers that are named, and of all others."""

    def __init__(self, stamps: Mapping[str, Any], updated_at: str) -> None:
        plain = old_stamp(updated_at)
        self._rest = plain if is_stamp(plain) else FIRST_STAMP
        self._named: dict[str, str] = {}
        for stamp, names in _groups(stamps, updated_at):
            self._named |= dict.fromkeys(names, stamp)
            if not names:
                self._rest = stamp

    def of(self, name: str) -> str:
        return self._named.get(name, self._rest)


def _read_registers(
    values: Mapping[str, Any], writes: _Stamps, places: Mapping[str, Any]
) -> dict[str, Write]:
    """Return the writes of fields, life, tags and anchors that have valid values."""
    registers: dict[str, Write] = {
        name: (writes.of(name), plain) for name, plain in _plain_values(values)
    }
    if is_life(values.get(LIFE)):
        registers[LIFE] = (writes.of(LIFE), values[LIFE])
    for name, element in _elements(values, places):
        registers[name] = (writes.of(name), element)
    return registers


def _read_texts(
    values: Mapping[str, Any], last: str, stamps: Mapping[str, Any], updated_at: str
) -> tuple[dict[str, Text], dict[str, str]]:
    text = _text(values.get("content"), values.get("title"))
    if text is None:
        return {}, {}
    texts = {last: text}
    for head in _list(stamps.get("heads")):
        if isinstance(head, list) and len(head) == 3:
            stamp, other = _long(head[0], updated_at), _text(head[1], head[2])
            if is_stamp(stamp) and stamp < last and other:
                texts[stamp] = other
    replaced = (stamp for stamp in _stamps(stamps.get("over"), updated_at) if stamp <= last)
    return texts, latest((*texts, *replaced))


def _stamps(found: object, updated_at: str) -> Iterator[str]:
    return filter(is_stamp, (_long(short, updated_at) for short in _list(found)))


def _groups(found: Mapping[str, Any], updated_at: str) -> Iterator[tuple[str, list[str]]]:
    for short, names in islice(found.items(), MAX_ITEMS):
        stamp = _long(short, updated_at)
        if is_stamp(stamp) and isinstance(names, list):
            plain = [_plain(name) for name in names[: 4 * MAX_ITEMS] if isinstance(name, str)]
            if plain or not names:
                yield stamp, plain


def is_valid(name: str, value: object) -> bool:
    if name in _ONE_OF:
        return (value is None or isinstance(value, str)) and value in _ONE_OF[name]
    if name == "pinned":
        return isinstance(value, bool)
    if name == "confidence":
        return type(value) in (int, float) and 0 <= value <= 1  # type: ignore[operator]
    return value is None or (_is_short(value) and value != "")


def is_life(value: object) -> bool:
    if not isinstance(value, str):
        return False
    kind, _, heir = value.partition(" ")
    return is_id(heir) if kind == SUPERSEDED else value in LIVES


def is_id(value: object) -> bool:
    return (
        isinstance(value, str)
        and 0 < len(value) <= MAX_ID
        and value.isascii()
        and value.replace("-", "").replace("_", "").isalnum()
    )


def _is_short(value: object) -> bool:
    return isinstance(value, str) and len(value) <= MAX_CHARS


def _plain(value: Any) -> Any:
    """Return a text in one line without control characters, and a number as a float."""
    if isinstance(value, str):
        return in_one_line(value)
    return float(value) if type(value) is int else value


def _text(content: object, title: object) -> Text | None:
    if not isinstance(content, str) or len(content) > MAX_TEXT:
        return None
    plain = without_controls(content)
    if not plain.strip():
        return None
    return plain, (_plain(title) or None) if _is_short(title) and title else None


def _texts(found: object) -> Iterator[str]:
    items = found if isinstance(found, list | tuple) else []
    for item in items[:MAX_ITEMS]:
        if _is_short(item) and (plain := _plain(item)):
            yield plain


def _list(found: object) -> list[Any]:
    return found[:MAX_ITEMS] if isinstance(found, list) else []


def _object(found: object) -> Mapping[str, Any]:
    return found if isinstance(found, dict) else {}


def _short(stamp: str, updated_at: str) -> str:
    return stamp.removeprefix(f"{updated_at}-") if updated_at else stamp


def _long(short: object, updated_at: str) -> str:
    if not isinstance(short, str):
        return ""
    return f"{updated_at}-{short}" if len(short) == len("0000-1a2b3c4d") else short


def texts_in(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list | tuple):
        for item in value:
            yield from texts_in(item)
    elif isinstance(value, dict):
        yield from value
        for item in value.values():
            yield from texts_in(item)
