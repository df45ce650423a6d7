"""The text of a memory that gets a vector."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ademem.core.memory import Memory


def embedded_text(memory: Memory) -> str:
    """What the model reads; the stored vector is of exactly this.

    A name before a colon is read as a heading, a name who said something as a person.
    """
    if memory.speaker:
        return f'{memory.speaker} said, "{memory.content}"'
    return f"{memory.title}\n{memory.content}" if memory.title else memory.content
