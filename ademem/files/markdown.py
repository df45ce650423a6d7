"""One memory as an item of a Markdown list, and back.

    - **Title** <!-- id -->
      Text, every line indented, so that no fence or heading of it reaches the page.
      - tags: wal database
      - path: src/**/*.py

A line of the text that looks like one of ours has a backslash more than it had.
"""

from __future__ import annotations

import re

from ademem.core.text import clean, preview
from ademem.core.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ademem.core.memory import Memory

_COMMENT = re.compile(r"(?<!\\)(\\*)<!--")
_ESCAPED_COMMENT = re.compile(r"(?<!\\)\\(\\*)<!--")
_OURS = r"(?=\\*(?:#{1,6}(?:\s|$)|\*\*.*\*\*$|- (?:tags|path): ))"
_MARKUP = re.compile(_OURS)
_ESCAPED_MARKUP = re.compile(r"\\" + _OURS)
_ID = re.compile(r"(?:^| )<!-- (\S+) -->$")
_TITLE = re.compile(r"\*\*(.*)\*\*")
_BULLET = re.compile(r"[-*+] +(?=\S)")
NOTHING = "Nothing here yet."
"""The text of a page without items."""
_STRUCTURE = re.compile(rf"#{{1,6}}(?:\s|$)|```|~~~|<!--|[<>=]{{7}}|\||\s|{re.escape(NOTHING)}$")
"""The beginning of a line that does not continue the line before it."""
_DETAIL = re.compile(r"- (tags|path): (.*)")


PART_CHARS = 1 << 16
"""Characters of a text that are split into lines at once."""


class Entry(Value):
    """An item of a topic file."""

    line: int
    """The line where it begins, counted from 1."""
    id: str | None = None
    """None: a person added it."""
    title: str | None = None
    content: str = ""
    tags: tuple[str, ...] = ()
    path: str | None = None


class Loose(Value):
    """A person's own lines: everything on the page that is no item."""

    line: int
    text: str
    after: str | None = None
    """The id of the item before it."""


def render_memory(memory: Memory) -> str:
    """Render a memory as an item, without a final line break."""
    return render_item(entry_of(memory))


def entry_of(memory: Memory) -> Entry:
    """The entry that renders a memory; its line is unknown."""
    return Entry(
        line=0,
        id=memory.id,
        title=memory.title,
        content=memory.content,
        tags=memory.tags,
        path=memory.file_scope_pattern,
    )


def render_item(said: Entry) -> str:
    """Render an item that `parse` reads as *said*."""
    content = [_escaped(line) for line in clean(said.content).split("\n")]
    title = _joined(said.title or "")
    first = f"**{_safe(title)}**" if title else content.pop(0)
    details = [
        f"- {name}: {_safe(value)}"
        for name, value in (("tags", " ".join(said.tags)), ("path", _joined(said.path or "")))
        if value
    ]
    named = f"{first} <!-- {said.id} -->" if said.id else first
    lines = [named.lstrip(), *content, *details]
    return "- " + "\n".join(f"  {line}".rstrip() for line in lines).lstrip()


def headline(memory: Memory, chars: int) -> str:
    """Return title and text on one line of about *chars* characters at most."""
    title = f"{memory.title}: " if memory.title else ""
    return one_line(title + memory.content, chars)


def one_line(text: str, chars: int) -> str:
    """Return the beginning of a text, escaped so that it is no markup of the page."""
    return _escaped(preview(clean(text), chars))


def parse(text: str) -> Iterator[Entry]:
    """Yield the items of a topic file in order; skip everything else on the page."""
    return (part for part in parts(text) if isinstance(part, Entry))


def parts(text: str) -> Iterator[Entry | Loose]:
    """Yield the items of a topic file and the lines between them, in order.

    Any bullet at the margin begins an item; indented lines, and lines that an editor wrapped, go on
    with it.
    """
    return parts_of(each_line(text))


def parts_of(lines: Iterable[str]) -> Iterator[Entry | Loose]:
    """Yield the `parts` of a page that is split into lines already."""
    after = None
    for start, block in _blocks(lines):
        bullet = _BULLET.match(block[0])
        if bullet:
            indented = (line.removeprefix("  ") for line in block[1:])
            item = _entry([block[0][bullet.end() :], *indented], start)
            after = item.id
            yield item
        elif any(block):
            first = next(at for at, line in enumerate(block) if line)
            text = "\n".join(block[first:]).rstrip("\n")
            yield Loose(line=start + first, text=text, after=after)


def lines_of(text: str) -> list[str]:
    """Split into lines without a byte order mark, carriage returns and trailing blanks."""
    return list(each_line(text))


def each_line(text: str) -> Iterator[str]:
    """Yield `lines_of` one by one, for texts too large to be copied."""
    return map(cleaned, split(text[at : at + PART_CHARS] for at in range(0, len(text), PART_CHARS)))


def split(parts: Iterable[str]) -> Iterator[str]:
    """Yield the lines of a text given in parts, without line feeds and byte order mark."""
    left: list[str] = []
    is_first = True
    for part in parts:
        if is_first:
            part, is_first = part.removeprefix("\ufeff"), False
        *whole, rest = part.split("\n")
        if whole:
            yield "".join([*left, whole[0]])
            yield from whole[1:]
            left = []
        left.append(rest)
    yield "".join(left)


def cleaned(line: str) -> str:
    return line.removesuffix("\r").rstrip(" \t")


def _blocks(lines: Iterable[str]) -> Iterator[tuple[int, list[str]]]:
    """Yield items, and runs of lines outside of items, each with the number of its first line."""
    block: list[str] = []
    start = 1
    for number, line in enumerate(lines, 1):
        if block and not _BULLET.match(line) and _goes_on(block, line):
            block.append(line)
            continue
        if block:
            yield start, block
        block, start = [line], number
    if block:
        yield start, block


def _goes_on(block: list[str], line: str) -> bool:
    if not _BULLET.match(block[0]) or not line or line.startswith("  "):
        return True
    return bool(block[-1]) and _STRUCTURE.match(line) is None


def _entry(lines: list[str], start: int) -> Entry:
    while lines and not lines[-1]:
        lines.pop()
    details: dict[str, str] = {}
    while len(lines) > 1 and (detail := _DETAIL.fullmatch(lines[-1])):
        details[detail[1]] = _unsafe(detail[2])
        lines.pop()
    id = next(filter(None, map(_ID.search, lines)), None)
    lines = [_ID.sub("", line) for line in lines]
    first = lines.pop(0) if lines else ""
    title = _TITLE.fullmatch(first)
    content = lines if title else [first, *lines]
    return Entry(
        line=start,
        id=id[1] if id else None,
        title=_unsafe(title[1]) if title else None,
        content="\n".join(_unescaped(line) for line in content),
        tags=tuple(details.get("tags", "").split()),
        path=details.get("path"),
    )


def _joined(text: str) -> str:
    return " ".join(clean(text).split())


def _escaped(line: str) -> str:
    return ("\\" if _MARKUP.match(line) else "") + _safe(line)


def _unescaped(line: str) -> str:
    return _unsafe(line[1:] if _ESCAPED_MARKUP.match(line) else line)


def _safe(line: str) -> str:
    """Escape the beginnings of comments."""
    return _COMMENT.sub(r"\\\g<0>", line)


def _unsafe(line: str) -> str:
    return _ESCAPED_COMMENT.sub(r"\1<!--", line)
