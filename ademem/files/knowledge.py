"""knowledge.jsonl: the lines Beads reads, with our fields behind them; their conflicts.

Of a memory archived on one side and changed on another, the last change decides whether it lives,
in any order of merges. An archive counts as if the text of before had been written anew at that
moment: an older one loses against it. Other fields keep the changes of both sides: a tombstone
hides them, and a line that is newer takes them over.
"""

from __future__ import annotations

import json

from ademem.core import anchor
from ademem.core.clock import parse, stamp
from ademem.core.memory import Trust
from ademem.core.text import sha256_hex, slug
from ademem.files import ARCHIVE, KNOWLEDGE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
    from datetime import datetime
    from typing import Any

    from ademem.core.memory import Memory
    from ademem.core.settings import MirrorSettings

    Record = dict[str, Any]

TYPES = ("learned", "investigation", "decision", "fact", "pattern", "gotcha", "convention")
"""Kinds of captured sentences; the first tag of a memory names its kind."""

DOUBTFUL = (Trust.TOOL, Trust.WEB)
"""Levels of trust that a file may claim: it can lower trust and never raise it."""

TOMBSTONE = "tombstone"
MAX_TOMBSTONES = 1000
"""Tombstones in the archive; older ones are unlikely to matter to an old branch."""
SEEN_CHARS = 16
SEEN_TEXTS = 8
"""Earlier texts of which a tombstone has a digest, the newest first."""

WAS = "was"
"""On a line merged with its absence: the base's values of the fields that it changed."""
HAD = "had"
"""On a tombstone: fields that were changed elsewhere before the archiving was known there."""
SAID_AT = "said_at"
"""On a line: the time of its text, if another field was changed later."""
VALUES = "values"
"""On a line with anchors: the values that the memory depends on, by their places."""
NOTES = frozenset((WAS, SAID_AT))
LOSING_ID_CHARS = 12

MERGED_FIELDS = (
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
    VALUES,
    "trust",
    "source",
    "bead",
)
"""Fields that a tombstone may hide; a losing text becomes a separate candidate."""

_LINE_BREAKS = str.maketrans({char: f"\\u{ord(char):04x}" for char in "\x85\u2028\u2029"})


