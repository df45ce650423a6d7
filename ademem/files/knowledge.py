"""knowledge.jsonl: the lines Beads reads, with our fields behind them."""

from __future__ import annotations

import json

from ademem.core.clock import stamp
from ademem.core.memory import Trust
from ademem.core.text import slug

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from typing import Any

    from ademem.core.memory import Memory
    from ademem.core.settings import MirrorSettings

LIVE = "knowledge.jsonl"
ARCHIVE = "knowledge.archive.jsonl"

TYPES = ("learned", "investigation", "decision", "fact", "pattern", "gotcha", "convention")
"""What a captured sentence can begin with; its first tag tells which it was."""

DOUBTFUL = (Trust.TOOL, Trust.WEB)
"""What a file may say of whom to trust: a better name is not for a file to give."""

_LINE_BREAKS = str.maketrans({char: f"\\u{ord(char):04x}" for char in "\x85\u2028\u2029"})


def render(
    memories: Iterable[Memory],
    settings: MirrorSettings,
    gone: Sequence[dict[str, Any]] = (),
    said: Mapping[str, str] = {},
) -> dict[str, str]:
    """The lines, and their archive once there is one; *memories* are oldest first.

    The archive ends with the tombstones of what is *gone*. Of a text that is older than its memory,
    the line tells when it was *said*.
    """
    archived, live = rotated(
        [line(_dated(record, said)) for record in each_record(memories)],
        above=settings.rotate_above,
        by=settings.rotate_lines,
    )
    archived = [*archived, *map(line, gone)]
    pages = {LIVE: live, ARCHIVE: archived} if archived else {LIVE: live}
    return {name: "".join(lines) for name, lines in pages.items()}


def rotated(lines: Sequence[str], *, above: int, by: int) -> tuple[Sequence[str], Sequence[str]]:
    """Archived and live lines: while more than *above* are live, the oldest *by* are archived."""
    moved = 0
    while len(lines) - moved > max(0, above):
        moved += max(1, by)
    return lines[:moved], lines[moved:]


def records(memories: Iterable[Memory]) -> list[dict[str, Any]]:
    """One object a memory; keys that would meet are told apart by the id."""
    return list(each_record(memories))


def each_record(memories: Iterable[Memory]) -> Iterator[dict[str, Any]]:
    """`records` one by one."""
    taken: set[str] = set()
    for memory in memories:
        key = memory.knowledge_key or _made_key(memory.category, memory.content, memory.id)
        if key in taken:
            key = f"{key}-{memory.id}"
        taken.add(key)
        yield _record(key, memory)


def line(record: dict[str, Any]) -> str:
    """Compact JSON in one line for any reader's idea of a line."""
    text = json.dumps(record, ensure_ascii=False, separators=(",", ":"))
    return text.translate(_LINE_BREAKS) + "\n"


def read(raw: str) -> dict[str, Any] | None:
    """The object of one line; None when it is none, or says nothing."""
    try:
        record = json.loads(raw)
    except (ValueError, RecursionError):
        return None
    if not isinstance(record, dict) or not isinstance(record.get("content"), str):
        return None
    return record if record["content"].strip() or "sync_id" in record else None


def key_of(record: Mapping[str, Any]) -> str | None:
    """The key that the memory was given; None for one that was made from its text."""
    made = _made_key(record["category"], record["content"], record["id"])
    return None if record["key"] in (made, f"{made}-{record['id']}") else record["key"]


def keyed_anew(record: dict[str, Any], *sides: Mapping[str, Any]) -> dict[str, Any]:
    """The record with the key of what it says, if none of the *sides* it came of was given one."""
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
