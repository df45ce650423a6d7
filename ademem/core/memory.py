"""The words everybody uses: what a memory is, and what may become one."""

from __future__ import annotations

import math
from enum import IntEnum, StrEnum

from ademem.core.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import datetime
    from typing import Self


class Scope(StrEnum):
    PROJECT = "project"
    AGENT = "agent"
    MISSION = "mission"

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read a scope as people write it: "user" and "personal" are an agent, "lane" a mission."""
        word = text.strip().lower()
        return cls({"user": "agent", "personal": "agent", "lane": "mission"}.get(word, word))

    @classmethod
    def is_mission(cls, text: str) -> bool:
        """Whether a mission is meant; of any other word it is not said that it is a scope."""
        return text.strip().lower() in (cls.MISSION, "lane")


class Category(StrEnum):
    FACT = "fact"
    PREFERENCE = "preference"
    PATTERN = "pattern"
    DECISION = "decision"
    GOTCHA = "gotcha"
    CONVENTION = "convention"
    EPISODE = "episode"
    PROCEDURE = "procedure"
    DIGEST = "digest"
    HANDOFF = "handoff"


TYPES = {
    "architecture": Category.DECISION,
    "bugfix": Category.GOTCHA,
    "bug": Category.GOTCHA,
    "discovery": Category.FACT,
    "learning": Category.FACT,
    "config": Category.CONVENTION,
    "policy": Category.CONVENTION,
    "session_summary": Category.HANDOFF,
}
"""Engram's observation types that are not categories by name; the type is kept as a tag."""


MAX_TITLED_BYTES = 50_000
"""Longest text of a memory with a title, in UTF-8 bytes."""

DIALOGUE = "dialogue"
"""The tag of a turn of a dialogue; its title is who said it."""


SKILL = "skill"
"""The source type of a memory that stands for a skill file, which is where people read it."""
EPISODE = "episode"
"""The source type of a memory that tells what a session did."""
PROCEDURE = "procedure"
"""The source type of what was learned from the steps of sessions."""
HIDDEN = (SKILL, EPISODE)
"""Source types of memories that are shown to those alone who ask for their category."""


class Status(StrEnum):
    CANDIDATE = "candidate"
    PROMOTED = "promoted"
    ARCHIVED = "archived"


class Tier(IntEnum):
    PINNED = 1
    ACTIVE = 2
    FADING = 3


class Importance(StrEnum):
    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"

    @property
    def weight(self) -> float:
        return _WEIGHTS[self]


_WEIGHTS = {Importance.LOW: 0.3, Importance.MEDIUM: 0.6, Importance.HIGH: 1.0}


class Trust(StrEnum):
    """Where a text came from, which decides how far it is believed."""

    USER = "user"
    AGENT = "agent"
    TOOL = "tool"
    WEB = "web"
    IMPORT = "import"


class Origin(Value):
    """Who says so, and in which session."""

    trust: Trust = Trust.AGENT
    source_type: str = "agent"
    """agent | system | user | mission_promotion | consolidation | learned | passive | …"""
    source_id: str | None = None
    session_id: str | None = None
    run_id: str | None = None
    agent_id: str | None = None
    branch: str | None = None
    claimed_author: str | None = None
    """Who wrote it, as the files claim that it came with; empty: they name nobody."""


class Draft(Value):
    """A text on its way through the gate."""

    content: str
    category: str = Category.FACT
    scope: str = Scope.PROJECT
    owner: str | None = None
    importance: str = Importance.MEDIUM
    confidence: float | None = None
    title: str | None = None
    topic_key: str | None = None
    tags: tuple[str, ...] = ()
    path: str | None = None
    """Glob of the files the memory is about."""
    anchors: tuple[str, ...] = ()
    """`path:first-last@hash`, places in the code the memory speaks of; `$ words`, commands."""
    pinned: bool = False
    promoted: bool = False
    """A trusted caller vouches for it: no candidate stage."""
    strict: bool = False
    bead: str | None = None
    knowledge_key: str | None = None
    created_at: datetime | None = None
    """When it was learned, if earlier than now (imports)."""
    origin: Origin = Origin()


LOST_BRANCH = "its branch was deleted before it was merged"
"""The reason that makes a candidate of a memory whose line never reached the default branch."""


class Entry(Value):
    """What of a memory decides its place among others: a search reads fifty and shows ten."""

    seq: int = 0
    id: str
    tier: Tier
    title: str | None = None
    content: str
    importance: Importance
    confidence: float
    status: Status
    trust: Trust
    source_type: str
    source_branch: str | None = None
    anchors: tuple[str, ...] = ()
    pinned: bool = False
    """As it was marked: `is_pinned` tells whether this person, or somebody trusted, did so."""
    claimed_author: str | None = None
    """Of what came with the files and was not accepted here: who the files claim wrote it."""
    tags: tuple[str, ...] = ()
    access_score: float = 0.0
    base_score: float | None = None
    """The access score at the last access, when a sweep has decayed it since."""
    created_at: datetime
    updated_at: datetime
    last_accessed_at: datetime

    @property
    def used(self) -> float:
        """The access score at the last access, from which it decays."""
        return self.access_score if self.base_score is None else self.base_score

    @property
    def is_pinned(self) -> bool:
        return self.pinned and self.claimed_author is None

    @property
    def speaker(self) -> str | None:
        """Who said it, of a turn of a dialogue."""
        return self.title if DIALOGUE in self.tags else None


class Memory(Entry):
    """One row of `unified_memories`."""

    sync_id: str
    project_id: str
    scope: Scope
    scope_owner_id: str | None = None
    category: Category
    observation_count: int = 1
    source_id: str | None = None
    source_session_id: str | None = None
    source_pack_key: str | None = None
    source_run_id: str | None = None
    file_scope_pattern: str | None = None
    agent_id: str | None = None
    topic_key: str | None = None
    knowledge_key: str | None = None
    bead: str | None = None
    revision_count: int = 1
    composite_score: float = 0.0
    access_count: int = 0
    write_gate_reason: str | None = None
    quarantine_reason: str | None = None
    superseded_by: str | None = None
    dedupe_key: str
    promoted_at: datetime | None = None
    rejected_at: datetime | None = None
    """When somebody refused it; no machine brings it back while it is archived."""
    review_after: datetime | None = None
    deleted_at: datetime | None = None

    @property
    def live(self) -> bool:
        return self.status is not Status.ARCHIVED and not self.deleted_at and not self.superseded_by

    @property
    def hidden(self) -> bool:
        """Shown to those alone who ask for its category: others read a file, or what it taught."""
        return self.source_type in HIDDEN

    @property
    def has_lost_branch(self) -> bool:
        """Whether only a person can tell what it is still worth."""
        return self.write_gate_reason == LOST_BRANCH and self.status is Status.CANDIDATE

    @property
    def shareable(self) -> bool:
        """May leave the database for a tracked file, export or queue; promise 3 rests on this."""
        held_back = self.quarantine_reason or self.hidden
        return self.live and self.scope is Scope.PROJECT and not held_back


ACCESS_GAIN = 0.1
"""Growth of the access score, which is at most 1, with each access."""


def decayed(score: float, *, idle_days: float, half_life_days: float) -> float:
    """Return what is left of a stored score after so many days without access."""
    return score * math.exp2(-max(0.0, idle_days) / half_life_days)


def accessed(score: float) -> float:
    """Return the score after one more access."""
    return min(1.0, score + ACCESS_GAIN)


def combined_confidence(confidence: float, witnesses: int) -> float:
    """Return the probability that not all of several independent sources err."""
    return float(1 - (1 - confidence) ** max(1, witnesses))
