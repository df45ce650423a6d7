"""The fields of a brief, and what they said before."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ademem.files.project_brief import CoreMemory


def earlier_texts(
    brief: CoreMemory | None, earlier: Iterable[CoreMemory], name: str
) -> Iterator[dict[str, Any]]:
    """Yield the texts that a field had before, newest first, each with the version it began at."""
    after = field_text(brief, name)
    for same, versions in groupby(earlier, lambda each: field_text(each, name)):
        if same and same != after:
            first = [*versions][-1]
            yield {"text": same, "version": first.version, "at": first.updated_at}
        after = same


def field_text(brief: CoreMemory | None, name: str) -> str:
    value = getattr(brief, name) if brief else ""
    return value if isinstance(value, str) else "\n".join(value)
