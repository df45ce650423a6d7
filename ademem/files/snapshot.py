"""Parse the tracked files into one snapshot."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping
from functools import lru_cache

from ademem.core.memory import Category
from ademem.core.text import clean, preview
from ademem.core.value import Value
from ademem.files import conflicts, knowledge, markdown, review_sheet, topics
from ademem.files.pages import FOLDER, SHEET
from ademem.files.texts import OVERSIZE, Problem, Texts, digests_of, lines_of, parts_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from typing import Any, TypeVar

    from ademem.core.memory import Memory
    from ademem.files.markdown import Entry

    T = TypeVar("T")

LINES = (FOLDER + knowledge.ARCHIVE, FOLDER + knowledge.LIVE)
"""Oldest first: of two lines about one memory that are equally new, the later counts."""

ENTRY_CHARS = 100_000
"""Longest text of an item that is read; a memory has a fiftieth of it at most."""

MOST_ITEMS = 20_000
"""Items of pages kept in memory, about 20 MB."""

_CONFLICT = ("<<<<<<< ", ">>>>>>> ")

Items = dict[str, "list[Placed]"]
Said = tuple[Category, str, str, tuple[str, ...], str]


class Placed(Value):
    """An item and the file it stands in."""

    path: str
    category: Category
    entry: Entry

    @property
    def said(self) -> Said:
        """The normalized values; equal for items that differ in line wrapping alone."""
        item = self.entry
        return normalize_item(self.category, item.title, item.content, item.tags, item.path)


class Line:
    """A line of knowledge.jsonl, stored as text to save memory."""

    __slots__ = ("number", "path", "raw", "understood")

    def __init__(
        self, path: str, number: int, raw: str, understood: dict[str, Any] | None = None
    ) -> None:
        """Take *understood* as the record where another line changes its meaning."""
        self.path = path
        self.number = number
        self.raw = raw
        self.understood = understood

    @property
    def record(self) -> dict[str, Any]:
        return _record(self.raw) if self.understood is None else self.understood

    def as_understood(self, record: dict[str, Any]) -> Line:
        return Line(self.path, self.number, self.raw, record)

    def says_the_same(self, other: Line) -> bool:
        alike = self.raw == other.raw and self.understood is other.understood is None
        return alike or self.record == other.record

    @property
    def id(self) -> str | None:
        """The memory's id; None for a line by another tool or a person."""
        id = self.record.get("id")
        return id if isinstance(id, str) and "sync_id" in self.record else None

    @property
    def gone(self) -> bool:
        """True for a tombstone."""
        return knowledge.is_tombstone(self.record)

    @property
    def said(self) -> Said | None:
        return _record_values(self.record)

    @property
    def said_alone(self) -> Said | None:
        """The values of the line itself, without the other lines about the memory."""
        return _record_values(_record(self.raw))

    @property
    def item(self) -> Placed | None:
        """The same as an item of a page; None for a tombstone and for other categories."""
        told = self.said
        if told is None or self.gone:
            return None
        title, content, path = (self.record.get(name) for name in ("title", "content", "path"))
        shown = markdown.Entry(
            line=self.number, title=title, content=str(content), tags=told[3], path=path
        )
        return Placed(path=self.path, category=told[0], entry=shown)


class Offered(Value):
    """An item of candidates.md."""

    item: Placed
    ticked: bool = False
    filed: bool = True
    """True if it names a category; otherwise the memory keeps its own."""
    origin_text: str = ""
    """The origin as the sheet shows it."""

    @property
    def says(self) -> tuple[object, ...]:
        category, *rest = self.item.said
        return (category if self.filed else None, *rest)


