"""Add what a person said again, by their word."""

from __future__ import annotations

from ademem.core.memory import Draft
from ademem.operations import writing

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ademem.capture.gate import Written
    from ademem.store.runtime import Runtime


def add(sentence: str, runtime: Runtime) -> Written:
    """Write a sentence as its person typed it, through the gate."""
    from ademem.capture.record import category_of

    draft = Draft(content=sentence, category=category_of(sentence), origin=writing.origin(runtime))
    return writing.write(runtime, draft)
