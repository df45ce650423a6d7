"""Parse the tracked files into one snapshot."""

from __future__ import annotations

import os
import sys
from itertools import pairwise

from ademem.core import regex
from ademem.core.caching import cache, lru_cache
from ademem.core.memory import Category, Memory
from ademem.core.registers import LIVE, Record, conflict_candidates, has_writes_of, join_all
from ademem.core.text import clean, preview
from ademem.core.value import Value
from ademem.files import FOLDER, LINE_FILES, SHEET, knowledge, markdown
from ademem.files.knowledge import from_line, is_hidden
from ademem.files.markdown import ListItem, parse_blocks
from ademem.files.texts import OVERSIZE, Problem, Texts, clean_lines, split_lines

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Callable, Collection, Iterable, Iterator, Set
    from typing import Any


ITEM_CHARS = 100_000
"""Longest text of an item that is read; a memory has a fiftieth of it at most."""

MOST_PAGES = 50
"""Parsed pages kept in memory, about 20 MB."""

_LINE_ID = regex.compile(r'"id"\s*:\s*"([^"\\]*)"')
_MARK = regex.compile(r"<!-- (\S+) -->[ \t\r]*$", regex.MULTILINE)
CONFLICT_MARKS = ("<<<<<<< ", ">>>>>>> ")
_LINE_MARKS = (*CONFLICT_MARKS, "=======", "|||||||")

Values = tuple[Category | None, str, str, tuple[str, ...], str]
"""Category, title, content, tags and path; equal for items that differ in line wrapping alone."""


class PlacedItem(Value):
    path: str
    category: Category | None
    """None for a candidate of the sheet without one: its memory keeps its category."""
    item: ListItem

    @property
    def is_confirmed(self) -> bool:
        """True for a ticked candidate: what stands in a topic file counts as ticked."""
        return self.item.ticked or self.path != SHEET

    @property
    def position(self) -> tuple[str, int]:
        return self.path, self.item.line

    @property
    def values(self) -> Values:
        item = self.item
        return _normalize(self.category, item.title, item.content, item.tags, item.path)

    @property
    def state(self) -> object:
        return self.item.id, self.values, self.is_confirmed


class KnowledgeLine:
    """A line of knowledge.jsonl, stored as text to save memory."""

    __slots__ = ("number", "path", "raw")

    def __init__(self, path: str, number: int, raw: str) -> None:
        self.path = path
        self.number = number
        self.raw = raw

    @property
    def position(self) -> tuple[str, int]:
        return self.path, self.number

    @property
    def state(self) -> object:
        return self.raw

    @property
    def found(self) -> dict[str, Any]:
        return _parse(self.raw)

    @property
    def id(self) -> str | None:
        """The memory's id; None for a line by another tool or a person."""
        id = self.found.get("id")
        return id if isinstance(id, str) and "sync_id" in self.found else None


class MemoryLines:
    """All lines about one memory: of both sides of a merge, or from both files."""

    __slots__ = ("lines",)

    def __init__(self, *lines: KnowledgeLine) -> None:
        self.lines = lines

    @property
    def raw(self) -> list[str]:
        return [line.raw for line in self.lines]

    @property
    def records(self) -> list[Record]:
        return [record for line in self.lines if (record := _record(line.raw))]

    @property
    def record(self) -> Record | None:
        return join_records(self.records)

    @property
    def last(self) -> KnowledgeLine:
        """The line with a text, if any: a problem is reported there."""
        if len(self.lines) == 1:
            return self.lines[0]
        return max(self.lines, key=lambda line: (bool(line.found["content"]), line.number))

    @property
    def is_archived(self) -> bool:
        record = self.record
        return record is not None and record.life != LIVE

    @property
    def values(self) -> frozenset[Values]:
        """Values of pages that were rendered from all lines, or from one that is not outdated.

        Git's union leaves an outdated line, also where a revert made its item the present one.
        """
        records = self.records
        newest = (
            one
            for one in records
            if not any(has_writes_of(other, one) for other in records if other is not one)
        )
        joined = join_records(records)
        found = map(values_of_record, (*newest, *([joined] if joined else ())))
        return frozenset(filter(None, found))

    @property
    def texts(self) -> frozenset[str]:
        """The texts, also those that wait for a decision, as items of pages are compared."""
        texts = (text for record in self.records for text, _ in record.texts.values())
        return frozenset(" ".join(text.split()) for text in texts)

    @property
    def losing_texts(self) -> frozenset[str]:
        record = self.record
        found = conflict_candidates(record) if record else ()
        return frozenset(" ".join(one.content.split()) for one in found)

    @property
    def needs_no_item(self) -> bool:
        """True if it lives though a line says that it was archived, or has an elder one's text."""
        if any(is_hidden(line.found) for line in self.lines):
            return True
        return any(record.life != LIVE for record in self.records) and not self.is_archived

    def is_equal(self, other: MemoryLines | None) -> bool:
        return other is not None and {*self.raw} == {*other.raw}


