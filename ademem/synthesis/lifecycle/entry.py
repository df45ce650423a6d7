"""What a sweep sees of a memory: little enough that a million of them fit into memory."""

from __future__ import annotations

from typing import NamedTuple

from ademem.core.memory import Category, Status, Tier

EVERGREEN = (Category.PREFERENCE, Category.CONVENTION)
"""What does not get old by not being asked for, once it is confirmed."""

PROMOTE, REVIVE, DEMOTE, ARCHIVE = "promote", "revive", "demote", "archive"
"""What a sweep does to a memory; the operations of its revisions."""


class Entry(NamedTuple):
    """One live memory at the moment of a sweep, and what the passes have made of it so far."""

    seq: int
    id: str
    scope: str
    owner: str | None
    category: str
    status: str
    tier: int
    pinned: bool
    quarantined: bool
    weight: float
    """Of its importance."""
    confidence: float
    base: float
    """The access score at the last access."""
    access_score: float
    access_count: int
    origins: int
    """How many sessions, or other sources, said it."""
    witnesses: int
    """How many of these were a person's or an agent's own words."""
    idle_days: float
    contradicted: bool
    """A later memory says otherwise, and nobody settled it."""
    used_since_faded: bool
    """It was demoted by a sweep and accessed after that."""
    in_live_mission: bool
    of_ended_mission: bool
    revision: int
    created_at: str
    last_accessed_at: str
    act: str = ""
    """The last thing that was done to it; empty: nothing."""
    why: str = ""

    @property
    def exempt(self) -> bool:
        """Whether a sweep leaves it alone, whatever happens."""
        return self.pinned or self.tier == Tier.PINNED or self.in_live_mission

    @property
    def ages(self) -> bool:
        is_evergreen = self.category in EVERGREEN and self.status == Status.PROMOTED
        return not (self.exempt or is_evergreen)

    @property
    def gone(self) -> bool:
        return self.status == Status.ARCHIVED


def moved(entry: Entry, act: str, why: str, *, tier: Tier, status: Status | None = None) -> Entry:
    """The entry after an act; what was done to it before stays in the reason."""
    return entry._replace(
        act=act,
        why=f"{entry.why}; then {why}" if entry.why else why,
        tier=int(tier),
        status=status.value if status else entry.status,
    )
