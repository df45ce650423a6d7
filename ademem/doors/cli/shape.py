"""Results as the JSON that others script against."""

from __future__ import annotations

import os
import sys

from ademem.core import caller, untrusted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from ademem.core.configuration.sources import SettingWarning
    from ademem.core.memory import Memory
    from ademem.search.engine import Hit, Results
    from ademem.store.runtime import Runtime

NOTHING: dict[str, str] = {}

CAME = "came-with-files"
"""The flag of a memory that came with the files and that nobody here accepted."""

WITHHELD = "(withheld until a person approves it)"


def to_model() -> bool:
    """Whether a model reads what we print: this is a shell of a coding agent's client."""
    return bool(caller.client_of(os.environ))


def warn(warnings: Sequence[SettingWarning]) -> None:
    """Tell on standard error what of the settings does not count."""
    if warnings:
        from ademem.core import configuration

        for line in configuration.lines(warnings):
            print(f"ademem: {safe(line)}", file=sys.stderr)


def tell_read_only(runtime: Runtime) -> None:
    """Tell on standard error that a copy is read."""
    if runtime.is_read_only:
        from ademem.worker.read_only import LINE

        print(LINE, file=sys.stderr)


def withheld(memory: Memory) -> bool:
    return memory.quarantine_reason is not None and to_model()


def safe(text: str) -> str:
    """JSON as it may be printed: to a model without anything like a tag."""
    return untrusted.escaped(text, angle="\\u003c") if to_model() else text


def as_json(
    memory: Memory,
    score: float | None = None,
    astray: Mapping[str, str] = NOTHING,
    against: str = "",
) -> dict[str, Any]:
    """The keys others script against; times are ISO-8601 in UTC."""
    held_back = withheld(memory)
    return {
        "id": memory.id,
        "sync_id": memory.sync_id,
        "title": None if held_back else memory.title,
        "content": WITHHELD if held_back else memory.content,
        "category": memory.category,
        "scope": memory.scope,
        "owner": memory.scope_owner_id,
        "status": memory.status,
        "tier": int(memory.tier),
        "pinned": memory.is_pinned,
        "importance": memory.importance,
        "confidence": round(memory.confidence, 4),
        "observation_count": memory.observation_count,
        "score": None if score is None else round(score, 4),
        "tags": list(memory.tags),
        "path": memory.file_scope_pattern,
        "anchors": list(memory.anchors),
        "topic_key": memory.topic_key,
        "key": memory.knowledge_key,
        "bead": memory.bead,
        "source_id": memory.source_id,
        "created_at": memory.created_at.isoformat(),
        "updated_at": memory.updated_at.isoformat(),
        "provenance": {
            "trust": memory.trust,
            "source_type": memory.source_type,
            "session_id": memory.source_session_id,
            "agent_id": memory.agent_id,
            "branch": memory.source_branch,
            "claimed_author": memory.claimed_author,
        },
        "flags": flags(memory, astray, against),
    }


def flags(memory: Memory, astray: Mapping[str, str] = NOTHING, against: str = "") -> list[str]:
    """What a reader has to know before believing it."""
    held = {
        "candidate": memory.status == "candidate",
        "archived": memory.status == "archived",
        "deleted": memory.deleted_at is not None,
        "superseded": memory.superseded_by is not None,
        "quarantined": memory.quarantine_reason is not None,
        CAME: memory.claimed_author is not None,
    }
    code = [f"code-{astray[memory.id]}"] if memory.id in astray else []
    branch = [f"branch-{memory.source_branch}"] if memory.source_branch else []
    other = [f"contradicted-by-{against}"] if against else []
    return [name for name, is_so in held.items() if is_so] + branch + code + other


def results(
    found: Results, *, explain: bool = False, astray: Mapping[str, str] = NOTHING
) -> dict[str, Any]:
    return {
        "query": found.query,
        "mode": found.mode,
        "relaxed": found.relaxed,
        "count": len(found.hits),
        "memories": [_hit_json(hit, explain, astray) for hit in found.hits],
    }


def _hit_json(hit: Hit, explain: bool, astray: Mapping[str, str]) -> dict[str, Any]:
    row = as_json(hit.memory, hit.score, astray, hit.against)
    return row | {"signals": hit.signals} if explain else row
