"""Lines that tell of a memory that it is gone, so that no branch brings it back by chance."""

from __future__ import annotations

from ademem.core.clock import parse, stamp
from ademem.core.digest import sha256_hex

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Mapping
    from datetime import datetime
    from typing import Any

    Record = dict[str, Any]

TYPE = "tombstone"


MOST = 1000
"""That the archive keeps: what went longer ago hardly comes back from an old branch."""
SEEN_CHARS = 16
SEEN_TEXTS = 8
"""Of which a line keeps a digest: what was replaced longer ago hardly comes back."""


def of(
    id: str,
    sync_id: str,
    gone_at: datetime,
    category: str,
    learned_at: datetime,
    texts: Iterable[str],
) -> Record:
    """What Beads reads as a line without text; of what the memory said it has digests only."""
    return {
        "key": f"gone-{id}",
        "type": TYPE,
        "content": "",
        "source": "",
        "tags": [],
        "ts": int(gone_at.timestamp()),
        "bead": "",
        "id": id,
        "sync_id": sync_id,
        "category": category,
        "status": "archived",
        "seen": " ".join(list(dict.fromkeys(map(seen, filter(None, texts))))[:SEEN_TEXTS]),
        "created_at": stamp(learned_at),
        "updated_at": stamp(gone_at),
    }


def seen(content: str) -> str:
    """By which a text that was archived is known from one that somebody wrote meanwhile."""
    return sha256_hex(content)[:SEEN_CHARS]


def outlived(gone: Mapping[str, Any], record: Mapping[str, Any]) -> bool:
    """Whether the line has a text that whoever archived the memory did not see."""
    known = str(gone.get("seen") or "").split()
    return bool(record["content"] and known) and seen(str(record["content"])) not in known


def is_one(record: Mapping[str, Any]) -> bool:
    return record.get("type") == TYPE and not record["content"] and moment(record) is not None


def moment(record: Mapping[str, Any]) -> datetime | None:
    """When it went; None for a line that does not say so."""
    try:
        return parse(record["updated_at"])
    except (ValueError, KeyError, TypeError):
        return None


def standing(given: Iterable[Record], alive: Container[str], most: int = MOST) -> list[Record]:
    """The newest *most* of what is not *alive*, oldest first; of two that are equal the first."""
    newest: dict[str, Record] = {}
    for record in given:
        known = newest.get(record["id"])
        if record["id"] not in alive and (known is None or _age(known) < _age(record)):
            newest[record["id"]] = record
    ordered = sorted(newest.values(), key=_age)
    return ordered[max(0, len(ordered) - max(0, most)) :]


def _age(record: Record) -> tuple[str, str]:
    return record["updated_at"], record["id"]