def render_lines(
    memories: Iterable[Memory],
    settings: MirrorSettings,
    tombstones: Sequence[Record] = (),
    text_times: Mapping[str, str] = {},
) -> dict[str, str]:
    """Render the live lines, and the archive once there is one; *memories* are oldest first.

    The archive ends with the *tombstones*. A line whose text is older than its last change has the
    time of the text, from *text_times* by id.
    """
    lines = []
    for record in each_record(memories):
        at = text_times.get(record["id"])
        lines.append(line(record | {SAID_AT: at} if at else record))
    archived, live = rotate(lines, above=settings.rotate_above, by=(settings.rotate_above + 1) // 2)
    archived = [*archived, *map(line, tombstones)]
    files = {KNOWLEDGE: live, ARCHIVE: archived} if archived else {KNOWLEDGE: live}
    return {path: "".join(lines) for path, lines in files.items()}


def rotate(lines: Sequence[str], *, above: int, by: int) -> tuple[Sequence[str], Sequence[str]]:
    """Split into archived and live lines: above *above* live ones, the oldest *by* are archived."""
    moved = 0
    while len(lines) - moved > max(0, above):
        moved += max(1, by)
    return lines[:moved], lines[moved:]


def each_record(memories: Iterable[Memory]) -> Iterator[Record]:
    """Yield an object for each memory; equal keys are made distinct by the id."""
    keys: set[str] = set()
    for memory in memories:
        key = memory.knowledge_key or _derived_key(memory.category, memory.content, memory.id)
        if key in keys:
            key = f"{key}-{memory.id}"
        keys.add(key)
        kind = memory.tags[0] if memory.tags and memory.tags[0] in TYPES else memory.category
        yield {
            "key": key,
            "type": kind,
            "content": memory.content,
            "source": memory.agent_id or memory.source_type,
            "tags": memory.tags,
            "ts": int(memory.created_at.timestamp()),
            "bead": memory.bead or "",
            "id": memory.id,
            "sync_id": memory.sync_id,
            "category": memory.category,
            "status": memory.status,
            "title": memory.title,
            "importance": memory.importance,
            "confidence": memory.confidence,
            "pinned": memory.pinned,
            "topic_key": memory.topic_key,
            "path": memory.file_scope_pattern,
            "anchors": anchor.plain(memory.anchors),
            **_values_of(memory),
            "trust": memory.trust if memory.trust in DOUBTFUL else None,
            "created_at": stamp(memory.created_at),
            "updated_at": stamp(memory.updated_at),
        }


def _values_of(memory: Memory) -> Record:
    found = anchor.values(memory.anchors)
    return {VALUES: found} if found else {}


def line(record: Record) -> str:
    """Return compact JSON on one line, with every line separator of Unicode escaped."""
    text = json.dumps(record, ensure_ascii=False, separators=(",", ":"))
    return text.translate(_LINE_BREAKS) + "\n"


def read(raw: str) -> Record | None:
    """Parse a line; None if it is no object, or has no content."""
    try:
        record = json.loads(raw)
    except (ValueError, RecursionError):
        return None
    if not isinstance(record, dict) or not isinstance(record.get("content"), str):
        return None
    return record if record["content"].strip() or "sync_id" in record else None


def key_of(record: Mapping[str, Any]) -> str | None:
    """Return the key that the memory was given; None for a key derived from its text."""
    derived = _derived_key(record["category"], record["content"], record["id"])
    return None if record["key"] in (derived, f"{derived}-{record['id']}") else record["key"]


def renew_key(record: Record, *sides: Mapping[str, Any]) -> Record:
    """Renew a key that was derived from the text; keep one that any of the *sides* was given."""
    ours = all(side.get(name) for side in sides for name in ("id", "category", "key"))
    if not ours or any(key_of(side) for side in sides):
        return record
    return record | {"key": _derived_key(record["category"], record["content"], record["id"])}


def _derived_key(category: str, content: str, id: str) -> str:
    return f"{category}-{slug(content) or id}"


def tombstone(
    id: str,
    sync_id: str,
    archived_at: datetime,
    category: str,
    created_at: datetime,
    texts: Iterable[str],
) -> Record:
    """Make a tombstone, which Beads reads as a line without text; of texts it has digests only."""
    return {
        "key": f"gone-{id}",
        "type": TOMBSTONE,
        "content": "",
        "source": "",
        "tags": [],
        "ts": int(archived_at.timestamp()),
        "bead": "",
        "id": id,
        "sync_id": sync_id,
        "category": category,
        "status": "archived",
        "seen": " ".join(list(dict.fromkeys(map(_text_digest, filter(None, texts))))[:SEEN_TEXTS]),
        "created_at": stamp(created_at),
        "updated_at": stamp(archived_at),
    }


def _text_digest(content: str) -> str:
    return sha256_hex(content)[:SEEN_CHARS]


def has_unseen_text(tombstone: Mapping[str, Any], record: Mapping[str, Any]) -> bool:
    """Return True if the line has a text that was unknown when the memory was archived."""
    known = str(tombstone.get("seen") or "").split()
    return bool(record["content"] and known) and _text_digest(str(record["content"])) not in known


def is_tombstone(record: Mapping[str, Any]) -> bool:
    return (
        record.get("type") == TOMBSTONE
        and not record["content"]
        and archived_at(record) is not None
    )


def archived_at(record: Mapping[str, Any]) -> datetime | None:
    """Return the time of the archiving; None for a line without one."""
    try:
        return parse(record["updated_at"])
    except (ValueError, KeyError, TypeError):
        return None


def newest_tombstones(
    given: Iterable[Record], alive: Container[str], most: int = MAX_TOMBSTONES
) -> list[Record]:
    """Return the newest *most* tombstones of memories not *alive*, oldest first."""

    def order(record: Record) -> tuple[str, str]:
        return record["updated_at"], record["id"]

    newest: dict[str, Record] = {}
    for record in given:
        known = newest.get(record["id"])
        if record["id"] not in alive and (known is None or order(known) < order(record)):
            newest[record["id"]] = record
    ordered = sorted(newest.values(), key=order)
    return ordered[max(0, len(ordered) - max(0, most)) :]


def resolve_lines(records: Sequence[Record]) -> Record:
    """Merge all lines about one memory; of two equally new ones the later counts."""

    def newest_of(some: Sequence[Record]) -> Record:
        return max(reversed(some), key=age)

    newest, gone = newest_of(records), [one for one in records if is_tombstone(one)]
    lives = [one for one in records if WAS in one and not is_tombstone(one)]
    if is_tombstone(newest):
        if not lives:
            return newest
        line = newest_of(lives)
        changed = (base_fields(line) or {}).keys() - {"content"}
        return merge_tombstones({HAD: {name: line.get(name) for name in changed}}, newest)
    if WAS not in newest:
        return newest
    found = _revive(newest, newest_of(gone)) if gone else newest
    return {name: value for name, value in found.items() if name != WAS}


def _revive(line: Record, gone: Record) -> Record:
    """Return the line with the tombstone's hidden fields and a text as new as the archiving."""
    before, had, at = base_fields(line) or {}, _select(gone.get(HAD)), str(gone["updated_at"])
    ours = {name: line.get(name) for name in had if name in before}
    found = line | _greater_fields(had, ours)
    newer = "content" in before and text_age(line)[0] >= at
    if not newer and str(line.get(SAID_AT) or "") <= at:
        found |= {"content": str(before.get("content", line["content"])), SAID_AT: at}
    return renew_key(found, line)


def with_base_fields(record: Record, base: Mapping[str, Any]) -> Record:
    """Return the line with a note of the fields it changed."""
    changed = [name for name in ("content", *MERGED_FIELDS) if record.get(name) != base.get(name)]
    before = {name: base.get(name) for name in changed}
    if "content" in before and SAID_AT not in record:
        before["content"] = None  # it cannot come back, and may be why the memory was archived
    return record | {WAS: before}


def has_note(text: str) -> bool:
    """Return True if the text has a note that the next rendering must keep."""
    return f'"{WAS}":' in text or f'"{SAID_AT}":' in text


def base_fields(record: Mapping[str, Any]) -> Record | None:
    """Return the fields that the line changed, as they were; None without a note."""
    return _select(record[WAS], ("content", *MERGED_FIELDS)) if WAS in record else None


def merge_tombstones(older: Record, newer: Record) -> Record:
    """Return the newer of two tombstones with the hidden fields of both."""
    had = _greater_fields(_select(older.get(HAD)), _select(newer.get(HAD)))
    return newer | {HAD: had} if had else newer


def changes_text(record: Mapping[str, Any], base: Mapping[str, Any]) -> bool:
    """Return True if its text differs from the base, or survived an archiving since."""
    at = record.get(SAID_AT)
    return record["content"] != base.get("content") or at not in (None, base.get(SAID_AT))


def text_age(record: Mapping[str, Any]) -> tuple[str, str]:
    """Return a sort key of the text: its time, then the text itself."""
    return str(record.get(SAID_AT) or record.get("updated_at")), str(record["content"])


def with_text_age(won: Record, source: Record | None, base: Mapping[str, Any]) -> Record:
    """Return the line with the time of its text, if older; without a *source*, the base's."""
    at = base.get(SAID_AT) if source is None else text_age(source)[0]
    outlived = SAID_AT in (base if source is None else source) and (
        won["content"] == base.get("content")
    )
    if at is None or (at == str(won.get("updated_at")) and not outlived):
        return won
    return won | {SAID_AT: at}


def _select(value: Any, names: Sequence[str] = MERGED_FIELDS) -> Record:
    return {name: value[name] for name in names if name in value} if isinstance(value, dict) else {}


def _greater_fields(some: Mapping[str, Any], others: Mapping[str, Any]) -> Record:
    """Merge the fields of both; of two values take the greater."""
    shared = some.keys() & others.keys()
    greater = {name: max(some[name], others[name], key=json.dumps) for name in shared}
    return dict(sorted({**some, **others, **greater}.items()))


def age(record: Mapping[str, Any]) -> str:
    return str(record.get("updated_at") or "")


def losing_name(id: str, content: str) -> str:
    """Return the name of the candidate for a losing text, equal on all machines."""
    return sha256_hex("conflict", id, content)


def losing_id(id: str, content: str) -> str:
    return losing_name(id, content)[:LOSING_ID_CHARS]


def is_losing_text(memory: str | None, id: str, content: str) -> bool:
    return memory is not None and id == losing_id(memory, content)
