"""MEMORY.md: one page with the best of the memory and a list of the other files."""

from __future__ import annotations

from ademem.core.memory import Category, Importance, Tier
from ademem.core.value import Value
from ademem.files import project_brief
from ademem.files.markdown import headline, one_line
from ademem.files.selection import rank_memories
from ademem.files.topics import TOPICS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from ademem.core.memory import Memory
    from ademem.core.settings import MirrorSettings
    from ademem.files.project_brief import CoreMemory
    from ademem.files.topics import TopicFile


OPEN = "<!-- ademem:keep -->"
CLOSE = "<!-- /ademem:keep -->"


class Region(Value):
    lines: tuple[str, ...]
    """Its lines, with the comments around them."""
    heading: str = ""
    """The heading above it; a rendering puts it at the end of that section."""


def regions(page: str) -> tuple[Region, ...]:
    """Return the regions in order; one that is not closed reaches to the end."""
    return _split(page)[0]


def text_outside(page: str) -> str:
    """Return the lines outside all regions, without blank ones."""
    return "\n".join(line for line in _split(page)[1] if line)


def without_regions(page: str, unwanted: Collection[Region]) -> str:
    """Return the page without these regions."""
    for region in unwanted:
        page = page.replace("\n".join(region.lines) + "\n", "", 1)
    return page


def with_region(page: str, region: Region) -> str:
    """Return the page with the region in its section, or at the end if it has none."""
    lines = page.rstrip("\n").split("\n")
    at = lines.index(region.heading) + 1 if region.heading in lines else len(lines)
    return "\n".join([*lines[:at], "", *region.lines, *lines[at:]]) + "\n"


def _split(page: str) -> tuple[tuple[Region, ...], list[str]]:
    found: list[Region] = []
    ours: list[str] = []
    inside: list[str] = []
    heading = ""
    for line in page.split("\n"):
        if inside or line.strip() == OPEN:
            inside.append(line)
            if line.strip() == CLOSE:
                found.append(Region(lines=tuple(inside), heading=heading))
                inside = []
            continue
        ours.append(line.rstrip())
        if line.startswith("## "):
            heading = line.rstrip()
    if inside:
        found.append(Region(lines=(*inside, CLOSE), heading=heading))
    return tuple(found), ours


BEST = 8
"""Memories of one topic on the page at most; pinned ones come on top of them."""
HEADLINE_CHARS = 180
FIELD_CHARS = 400

TITLE = "# Project memory"
HOW_TO = (
    "Notes this project learned. Weigh them: the files of today win.",
    'Look things up with `ademem recall "words"`; `ademem get ID` shows one memory whole.',
    "Lines between `ademem:keep` comments are yours; `ademem` writes the others.",
)
BRIEF = "## Project brief"
PINNED = "## Pinned"
FILES = "## Files"
LEFT_OUT = "## Left out"


class Line(Value):
    """A line that may stand on the page, and its section."""

    heading: str
    text: str
    memory: Memory | None = None


def render_index(
    memories: Sequence[Memory],
    document: CoreMemory | None,
    files: Sequence[TopicFile],
    regions: Sequence[Region],
    settings: MirrorSettings,
) -> str:
    """Render within the bounds, unless the hand-written regions alone exceed them."""
    total = len(memories)
    closing = {
        FILES: [_file_line(file) for file in files],
        LEFT_OUT: _left_out(memories, total, settings),
    }
    room = _Room(settings, _page(closing, regions))
    chosen = list(room.fitting(_worth_a_line(memories, document)))
    shown = {line.memory.id for line in chosen if line.memory}
    hidden = [memory for memory in memories if memory.id not in shown]
    sections: dict[str, list[str]] = {}
    for line in chosen:
        sections.setdefault(line.heading, []).append(line.text)
    ordered = {heading: sections[heading] for heading in HEADINGS if heading in sections}
    return _page(ordered | closing | {LEFT_OUT: _left_out(hidden, total, settings)}, regions)


class _Room:
    """The room that the bounds leave beside the required lines."""

    def __init__(self, settings: MirrorSettings, page: str) -> None:
        self.lines = settings.max_lines - page.count("\n")
        self.bytes = settings.max_bytes - len(page.encode())
        self.headings: set[str] = set()

    def fitting(self, lines: Iterator[Line]) -> Iterator[Line]:
        """Yield the lines until the first that does not fit."""
        for line in lines:
            added = (
                [line.text] if line.heading in self.headings else ["", line.heading, "", line.text]
            )
            self.lines -= len(added)
            self.bytes -= sum(len(text.encode()) + 1 for text in added)
            if self.lines < 0 or self.bytes < 0:
                return
            self.headings.add(line.heading)
            yield line