class Snapshot(Value):
    """The files of one moment."""

    placed: Mapping[str, tuple[Placed, ...]] = {}
    """Items by the id of their memory; a merge without our driver can leave two with one id."""
    unnamed: Iterable[Placed] = ()
    """Items that a person added; parsed anew at each iteration."""
    lines: dict[str, Line] = {}
    """The newest line of each memory, by its id."""
    lost: dict[str, Line] = {}
    """Lines with another text than the newer line or the tombstone of their memory, by its id."""
    survived: frozenset[str] = frozenset()
    """Ids of memories whose line is newer than their tombstone."""
    foreign: tuple[Line, ...] = ()
    """Lines without an id of ours."""
    sheet: dict[str, Offered] = {}
    """Candidates by the id of their memory."""
    proposed: Iterable[Offered] = ()
    """Candidates that a person added; parsed anew at each iteration."""
    offered: frozenset[str] = frozenset()
    """Ids of the candidates that the sheet offered when it was written."""
    read: frozenset[str] = frozenset()
    """Paths of the files that could be read."""
    problems: tuple[Problem, ...] = ()
    oversized: tuple[Problem, ...] = ()
    """Problems of lines and items that are too long; these stay in the files."""


class Page(Value):
    """A parsed page without its items."""

    ids: tuple[str, ...] = ()
    has_unnamed: bool = False
    oversized: tuple[Problem, ...] = ()


class Reading:
    """A cache of parsed pages and lines that two snapshots share.

    Of the pages, the items of those that were parsed last are kept, MOST_ITEMS in all.
    """

    def __init__(self) -> None:
        self.lines: dict[str, Line] = {}
        self._pages: dict[tuple[str, str], Page] = {}
        self._items: dict[tuple[str, str], dict[str, list[Placed]]] = {}
        self._count = 0

    def page(self, path: str, digest: str) -> Page | None:
        """Return the page if it was parsed before."""
        return self._pages.get((path, digest))

    def parse(self, path: str, digest: str, text: str) -> Page:
        """Parse a page, and keep its items for a while."""
        items: dict[str, list[Placed]] = {}
        has_unnamed, beyond = False, list(oversized(path, text))
        for item in _items(path, text):
            if len(item.entry.content) > ENTRY_CHARS:
                beyond.append(_beyond(path, item.entry.line, len(item.entry.content), ENTRY_CHARS))
            elif item.entry.id:
                items.setdefault(sys.intern(item.entry.id), []).append(item)
            else:
                has_unnamed = True
        page = Page(ids=tuple(items), has_unnamed=has_unnamed, oversized=tuple(beyond))
        self._pages[path, digest] = page
        self._items[path, digest] = items
        self._count += len(items)
        while self._count > MOST_ITEMS and len(self._items) > 1:
            self._count -= len(self._items.pop(next(iter(self._items))))
        return page

    def items(self, path: str, texts: Mapping[str, str] | Texts, digest: str) -> Items:
        """Return the items of a page by their id."""
        found = self._items.get((path, digest))
        if found is None:
            self.parse(path, digest, texts[path])
            found = self._items[path, digest]
        return found


class _Placed(Mapping[str, "tuple[Placed, ...]"]):
    """A mapping from ids to items, parsed on access."""

    def __init__(self, homes: dict[str, tuple[str, ...]], load: Callable[[str], Items]) -> None:
        """Look items up in *homes*, the paths of the pages with the id."""
        self._homes = homes
        self._load = load

    def __getitem__(self, id: str) -> tuple[Placed, ...]:
        return tuple(item for path in self._homes[id] for item in self._load(path)[id])

    def __iter__(self) -> Iterator[str]:
        return iter(self._homes)

    def __contains__(self, id: object) -> bool:
        return id in self._homes

    def __len__(self) -> int:
        return len(self._homes)


class _Anew:
    """An iterable that makes its iterator anew each time."""

    def __init__(self, make: Callable[[], Iterator[T]]) -> None:
        self._make = make

    def __iter__(self) -> Iterator[Any]:
        return self._make()


