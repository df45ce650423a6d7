"""Lines of knowledge.jsonl as records: fields that a person reads, stamps in the last key."""

from __future__ import annotations

from ademem.core import anchor, clock, record_json
from ademem.core.registers import ARCHIVED, LIFE, LIVE, TEXT, Record, conflict_candidates, old_stamp
from ademem.core.text import slug
from ademem.core.value import replace
from ademem.files import knowledge

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_READABLE = (
    *("category", "status", "title", "importance", "confidence", "pinned", "topic_key", "path"),
    "anchors",
)
UNDECIDED = "undecided"
"""Status that an archived memory has when it comes back, in a line that has its text."""


def to_line(record: Record, key: str | None = None) -> dict[str, Any]:
    """Return the object of the memory's line; an archived one is a tombstone, without a text.

    *key* replaces a key that another line has, too. A text that the archiving did not know stays.
    """
    is_dead = record.life != LIVE
    if (is_dead and not conflict_candidates(record)) or not record.texts:
        return _to_tombstone(record)
    values = record_json.to_json(record)
    category, tags, given = values.get("category"), values["tags"], values.get("key")
    found = {
        "key": key or given or derived_key(record),
        "type": tags[0] if tags and tags[0] in knowledge.TYPES else category,
        "content": values["content"],
        "source": values.get("source"),
        "tags": tags,
        "ts": _seconds(record.created_at),
        "bead": values.get("bead") or "",
        "id": record.id,
        "sync_id": record.sync_id,
        **{name: values[name] for name in _READABLE if name in values},
        "anchors": list(anchor.plain(values["anchors"])),
    }
    if places := anchor.values(values["anchors"]):
        found[knowledge.VALUES] = places
    found |= {
        name: values[name] for name in ("trust", "created_at", "updated_at") if name in values
    }
    if is_dead:
        found |= {"status": ARCHIVED, LIFE: record.life, UNDECIDED: values.get("status")}
    return found | ({"stamps": values["stamps"]} if values["stamps"] else {})


def from_line(line: Any) -> Record | None:
    """Read the object of a line, whoever wrote it; None if it has no id of a memory."""
    if not isinstance(line, dict) or not record_json.is_id(line.get("id")):
        return None
    life = LIVE
    if UNDECIDED in line:
        life, line = line.get(LIFE, ARCHIVED), line | {"status": line[UNDECIDED]}
    elif line.get("status") == ARCHIVED or line.get("type") == knowledge.TOMBSTONE:
        names = ("id", "sync_id", "created_at", "updated_at", "stamps")
        values = {name: line[name] for name in names if name in line}
        return record_json.from_json(values | {LIFE: line.get(LIFE, ARCHIVED)})
    values = line | {LIFE: life, "bead": line.get("bead") or None, "anchors": _anchors(line)}
    if all(isinstance(line.get(name), str) for name in ("category", "content", "key")):
        values["key"] = knowledge.key_of(line)
    if not isinstance(line.get("stamps"), dict) and isinstance(line.get(knowledge.SAID_AT), str):
        values["stamps"] = {old_stamp(line[knowledge.SAID_AT]): [TEXT]}
    return record_json.from_json(values)


def derived_key(record: Record) -> str:
    """Return the key of a memory that was given none: its category and text."""
    return f"{record.value('category')}-{slug(record.text[0]) or record.id}"


def _to_tombstone(record: Record) -> dict[str, Any]:
    life = {LIFE: record.registers[LIFE]} if LIFE in record.registers else {}
    bare = replace(record, texts={}, over={}, registers=life)
    values = record_json.to_json(bare)
    found = {
        "key": f"gone-{record.id}",
        "type": knowledge.TOMBSTONE,
        "content": "",
        "source": "",
        "tags": [],
        "ts": _seconds(values["updated_at"]),
        "bead": "",
        "id": record.id,
        "sync_id": record.sync_id,
        "category": record.value("category"),
        "status": ARCHIVED,
        **({} if record.life == ARCHIVED else {LIFE: record.life}),
        "created_at": record.created_at,
        "updated_at": values["updated_at"],
    }
    return found | ({"stamps": values["stamps"]} if values["stamps"] else {})


def _anchors(line: dict[str, Any]) -> Any:
    found, values = line.get("anchors"), line.get(knowledge.VALUES)
    if not isinstance(found, list) or not all(isinstance(text, str) for text in found):
        return []
    if not isinstance(values, dict):
        return found
    texts = {
        place: tuple(names)
        for place, names in values.items()
        if isinstance(names, list) and all(isinstance(name, str) for name in names)
    }
    return list(anchor.with_values(found, texts))


def _seconds(time: str) -> int:
    return int(clock.parse(time).timestamp()) if time else 0
