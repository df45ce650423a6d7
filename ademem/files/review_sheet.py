"""candidates.md: the candidates for review, with boxes to tick.

    - [ ] **Title** <!-- id -->
      Text, tags and path as in a topic file.
      - category: gotcha
      - from: passive, 2026-01-31T12:00:00.000Z

A comment at its end lists what it offered, so that a deleted item counts as refused.
"""

from __future__ import annotations

from ademem.core import regex
from ademem.core.clock import stamp
from ademem.core.value import Value, replace
from ademem.files import markdown
from ademem.files.knowledge import DOUBTFUL
from ademem.files.markdown import FreeText, ListItem
from ademem.files.texts import clean_lines

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ademem.core.memory import Memory

TITLE = "# Candidates"
INTRO = (
    "Captured texts that are not confirmed yet. Tick a box to confirm, correct a text in place,"
    " delete an entry to reject it."
)
NOTHING = "No candidate needs a decision."
EARLIER = (
    "What was captured and nobody confirmed. Tick a box to confirm, correct a text where it stands,"
    " delete an entry to reject it.",
    "Nothing waits for a word.",
)
"""Earlier wordings, which are not lines of a person either."""
OURS = (TITLE, INTRO, NOTHING, *EARLIER)
OFFERED, END = "<!-- offered", "-->"

DETAIL_CHARS = 200


class Sheet(Value):
    candidates: tuple[ListItem, ...] = ()
    offered: tuple[str, ...] = ()
    """Ids of the candidates on it when it was written."""
    free_texts: tuple[FreeText, ...] = ()


def make_sheet(memories: Iterable[Memory], old: Sheet | None = None) -> Sheet:
    """Make a sheet of these, oldest first, with a person's lines of the *old* one.

    Where two machines captured the same, both keep the origin that the sheet has.
    """
    old = old or Sheet()
    origins = {one.id: one.origin_text for one in old.candidates if one.origin_text}
    candidates = []
    for memory in memories:
        doubtful = f"{memory.trust} by " if memory.trust in DOUBTFUL else ""
        origin = f"{doubtful}{memory.source_type}, {stamp(memory.created_at)}"
        origin = origins.get(memory.id, origin)
        candidates.append(
            replace(markdown.item_of(memory), category=memory.category, origin_text=origin)
        )
    candidates.sort(key=lambda one: (one.origin_text.rpartition(", ")[2], one.id or ""))
    offered = tuple(one.id for one in candidates if one.id)
    return Sheet(candidates=tuple(candidates), offered=offered, free_texts=old.free_texts)


def render_sheet(sheet: Sheet) -> str:
    blocks = [TITLE, INTRO, *(() if sheet.candidates else (NOTHING,))]
    items = []
    for candidate in sheet.candidates:
        details = (
            f"  - {name}: {markdown.one_line(text, DETAIL_CHARS)}"
            for name, text in (("category", candidate.category), ("from", candidate.origin_text))
            if text
        )
        box = "- [x] " if candidate.ticked else "- [ ] "
        entry = box + markdown.render_item(candidate).removeprefix("- ")
        items.append((candidate.id, "\n".join([entry, *details])))
    blocks += markdown.follow_with(sheet.free_texts, items)
    if sheet.offered:
        blocks.append("\n".join([OFFERED, *sheet.offered, END]))
    return "\n\n".join(blocks) + "\n"


def parse_sheet(text: str) -> Sheet:
    lines = clean_lines(text)
    offered = tuple(_pop_offered(lines))
    candidates: list[ListItem] = []
    free_texts: list[FreeText] = []
    for part in markdown.parse_page(lines, is_sheet=True):
        if isinstance(part, ListItem):
            candidates.append(part)
            continue
        own = "\n".join(line for line in part.text.split("\n") if line not in OURS)
        if own := own.strip("\n"):
            free_texts.append(replace(part, text=own))
    return Sheet(candidates=tuple(candidates), offered=offered, free_texts=tuple(free_texts))


def _pop_offered(lines: list[str]) -> Iterator[str]:
    """Yield the ids in the comment at the end, and blank its lines."""
    if OFFERED not in lines:
        return
    start = lines.index(OFFERED)
    for at in range(start, len(lines)):
        line, lines[at] = lines[at], ""
        if line == END:
            return
        if at > start and regex.fullmatch(r"[\w-]+", line):
            yield line