def join_records(records: Iterable[Record]) -> Record | None:
    return next(iter(join_all(records).values()), None)


class Snapshot(Value):
    placed: PlacedItems
    """Items by the id of their memory; a merge without our driver can leave two with one id."""
    unchanged: Callable[[], frozenset[str]] = frozenset
    """Reads the ids of items that are not in `placed`, as nothing about them changed."""
    lines: dict[str, MemoryLines] = {}
    """Lines of the memories that are compared."""
    all_texts: Callable[[], frozenset[str]] = frozenset
    """Reads the texts of the memories of all lines."""
    foreign: tuple[KnowledgeLine, ...] = ()
    """Lines without an id of ours."""
    sheet: dict[str, PlacedItem] = {}
    proposed: tuple[PlacedItem, ...] = ()
    """Candidates that a person added."""
    offered: frozenset[str] = frozenset()
    read: frozenset[str] = frozenset()
    """Paths of the files that could be read."""
    problems: tuple[Problem, ...] = ()
    oversized: tuple[Problem, ...] = ()
    """Problems of lines and items that are too long; these stay in the files."""

    def has_item(self, id: str) -> bool:
        return id in self.placed or id in self.unchanged()


class PlacedItems:
    """Items by the id of their memory, parsed on access: the last pages are kept in memory."""

    def __init__(self, texts: Texts, compared: Set[str] | None = None) -> None:
        """Leave out items of ids that are not *compared*, if given; they are `left_out`."""
        self.left_out: set[str] = set()
        self._paths: dict[str | None, tuple[str, ...]] = {}
        self._texts, self._compared = texts, compared
        self._page = lru_cache(maxsize=MOST_PAGES)(self._parse)

    def add(self, path: str) -> list[Problem]:
        items, beyond = self._page(path)
        for id in items:
            self._paths[id] = (*self._paths.get(id, ()), path)
        return beyond

    def _parse(self, path: str) -> tuple[dict[str | None, list[PlacedItem]], list[Problem]]:
        items: dict[str | None, list[PlacedItem]] = {}
        beyond: list[Problem] = []
        for placed in _parse_items(path, self._texts[path], self._is_left_out):
            if too_long := _too_long_item(path, placed.item):
                beyond.append(too_long)
            else:
                id = placed.item.id
                items.setdefault(sys.intern(id) if id else None, []).append(placed)
        return items, beyond

    def _is_left_out(self, block: list[str]) -> bool:
        if self._compared is None:
            return False
        ids = _MARK.findall(text := "\n".join(block))
        if not ids or len(text) > ITEM_CHARS or not self._compared.isdisjoint(ids):
            return False
        self.left_out.update(ids)
        return True

    def __getitem__(self, id: str | None) -> tuple[PlacedItem, ...]:
        """Return the items of a memory; with None those that a person added."""
        return tuple(item for path in self._paths.get(id, ()) for item in self._page(path)[0][id])

    def __iter__(self) -> Iterator[str]:
        return filter(None, self._paths)

    def __contains__(self, id: object) -> bool:
        return id in self._paths


