"""All pages of the mirror as text, by their path in the project."""

from __future__ import annotations

from ademem.mirror import brief, index, keep, knowledge, topics
from ademem.mirror.selection import is_line, renders

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from ademem.core import CoreMemory
    from ademem.model import Memory
    from ademem.settings import MirrorSettings

FOLDER = ".ade/memory/"
INDEX = FOLDER + "MEMORY.md"
BRIEF = ".ade/cto/MEMORY.md"


def render(
    memories: Iterable[Memory],
    document: CoreMemory | None,
    present_index: str,
    settings: MirrorSettings,
) -> dict[str, str]:
    """Of the memories, oldest first, what may be shown; hand-written regions stay as they are."""
    lines = [memory for memory in memories if is_line(memory)]
    shown = [memory for memory in lines if renders(memory)]
    files = topics.files(shown, settings.topic_entries)
    regions = keep.regions(present_index)
    pages = {
        INDEX: index.render(shown, document, files, regions, settings),
        BRIEF: brief.render(document, shown),
    }
    for file in files:
        pages |= {FOLDER + name: text for name, text in topics.render(file).items()}
    return pages | {FOLDER + name: text for name, text in knowledge.render(lines, settings).items()}
