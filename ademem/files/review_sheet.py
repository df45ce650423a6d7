"""candidates.md: the candidates for review, with boxes to tick.

    - [ ] **Title** <!-- id -->
      Text, tags and path as in a topic file.
      - category: gotcha
      - from: passive, 2026-01-31T12:00:00.000Z

At its end stands what it offered: who deletes an item leaves its id there, and so refuses it.
"""

from __future__ import annotations

import re

from ademem.core.clock import stamp
from ademem.core.value import Value, replace
from ademem.files import markdown
from ademem.files.knowledge import DOUBTFUL
from ademem.files.markdown import Entry, Loose, entry_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ademem.core.memory import Memory

NAME = "candidates.md"

TITLE = "# Candidates"
INTRO = (
    "What was captured and nobody confirmed. Tick a box to confirm, correct a text where it stands,"
    " delete an entry to reject it."
)
NOTHING = "Nothing waits for a word."
OURS = (TITLE, INTRO, NOTHING)
OFFERED, END = "<!-- offered", "-->"

DETAIL_CHARS = 200
"""Characters of a detail line."""

_BOX = re.compile(r"([-*+]) +\[([ xX])\] +(?=\S)")
_BULLET = re.compile(r"[-*+] ")
_DETAIL = re.compile(r"  - (category|from): (.*)")


class Item(Value):
    """A candidate on the sheet."""

    entry: Entry
    ticked: bool = False
    category: str = ""
    """The category as it was typed; empty without its line."""
    origin_text: str = ""
    """The kind of source and the time, after a level of trust that is lower than usual."""


class Sheet(Value):
    items: tuple[Item, ...] = ()
    offered: tuple[str, ...] = ()
    """Ids of the candidates on it when it was written."""
    loose: tuple[Loose, ...] = ()
    """A person's own lines."""


def make_sheet(memories: Iterable[Memory], old: Sheet | None = None) -> Sheet:
    """Make a sheet of these, oldest first, with a person's lines of the *old* one.

    Where two machines captured the same, both keep what the sheet says of its origin.
    """
    old = old or Sheet()
    told = {item.entry.id: item.origin_text for item in old.items if item.origin_text}
    items = [_item(memory) for memory in memories]
    items = [replace(item, origin_text=told.get(item.entry.id, item.origin_text)) for item in items]
    items.sort(key=lambda item: (item.origin_text.rpartition(", ")[2], item.entry.id or ""))
    offered = tuple(item.entry.id for item in items if item.entry.id)
    return Sheet(items=tuple(items), offered=offered, loose=old.loose)


def render_sheet(sheet: Sheet) -> str:
    """Render the page; a person's own lines follow the item they followed, else the title."""
    here = {item.entry.id for item in sheet.items}
    blocks = [TITLE, INTRO, *(() if sheet.items else (NOTHING,))]
    blocks += [part.text for part in sheet.loose if part.after not in here]
    for item in sheet.items:
        blocks.append(_block(item))
        blocks += [
            part.text for part in sheet.loose if item.entry.id and part.after == item.entry.id
        ]
    if sheet.offered:
        blocks.append("\n".join([OFFERED, *sheet.offered, END]))
    return "\n\n".join(blocks) + "\n"


def parse_sheet(text: str) -> Sheet:
    """Parse a sheet."""
    page = Page(text)
    loose: list[Loose] = []
    items = tuple(page.items_and(loose))
    return Sheet(items=items, offered=page.offered, loose=tuple(loose))


class Page:
    """A sheet whose items are parsed one by one."""

    def __init__(self, text: str) -> None:
        self._lines = markdown.lines_of(text)
        self.offered = tuple(_pop_offered(self._lines))
        self._details = _pop_details(self._lines)
        self._ticked = _pop_boxes(self._lines)

    @property
    def items(self) -> Iterator[Item]:
        return self.items_and([])

    def items_and(self, loose: list[Loose]) -> Iterator[Item]:
        """Yield the items; add a person's own lines between them to *loose*."""
        for part in markdown.parts_of(self._lines):
            if isinstance(part, Loose):
                own = "\n".join(line for line in part.text.split("\n") if line not in OURS)
                if text := own.strip("\n"):
                    loose.append(replace(part, text=text))
                continue
            said = self._details.get(part.line, {})
            yield Item(
                entry=part,
                ticked=part.line in self._ticked,
                category=said.get("category", ""),
                origin_text=said.get("from", ""),
            )


def _item(memory: Memory) -> Item:
    doubtful = f"{memory.trust} by " if memory.trust in DOUBTFUL else ""
    origin_text = f"{doubtful}{memory.source_type}, {stamp(memory.created_at)}"
    return Item(entry=entry_of(memory), category=memory.category, origin_text=origin_text)


def _block(item: Item) -> str:
    first, *rest = markdown.render_item(item.entry).split("\n")
    told = (("category", item.category), ("from", item.origin_text))
    details = [
        f"  - {name}: {markdown.one_line(text, DETAIL_CHARS)}" for name, text in told if text
    ]
    box = "- [x] " if item.ticked else "- [ ] "
    return "\n".join([box + first.removeprefix("- "), *rest, *details])


def _pop_offered(lines: list[str]) -> Iterator[str]:
    """Yield the ids in the comment at the end, and blank its lines."""
    if OFFERED not in lines:
        return
    start = lines.index(OFFERED)
    for at in range(start, len(lines)):
        line, lines[at] = lines[at], ""
        if line == END:
            return
        if at > start and re.fullmatch(r"[\w-]+", line):
            yield line


def _pop_boxes(lines: list[str]) -> set[int]:
    """Return the numbers of lines with a ticked box, and remove all boxes."""
    ticked = set()
    for number, line in enumerate(lines, 1):
        if box := _BOX.match(line):
            lines[number - 1] = f"{box[1]} {line[box.end() :]}"
            if box[2] != " ":
                ticked.add(number)
    return ticked


def _pop_details(lines: list[str]) -> dict[int, dict[str, str]]:
    """Return the details of each item by the number of its first line, and blank their lines.

    From the end backwards: only what follows the text of an item is a detail.
    """
    found: dict[int, dict[str, str]] = {}
    behind: dict[str, str] = {}
    in_text = False
    for at in range(len(lines) - 1, -1, -1):
        detail = _DETAIL.fullmatch(lines[at])
        if _BULLET.match(lines[at]):
            found[at + 1] = behind
            behind, in_text = {}, False
        elif detail and not in_text and detail[1] not in behind:
            behind[detail[1]] = detail[2]
            lines[at] = ""
        elif lines[at].startswith("  "):
            in_text = True
    return found
