"""Results as JSON values with ADE's names."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any

from ademem import api
from ademem.core.clock import stamp
from ademem.core.memory import flags
from ademem.core.value import as_dict
from ademem.files.project_brief import FIELDS

if TYPE_CHECKING:
    from ademem.core.memory import Memory
    from ademem.files.project_brief import CoreMemory
    from ademem.store.runtime import Runtime
    from ademem.synthesis.procedures.records import Procedure
    from ademem.synthesis.skill_registry import Listed

SWEEP_COUNTS = {
    name: f"entries_{name}" for name in ("decayed", "demoted", "promoted", "archived", "orphaned")
}
CONSOLIDATION_COUNTS = {
    "found": "clusters_found",
    "merged": "entries_merged",
    "created": "entries_created",
}
_TEXT, _NUMBER, _WHOLE = {"type": "string"}, {"type": "number"}, {"type": "integer"}
_BOOLEAN, _TEXTS = {"type": "boolean"}, {"type": "array", "items": {"type": "string"}}
_TEXT_OR_NULL = {"type": ["string", "null"]}
ENTRY_SCHEMA = {
    "type": "object",
    "properties": {
        **dict.fromkeys(("id", "scope", "category", "content", "importance"), _TEXT),
        **dict.fromkeys(("createdAt", "updatedAt", "lastAccessedAt", "status"), _TEXT),
        **dict.fromkeys(("sourceType", "syncId", "trust"), _TEXT),
        **dict.fromkeys(("scopeOwnerId", "sourceRunId", "sourceId", "title"), _TEXT_OR_NULL),
        **dict.fromkeys(("fileScopePattern", "topicKey"), _TEXT_OR_NULL),
        **dict.fromkeys(("tier", "accessCount", "observationCount"), _WHOLE),
        **dict.fromkeys(("pinned", "embedded"), _BOOLEAN),
        **dict.fromkeys(("tags", "flags"), _TEXTS),
        "confidence": _NUMBER,
        "score": {"type": ["number", "null"]},
    },
}
COUNTS = {"sweep": SWEEP_COUNTS, "consolidation": CONSOLIDATION_COUNTS}
"""ADE's names of the counts of a run."""


def entries(
    runtime: Runtime, memories: Iterable[Memory], scores: Mapping[str, float] | None = None
) -> list[dict[str, Any]]:
    """Return memories that may be shown, as `Entry`."""
    shown = [memory for memory in memories if is_shown(memory)]
    embedded = api.list_embedded(runtime, [memory.id for memory in shown])
    return [_entry(memory, embedded, scores or {}) for memory in shown]


def entry(runtime: Runtime, memory: Memory) -> dict[str, Any] | None:
    return next(iter(entries(runtime, [memory])), None)


def is_shown(memory: Memory) -> bool:
    return not (memory.quarantine_reason or memory.deleted_at or memory.superseded_by)


def _entry(
    memory: Memory, embedded: Collection[str], scores: Mapping[str, float]
) -> dict[str, Any]:
    score = scores.get(memory.id)
    return {
        "id": memory.id,
        "scope": memory.scope,
        "scopeOwnerId": memory.scope_owner_id,
        "tier": int(memory.tier),
        "pinned": memory.is_pinned,
        "category": memory.category,
        "content": memory.content,
        "importance": memory.importance,
        "createdAt": time_of(memory.created_at),
        "updatedAt": time_of(memory.updated_at),
        "lastAccessedAt": time_of(memory.last_accessed_at),
        "accessCount": memory.access_count,
        "observationCount": memory.observation_count,
        "status": memory.status,
        "confidence": round(memory.confidence, 4),
        "embedded": memory.id in embedded,
        "sourceRunId": memory.source_run_id,
        "sourceType": memory.source_type,
        "sourceId": memory.source_id,
        "fileScopePattern": memory.file_scope_pattern,
        "syncId": memory.sync_id,
        "title": memory.title,
        "tags": list(memory.tags),
        "topicKey": memory.topic_key,
        "trust": memory.trust,
        "flags": flags(memory),
        "score": None if score is None else round(score, 4),
    }


def procedure(runtime: Runtime, found: Procedure) -> dict[str, Any]:
    details = found.details
    return {
        "memory": entry(runtime, found.memory),
        "procedural": {
            "id": found.id,
            "trigger": found.wording.trigger,
            "procedure": found.wording.markdown,
            "confidence": round(found.memory.confidence, 4),
            "successCount": details.success_count,
            "failureCount": details.failure_count,
            "sourceEpisodeIds": api.get_procedure_history(runtime, found.id)["sources"],
            "lastUsed": time_of(details.last_used_at),
            "createdAt": time_of(details.created_at),
        },
        "exportedSkillPath": details.exported_skill_path,
        "exportedAt": time_of(details.exported_at),
        "supersededByMemoryId": details.superseded_by_memory_id,
    }


def skill(found: Listed) -> dict[str, Any]:
    fields = as_dict(found.entry)
    return _camel_keys({k: time_of(v) if isinstance(v, datetime) else v for k, v in fields.items()})


def brief(found: CoreMemory | None) -> dict[str, Any]:
    """Return version, time and the five fields; without a brief, empty ones."""
    values = {each.key: getattr(found, each.name, () if each.is_list else "") for each in FIELDS}
    texts = {key: list(v) if isinstance(v, tuple) else v for key, v in values.items()}
    moment = found.updated_at if found else None
    return {"version": found.version if found else 0, "updatedAt": time_of(moment), **texts}


def run(kind: str, runtime: Runtime, row: Mapping[str, Any]) -> dict[str, Any]:
    """Return the log row of a sweep or a consolidation."""
    counts = {ade: row["counts"][ours] for ours, ade in COUNTS[kind].items()}
    fields = {
        f"{kind}_id": row["id"],
        "project_id": runtime.store.project_id,
        "trigger_reason": row["trigger_reason"],
        "started_at": row["started_at"],
        "completed_at": row["completed_at"],
        **counts,
        **({"tokens_used": row["tokens_used"]} if kind == "consolidation" else {}),
        "duration_ms": row["duration_ms"],
    }
    if kind == "sweep":
        fields["half_life_days"] = runtime.settings.lifecycle.half_life_days
    return _camel_keys(fields)


def event(kind: str, runtime: Runtime, row: Mapping[str, Any]) -> dict[str, Any]:
    """Return the row as an event, whose `type` tells whether the run ended."""
    ending = {"running": "started", "failed": "failed"}.get(row["outcome"], "completed")
    error = {"error": row["error"]} if row["error"] else {}
    return {"type": f"memory-{kind}-{ending}", **run(kind, runtime, row), **error}


def camel(value: Any) -> Any:
    """Rename the keys of objects, and of those in them, from snake_case to camelCase."""
    if isinstance(value, Mapping):
        return _camel_keys(value)
    return [camel(each) for each in value] if isinstance(value, list) else value


def _camel_keys(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {_camel_case(name): camel(each) for name, each in fields.items()}


def _camel_case(name: str) -> str:
    first, *others = name.split("_")
    return first + "".join(map(str.capitalize, others))


def time_of(moment: datetime | None) -> str | None:
    return stamp(moment) if moment else None
