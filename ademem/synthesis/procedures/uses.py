"""How uses of a procedure ended: confidence, counts and history say the same."""

from __future__ import annotations

from ademem.core.errors import UsageError
from ademem.core.memory import Status, Tier
from ademem.core.value import replace
from ademem.store import jobs, memories
from ademem.store import procedures as table
from ademem.store.memories import new_event
from ademem.store.transitions import CannotDo
from ademem.synthesis.procedures import confidence as belief
from ademem.synthesis.procedures import rows

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import datetime
    from typing import Any

    from ademem.core.memory import Memory
    from ademem.core.settings import ProcedureSettings
    from ademem.store import Store
    from ademem.store.procedures import Details
    from ademem.store.transitions import Act
    from ademem.synthesis.procedures.rows import Procedure


def record(
    procedure: Procedure,
    outcome: str,
    reason: str,
    store: Store,
    settings: ProcedureSettings,
    now: datetime,
    *,
    actor: str = rows.ACTOR,
) -> Procedure:
    """One more use, in one transaction; nothing is done to what is gone.

    What has worked often enough is promoted, what has failed often enough archived; a pinned one
    is left where it is.
    """
    with store.transaction():
        procedure = rows.get(store, procedure.id)
        memory, details = procedure.memory, procedure.details
        if not memory.live:
            return procedure
        confidence = belief.after(memory.confidence, outcome, settings)
        won = outcome == belief.SUCCESS
        details = replace(
            details,
            success_count=details.success_count + won,
            failure_count=details.failure_count + (not won),
            last_used_at=now,
            updated_at=now,
        )
        moved = _moved(memory, details, confidence, settings, now, won=won)
        changed = replace(memory, confidence=confidence, **moved)
        change = replace(rows.change_of(outcome, reason, now, actor), event_id=new_event())
        table.put(store, details)
        table.record(store, memory.id, confidence, outcome, reason, now, event=change.event_id)
        memory = memories.update(store, changed, change)
        jobs.follow(store, now)
    return rows.Procedure(memory=memory, details=details)


def told(
    procedure: Procedure, outcome: str, reason: str, act: Act, settings: ProcedureSettings
) -> Procedure:
    """An outcome that somebody reports. Raises CannotDo, or UsageError for what is no outcome."""
    if outcome not in belief.OUTCOMES:
        raise UsageError(f"no outcome {outcome!r}", " or ".join(belief.OUTCOMES))
    if not procedure.memory.live:
        raise CannotDo(f"{procedure.id} is not current", "`ademem procedures list` shows what is")
    reason = reason or f"reported by {act.actor}"
    return record(procedure, outcome, reason, act.store, settings, act.now, actor=act.actor)


def _moved(
    memory: Memory,
    details: Details,
    confidence: float,
    settings: ProcedureSettings,
    now: datetime,
    *,
    won: bool,
) -> dict[str, Any]:
    """The fields that follow from a belief that is sustained, or refuted."""
    if memory.pinned or memory.quarantine_reason:
        return {}
    total = details.success_count + details.failure_count
    if won and belief.is_sustained(confidence, details.success_count, settings):
        if memory.status is Status.PROMOTED:
            return {}
        return {"status": Status.PROMOTED, "tier": Tier.ACTIVE, "promoted_at": now}
    if not won and belief.is_refuted(confidence, total, settings):
        return {"status": Status.ARCHIVED, "tier": Tier.FADING}
    return {}