class KnownLines:
    """Lines of files that two snapshots share."""

    def __init__(self) -> None:
        self.lines: dict[str, KnowledgeLine] = {}
        self._selected: dict[str, list[tuple[int, str]]] = {}
        self._chosen: dict[str, bool] = {}

    def select(self, texts: Texts, path: str, ids: Set[str] | None) -> Iterable[tuple[int, str]]:
        """Return numbers and lines with one of the ids, or with none at all."""
        if ids is None:
            return enumerate(texts.lines(path), 1)
        digest = texts.digests[path]
        if digest not in self._selected:
            chosen = self._chosen  # most lines are in both snapshots
            selected: list[tuple[int, str]] = []
            for number, raw in enumerate(texts.lines(path), 1):
                if raw not in chosen:
                    named = _LINE_ID.findall(raw)
                    chosen[raw] = not named or not ids.isdisjoint(named)
                if chosen[raw]:
                    selected.append((number, raw))
            self._selected[digest] = selected
        return self._selected[digest]


def item_ids(text: str) -> Iterator[str]:
    """Yield the ids of the memories that a page names."""
    return (found[1] for found in _MARK.finditer(text))


def _item_ids(texts: Texts, paths: Iterable[str]) -> Iterator[str]:
    return (id for path in paths for id in item_ids(texts[path]))


def unchanged_pages(now: Texts, before: Texts) -> set[str]:
    """Return the pages that are the same in both, and share no memory with one that is not."""
    topics = [(side, path) for side in (now, before) for path in side if topic_of(path)]
    same = {path for _, path in topics if now.digests.get(path) == before.digests.get(path)}
    changed: set[str] = set()
    for side, path in topics:
        if path not in same:
            changed.update(_MARK.findall(side[path]))
    return {path for path in same if changed.isdisjoint(_MARK.findall(now[path]))}


def ids_to_compare(now: Texts, before: Texts, unchanged: Collection[str]) -> set[str] | None:
    """Return the ids in lines and items that changed; None for any.

    Pages that are *unchanged* are not read. Decisions in the review sheet may be about any memory.
    """
    if SHEET in now or SHEET in before:
        return None
    found: set[str] = set()
    for path in {*now, *before}.difference(unchanged):
        if topic_of(path):
            changed = _blocks_in(now, path) ^ _blocks_in(before, path)
            found.update(id for block in changed for id in item_ids(block))
    return found.union(*(_ids_in_changed_lines(now, before, path) for path in LINE_FILES))


def _ids_in_changed_lines(now: Texts, before: Texts, path: str) -> set[str]:
    if now.digests.get(path) == before.digests.get(path):
        return set()
    changed = now.lines_without(path, before) | before.lines_without(path, now)
    return {id for line in changed for id in _LINE_ID.findall(line)}


def _blocks_in(texts: Texts, path: str) -> set[str]:
    return {"\n".join(block) for _, block in _split_page(texts.get(path) or "")}


@lru_cache(maxsize=8)
def _split_page(text: str) -> list[tuple[int, list[str]]]:
    """Return the blocks of a page, which is compared first and parsed then."""
    return list(markdown.split_blocks(clean_lines(text)))