def _worth_a_line(memories: Sequence[Memory], document: CoreMemory | None) -> Iterator[Line]:
    """Yield the brief, pinned memories, the best of each topic, then the second best of each, …"""
    for text in brief_fields(document, FIELD_CHARS):
        yield Line(heading=BRIEF, text=text)
    for memory in rank_memories(memory for memory in memories if memory.pinned):
        text = f"- {memory.category}: {headline(memory, HEADLINE_CHARS)} (`{memory.id}`)"
        yield Line(heading=PINNED, text=text, memory=memory)
    best = {
        topic: rank_memories(m for m in memories if m.category is topic.category and not m.pinned)
        for topic in TOPICS
    }
    for rank in range(BEST):
        for topic, ranked in best.items():
            for memory in ranked[rank : rank + 1]:
                text = f"- {headline(memory, HEADLINE_CHARS)} (`{memory.id}`)"
                yield Line(heading=_heading(topic.name), text=text, memory=memory)


def _heading(name: str) -> str:
    return f"## {name.capitalize()}"


def _file_line(file: TopicFile) -> str:
    first, *more = file.names
    names = f"`{first}` to `{more[-1]}`" if more else f"`{first}`"
    about = "" if file.subtopic else f" — {file.topic.about}"
    return f"- {names}: {file.count}{about}"


def _left_out(hidden: Sequence[Memory], total: int, settings: MirrorSettings) -> list[str]:
    """Count the memories that are not on the page, by topic, and give the reason."""
    if not hidden:
        return ["Nothing: every memory is on this page."]
    counts = {
        topic.name: sum(memory.category is topic.category for memory in hidden) for topic in TOPICS
    }
    listed = ", ".join(f"{name} {count}" for name, count in counts.items() if count)
    elsewhere = len(hidden) - sum(counts.values())
    lines = [
        f"{len(hidden)} of {total} memories: this page has what is pinned and {BEST} of each topic,"
        f" within {settings.max_lines} lines and {settings.max_bytes} bytes."
    ]
    if listed:
        lines.append(f"In the files above: {listed}.")
    if elsewhere:
        lines.append(f"In no topic file, but with `ademem list`: {elsewhere}.")
    return lines


def _page(sections: dict[str, list[str]], regions: Sequence[Region]) -> str:
    lines = [TITLE, "", *HOW_TO, *_kept("", regions)]
    for heading, body in sections.items():
        lines += ["", heading, "", *body, *_kept(heading, regions)]
    homeless = [region for region in regions if region.heading and region.heading not in sections]
    for region in homeless:
        lines += ["", *region.lines]
    return "\n".join(lines) + "\n"


def _kept(heading: str, regions: Sequence[Region]) -> list[str]:
    own = (region for region in regions if region.heading == heading)
    return [line for region in own for line in ("", *region.lines)]


HEADINGS = (BRIEF, PINNED, *(_heading(topic.name) for topic in TOPICS))


BRIEF_FIELD_CHARS = 2000
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


def render_brief(document: CoreMemory | None, memories: Sequence[Memory]) -> str:
    brief = brief_fields(document, BRIEF_FIELD_CHARS) or [
        'Nothing here yet: `ademem core set summary "…"`.'
    ]
    durable = [_highlight(memory) for memory in highlights(memories)] or ["None yet."]
    return "\n".join(["# Project brief", "", *brief, "", "## Durable highlights", "", *durable, ""])


def brief_fields(document: CoreMemory | None, chars: int) -> list[str]:
    """Return a list item for each field that is not empty."""
    return [f"- {label}: {one_line(text, chars)}" for label, text in project_brief.lines(document)]


def highlights(memories: Sequence[Memory]) -> list[Memory]:
    """Choose pinned, tier 1 and important memories, by category; the best if there are none."""
    known = [memory for memory in memories if memory.category in ORDER]
    marked = [
        memory
        for memory in known
        if memory.pinned or memory.tier is Tier.PINNED or memory.importance is Importance.HIGH
    ]
    by_category = sorted(rank_memories(marked or known), key=lambda m: ORDER.index(m.category))
    return by_category[:HIGHLIGHTS]


def _highlight(memory: Memory) -> str:
    pinned = " (pinned)" if memory.pinned else ""
    return f"- {memory.category}: {headline(memory, HIGHLIGHT_CHARS)}{pinned}"
