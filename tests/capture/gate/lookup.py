"""A shelf that is a list, and the gate in front of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ademem.capture.gate import Gate, judge
from ademem.capture.gate.form import Reviewed
from ademem.core.memory import Draft, Trust
from ademem.core.settings import GateSettings
from ademem.core.value import as_dict
from ademem.guard.injection import instruction_in_titled
from tests.builders import NOW

if TYPE_CHECKING:
    from ademem.capture.gate.form import Ruling
    from ademem.core.memory import Memory

SETTINGS = GateSettings()
SHOWN_TO = "shown"
"""The session that has seen everything on the shelf."""


class ListShelf:
    """Every memory given is a live one of the draft's scope and owner."""

    def __init__(self, *memories: Memory) -> None:
        self.memories = memories

    def same(self, draft: Reviewed, key: str = "dedupe_key") -> Memory | None:
        value = getattr(draft, key)
        return next((found for found in self.memories if getattr(found, key) == value), None)

    def is_of_person(self, memory: Memory) -> bool:
        return memory.trust is Trust.USER  # tests/operations/test_restraint.py asks a real store

    def shown(self, draft: Reviewed) -> tuple[Memory, ...]:
        return self.memories if draft.origin.session_id == SHOWN_TO else ()

    def near(self, draft: Reviewed) -> tuple[Memory, ...]:
        return tuple(memory for memory in self.memories if not memory.quarantine_reason)

    def find_instruction(self, draft: Reviewed) -> str | None:
        return instruction_in_titled(draft.title, draft.content)

    def previous_text(self, draft: Reviewed) -> str:
        return ""  # tests/test_quarantine.py asks a real store

    def rejected(self, draft: Reviewed) -> tuple[Memory, ...]:
        return ()  # tests/capture/gate/test_rejected.py asks a real store


def gate(*memories: Memory) -> Gate:
    return Gate(lookup=ListShelf(*memories), settings=SETTINGS, now=NOW)


def judged(draft: Draft, *memories: Memory) -> Ruling:
    return judge(draft, gate(*memories))


def reviewed(content: str = "WAL needs shared memory", **fields: object) -> Reviewed:
    """The draft as the rules see it."""
    return Reviewed(**as_dict(Draft(content=content)) | fields)
