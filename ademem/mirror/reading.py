"""What the files say, as people and git left them."""

from __future__ import annotations

import os
import re

from ademem.mirror import contest, entry, knowledge, sheet, tombstone, topics
from ademem.mirror.pages import FOLDER, SHEET
from ademem.mirror.problem import Problem
from ademem.model import Category
from ademem.text import clean, preview
from ademem.value import Value, replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

    from ademem.mirror.entry import Entry
    from ademem.model import Memory

LINES = (FOLDER + knowledge.ARCHIVE, FOLDER + knowledge.LIVE)
"""Oldest first: of two lines about one memory that are equally new, the later counts."""

_CONFLICT = re.compile(r"(?:<{7}|>{7}) ")

Said = tuple[Category, str, str, tuple[str, ...], str]


class Placed(Value):
    """An item and the file it stands in."""

    path: str
    category: Category
    entry: Entry

    @property
    def said(self) -> Said:
        """Equal for items that mean the same, however an editor wrapped their lines."""
        item = self.entry
        return said(self.category, item.title, item.content, item.tags, item.path)


class Line(Value):
    """An object of knowledge.jsonl."""

    path: str
    number: int
    record: dict[str, Any]
    written: dict[str, Any] | None = None
    """What the file has of it, where another line about the memory makes it mean something else."""

    @property
    def id(self) -> str | None:
        """None: another tool, or a person, wrote the line."""
        id = self.record.get("id")
        return id if isinstance(id, str) and "sync_id" in self.record else None

    @property
    def gone(self) -> bool:
        """A tombstone: it says of the memory only that it is no more."""
        return tombstone.is_one(self.record)

    @property
    def said(self) -> Said | None:
        return _said(self.record)

    @property
    def said_alone(self) -> Said | None:
        """What it says by itself."""
        return _said(self.written or self.record)

    @property
    def item(self) -> Placed | None:
        """What says the same on a page; None for a tombstone, and for what stands on none."""
        told = self.said
        if told is None or self.gone:
            return None
        title, content, path = (self.record.get(name) for name in ("title", "content", "path"))
        said = entry.Entry(
            line=self.number, title=title, content=str(content), tags=told[3], path=path
        )
        return Placed(path=self.path, category=told[0], entry=said)


class Offered(Value):
    """An item of candidates.md."""

    item: Placed
    ticked: bool = False
    filed: bool = True
    """Whether it tells its category; else the memory's own is meant."""
    told_by: str = ""
    """Who said it, in the words of the sheet."""

    @property
    def says(self) -> tuple[object, ...]:
        category, *rest = self.item.said
        return (category if self.filed else None, *rest)


class Snapshot(Value):
    """The files of one moment."""

    placed: dict[str, tuple[Placed, ...]] = {}
    """Items by the id of their memory; two with one id come of a merge without a driver."""
    unnamed: tuple[Placed, ...] = ()
    """Items that a person added."""
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
    proposed: tuple[Offered, ...] = ()
    """Those that a person added."""
    offered: frozenset[str] = frozenset()
    """Ids of what the sheet offered when it was written."""
    read: frozenset[str] = frozenset()
    """Paths of the files that are there and sound."""
    problems: tuple[Problem, ...] = ()


def snapshot(texts: Mapping[str, str]) -> Snapshot:
    """Read files by their path; one with conflict markers is reported and not read."""
    placed: dict[str, list[Placed]] = {}
    unnamed: list[Placed] = []
    problems: list[Problem] = []
    sound = {path: text for path, text in texts.items() if not _conflict(path, text, problems)}
    for path, text in sorted(sound.items()):
        for item in _items(path, text):
            if item.entry.id:
                placed.setdefault(item.entry.id, []).append(item)
            else:
                unnamed.append(item)
    foreign: list[Line] = []
    told: dict[str, list[Line]] = {}
    for line in (line for path in LINES for line in _lines(path, sound.get(path, ""), problems)):
        (told.setdefault(line.id, []) if line.id else foreign).append(line)
    lines = {id: _settled(found) for id, found in told.items()}
    lives = {id: [line for line in found if not line.gone] for id, found in told.items()}
    lost = {id: _lost(lives[id], line) for id, line in lines.items()}
    candidates = sheet.read(sound.get(SHEET, ""))
    offers = [_offered(item, problems) for item in candidates.items]
    return Snapshot(
        placed={id: tuple(items) for id, items in placed.items()},
        unnamed=tuple(unnamed),
        lines=lines,
        lost={id: line for id, line in lost.items() if line},
        survived=frozenset(
            id for id, line in lines.items() if not line.gone and len(lives[id]) < len(told[id])
        ),
        foreign=tuple(foreign),
        sheet={offer.item.entry.id: offer for offer in offers if offer.item.entry.id},
        proposed=tuple(offer for offer in offers if not offer.item.entry.id),
        offered=frozenset(candidates.offered),
        read=frozenset(sound),
        problems=tuple(problems),
    )