def snapshot(
    texts: Texts,
    unchanged: Collection[str] = (),
    known: KnownLines | None = None,
    compared: Set[str] | None = None,
) -> Snapshot:
    """Parse files by their path; report one with conflict markers, and skip it if it is a page.

    Lines of both sides of a conflict are read: without its line, a memory on a page is taken for
    another one. Of *unchanged* pages the text alone is noted. Two snapshots with the same
    *known* lines share those that are in both. With ids to be *compared*, lines and items that name
    others are left out.
    """
    known = known or KnownLines()
    placed = PlacedItems(texts, compared)
    lines_by_id: dict[str, list[KnowledgeLine]] = {}
    foreign: list[KnowledgeLine] = []
    problems: list[Problem] = []
    beyond: list[Problem] = []
    sound: list[str] = []
    offers: dict[str, PlacedItem] = {}
    proposed: list[PlacedItem] = []
    offered = frozenset[str]()
    for path in sorted(texts):
        conflicts = [] if path in unchanged else list(conflict_problems(texts, path))
        problems += conflicts
        if not conflicts:
            sound.append(path)
        if path in LINE_FILES:
            raw = known.select(texts, path, compared)
            for line in _parse_lines(path, raw, problems, beyond, known.lines):
                id = line.id
                (lines_by_id.setdefault(sys.intern(id), []) if id else foreign).append(line)
            continue
        if conflicts:
            continue
        beyond += find_oversized(path, texts[path])
        if path == SHEET:
            from ademem.files.review_sheet import parse_sheet  # by default there is none

            sheet = parse_sheet(texts[path])
            offered = frozenset(sheet.offered)
            for candidate in sheet.candidates:
                offer = _parse_offer(candidate, problems)
                if too_long := _too_long_item(path, candidate):
                    beyond.append(too_long)
                elif candidate.id:
                    offers[candidate.id] = offer
                else:
                    proposed.append(offer)
        elif path not in unchanged:
            beyond += placed.add(path)
    unread = {problem.path for problem in beyond}
    return Snapshot(
        placed=placed,
        unchanged=cache(lambda: frozenset((*_item_ids(texts, unchanged), *placed.left_out))),
        lines={id: MemoryLines(*lines) for id, lines in lines_by_id.items()},
        all_texts=cache(lambda: frozenset(_texts_of_lines(texts))),
        foreign=tuple(foreign),
        sheet=offers,
        proposed=tuple(proposed),
        offered=offered,
        read=frozenset(sound) - unread,
        problems=(*problems, *beyond),
        oversized=tuple(beyond),
    )


def _texts_of_lines(texts: Texts) -> Iterator[str]:
    for path in filter(texts.__contains__, LINE_FILES):
        for line in _parse_lines(path, enumerate(texts.lines(path), 1), [], [], {}):
            if line.id:
                yield from MemoryLines(line).texts


def find_oversized(path: str, text: str) -> Iterator[Problem]:
    for number, line in enumerate(clean_lines(text), 1) if OVERSIZE in text else ():
        if line.startswith(OVERSIZE):
            yield _too_long(path, number, line)


def _too_long_item(path: str, item: ListItem) -> Problem | None:
    size = len(item.content)
    return _too_long(path, item.line, f"{size} of {ITEM_CHARS}") if size > ITEM_CHARS else None


def _too_long(path: str, number: int, sizes: str) -> Problem:
    size, most = map(int, sizes.removeprefix(OVERSIZE).split(" of "))
    message = f"has {size:,} bytes; {most:,} is the most: it stays in the file and is not imported"
    return Problem(path=path, line=number, message=message)


@lru_cache(maxsize=64)
def _parse(raw: str) -> dict[str, Any]:
    return knowledge.parse_line(raw) or {}


@lru_cache(maxsize=64)
def _record(raw: str) -> Record | None:
    return from_line(_parse(raw))


def _normalize(
    category: Category | None, title: object, content: object, tags: tuple[str, ...], path: object
) -> Values:
    def squeeze(text: object) -> str:
        return " ".join(str(text or "").split())

    return (category, squeeze(title), squeeze(content), tags, squeeze(path))


def values_of_record(record: Record) -> Values | None:
    category, (content, title) = record.value("category"), record.text
    if category is None or not record.texts:
        return None
    tags, path = record.items("tags"), record.value("path")
    return _normalize(Category(category), title, content, tags, path)


def values_of(memory: Memory) -> Values:
    title, path = clean(memory.title or ""), clean(memory.file_scope_pattern or "")
    return _normalize(memory.category, title, clean(memory.content), memory.tags, path)


