"""ADE's memories as ours."""

from __future__ import annotations

from collections import defaultdict

from ademem.core.memory import Category, Importance, Scope, Status, Tier, Trust
from ademem.core.redaction import redact
from ademem.core.text import dedupe_key, sha256_hex
from ademem.store.ade import values
from ademem.store.ade.values import moment, number, text, whole, word
from ademem.store.memories import COLUMNS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from ademem.store.ade.values import Row


def once(rows: Iterable[Row]) -> list[Row]:
    """Every row with an id of its own; of two with the same id the first."""
    found: dict[str, Row] = {}
    for place, row in enumerate(rows):
        id = text(row.get("id")) or sha256_hex(str(place), repr(row.get("content")))[:32]
        found.setdefault(id, row | {"id": id})
    return list(found.values())


def from_legacy(row: Row) -> Row:
    """A row of the table before `unified_memories`, as ADE itself moves it."""
    owners: tuple[str, ...] = ("agent_id", "source_session_id")
    if values.scope(row.get("scope")) is Scope.MISSION:
        owners = ("source_run_id", *owners)
    return row | {
        "scope_owner_id": next((row[name] for name in owners if text(row.get(name))), None),
        "tier": 3 if row.get("status") in ("candidate", "archived") else 2,
        "observation_count": row.get("access_count") or 1,
        "source_type": "system",
    }


def adopted(old: Row, project: str, now: str) -> Row:
    """A row of `unified_memories`; odd words and numbers become what ADE takes them for."""
    content = redact(text(old.get("content")) or "").text
    source_type = text(old.get("source_type")) or "agent"
    return (
        dict.fromkeys(COLUMNS)
        | {"seq": 0, "anchors": "[]", "tags": "", "revision_count": 1}
        | {
            "id": old["id"],
            "sync_id": sha256_hex("ade", old["id"])[:32],
            "project_id": project,
            "content": content,
            "dedupe_key": dedupe_key(content),
            "category": word(Category, old.get("category"), Category.FACT),
            "importance": word(Importance, old.get("importance"), Importance.MEDIUM),
            "confidence": min(1.0, max(0.0, number(old.get("confidence"), 1.0))),
            "observation_count": max(1, whole(old.get("observation_count"), 1)),
            "trust": Trust.USER if source_type == "user" else Trust.AGENT,
            "source_type": source_type,
            "source_id": text(old.get("source_id")),
            "source_session_id": text(old.get("source_session_id")),
            "source_pack_key": text(old.get("source_pack_key")),
            "source_run_id": text(old.get("source_run_id")),
            "file_scope_pattern": text(old.get("file_scope_pattern")),
            "agent_id": text(old.get("agent_id")),
            "write_gate_reason": text(old.get("write_gate_reason")),
        }
        | _owner(old)
        | _rank(old)
        | _access(old)
        | _state(old, content, now)
    )


def quarantined(order: str, status: Status) -> Row:
    """The changes by which a row waits for a person's approval, unseen by any search."""
    waiting = Status.CANDIDATE if status is Status.PROMOTED else status
    return {
        "quarantine_reason": order,
        "status": waiting,
        "promoted_at": None,
        "pinned": 0,
        "tier": Tier.FADING,
    }


def _owner(old: Row) -> Row:
    scope = values.scope(old.get("scope"))
    owner = None if scope is Scope.PROJECT else text(old.get("scope_owner_id"))
    return {"scope": scope, "scope_owner_id": owner.strip() if owner else None}


def _rank(old: Row) -> Row:
    """Tier 1 and pinned are one thing."""
    tier = number(old.get("tier"), 2)
    pinned = tier == 1 or number(old.get("pinned"), 0) != 0
    return {"tier": 1 if pinned else 3 if tier == 3 else 2, "pinned": int(pinned)}


def _access(old: Row) -> Row:
    """A row that was never scored starts from how often it was used."""
    count = max(0, whole(old.get("access_count"), 0))
    composite = max(0.0, number(old.get("composite_score"), 0))
    score = max(0.0, number(old.get("access_score"), 0))
    return {
        "access_count": count,
        "access_score": score or composite or min(1.0, count / 10),
        "composite_score": composite,
    }


def _state(old: Row, content: str, now: str) -> Row:
    """A row without text is archived; a time that cannot be read is taken from its neighbours."""
    status = word(Status, old.get("status"), Status.PROMOTED)
    names = ("created_at", "updated_at", "last_accessed_at")
    created, updated, accessed = (moment(old.get(name)) for name in names)
    created = created or updated or accessed or now
    updated = updated or created
    promoted = moment(old.get("promoted_at"))
    return {
        "status": status if content.strip() else Status.ARCHIVED,
        "created_at": created,
        "updated_at": updated,
        "last_accessed_at": accessed or updated,
        "promoted_at": promoted or (created if status is Status.PROMOTED else None),
    }


def unite(rows: Iterable[Row]) -> None:
    """Of live rows of one owner that say the same, one speaks for all; the others are archived."""
    alike = defaultdict(list)
    for row in rows:
        if row["status"] is not Status.ARCHIVED:
            alike[row["scope"], row["scope_owner_id"], row["dedupe_key"]].append(row)
    for group in alike.values():
        first, *others = sorted(group, key=_precedence)
        first["observation_count"] = sum(row["observation_count"] for row in group)
        first["pinned"] = max(row["pinned"] for row in group)
        first["tier"] = min(row["tier"] for row in group)
        for row in others:
            row["status"], row["superseded_by"] = Status.ARCHIVED, first["id"]


def _precedence(row: Row) -> tuple[bool, bool, int, str, str]:
    return (
        row["status"] is not Status.PROMOTED,
        not row["pinned"],
        -row["observation_count"],
        row["created_at"],
        row["id"],
    )
