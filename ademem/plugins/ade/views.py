"""Results as JSON values with ADE's names."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any

from ademem.core.clock import stamp
from ademem.core.memory import Memory, flags
from ademem.core.value import as_dict
from ademem.doors import calls
from ademem.files.project_brief import FIELDS, CoreMemory
from ademem.operations import inspecting
from ademem.plugins.procedures import operations

if TYPE_CHECKING:
    from ademem.plugins.procedures.records import Procedure
    from ademem.plugins.procedures.skill_registry import Listed
    from ademem.store.runtime import Runtime

SWEPT = ("decayed", "demoted", "promoted", "archived", "orphaned")
COUNTS = {
    "sweep": {name: f"entries_{name}" for name in SWEPT},
    "consolidation": {
        "found": "clusters_found",
        "merged": "entries_merged",
        "created": "entries_created",
    },
}
_ENTRY = """
    id:string scope:string scope_owner_id:string? tier:integer pinned:boolean category:string
    content:string importance:string created_at:string updated_at:string last_accessed_at:string
    access_count:integer observation_count:integer status:string confidence:number embedded:boolean
    source_run_id:string? source_type:string source_id:string? file_scope_pattern:string?
    sync_id:string title:string? tags:array topic_key:string? trust:string flags:array score:number?
"""
"""Names and types of the values of `Entry`: arrays are of texts, `?` marks what may be null."""
_TYPES = dict(word.split(":") for word in _ENTRY.split())


def entries(
    runtime: Runtime, memories: Iterable[Memory], scores: Mapping[str, float] | None = None
) -> list[dict[str, Any]]:
    """Return memories that may be shown, as `Entry`."""
    shown = list(filter(calls.is_shown, memories))
    embedded = inspecting.list_embedded(runtime, [memory.id for memory in shown])
    return [_entry(memory, embedded, scores or {}) for memory in shown]


def entry(runtime: Runtime, memory: Memory) -> dict[str, Any] | None:
    return next(iter(entries(runtime, [memory])), None)


def _entry(
    memory: Memory, embedded: Collection[str], scores: Mapping[str, float]
) -> dict[str, Any]:
    score = scores.get(memory.id)
    values = as_dict(memory) | {
        "tier": int(memory.tier),
        "pinned": memory.is_pinned,
        "confidence": round(memory.confidence, 4),
        "embedded": memory.id in embedded,
        "tags": list(memory.tags),
        "flags": flags(memory),
        "score": None if score is None else round(score, 4),
    }
    times = ("created_at", "updated_at", "last_accessed_at")
    values |= {name: time_of(getattr(memory, name)) for name in times}
    return {camel_case(name): values[name] for name in _TYPES}


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
            "sourceEpisodeIds": operations.get_procedure_history(runtime, found.id)["sources"],
            "lastUsed": time_of(details.last_used_at),
            "createdAt": time_of(details.created_at),
        },
        "exportedSkillPath": details.exported_skill_path,
        "exportedAt": time_of(details.exported_at),
        "supersededByMemoryId": details.superseded_by_memory_id,
    }


def skill(found: Listed) -> Any:
    fields = as_dict(found.entry)
    return camel({k: time_of(v) if isinstance(v, datetime) else v for k, v in fields.items()})


def brief(found: CoreMemory | None) -> dict[str, Any]:
    """Return version, time and the five fields; without a brief, empty ones."""
    values = {each.key: getattr(found, each.name, () if each.is_list else "") for each in FIELDS}
    texts = {key: list(v) if isinstance(v, tuple) else v for key, v in values.items()}
    moment = found.updated_at if found else None
    return {"version": found.version if found else 0, "updatedAt": time_of(moment), **texts}


def run(kind: str, runtime: Runtime, row: Mapping[str, Any]) -> Any:
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
    return camel(fields)


def event(kind: str, runtime: Runtime, row: Mapping[str, Any]) -> dict[str, Any]:
    ending = {"running": "started", "failed": "failed"}.get(row["outcome"], "completed")
    error = {"error": row["error"]} if row["error"] else {}
    return {"type": f"memory-{kind}-{ending}", **run(kind, runtime, row), **error}


def camel(value: Any) -> Any:
    """Rename the keys of objects, and of those in them, from snake_case to camelCase."""
    if isinstance(value, Mapping):
        return {camel_case(name): camel(each) for name, each in value.items()}
    return [camel(each) for each in value] if isinstance(value, list) else value


def camel_case(name: str) -> str:
    first, *others = name.split("_")
    return first + "".join(map(str.capitalize, others))


def time_of(moment: datetime | None) -> str | None:
    return stamp(moment) if moment else None


def _schema(kind: str) -> dict[str, Any]:
    if kind == "array":
        return {"type": kind, "items": {"type": "string"}}
    return {"type": [kind[:-1], "null"] if kind.endswith("?") else kind}


ENTRY_SCHEMA = {
    "type": "object",
    "properties": {camel_case(name): _schema(kind) for name, kind in _TYPES.items()},
}
