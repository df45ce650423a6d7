"""Something wrong in a file, and what to do about it."""

from __future__ import annotations

from ademem.core.value import Value


class Problem(Value):
    path: str
    line: int | None
    message: str
    passes: bool = False
    """Whether the next rendering puts it right, with nothing lost."""