def snapshot(texts: Mapping[str, str] | Texts, reading: Reading | None = None) -> Snapshot:
    """Parse files by their path; report one with conflict markers and skip it.

    Two snapshots that share a *reading* share what is the same in both.
    """
    reading = reading or Reading()
    digests = digests_of(texts)
    homes: dict[str, tuple[str, ...]] = {}
    told: dict[str, list[Line]] = {}
    foreign: list[Line] = []
    problems: list[Problem] = []
    beyond: list[Problem] = []
    sound: list[str] = []
    loose: list[str] = []
    offers, offered, proposes = {}, frozenset[str](), False
    for path in sorted(texts):
        known = reading.page(path, digests[path])
        if not known and _conflict(texts, path, problems):
            continue
        sound.append(path)
        if path in LINES:
            for line in _lines(path, lines_of(texts, path), problems, beyond, reading.lines):
                id = line.id
                (told.setdefault(sys.intern(id), []) if id else foreign).append(line)
        elif path == SHEET:
            text = texts[path]
            page = review_sheet.Page(text)
            offered = frozenset(page.offered)
            beyond += oversized(path, text)
            for item in page.items:
                offer = _parse_offer(item, problems)
                if len(item.entry.content) > ENTRY_CHARS:
                    size = len(item.entry.content)
                    beyond.append(_beyond(path, item.entry.line, size, ENTRY_CHARS))
                elif item.entry.id:
                    offers[item.entry.id] = offer
                else:
                    proposes = True
        else:
            known = known or reading.parse(path, digests[path], texts[path])
            here = (path,)
            for id in known.ids:
                homes[id] = (*homes[id], path) if id in homes else here
            loose += [path] if known.has_unnamed else []
            beyond += known.oversized
    lines: dict[str, Line] = {}
    lost: dict[str, Line] = {}
    survived: set[str] = set()
    for id, found in told.items():
        line = lines[id] = _resolve(found)
        if len(found) > 1:
            lives = [one for one in found if not one.gone]
            if other := _losing_line(lives, line):
                lost[id] = other
            if not line.gone and len(lives) < len(found):
                survived.add(id)
    unread = {problem.path for problem in beyond}
    return Snapshot(
        placed=_Placed(homes, lambda path: reading.items(path, texts, digests[path])),
        unnamed=_Anew(lambda: _each_unnamed(loose, texts)) if loose else (),
        lines=lines,
        lost=lost,
        survived=frozenset(survived),
        foreign=tuple(foreign),
        sheet=offers,
        proposed=_Anew(lambda: _each_proposed(texts[SHEET])) if proposes else (),
        offered=offered,
        read=frozenset(sound) - unread,
        problems=(*problems, *beyond),
        oversized=tuple(beyond),
    )


def _each_unnamed(paths: Iterable[str], texts: Mapping[str, str] | Texts) -> Iterator[Placed]:
    for path in paths:
        for item in _items(path, texts[path]):
            if not item.entry.id and len(item.entry.content) <= ENTRY_CHARS:
                yield item


def _each_proposed(text: str) -> Iterator[Offered]:
    for item in review_sheet.Page(text).items:
        if not item.entry.id and len(item.entry.content) <= ENTRY_CHARS:
            yield _parse_offer(item, [])


def oversized(path: str, text: str) -> Iterator[Problem]:
    """Yield a problem for each line that was too long to be read."""
    for number, line in enumerate(markdown.each_line(text), 1) if OVERSIZE in text else ():
        if line.startswith(OVERSIZE):
            yield _too_long(path, number, line)


def _too_long(path: str, number: int, line: str) -> Problem:
    size, _, most = line.removeprefix(OVERSIZE).partition(" of ")
    return _beyond(path, number, int(size), int(most))


def _beyond(path: str, number: int, size: int, most: int) -> Problem:
    message = f"has {size:,} bytes; {most:,} is the most: it stays in the file, and says nothing"
    return Problem(path=path, line=number, message=message)


@lru_cache(maxsize=64)
def _record(raw: str) -> dict[str, Any]:
    return knowledge.read(raw) or {}


def normalize_item(
    category: Category, title: str | None, content: str, tags: tuple[str, ...], path: str | None
) -> Said:
    return (category, _squeezed(title), _squeezed(content), tags, _squeezed(path))


def _record_values(record: Mapping[str, Any]) -> Said | None:
    category, tags = record.get("category"), record.get("tags") or ()
    if category not in set(Category):
        return None
    return normalize_item(
        Category(category),
        record.get("title"),
        str(record.get("content")),
        tuple(map(str, tags)),
        record.get("path"),
    )


