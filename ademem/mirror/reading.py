"""What the files say, as people and git left them."""

from __future__ import annotations

import os
import re

from ademem.mirror import entry, knowledge, topics
from ademem.mirror.pages import FOLDER
from ademem.mirror.problem import Problem
from ademem.model import Category
from ademem.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from ademem.mirror.entry import Entry

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

    @property
    def id(self) -> str | None:
        """None: another tool, or a person, wrote the line."""
        id = self.record.get("id")
        return id if isinstance(id, str) and "sync_id" in self.record else None

    @property
    def said(self) -> Said | None:
        record = self.record
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


class Snapshot(Value):
    """The topic files and lines of one moment."""

    placed: dict[str, tuple[Placed, ...]] = {}
    """Items by the id of their memory; two with one id come of a merge without a driver."""
    unnamed: tuple[Placed, ...] = ()
    """Items that a person added."""
    lines: dict[str, Line] = {}
    """The newest line of each memory, by its id."""
    foreign: tuple[Line, ...] = ()
    """Lines without an id of ours."""
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
    lines: dict[str, Line] = {}
    foreign: list[Line] = []
    for line in (line for path in LINES for line in _lines(path, sound.get(path, ""), problems)):
        known = lines.get(line.id or "")
        if line.id is None:
            foreign.append(line)
        elif known is None or _time(line) >= _time(known):
            lines[line.id] = line
    return Snapshot(
        placed={id: tuple(items) for id, items in placed.items()},
        unnamed=tuple(unnamed),
        lines=lines,
        foreign=tuple(foreign),
        read=frozenset(sound),
        problems=tuple(problems),
    )


def said(
    category: Category, title: str | None, content: str, tags: tuple[str, ...], path: str | None
) -> Said:
    return (category, _squeezed(title), _squeezed(content), tags, _squeezed(path))


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
    return topic_of(path) is not None or path in LINES


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


def _time(line: Line) -> str:
    return str(line.record.get("updated_at") or "")


def _squeezed(text: object) -> str:
    return " ".join(str(text or "").split())
