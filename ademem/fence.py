"""Recalled text is data: fenced, labelled, and unable to leave its fence."""

from __future__ import annotations

import re

from ademem.text import preview

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from ademem.model import Memory

OPEN = "<ademem-memory>"
CLOSE = "</ademem-memory>"

_TAG = r"(?i)<(?=[\s/]*(?:ademem|system|assistant|user|human|tool|function|antml|invoke))"


def fenced(lines: Iterable[str]) -> str:
    """The lines between the tags; each was made by `entry` or is our own."""
    return "\n".join((OPEN, *lines, CLOSE))


def escaped(text: str) -> str:
    """*text* without a tag that could end the fence or speak for somebody else."""
    return re.sub(_TAG, "&lt;", text) if "<" in text else text


def entry(memory: Memory, chars: int) -> str:
    """One line: category, text, and who says so."""
    title = f"{memory.title}: " if memory.title else ""
    text = escaped(preview(title + memory.content, chars))
    return f"- [{memory.category}] {text} ({provenance(memory)})"


def provenance(memory: Memory) -> str:
    """Id, who said it, when; and whether anybody confirmed it."""
    parts = [memory.id, memory.trust.value, f"{memory.created_at:%Y-%m-%d}"]
    if memory.status == "candidate":
        parts.append("unconfirmed")
    return ", ".join(parts)
