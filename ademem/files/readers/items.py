"""Items of other memories, before the write gate, and what the readers of several formats share."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime
from itertools import islice
from typing import Any

from ademem.core.clock import parse
from ademem.core.errors import UsageError
from ademem.core.memory import MAX_KEY_CHARS, TYPES, Category
from ademem.core.text import preview, replace_surrogates, slug, unique
from ademem.core.value import Value
from ademem.store.foreign import require_sound

FILE_BYTES = 8 << 20
EXPORT_BYTES = 256 << 20
"""Longest export of all memories that is read, unpacked."""
FILES = 5000
"""Most files of one folder."""
SECTION_CHARS = 2000
"""Longest section of a page that becomes one memory."""
TAG_CHARS = 60
MOST_PATTERNS = 8
"""Patterns of files that one memory has; each may stand for two, with and without `**/`."""
SECONDS_TO_2100 = 4_102_444_800


class Item(Value):
    id: str
    """Its identity in the source."""
    content: str
    earlier: tuple[str, ...] = ()
    """Texts that it had before, the oldest first."""
    title: str | None = None
    kind: str = Category.FACT
    """A category or one of TYPES; any other becomes a tag of a fact."""
    tags: tuple[str, ...] = ()
    path: str | None = None
    """Glob of files that it is about."""
    created_at: datetime | None = None
    topic_key: str | None = None
    archived: bool = False
    personal: bool = False
    agent: str | None = None
    """The agent whose own memory it is."""
    brief: str = ""
    """Field of the agent's brief that it fills, if that one is empty."""
    links: tuple[tuple[str, str], ...] = ()
    """Relations of it to other items, by their ids: related, conflicts_with or supersedes."""

    @property
    def category(self) -> str:
        kind = self.kind.casefold()
        return TYPES.get(kind, kind if kind in set(Category) else Category.FACT)

    @property
    def all_tags(self) -> tuple[str, ...]:
        kind = self.kind.casefold()
        own = () if kind in set(Category) else (kind if kind in TYPES else slug(kind),)
        return unique(name[:TAG_CHARS] for name in (*own, *map(slug, self.tags)) if name)


def make_item(where: str, content: str, **fields: Any) -> Item | Skipped:
    return (
        Item(content=content, **fields) if content else Skipped(where=where, why="it has no text")
    )


class Prompt(Value):
    id: str
    session_id: str
    content: str
    created_at: datetime | None = None


class Skipped(Value):
    where: str
    why: str


Found = Iterator[Item | Prompt | Skipped]


class Reader(Value):
    name: str
    place: str
    """What its memories are in."""
    fits: Callable[[str], bool]
    read: Callable[[str, str], Found]
    """Yields the items at a path, of one of its projects; empty for all of them."""
    projects: Callable[[str], list[str]] = lambda path: []
    dropped: str = ""
    files: Callable[[str], list[str]] | None = None
    """Lists the files at a path, for a format whose files stay the source."""


def text_of(value: object) -> str:
    """Return a text without blanks around it, and with "?" for half a character; else ""."""
    return replace_surrogates(value.strip()) if isinstance(value, str) else ""


def texts_of(value: object) -> list[str]:
    """Return texts of a list, of JSON of one, or of words between commas."""
    if isinstance(value, str):
        words: list[str] = value.split(",")
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            value = words
    return [text for each in value if (text := text_of(each))] if isinstance(value, list) else []


def join_patterns(patterns: Iterable[str]) -> tuple[str | None, str]:
    """Return one pattern for all of them, and why it leaves some out; empty if it does not.

    One pattern can neither exclude files nor be longer than any key.
    """
    given = unique(each.removeprefix("./").lstrip("/") for each in patterns)
    taken = [each for each in given if each and each[0] != "!"][:MOST_PATTERNS]
    while len(joined := ",".join(taken)) > MAX_KEY_CHARS - len("{}"):
        taken.pop()
    lost = [each for each in given if each not in taken]
    why = f"its patterns of files are read without {preview(', '.join(lost), 80)}" if lost else ""
    return (f"{{{joined}}}" if len(taken) > 1 else joined or None), why


def moment_of(value: object) -> datetime | None:
    """Read an ISO time, or seconds or milliseconds since 1970."""
    try:
        if isinstance(value, int | float) and not isinstance(value, bool):
            seconds = value if value < SECONDS_TO_2100 else value / 1000
            return datetime.fromtimestamp(seconds, UTC) if 0 < seconds < SECONDS_TO_2100 else None
        return parse(value).astimezone(UTC) if isinstance(value, str) and value else None
    except (ValueError, OverflowError):  # some times have no counterpart in UTC
        return None