def said(
    category: Category, title: str | None, content: str, tags: tuple[str, ...], path: str | None
) -> Said:
    return (category, _squeezed(title), _squeezed(content), tags, _squeezed(path))


def _said(record: Mapping[str, Any]) -> Said | None:
    category, tags = record.get("category"), record.get("tags") or ()
    if category not in set(Category):
        return None
    return said(
        Category(category),
        record.get("title"),
        str(record.get("content")),
        tuple(map(str, tags)),
        record.get("path"),
    )


def said_of(memory: Memory) -> Said:
    """What an item about it says."""
    return said(
        memory.category,
        clean(memory.title or ""),
        clean(memory.content),
        memory.tags,
        clean(memory.file_scope_pattern or ""),
    )


def conflicts(text: str) -> Iterator[int]:
    """Numbers of the lines where git marked a conflict."""
    return (at for at, line in enumerate(text.split("\n"), 1) if _CONFLICT.match(line))


def topic_of(path: str) -> Category | None:
    """The category a topic file is about, by its name; None for any other file."""
    if not path.startswith(FOLDER) or not path.endswith(".md"):
        return None
    stem = re.split(r"[-.]", os.path.basename(path))[0]
    return next((topic.category for topic in topics.TOPICS if topic.name == stem), None)


def is_taken(path: str) -> bool:
    """Whether what people write into the file reaches the store."""
    return topic_of(path) is not None or path in LINES or path == SHEET


def _conflict(path: str, text: str, problems: list[Problem]) -> bool:
    found = list(conflicts(text))
    message = "a conflict of a git merge; settle it and commit"
    problems += [Problem(path=path, line=number, message=message) for number in found]
    return bool(found)


def _items(path: str, text: str) -> Iterator[Placed]:
    """A heading that names a topic says the category of the items below it."""
    category = own = topic_of(path)
    if own is None:
        return
    for part in entry.parts(text):
        if isinstance(part, entry.Entry):
            wanted = own if part.id else category or own
            yield Placed(path=path, category=wanted, entry=part)
        else:
            category = topics.heading(part.text) or category


def _offered(found: sheet.Item, problems: list[Problem]) -> Offered:
    """A category that is none is told, and changes nothing."""
    category, filed = Category.FACT, False
    try:
        if found.category:
            category, filed = Category(found.category), True
    except ValueError:
        message = f"no category {preview(found.category, 40)!r}; use {', '.join(Category)}"
        problems.append(Problem(path=SHEET, line=found.entry.line, message=message))
    item = Placed(path=SHEET, category=category, entry=found.entry)
    return Offered(item=item, ticked=found.ticked, filed=filed, told_by=found.told_by)


def _lines(path: str, text: str, problems: list[Problem]) -> Iterator[Line]:
    for number, raw in enumerate(entry.lines_of(text), 1):
        if not raw:
            continue
        record = knowledge.read(raw)
        if record is None:
            message = "is not an object with a content; it is kept, and says nothing"
            problems.append(Problem(path=path, line=number, message=message))
        else:
            yield Line(path=path, number=number, record=record)


def _newest(lines: Sequence[Line]) -> Line:
    """Of two that are equally new the later one."""
    return max(reversed(lines), key=lambda line: contest.age(line.record))


def _settled(lines: Sequence[Line]) -> Line:
    """The newest, as the others let it be understood."""
    newest, record = _newest(lines), contest.settled([line.record for line in lines])
    if record == newest.record:
        return newest
    return replace(newest, record=record, written=newest.record)


def _lost(lives: Sequence[Line], newest: Line) -> Line | None:
    others = [line for line in lives if line.record["content"] != newest.record["content"]]
    return _newest(others) if others else None


def _squeezed(text: object) -> str:
    return " ".join(str(text or "").split())
