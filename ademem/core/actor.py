"""Who acts: a person, an agent, or neither; `who` finds it out."""

from __future__ import annotations

from ademem.core.value import StrEnum, Value


class By(StrEnum):
    PERSON = "person"
    AGENT = "agent"
    UNKNOWN = "unknown"


class Who(Value):
    by: By
    why: str
    """The reason, as it stands behind "this is a person's because …"."""
    is_proven: bool = True
    """False for an event of a hook that no client is known to have sent."""
    where: str = ""
    """The program in which a person typed a command."""

    @property
    def is_person(self) -> bool:
        return self.by is By.PERSON


NOT_ASKED = Who(by=By.UNKNOWN, why="the door did not ask", is_proven=False)
CALLED_BY_MODEL = Who(by=By.AGENT, why="a model calls it")
OTHER_CLIENT = Who(
    by=By.UNKNOWN, why="this client starts its hooks with a pipe, which names no maker"
)
