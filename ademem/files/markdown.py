"""One memory as an item of a Markdown list, and back.

    - **Title** <!-- id -->
      Text, every line indented, so that no fence or heading of it reaches the page.
      - tags: wal database
      - path: src/**/*.py

A line of the text that looks like markup of a page gets one more backslash.
"""

from __future__ import annotations

import re
from collections import defaultdict

from ademem.core.text import clean, preview
from ademem.core.value import Value
from ademem.files.texts import clean_lines

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ademem.core.memory import Memory

NOTHING = "Nothing here yet."
"""The text of a page without items."""

_COMMENT = re.compile(r"(?<!\\)(\\*)<!--")
_ESCAPED_COMMENT = re.compile(r"(?<!\\)\\(\\*)<!--")
_OURS = r"(?=\\*(?:#{1,6}(?:\s|$)|\*\*.*\*\*$|- (?:tags|path): ))"
_MARKUP = re.compile(_OURS)
_ESCAPED_MARKUP = re.compile(r"\\" + _OURS)
_ID = re.compile(r"(?:^| )<!-- (\S+) -->$")
_TITLE = re.compile(r"\*\*(.*)\*\*")
_BULLET = re.compile(r"[-*+] +(?=\S)")
_STRUCTURE = re.compile(rf"#{{1,6}}(?:\s|$)|```|~~~|<!--|[<>=]{{7}}|\||\s|{re.escape(NOTHING)}$")
"""The beginning of a line that does not continue the line before it."""
_DETAIL = re.compile(r"- (tags|path): (.*)")
_BOX = re.compile(r"\[([ xX])\] +(?=\S)")
_CANDIDATE_DETAIL = re.compile(r"- (tags|path|category|from): (.*)")
"""A detail in the review sheet, whose items begin with a box."""


class ListItem(Value):
    """An item of a topic file or of the review sheet; the last three fields are of the sheet."""

    line: int
    """The line where it begins, counted from 1; 0 if unknown."""
    id: str | None = None
    """None: a person added it."""
    title: str | None = None
    content: str = ""
    tags: tuple[str, ...] = ()
    path: str | None = None
    ticked: bool = False
    category: str = ""
    """The category as it was typed; empty without its line."""
    origin_text: str = ""
    """The kind of source and the time, after a level of trust that is lower than usual."""


class FreeText(Value):
    """A person's lines: everything on the page that is no item."""

    line: int
    text: str
    after: str | None = None
    """The id of the item before it."""


def item_of(memory: Memory) -> ListItem:
    return ListItem(
        line=0,
        id=memory.id,
        title=memory.title,
        content=memory.content,
        tags=memory.tags,
        path=memory.file_scope_pattern,
    )


def render_item(item: ListItem) -> str:
    """Render an item that `parse_items` reads back, without a final line break."""
    content = [_escape_line(line) for line in clean(item.content).split("\n")]
    title = " ".join(clean(item.title or "").split())
    first = f"**{_escape_comments(title)}**" if title else content.pop(0)
    path = " ".join(clean(item.path or "").split())
    details = [
        f"- {name}: {_escape_comments(value)}"
        for name, value in (("tags", " ".join(item.tags)), ("path", path))
        if value
    ]
    first_with_id = f"{first} <!-- {item.id} -->" if item.id else first
    lines = [first_with_id.lstrip(), *content, *details]
    return "- " + "\n".join(f"  {line}".rstrip() for line in lines).lstrip()


def follow_with(
    free_texts: Iterable[FreeText], items: Iterable[tuple[str | None, str]]
) -> Iterator[str]:
    """Yield rendered items by their ids, each with the lines of a person behind it.

    Those that follow none of the items come first.
    """
    items, behind = list(items), defaultdict[str | None, list[str]](list)
    ids = {id for id, _ in items if id}
    for part in free_texts:
        behind[part.after if part.after in ids else None].append(part.text)
    yield from behind.pop(None, ())
    for id, text in items:
        yield text
        yield from behind[id]


def headline(memory: Memory, chars: int) -> str:
    """Return title and text on one line of about *chars* characters at most."""
    title = f"{memory.title}: " if memory.title else ""
    return one_line(title + memory.content, chars)


def one_line(text: str, chars: int) -> str:
    """Return the beginning of a text, escaped so that it is no markup of the page."""
    return _escape_line(preview(clean(text), chars))


def parse_items(text: str) -> Iterator[ListItem]:
    """Yield the items of a topic file in order; skip everything else on the page."""
    return (part for part in parse_page(clean_lines(text)) if isinstance(part, ListItem))


def parse_page(lines: Iterable[str], *, is_sheet: bool = False) -> Iterator[ListItem | FreeText]:
    """Yield the items of a page and the lines between them, in order.

    Any bullet at the margin begins an item; indented lines, and lines that an editor wrapped,
    continue it.
    """
    after = None
    for start, block in _blocks(lines):
        bullet = _BULLET.match(block[0])
        if bullet:
            indented = (line.removeprefix("  ") for line in block[1:])
            item = _parse_item([block[0][bullet.end() :], *indented], start, is_sheet)
            after = item.id
            yield item
        elif any(block):
            first = next(at for at, line in enumerate(block) if line)
            text = "\n".join(block[first:]).rstrip("\n")
            yield FreeText(line=start + first, text=text, after=after)


def _blocks(lines: Iterable[str]) -> Iterator[tuple[int, list[str]]]:
    """Yield items, and runs of lines outside of items, each with the number of its first line."""
    block: list[str] = []
    start = 1
    for number, line in enumerate(lines, 1):
        if block and not _BULLET.match(line):
            in_item = _BULLET.match(block[0]) and line and not line.startswith("  ")
            if not in_item or (block[-1] and not _STRUCTURE.match(line)):
                block.append(line)
                continue
        if block:
            yield start, block
        block, start = [line], number
    if block:
        yield start, block


def _parse_item(lines: list[str], start: int, is_sheet: bool) -> ListItem:
    while lines and not lines[-1]:
        lines.pop()
    box = _BOX.match(lines[0]) if is_sheet else None
    if box:
        lines[0] = lines[0][box.end() :]
    details: dict[str, str] = {}
    detail_line = _CANDIDATE_DETAIL if is_sheet else _DETAIL
    while len(lines) > 1 and (detail := detail_line.fullmatch(lines[-1])):
        if is_sheet and detail[1] in details:  # a line of the text
            break
        details[detail[1]] = _unescape_comments(detail[2])
        lines.pop()
    id = next(filter(None, map(_ID.search, lines)), None)
    lines = [_ID.sub("", line) for line in lines]
    first = lines.pop(0) if lines else ""
    title = _TITLE.fullmatch(first)
    content = lines if title else [first, *lines]
    return ListItem(
        line=start,
        id=id[1] if id else None,
        title=_unescape_comments(title[1]) if title else None,
        content="\n".join(
            _unescape_comments(line[1:] if _ESCAPED_MARKUP.match(line) else line)
            for line in content
        ),
        tags=tuple(details.get("tags", "").split()),
        path=details.get("path"),
        ticked=box is not None and box[1] != " ",
        category=details.get("category", ""),
        origin_text=details.get("from", ""),
    )


def _escape_line(line: str) -> str:
    return ("\\" if _MARKUP.match(line) else "") + _escape_comments(line)


def _escape_comments(line: str) -> str:
    return _COMMENT.sub(r"\\\g<0>", line)


def _unescape_comments(line: str) -> str:
    return _ESCAPED_COMMENT.sub(r"\1<!--", line)
