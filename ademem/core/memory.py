"""Memories, drafts and their origin."""

from __future__ import annotations

from ademem.core.text import is_list_item, with_title
from ademem.core.value import IntEnum, StrEnum, Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
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
        names = SYNONYMS | dict.fromkeys(PERSONAL, "agent")
        return cls(names.get(word, word))

    @classmethod
    def is_mission(cls, text: str) -> bool:
        return text.strip().lower() in (cls.MISSION, "lane")


SYNONYMS = {"user": "agent", "lane": "mission"}
"""Scopes as ADE names them, in one project: "user" is its agent, "lane" its mission."""
PERSONAL = ("personal", "global")
"""Words for the agent scope without an owner: the person's own memories."""
MAIN_AGENT = "main"
"""Owner of what the agent of the main thread keeps for itself in a project."""
SCOPES = ("project", "agent", "mission", "personal")
"""Scopes as people write them; "personal" is the agent scope without an owner."""


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


EVENTS = (Category.EPISODE, Category.PROCEDURE, Category.DIGEST, Category.HANDOFF)
STATEMENTS = frozenset(Category).difference(EVENTS)
LONGEST_STATEMENT = 250
"""Characters above which a text is about several matters."""

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
"""Categories of Engram's other observation types, which become tags."""

SHORT_ID = 6
"""Digits of an id in a command that is offered."""
MAX_TITLED_BYTES = 50_000

MAX_KEY_CHARS = 2000

DIALOGUE = "dialogue"
"""Tag of a turn of a dialogue, whose title is the speaker."""

STOP = "stop"
"""Tag of a memory that stops each call it is about until the turn was shown it."""

RULE, NOTE = "rule", "note"
"""Tags by which a memory binds or does not, whatever its category."""
RULES = frozenset({Category.CONVENTION, Category.DECISION, Category.PREFERENCE})
"""Categories of rules, which may stop a call; others are said beside it."""

SKILL = "skill"
EPISODE = "episode"
PROCEDURE = "procedure"
MERGE = "merge"
"""Source type of a text that lost to another text of its memory."""
STATED = "user"
"""Source type of what a person dictates, or adds by a command."""
HEARD = "intervention"
"""Source type of a rule that a prompt seems to state."""
CLIENT_FILE = "client_file"
"""Source type of what a file of the client's own memory says."""
HIDDEN = (SKILL, EPISODE)
"""Source types that are shown only if their category is asked for."""


class Status(StrEnum):
    CANDIDATE = "candidate"
    PROMOTED = "promoted"
    ARCHIVED = "archived"


class Stage(StrEnum):
    """Trust in a memory; those before CONFIRMED are the steps of a candidate."""

    HEARD = "heard"
    CANDIDATE = "candidate"
    SUPPORTED = "supported"
    CONFIRMED = "confirmed"


STAGE_DAYS = {Stage.HEARD: 14.0, Stage.CANDIDATE: 30.0, Stage.SUPPORTED: 90.0}
"""Days without a change or new evidence after which what an agent wrote, and no person confirmed,
ends if nobody used it; if somebody did, it is shown to who asks alone."""


def stage_of(status: Status, stage: Stage) -> Stage:
    """Return the stage that a memory of this *status* has, which had *stage* before."""
    if status is Status.PROMOTED:
        return Stage.CONFIRMED
    if status is Status.CANDIDATE and stage is Stage.CONFIRMED:
        return Stage.CANDIDATE
    return stage


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
        return {Importance.LOW: 0.3, Importance.MEDIUM: 0.6, Importance.HIGH: 1.0}[self]


class Trust(StrEnum):
    USER = "user"
    AGENT = "agent"
    TOOL = "tool"
    WEB = "web"
    IMPORT = "import"


class Origin(Value):
    trust: Trust = Trust.AGENT
    source_type: str = "agent"
    source_id: str | None = None
    session_id: str | None = None
    run_id: str | None = None
    agent_id: str | None = None
    branch: str | None = None
    claimed_author: str | None = None
    """Author that imported files claim; empty if they name none, None for a text of this clone."""


class Draft(Value):
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
    anchors: tuple[str, ...] = ()
    pinned: bool = False
    promoted: bool = False
    """Confirmed by a trusted caller, without a candidate stage."""
    strict: bool = False
    bead: str | None = None
    knowledge_key: str | None = None
    created_at: datetime | None = None
    evidence: str | None = None
    """The sentence that states the text; the history keeps it."""
    stage: Stage = Stage.CANDIDATE
    origin: Origin = Origin()

    @property
    def whole_text(self) -> str:
        return with_title(self.title, self.content)


LOST_BRANCH = "its branch was deleted before it was merged"
UNSEEN_BRANCH = "waits on a branch that was not fetched here"


