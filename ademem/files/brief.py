"""`.ade/cto/MEMORY.md`: the project brief and the memories most likely to last."""

from __future__ import annotations

from ademem.core.memory import Category, Importance, Tier
from ademem.files import standing_brief
from ademem.files.entry import headline, one_line
from ademem.files.selection import best_first

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from ademem.core.memory import Memory
    from ademem.files.standing_brief import CoreMemory

FIELD_CHARS = 2000
HIGHLIGHTS = 12
HIGHLIGHT_CHARS = 260

ORDER = (
    Category.DECISION,
    Category.CONVENTION,
    Category.PATTERN,
    Category.GOTCHA,
    Category.PREFERENCE,
    Category.FACT,
)


def render(document: CoreMemory | None, memories: Sequence[Memory]) -> str:
    brief = fields(document, FIELD_CHARS) or ['Nothing here yet: `ademem core set summary "…"`.']
    durable = [_highlight(memory) for memory in highlights(memories)] or ["None yet."]
    return "\n".join(["# Project brief", "", *brief, "", "## Durable highlights", "", *durable, ""])


def fields(document: CoreMemory | None, chars: int) -> list[str]:
    """One list item for each field that says something."""
    return [f"- {label}: {one_line(text, chars)}" for label, text in standing_brief.lines(document)]


def highlights(memories: Sequence[Memory]) -> list[Memory]:
    """What is pinned, of tier 1 or of high importance, by category; if nothing is, the best."""
    known = [memory for memory in memories if memory.category in ORDER]
    marked = [
        memory
        for memory in known
        if memory.pinned or memory.tier is Tier.PINNED or memory.importance is Importance.HIGH
    ]
    by_category = sorted(best_first(marked or known), key=lambda m: ORDER.index(m.category))
    return by_category[:HIGHLIGHTS]


def _highlight(memory: Memory) -> str:
    pinned = " (pinned)" if memory.pinned else ""
    return f"- {memory.category}: {headline(memory, HIGHLIGHT_CHARS)}{pinned}"
