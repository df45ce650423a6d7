"""What the files told the store."""

from __future__ import annotations

from ademem.core.text import counted
from ademem.core.value import Value
from ademem.files.texts import Problem

KINDS = ("added", "edited", "promoted", "rejected", "archived", "restored")
NAMED = 5
"""Memories of one kind that the summary names."""


class Taken(Value):
    """Ids of the memories that the files changed, by what became of them."""

    event: str = ""
    """The act that `ademem undo` takes back."""
    added: tuple[str, ...] = ()
    edited: tuple[str, ...] = ()
    promoted: tuple[str, ...] = ()
    rejected: tuple[str, ...] = ()
    archived: tuple[str, ...] = ()
    restored: tuple[str, ...] = ()
    problems: tuple[Problem, ...] = ()
    """What was not understood, left in the files as it is."""
    refused: tuple[Problem, ...] = ()
    """Those of them that were understood, and cannot be taken over."""
    oversized: tuple[Problem, ...] = ()
    """Those that were too long to be read: the files that have them are not written."""

    @property
    def count(self) -> int:
        return len({id for kind in KINDS for id in getattr(self, kind)})

    @property
    def summary(self) -> str:
        """One line: how many memories came with the files, and which; empty for none."""
        if not self.count:
            return ""
        told = [f"{kind} {_named(getattr(self, kind))}" for kind in KINDS if getattr(self, kind)]
        return f"{counted(self.count, 'memory')} from git and hand edits: {'; '.join(told)}."


def _named(ids: tuple[str, ...]) -> str:
    more = f" and {len(ids) - NAMED} more" if len(ids) > NAMED else ""
    return ", ".join(ids[:NAMED]) + more
