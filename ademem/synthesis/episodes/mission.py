"""The episode of a whole mission: what its sessions did, and how it ended."""

from __future__ import annotations

from ademem.capture.gate.persistence import least_trusted
from ademem.core.memory import Category
from ademem.core.text import unique
from ademem.store import episodes, memories, missions
from ademem.store.episodes import SESSION, Action, Episode
from ademem.synthesis.episodes import description, job
from ademem.synthesis.episodes.gathering import FILES, ITEMS, TESTS
from ademem.synthesis.lifecycle.missions import entries

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from ademem.core.memory import Memory
    from ademem.store.missions import Mission
    from ademem.store.runtime import Runtime

OUTCOMES = {"succeeded": "succeeded", "failed": "failed", "cancelled": "unknown"}
"""What an episode calls the end of a mission."""
CANCELLED = "cancelled"


def build(id: str, runtime: Runtime, now: datetime) -> Episode | None:
    """Make or renew it; None while the mission runs, or when there is nothing to tell.

    It is the project's, as what a mission leaves behind; of a cancelled one it stays the mission's.
    What a person took out of memory stays away.
    """
    store = runtime.store
    mission = missions.get(store, id)
    if mission is None or mission.status == missions.RUNNING:
        return None
    known = episodes.of_session(store, "", id)
    if known and not memories.get(store, known.memory_id).live:
        return None
    parts = [each for each in episodes.listed(store, mission_id=id) if each.session_id][::-1]
    own = [memory for memory in entries(store, id) if not memory.quarantine_reason]
    made = _episode(mission, parts, own)
    if known and _same(known, made):
        return known
    if not own:
        return None
    said = [memory.content for memory in own if memory.category is not Category.EPISODE]
    told = job.told(made, description.of_parts(parts, said), runtime)
    trust = least_trusted(memory.trust for memory in own)
    home = id if mission.status == CANCELLED else ""
    return job.keep(told, trust, home, runtime, now)


def _episode(mission: Mission, parts: Sequence[Episode], own: Sequence[Memory]) -> Episode:
    """The newest of each kind, as of one session that did it all."""
    decided = [memory.content for memory in own if memory.category is Category.DECISION]
    failed = [mission.reason] if mission.reason and mission.status != "succeeded" else []
    return Episode(
        memory_id="",
        session_id="",
        mission_id=mission.id,
        task=mission.goal or next((part.task for part in parts), mission.id),
        outcome=OUTCOMES[mission.status],
        started_at=min([mission.started_at, *(part.started_at for part in parts)]),
        ended_at=max([mission.ended_at or "", *(part.ended_at for part in parts)]),
        actions=tuple(
            Action(tool=SESSION, target=f"{part.task} ({part.outcome})", kind="delegate")
            for part in parts
        ),
        files=unique(path for part in parts for path in part.files)[-FILES:],
        tests=tuple(run for part in parts for run in part.tests)[-TESTS:],
        errors=unique([*(error for part in parts for error in part.errors), *failed])[-ITEMS:],
        decisions=unique([*(said for part in parts for said in part.decisions), *decided])[-ITEMS:],
        corrections=unique(said for part in parts for said in part.corrections)[-ITEMS:],
        transcript_offset=sum(part.transcript_offset for part in parts),
    )


def _same(known: Episode, made: Episode) -> bool:
    """Whether it would be told of the same conversations and the same end."""
    telling_ = ("transcript_offset", "ended_at", "actions")
    same_end = known.outcome == made.outcome or made.outcome == "unknown"
    return same_end and all(getattr(known, name) == getattr(made, name) for name in telling_)
