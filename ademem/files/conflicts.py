"""Memories that one archived while others changed them: what is left, whoever met whom first.

The last change decides whether the memory lives. An archive counts as if the text of before had
been said anew at that moment: an older one loses against it. Other fields keep what anybody made of
them: a tombstone hides it, and a line that is newer takes it over.
"""

from __future__ import annotations

import json

from ademem.core.digest import sha256_hex
from ademem.files import knowledge

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    Record = dict[str, Any]

WAS = "was"
"""Of a line that was merged with its absence: what the base said of the fields that it changed."""
HAD = "had"
"""Of a tombstone: fields that others changed, unknown to whoever archived the memory."""
SAID_AT = "said_at"
"""Of a line: when its text was said, if another field was changed later."""
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
"""What a tombstone may hide; a text that lost is a candidate of its own."""


def resolve_lines(records: Sequence[Record]) -> Record:
    """What all lines about one memory come to; of two that are equally new the later counts."""
    newest, gone = _newest(records), [one for one in records if knowledge.is_tombstone(one)]
    lives = [one for one in records if WAS in one and not knowledge.is_tombstone(one)]
    if knowledge.is_tombstone(newest):
        return _hide_fields(newest, _newest(lives)) if lives else newest
    if WAS not in newest:
        return newest
    found = _revive(newest, _newest(gone)) if gone else newest
    return {name: value for name, value in found.items() if name != WAS}


def with_base_fields(record: Record, base: Mapping[str, Any]) -> Record:
    """The line with a note of what it changed."""
    changed = [name for name in ("content", *FIELDS) if record.get(name) != base.get(name)]
    before = {name: base.get(name) for name in changed}
    if "content" in before and SAID_AT not in record:
        before["content"] = None  # it cannot come back, and may be why the memory was archived
    return record | {WAS: before}


def has_note(text: str) -> bool:
    """Whether a line, or one of many, has something to hand on to the next rendering."""
    return f'"{WAS}":' in text or f'"{SAID_AT}":' in text


def base_fields(record: Mapping[str, Any]) -> Record | None:
    """The fields that the line changed, as they were; None where nobody noted it."""
    return _fields(record[WAS], ("content", *FIELDS)) if WAS in record else None


def merge_tombstones(older: Record, newer: Record) -> Record:
    """The newer of two tombstones, with what either of them hides."""
    had = _greater_fields(_fields(older.get(HAD)), _fields(newer.get(HAD)))
    return newer | {HAD: had} if had else newer


def changes_text(record: Mapping[str, Any], base: Mapping[str, Any]) -> bool:
    """Whether its text is another one than that of the base, or outlived an archive since."""
    at = record.get(SAID_AT)
    return record["content"] != base.get("content") or at not in (None, base.get(SAID_AT))


def text_age(record: Mapping[str, Any]) -> tuple[str, str]:
    """When the text was said; of two of one moment the greater counts."""
    return str(record.get(SAID_AT) or record.get("updated_at")), str(record["content"])


def with_text_age(won: Record, teller: Record | None, base: Mapping[str, Any]) -> Record:
    """The line with the age of its text, if that is older; with no *teller*, as the base has it."""
    source = base if teller is None else teller
    at = base.get(SAID_AT) if teller is None else text_age(teller)[0]
    outlived = SAID_AT in source and won["content"] == base.get("content")
    if at is None or (at == str(won.get("updated_at")) and not outlived):
        return won
    return won | {SAID_AT: at}


def _hide_fields(gone: Record, line: Record) -> Record:
    """The tombstone with what the line had changed."""
    changed = (base_fields(line) or {}).keys() - {"content"}
    return merge_tombstones({HAD: {name: line.get(name) for name in changed}}, gone)


def _revive(line: Record, gone: Record) -> Record:
    """The line with what the tombstone hid, and a text that is no older than the archive."""
    before, had, at = base_fields(line) or {}, _fields(gone.get(HAD)), str(gone["updated_at"])
    mine = {name: line.get(name) for name in had if name in before}
    found = line | _greater_fields(had, mine)
    newer = "content" in before and text_age(line)[0] >= at
    if not newer and str(line.get(SAID_AT) or "") <= at:
        found |= {"content": str(before.get("content", line["content"])), SAID_AT: at}
    return knowledge.keyed_anew(found, line)


def _fields(told: Any, names: Sequence[str] = FIELDS) -> Record:
    """Of what anybody may have written into a file, what can be meant."""
    return {name: told[name] for name in names if name in told} if isinstance(told, dict) else {}


def _greater_fields(some: Mapping[str, Any], others: Mapping[str, Any]) -> Record:
    """The fields of both, by name; of two values the greater."""
    shared = some.keys() & others.keys()
    greater = {name: max(some[name], others[name], key=json.dumps) for name in shared}
    return dict(sorted({**some, **others, **greater}.items()))


def _newest(records: Sequence[Record]) -> Record:
    return max(reversed(records), key=age)


def age(record: Mapping[str, Any]) -> str:
    return str(record.get("updated_at") or "")


def losing_id(id: str, content: str) -> str:
    """What the text is named by that the memory lost, everywhere."""
    return losing_name(id, content)[:ID_CHARS]


def is_losing_text(memory: str | None, id: str, content: str) -> bool:
    """Whether *id* names the text as one that the memory lost."""
    return memory is not None and id == losing_id(memory, content)


def losing_name(id: str, content: str) -> str:
    return sha256_hex("conflict", id, content)
