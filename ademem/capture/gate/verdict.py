"""Values that the rules of the gate take and return."""

from __future__ import annotations

from ademem.core.memory import Draft, Trust
from ademem.core.text import dedupe_key
from ademem.core.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime
    from typing import Protocol, TypeAlias

    from ademem.core.memory import Memory
    from ademem.core.settings import GateSettings

    Verdict: TypeAlias = "Insert | Merge | Revise | Reject"
    Rule = Callable[["Reviewed", "Gate"], "Reviewed | Verdict"]

    class Lookup(Protocol):
        """Queries for live memories of the draft's scope and owner."""

        def by_topic(self, draft: Reviewed) -> Memory | None: ...

        def by_key(self, draft: Reviewed) -> Memory | None: ...

        def exact(self, draft: Reviewed) -> Memory | None: ...

        def shown(self, draft: Reviewed) -> Sequence[Memory]:
            """Memories that the draft's session was shown, of any owner."""
            ...

        def near(self, draft: Reviewed, least: float = 0.0) -> Sequence[Memory]:
            """Memories that may be nearly the same, without quarantined ones.

            Any that share less than *least* of the words may be left out, too.
            """
            ...

        def rejected(self, draft: Reviewed) -> Sequence[Memory]:
            """Rejected candidates that may be nearly the same."""
            ...


class Gate(Value):
    lookup: Lookup
    settings: GateSettings
    now: datetime


class Reviewed(Draft):
    """A draft between two rules."""

    notes: tuple[str, ...] = ()
    """Notes for the writer, in order."""
    quarantine_reason: str | None = None

    @property
    def by_person(self) -> bool:
        return self.origin.trust is Trust.USER

    @property
    def trusted(self) -> bool:
        return self.origin.trust in (Trust.USER, Trust.AGENT)

    @property
    def dedupe_key(self) -> str:
        return dedupe_key(self.content, self.topic_key)


class _Decided(Value):
    draft: Reviewed
    why: str


class Insert(_Decided):
    """Write a new memory."""


class Merge(_Decided):
    """Count one more observation of a memory that says the same."""

    into: Memory


class Revise(_Decided):
    """Replace the text of a memory."""

    memory: Memory


class Reject(_Decided):
    """Write nothing; *why* ends with the next step."""


class Step(Value):
    """The effect of one rule on the draft."""

    rule: str
    outcome: str
    """pass | change | insert | merge | revise | reject."""
    why: str


class Ruling(Value):
    rule: str
    """The rule that decided; `insert` if none did."""
    verdict: Verdict
    trail: tuple[tuple[str, Reviewed, Reviewed | Verdict], ...]
    """For each rule: name, draft before, and draft after or verdict."""
