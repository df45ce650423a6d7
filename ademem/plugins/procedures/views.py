"""Procedures and skill files with their state, as values of JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ademem.core.memory import flags
from ademem.doors.views import WITHHELD

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ademem.plugins.procedures.records import Procedure
    from ademem.plugins.procedures.skill_registry import Listed, Scanned

STATES = {
    "changed": "edited",
    "archived": "deleted",
    "unchanged": "same",
    "added": "new",
    "restored": "new",
}
"""States of a skill file by its difference from the index."""


def procedure_json(each: Procedure) -> dict[str, Any]:
    memory, details = each.memory, each.details
    withheld = memory.quarantine_reason is not None
    return {
        "id": memory.id,
        "title": WITHHELD if withheld else memory.title,
        "trigger": WITHHELD if withheld else each.wording.trigger,
        "status": memory.status,
        "confidence": round(memory.confidence, 4),
        "success_count": details.success_count,
        "failure_count": details.failure_count,
        "last_used_at": details.last_used_at.isoformat() if details.last_used_at else None,
        "exported_skill_path": details.exported_skill_path,
        "exported_at": details.exported_at.isoformat() if details.exported_at else None,
        "superseded_by": details.superseded_by_memory_id,
        "flags": flags(memory),
    }


def skill_json(each: Listed) -> dict[str, Any]:
    entry, memory = each.entry, each.memory
    withheld = memory is not None and memory.quarantine_reason
    return {
        "path": entry.path,
        "name": WITHHELD if withheld else each.name,
        "kind": entry.kind,
        "source": entry.source,
        "memory": entry.memory_id,
        "content_hash": entry.content_hash,
        "modified_at": entry.last_modified_at.isoformat() if entry.last_modified_at else None,
        "archived_at": entry.archived_at.isoformat() if entry.archived_at else None,
        "flags": flags(memory) if memory else ["deleted"],
    }


def to_skills(listed: Iterable[Listed], scanned: Scanned) -> list[dict[str, Any]]:
    states = {
        path: state for difference, state in STATES.items() for path in getattr(scanned, difference)
    }
    problems = {each.path: each.reason for each in scanned.problems}
    by_path = {each.entry.path: skill_json(each) for each in listed}
    return [
        by_path.get(path, {"path": path, "name": path, "memory": None, "source": None, "flags": []})
        | {
            "state": "problem" if path in problems else states.get(path, "deleted"),
            "problem": problems.get(path, ""),
        }
        for path in sorted({*by_path, *states, *problems})
    ]