def count_states(path: str, text: str) -> Counter[object]:
    from collections import Counter  # which imports in a hook do without

    if path in LINE_FILES:
        return Counter(clean_lines(text))
    placed = _parse_items(path, text)
    if path == SHEET:
        from ademem.files.review_sheet import parse_sheet

        placed = (_parse_offer(candidate, []) for candidate in parse_sheet(text).candidates)
    return Counter(each.state for each in placed)


def find_state_lines(path: str, text: str, states: Collection[object]) -> list[int]:
    """Return the indexes of the lines of the items with these *states*; none if one is missing."""
    lines = clean_lines(text)
    if path == SHEET:
        return list(range(len(lines)))
    spans = _span_states(path, text, lines)
    if not {*states} <= {state for state, _ in spans}:
        return []
    return [at for state, span in spans if state in states for at in span]


def _span_states(path: str, text: str, lines: list[str]) -> list[tuple[object, range]]:
    """Return each item's state, and the indexes of its lines up to the next item."""
    if path in LINE_FILES:
        return [(line, range(at, at + 1)) for at, line in enumerate(lines)]
    placed = list(_parse_items(path, text))
    bounds = pairwise([*(each.item.line - 1 for each in placed), len(lines)])
    return [(each.state, range(*span)) for each, span in zip(placed, bounds, strict=True)]


def conflict_problems(texts: Texts, path: str) -> Iterator[Problem]:
    """Report each conflict once, where it begins; of a half-settled one the mark that is left."""
    if not texts.holds(path, CONFLICT_MARKS):
        return
    is_open = False
    for number, line in enumerate(split_lines(texts.parts(path)), 1):
        if line.startswith(CONFLICT_MARKS):
            begins = line.startswith(CONFLICT_MARKS[0])
            if begins or not is_open:
                message = "a conflict of a git merge; resolve it and commit"
                yield Problem(path=path, line=number, message=message)
            is_open = begins


def topic_of(path: str) -> Category | None:
    if not path.startswith(FOLDER) or not path.endswith(".md"):
        return None
    stem = regex.split(r"[-.]", os.path.basename(path))[0]
    return next((topic.category for topic in markdown.TOPICS if topic.name == stem), None)


def is_imported(path: str) -> bool:
    return topic_of(path) is not None or path in LINE_FILES or path == SHEET


def _parse_items(
    path: str, text: str, is_left_out: Callable[[list[str]], bool] = lambda _block: False
) -> Iterator[PlacedItem]:
    """Yield items; a heading that names a topic sets the category of the new ones below it."""
    category = own = topic_of(path)
    if own is None:
        return
    for part in parse_blocks(_split_page(text), is_left_out=is_left_out):
        if isinstance(part, ListItem):
            yield PlacedItem(path=path, category=own if part.id else category or own, item=part)
        else:
            category = markdown.category_of_heading(part.text) or category


def _parse_offer(candidate: ListItem, problems: list[Problem]) -> PlacedItem:
    name = candidate.category
    category = Category(name) if name in set(Category) else None
    if name and category is None:
        message = f"no category {preview(name, 40)!r}; use {', '.join(Category)}"
        problems.append(Problem(path=SHEET, line=candidate.line, message=message))
    return PlacedItem(path=SHEET, category=category, item=candidate)


def _parse_lines(
    path: str,
    lines: Iterable[tuple[int, str]],
    problems: list[Problem],
    beyond: list[Problem],
    lines_read: dict[str, KnowledgeLine],
) -> Iterator[KnowledgeLine]:
    for number, raw in lines:
        if not raw or raw.startswith(_LINE_MARKS):
            continue
        line = lines_read.get(raw)
        if line is not None and (line.path, line.number) == (path, number):
            yield line
        elif raw.startswith(OVERSIZE):
            beyond.append(_too_long(path, number, raw))
        elif line is None and knowledge.parse_line(raw) is None:
            message = "is not an object with a content; it stays in the file and is not imported"
            problems.append(Problem(path=path, line=number, message=message))
        else:
            line = lines_read[raw] = KnowledgeLine(path, number, raw)
            yield line