class Memory(Value):
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
    """The mark itself, which for imported memories does not count: see `is_pinned`."""
    claimed_author: str | None = None
    tags: tuple[str, ...] = ()
    access_score: float = 0.0
    base_score: float | None = None
    superseded_by: str | None = None
    created_at: datetime
    updated_at: datetime
    last_accessed_at: datetime
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
    dedupe_key: str
    promoted_at: datetime | None = None
    rejected_at: datetime | None = None
    review_after: datetime | None = None
    deleted_at: datetime | None = None
    kept_of: str | None = None
    """Id of the memory that this person stated so and another person changed."""
    stage: Stage = Stage.CANDIDATE

    @property
    def whole_text(self) -> str:
        return with_title(self.title, self.content)

    @property
    def used(self) -> float:
        return self.access_score if self.base_score is None else self.base_score

    @property
    def is_pinned(self) -> bool:
        return self.pinned and self.claimed_author is None

    @property
    def source(self) -> str:
        """The way it came: the source type, with the file that the client keeps."""
        is_file = self.source_type == CLIENT_FILE and self.source_id
        return f"{self.source_type} {self.source_id}" if is_file else self.source_type

    @property
    def sender(self) -> str:
        """Its trust and the way it came, no word twice: `agent by orchestrator`, `user`."""
        return self.source if self.source == self.trust else f"{self.trust} by {self.source}"

    @property
    def speaker(self) -> str | None:
        return self.title if DIALOGUE in self.tags else None

    @property
    def is_personal(self) -> bool:
        return self.scope is Scope.AGENT and self.scope_owner_id is None

    @property
    def shown_scope(self) -> str:
        return "personal" if self.is_personal else self.scope.value

    @property
    def live(self) -> bool:
        return self.status is not Status.ARCHIVED and not self.deleted_at and not self.superseded_by

    @property
    def hidden(self) -> bool:
        return self.source_type in HIDDEN

    @property
    def is_heard(self) -> bool:
        """True if a prompt seems to state it and no person confirmed it: it is for review alone."""
        return self.stage is Stage.HEARD and self.status is not Status.PROMOTED

    @property
    def has_lost_branch(self) -> bool:
        return self.write_gate_reason == LOST_BRANCH and self.status is Status.CANDIDATE

    @property
    def has_unseen_branch(self) -> bool:
        return self.write_gate_reason == UNSEEN_BRANCH and self.source_branch is not None

    @property
    def is_statement(self) -> bool:
        """True for one statement that may be shown; a text that lost a merge waits for a person."""
        return (
            self.live
            and not self.quarantine_reason
            and not self.hidden
            and self.category in STATEMENTS
            and DIALOGUE not in self.tags
            and not (self.source_type == MERGE and self.status is Status.CANDIDATE)
            and len(self.whole_text) <= LONGEST_STATEMENT
            and sum(map(is_list_item, self.whole_text.splitlines())) < 2
        )

    @property
    def stays_here(self) -> bool:
        """True for what agents wrote here and no person confirmed: it stays on this machine."""
        was_confirmed = self.status is Status.PROMOTED or self.promoted_at is not None
        is_of_agent = self.trust not in (Trust.USER, Trust.IMPORT) and self.source_type != MERGE
        return is_of_agent and self.claimed_author is None and not was_confirmed

    @property
    def shareable(self) -> bool:
        """True if it may leave the database for a tracked file, an export or a queue."""
        held_back = self.quarantine_reason or self.hidden or self.stays_here or self.kept_of
        return self.live and self.scope is Scope.PROJECT and not held_back


def is_rule(memory: Memory) -> bool:
    """Tell whether a memory binds: by its mark, else by its category; no wording decides."""
    if {STOP, RULE}.intersection(memory.tags):
        return True
    return NOTE not in memory.tags and memory.category in RULES


def are_about_one_place(one: Memory, other: Memory) -> bool:
    files = one.file_scope_pattern, other.file_scope_pattern
    return (
        one.id != other.id
        and one.is_statement
        and other.is_statement
        and (one.scope, one.scope_owner_id) == (other.scope, other.scope_owner_id)
        and one.source_branch == other.source_branch
        and (None in files or files[0] == files[1])
    )


ACCESS_GAIN = 0.1


def decayed(score: float, *, idle_days: float, half_life_days: float) -> float:
    left: float = 2.0 ** (-max(0.0, idle_days) / half_life_days)  # `math` is a file to load
    return score * left


def accessed(score: float) -> float:
    return min(1.0, score + ACCESS_GAIN)


FROM_HUB = "hub:"
"""Beginning of a claimed author whose memory came from the hub; no name has a colon."""


def claimed_name(author: str) -> str:
    return author.removeprefix(FROM_HUB)


def without_name(author: str) -> str:
    """Return a claimed author without the name, and with the way that the memory came."""
    return author[: len(author) - len(claimed_name(author))]


CAME_WITH_FILES, CAME_FROM_HUB = "came-with-files", "came-from-hub"
"""Flags of a memory that came from elsewhere and was not accepted here."""


def flags(memory: Memory, drifted: Mapping[str, str] | None = None, against: str = "") -> list[str]:
    return [*_states(memory, against), *_notes(memory, drifted or {}, against)]


def _states(memory: Memory, against: str) -> list[str]:
    from_hub = (memory.claimed_author or "").startswith(FROM_HUB)
    held = {
        "candidate": memory.status == "candidate",
        "archived": memory.status == "archived",
        "deleted": memory.deleted_at is not None,
        "superseded": memory.superseded_by is not None and not against,
        "quarantined": memory.quarantine_reason is not None,
        "kept-copy": memory.kept_of is not None,
        CAME_WITH_FILES: memory.claimed_author is not None and not from_hub,
        CAME_FROM_HUB: from_hub,
    }
    return [name for name, is_so in held.items() if is_so]


def _notes(memory: Memory, drifted: Mapping[str, str], against: str) -> Iterator[str]:
    """Yield the branch, what became of its code, what it contradicts, and its file."""
    if memory.source_branch:
        yield f"branch-{memory.source_branch}"
    if memory.id in drifted:
        yield f"code-{drifted[memory.id]}"
    if against:
        yield against
    if memory.source_type == CLIENT_FILE and memory.status == "candidate":
        yield memory.source.replace(" ", "-")
