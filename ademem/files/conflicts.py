"""Resolve a memory archived on one side and changed on another, in any order of merges.

The last change decides whether the memory lives. An archive counts as if the text of before had
been said anew at that moment: an older one loses against it. Other fields keep what anybody made of
them: a tombstone hides it, and a line that is newer takes it over.
"""

from __future__ import annotations

import json

from ademem.core.text import sha256_hex
from ademem.files import knowledge

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    Record = dict[str, Any]

WAS = "was"
"""On a line merged with its absence: the base's values of the fields that it changed."""
HAD = "had"
"""On a tombstone: fields that were changed elsewhere before the archiving was known there."""
SAID_AT = "said_at"
"""On a line: the time of its text, if another field was changed later."""
NOTES = frozenset((WAS, SAID_AT))
ID_CHARS = 12

FIELDS = (
    "category",
    "status",
    "title",
    "tags",
    "path",
    "importance",
    "confidence",
    "pinned",
    "topic_key",
    "anchors",
    "trust",
    "source",
    "bead",
)
"""Fields that a tombstone may hide; a losing text becomes a separate candidate."""


def resolve_lines(records: Sequence[Record]) -> Record:
    """Merge all lines about one memory; of two equally new ones the later counts."""
    newest, gone = _newest(records), [one for one in records if knowledge.is_tombstone(one)]
    lives = [one for one in records if WAS in one and not knowledge.is_tombstone(one)]
    if knowledge.is_tombstone(newest):
        return _hide_fields(newest, _newest(lives)) if lives else newest
    if WAS not in newest:
        return newest
    found = _revive(newest, _newest(gone)) if gone else newest
    return {name: value for name, value in found.items() if name != WAS}


def with_base_fields(record: Record, base: Mapping[str, Any]) -> Record:
    """Return the line with a note of the fields it changed."""
    changed = [name for name in ("content", *FIELDS) if record.get(name) != base.get(name)]
    before = {name: base.get(name) for name in changed}
    if "content" in before and SAID_AT not in record:
        before["content"] = None  # it cannot come back, and may be why the memory was archived
    return record | {WAS: before}


def has_note(text: str) -> bool:
    """Return True if the text has a note that the next rendering must keep."""
    return f'"{WAS}":' in text or f'"{SAID_AT}":' in text


def base_fields(record: Mapping[str, Any]) -> Record | None:
    """Return the fields that the line changed, as they were; None without a note."""
    return _fields(record[WAS], ("content", *FIELDS)) if WAS in record else None


def merge_tombstones(older: Record, newer: Record) -> Record:
    """Return the newer of two tombstones with the hidden fields of both."""
    had = _greater_fields(_fields(older.get(HAD)), _fields(newer.get(HAD)))
    return newer | {HAD: had} if had else newer


def changes_text(record: Mapping[str, Any], base: Mapping[str, Any]) -> bool:
    """Return True if its text differs from the base, or survived an archiving since."""
    at = record.get(SAID_AT)
    return record["content"] != base.get("content") or at not in (None, base.get(SAID_AT))


def text_age(record: Mapping[str, Any]) -> tuple[str, str]:
    """Return a sort key of the text: its time, then the text itself."""
    return str(record.get(SAID_AT) or record.get("updated_at")), str(record["content"])


def with_text_age(won: Record, teller: Record | None, base: Mapping[str, Any]) -> Record:
    """Return the line with the time of its text, if older; without a *teller*, the base's."""
    source = base if teller is None else teller
    at = base.get(SAID_AT) if teller is None else text_age(teller)[0]
    outlived = SAID_AT in source and won["content"] == base.get("content")
    if at is None or (at == str(won.get("updated_at")) and not outlived):
        return won
    return won | {SAID_AT: at}


def _hide_fields(gone: Record, line: Record) -> Record:
    """Return the tombstone with the fields that the line had changed."""
    changed = (base_fields(line) or {}).keys() - {"content"}
    return merge_tombstones({HAD: {name: line.get(name) for name in changed}}, gone)


def _revive(line: Record, gone: Record) -> Record:
    """Return the line with the tombstone's hidden fields and a text as new as the archiving."""
    before, had, at = base_fields(line) or {}, _fields(gone.get(HAD)), str(gone["updated_at"])
    mine = {name: line.get(name) for name in had if name in before}
    found = line | _greater_fields(had, mine)
    newer = "content" in before and text_age(line)[0] >= at
    if not newer and str(line.get(SAID_AT) or "") <= at:
        found |= {"content": str(before.get("content", line["content"])), SAID_AT: at}
    return knowledge.keyed_anew(found, line)


def _fields(told: Any, names: Sequence[str] = FIELDS) -> Record:
    """Return the known fields of a value that may come from any file."""
    return {name: told[name] for name in names if name in told} if isinstance(told, dict) else {}


def _greater_fields(some: Mapping[str, Any], others: Mapping[str, Any]) -> Record:
    """Merge the fields of both; of two values take the greater."""
    shared = some.keys() & others.keys()
    greater = {name: max(some[name], others[name], key=json.dumps) for name in shared}
    return dict(sorted({**some, **others, **greater}.items()))


def _newest(records: Sequence[Record]) -> Record:
    return max(reversed(records), key=age)


def age(record: Mapping[str, Any]) -> str:
    return str(record.get("updated_at") or "")


def losing_id(id: str, content: str) -> str:
    """Return the id of the candidate for a losing text, equal on all machines."""
    return losing_name(id, content)[:ID_CHARS]


def is_losing_text(memory: str | None, id: str, content: str) -> bool:
    """Return True if *id* is that of the memory's losing text."""
    return memory is not None and id == losing_id(memory, content)


def losing_name(id: str, content: str) -> str:
    return sha256_hex("conflict", id, content)