def item_values(memory: Memory) -> Said:
    """Return the values that an item of the memory has."""
    return normalize_item(
        memory.category,
        clean(memory.title or ""),
        clean(memory.content),
        memory.tags,
        clean(memory.file_scope_pattern or ""),
    )


def conflict_lines(texts: Mapping[str, str] | Texts, path: str) -> Iterator[int]:
    """Yield the numbers of lines with conflict markers."""
    for number, line in enumerate(markdown.split(parts_of(texts, path)), 1):
        if line.startswith(_CONFLICT):
            yield number


def topic_of(path: str) -> Category | None:
    """Return the category of a topic file by its name; None for any other file."""
    if not path.startswith(FOLDER) or not path.endswith(".md"):
        return None
    stem = re.split(r"[-.]", os.path.basename(path))[0]
    return next((topic.category for topic in topics.TOPICS if topic.name == stem), None)


def is_imported(path: str) -> bool:
    """Return True for a file whose edits are imported."""
    return topic_of(path) is not None or path in LINES or path == SHEET


def _conflict(texts: Mapping[str, str] | Texts, path: str, problems: list[Problem]) -> bool:
    found = list(conflict_lines(texts, path))
    message = "a conflict of a git merge; settle it and commit"
    problems += [Problem(path=path, line=number, message=message) for number in found]
    return bool(found)


def _items(path: str, text: str) -> Iterator[Placed]:
    """Yield items; a heading that names a topic sets the category of the new ones below it."""
    category = own = topic_of(path)
    if own is None:
        return
    for part in markdown.parts(text):
        if isinstance(part, markdown.Entry):
            wanted = own if part.id else category or own
            yield Placed(path=path, category=wanted, entry=part)
        else:
            category = topics.heading(part.text) or category


def _parse_offer(found: review_sheet.Item, problems: list[Problem]) -> Offered:
    """Parse a candidate; report an unknown category and ignore it."""
    category, filed = Category.FACT, False
    try:
        if found.category:
            category, filed = Category(found.category), True
    except ValueError:
        message = f"no category {preview(found.category, 40)!r}; use {', '.join(Category)}"
        problems.append(Problem(path=SHEET, line=found.entry.line, message=message))
    item = Placed(path=SHEET, category=category, entry=found.entry)
    return Offered(item=item, ticked=found.ticked, filed=filed, origin_text=found.origin_text)


def _lines(
    path: str,
    lines: Iterable[str],
    problems: list[Problem],
    beyond: list[Problem],
    known: dict[str, Line],
) -> Iterator[Line]:
    for number, raw in enumerate(lines, 1):
        if not raw:
            continue
        if raw.startswith(OVERSIZE):
            beyond.append(_too_long(path, number, raw))
        elif knowledge.read(raw) is None:
            message = "is not an object with a content; it is kept, and says nothing"
            problems.append(Problem(path=path, line=number, message=message))
        else:
            line = known.get(raw)
            if line is None or (line.path, line.number) != (path, number):
                line = Line(path, number, line.raw if line else raw)
                known[line.raw] = line
            yield line


def _newest(lines: Sequence[Line]) -> Line:
    """Return the newest line; of two equally new the later one."""
    return max(reversed(lines), key=lambda line: conflicts.age(line.record))


def _resolve(lines: Sequence[Line]) -> Line:
    """Return the newest line, with the record that all lines together come to."""
    if len(lines) == 1 and conflicts.WAS not in lines[0].record:
        return lines[0]
    newest, record = _newest(lines), conflicts.resolve_lines([line.record for line in lines])
    if record == newest.record:
        return newest
    return newest.as_understood(record)


def _losing_line(lives: Sequence[Line], newest: Line) -> Line | None:
    text = newest.record["content"]
    others = [line for line in lives if line.record["content"] != text]
    return _newest(others) if others else None


def _squeezed(text: object) -> str:
    return " ".join(str(text or "").split())