def object_of(value: object) -> dict[str, Any]:
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return {}
    return value if isinstance(value, dict) else {}


def read_text(path: str, most: int = FILE_BYTES) -> str:
    """Raise UsageError for a file that is not text, or has more than *most* bytes."""
    try:
        if not os.path.isfile(path):
            raise UsageError(f"{path} is not a file", "name a file of text")
        if os.path.getsize(path) > most:
            raise UsageError(f"{path} has more than {most:,} bytes", "split it")
        with open(path, encoding="utf-8-sig", errors="strict") as file:
            return file.read()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"cannot read {path}: {error}", "name a file of text") from error


def read_json(path: str) -> Any:
    """Read an export; raises UsageError for what is no JSON."""
    try:
        return json.loads(read_text(path, EXPORT_BYTES))
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{path} is not JSON: {error}", "export it again") from error


JSON_ENDINGS = (".json", ".af")


def require_readable(path: str) -> None:
    """Raise UsageError for a file that no reader can read, with the reason."""
    if os.path.isfile(path):
        require_sound(path)
        if path.endswith(JSON_ENDINGS):
            read_json(path)


def files_below(folder: str, *endings: str) -> list[str]:
    """Return files with these endings by path, through no link, pipe and hidden folder."""
    if not os.path.isdir(folder):
        return [folder] if folder.endswith(endings) else []
    found = list(islice(_walk_files(folder, endings), FILES + 1))
    if len(found) > FILES:
        raise UsageError(f"{folder} has more than {FILES:,} files", "name a folder in it")
    return found


def _walk_files(folder: str, endings: tuple[str, ...]) -> Iterator[str]:
    for place, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            path = os.path.join(place, name)
            if name.endswith(endings) and os.path.isfile(path) and not os.path.islink(path):
                yield path


_BULLET = re.compile(r"^(\s*)(?:[-*+]|\d+[.)])\s+(?:\[[ xX]\]\s+)?(.*)$")
_FENCE = re.compile(r"^\s*(?:```|~~~)")


PASSAGES_LACK = "headings without text, tables, prose beside bullets, blocks of code over 10 lines"


def passages(text: str) -> Iterator[tuple[str, str, bool]]:
    """Yield bullets, and sections without any, behind their headings; True for a section.

    What `PASSAGES_LACK` names is left out.
    """
    for heading, lines in _sections(_without_long_code(text.splitlines())):
        bullets = _bullets(lines)
        yield from ((heading, bullet, False) for bullet in bullets)
        prose = "\n".join(line for line in lines if not line.lstrip().startswith("|")).strip()
        if prose and not bullets:
            yield heading, prose, True


def _sections(lines: list[str]) -> Iterator[tuple[str, list[str]]]:
    heading, held = "", list[str]()
    for line in lines:
        if re.match(r"#{1,6}\s", line):
            yield heading, held
            heading, held = line.lstrip("#").strip(), []
        else:
            held.append(line)
    yield heading, held


_BLOCK = re.compile(r"```|~~~|[|>]|([-*_])[ \t]*(?:\1[ \t]*){2,}$")
"""A line that begins another block than a paragraph."""


def _bullets(lines: list[str]) -> list[str]:
    """Join each bullet of the outermost level with what is below it, and with its other lines."""
    bullets: list[list[str]] = []
    is_open = False
    for line in lines:
        found = _BULLET.match(line)
        if found and not found[1]:
            bullets.append([found[2]])
            is_open = True
        elif is_open:
            is_inside = line.startswith((" ", "\t")) or not line.strip()
            is_open = is_inside or bool(bullets[-1][-1] and not _BLOCK.match(line))
            if is_open:
                bullets[-1].append(line.strip())
    return ["\n".join(bullet).strip() for bullet in bullets]


LONG_CODE = 10


def _without_long_code(lines: list[str]) -> list[str]:
    kept: list[str] = []
    opened: int | None = None
    for line in lines:
        kept.append(line)
        if _FENCE.match(line):
            if opened is not None and len(kept) - opened - 2 > LONG_CODE:
                del kept[opened:]
            opened = len(kept) - 1 if opened is None else None
    return kept
