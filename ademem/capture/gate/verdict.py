"""What the rules hand to each other, and what they decide."""

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

    class Shelf(Protocol):
        """What a rule may ask about the live memories of the draft's scope and owner."""

        def by_topic(self, draft: Reviewed) -> Memory | None: ...

        def by_key(self, draft: Reviewed) -> Memory | None: ...

        def exact(self, draft: Reviewed) -> Memory | None: ...

        def shown(self, draft: Reviewed) -> Sequence[Memory]:
            """What the draft's session was shown, whoever it belongs to."""
            ...

        def near(self, draft: Reviewed, least: float = 0.0) -> Sequence[Memory]:
            """Those that may say almost the same; quarantined ones are left out.

            Also left out may be any that share less than *least* of the words.
            """
            ...

        def rejected(self, draft: Reviewed) -> Sequence[Memory]:
            """Archived candidates of its scope and owner that were refused and may say the same."""
            ...


class Gate(Value):
    """What a rule may look at beside the draft."""

    shelf: Shelf
    settings: GateSettings
    now: datetime


class Reviewed(Draft):
    """A draft on its way along the rules."""

    notes: tuple[str, ...] = ()
    """What the writer should know, in the order it came up."""
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
    """A memory of its own."""


class Merge(_Decided):
    """It says what a memory says already: one observation more."""

    into: Memory


class Revise(_Decided):
    """It takes the place of what the memory said."""

    memory: Memory


class Reject(_Decided):
    """It is not kept; *why* ends with what to do instead."""


class Step(Value):
    """What one rule did to the draft."""

    rule: str
    outcome: str
    """pass | change | insert | merge | revise | reject."""
    why: str


class Judged(Value):
    rule: str
    """The rule that decided; `insert` when none did."""
    verdict: Verdict
    trail: tuple[tuple[str, Reviewed, Reviewed | Verdict], ...]
    """The rules it passed: name, draft before, draft after or verdict."""
