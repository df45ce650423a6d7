"""knowledge.jsonl: the lines Beads reads, with our fields behind them."""

from __future__ import annotations

import json

from ademem.core.clock import parse, stamp
from ademem.core.memory import Trust
from ademem.core.text import sha256_hex, slug

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
    from datetime import datetime
    from typing import Any

    from ademem.core.memory import Memory
    from ademem.core.settings import MirrorSettings

    Record = dict[str, Any]


LIVE = "knowledge.jsonl"
ARCHIVE = "knowledge.archive.jsonl"

TYPES = ("learned", "investigation", "decision", "fact", "pattern", "gotcha", "convention")
"""Kinds of captured sentences; the first tag of a memory names its kind."""

DOUBTFUL = (Trust.TOOL, Trust.WEB)
"""Levels of trust that a file may claim: it can lower trust and never raise it."""

_LINE_BREAKS = str.maketrans({char: f"\\u{ord(char):04x}" for char in "\x85\u2028\u2029"})


def render(
    memories: Iterable[Memory],
    settings: MirrorSettings,
    gone: Sequence[dict[str, Any]] = (),
    said: Mapping[str, str] = {},
) -> dict[str, str]:
    """Render the live lines, and the archive once there is one; *memories* are oldest first.

    The archive ends with the tombstones of what is *gone*. Of a text that is older than its memory,
    the line tells when it was *said*.
    """
    archived, live = rotated(
        [line(_dated(record, said)) for record in each_record(memories)],
        above=settings.rotate_above,
        by=(settings.rotate_above + 1) // 2,
    )
    archived = [*archived, *map(line, gone)]
    pages = {LIVE: live, ARCHIVE: archived} if archived else {LIVE: live}
    return {name: "".join(lines) for name, lines in pages.items()}


def rotated(lines: Sequence[str], *, above: int, by: int) -> tuple[Sequence[str], Sequence[str]]:
    """Split into archived and live lines: above *above* live ones, the oldest *by* are archived."""
    moved = 0
    while len(lines) - moved > max(0, above):
        moved += max(1, by)
    return lines[:moved], lines[moved:]


def records(memories: Iterable[Memory]) -> list[dict[str, Any]]:
    """Return an object for each memory; equal keys are made distinct by the id."""
    return list(each_record(memories))


def each_record(memories: Iterable[Memory]) -> Iterator[dict[str, Any]]:
    """Yield `records` one by one."""
    taken: set[str] = set()
    for memory in memories:
        key = memory.knowledge_key or _made_key(memory.category, memory.content, memory.id)
        if key in taken:
            key = f"{key}-{memory.id}"
        taken.add(key)
        yield _record(key, memory)


def line(record: dict[str, Any]) -> str:
    """Return compact JSON on one line, with every line separator of Unicode escaped."""
    text = json.dumps(record, ensure_ascii=False, separators=(",", ":"))
    return text.translate(_LINE_BREAKS) + "\n"


def read(raw: str) -> dict[str, Any] | None:
    """Parse a line; None if it is no object, or has no content."""
    try:
        record = json.loads(raw)
    except (ValueError, RecursionError):
        return None
    if not isinstance(record, dict) or not isinstance(record.get("content"), str):
        return None
    return record if record["content"].strip() or "sync_id" in record else None


def key_of(record: Mapping[str, Any]) -> str | None:
    """Return the key that the memory was given; None for a key made from its text."""
    made = _made_key(record["category"], record["content"], record["id"])
    return None if record["key"] in (made, f"{made}-{record['id']}") else record["key"]


def keyed_anew(record: dict[str, Any], *sides: Mapping[str, Any]) -> dict[str, Any]:
    """Renew a key that was made from the text; keep one that any of the *sides* was given."""
    ours = all(side.get(name) for side in sides for name in ("id", "category", "key"))
    if not ours or any(key_of(side) for side in sides):
        return record
    return record | {"key": _made_key(record["category"], record["content"], record["id"])}


def _made_key(category: str, content: str, id: str) -> str:
    return f"{category}-{slug(content) or id}"


def _dated(record: dict[str, Any], said: Mapping[str, str]) -> dict[str, Any]:
    at = said.get(record["id"])
    return record | {"said_at": at} if at else record


def _record(key: str, memory: Memory) -> dict[str, Any]:
    kind = memory.tags[0] if memory.tags and memory.tags[0] in TYPES else memory.category
    return {
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
        "anchors": memory.anchors,
        "trust": memory.trust if memory.trust in DOUBTFUL else None,
        "created_at": stamp(memory.created_at),
        "updated_at": stamp(memory.updated_at),
    }


TOMBSTONE = "tombstone"


MAX_TOMBSTONES = 1000
"""Tombstones in the archive; older ones are unlikely to matter to an old branch."""
SEEN_CHARS = 16
SEEN_TEXTS = 8
"""Earlier texts of which a tombstone keeps a digest, the newest first."""


def tombstone(
    id: str,
    sync_id: str,
    gone_at: datetime,
    category: str,
    learned_at: datetime,
    texts: Iterable[str],
) -> Record:
    """Make a tombstone, which Beads reads as a line without text; of texts it has digests only."""
    return {
        "key": f"gone-{id}",
        "type": TOMBSTONE,
        "content": "",
        "source": "",
        "tags": [],
        "ts": int(gone_at.timestamp()),
        "bead": "",
        "id": id,
        "sync_id": sync_id,
        "category": category,
        "status": "archived",
        "seen": " ".join(list(dict.fromkeys(map(text_digest, filter(None, texts))))[:SEEN_TEXTS]),
        "created_at": stamp(learned_at),
        "updated_at": stamp(gone_at),
    }


def text_digest(content: str) -> str:
    """Digest a text, to tell an archived one from one that was written meanwhile."""
    return sha256_hex(content)[:SEEN_CHARS]


def has_unseen_text(gone: Mapping[str, Any], record: Mapping[str, Any]) -> bool:
    """Return True if the line has a text that was unknown when the memory was archived."""
    known = str(gone.get("seen") or "").split()
    return bool(record["content"] and known) and text_digest(str(record["content"])) not in known


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
    newest: dict[str, Record] = {}
    for record in given:
        known = newest.get(record["id"])
        if record["id"] not in alive and (known is None or _age(known) < _age(record)):
            newest[record["id"]] = record
    ordered = sorted(newest.values(), key=_age)
    return ordered[max(0, len(ordered) - max(0, most)) :]


def _age(record: Record) -> tuple[str, str]:
    return record["updated_at"], record["id"]
