"""All tracked files as text, by their path in the project."""

from __future__ import annotations

import re
import sys

from ademem.core.text import number
from ademem.files import conflicts, index, knowledge, markdown, review_sheet, topics
from ademem.files.selection import is_line, renders
from ademem.files.texts import lines_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
    from typing import Any

    from ademem.core.memory import Memory
    from ademem.core.settings import MirrorSettings
    from ademem.files.markdown import Loose
    from ademem.files.project_brief import CoreMemory
    from ademem.files.texts import Texts
    from ademem.files.topics import TopicFile

FOLDER = ".ade/memory/"
INDEX = FOLDER + "MEMORY.md"
LINES = FOLDER + knowledge.LIVE
SHEET = FOLDER + review_sheet.NAME
ARCHIVE = FOLDER + knowledge.ARCHIVE
BRIEF = ".ade/cto/MEMORY.md"

_TOMBSTONE = f'"{knowledge.TOMBSTONE}"'
_SHOWN = (
    "id",
    "category",
    "title",
    "content",
    "tags",
    "file_scope_pattern",
    "pinned",
    "tier",
    "importance",
    "confidence",
    "created_at",
)
"""Fields of a memory that pages and the index show or sort by."""


def render(
    memories: Iterable[Memory],
    document: CoreMemory | None,
    present: Mapping[str, str] | Texts,
    settings: MirrorSettings,
    gone: Iterable[dict[str, Any]] = (),
    refused: Callable[[], Collection[str]] = tuple,
) -> dict[str, str]:
    """Render the memories that may be shown; lines of people in the *present* files stay.

    *gone* are tombstones of memories that may be shown no more; *refused* tells what could not
    be taken over of the lines: it stays, as does what nobody can read.
    """
    shown: list[Memory] = [_Shown(one) for one in memories if renders(one)]  # type: ignore[misc]
    files = topics.files(shown, settings.topic_entries)
    regions = index.regions(present.get(INDEX) or "")
    pages = {
        INDEX: index.render_index(shown, document, files, regions, settings),
        BRIEF: index.render_brief(document, shown),
    }
    loose = _loose(present, files)
    for file in files:
        pages |= _in_folder(topics.render(file, loose))
    del shown, files, loose
    alive = {memory.id for memory in memories if is_line(memory)}
    standing = knowledge.newest_tombstones(gone, alive)
    lines = (memory for memory in memories if is_line(memory))
    rendered = knowledge.render(lines, settings, standing, _text_times(memories, present))
    ours = {number(line) for text in rendered.values() for line in markdown.each_line(text)}
    others = [raw for raw in lines_of(present, LINES) if number(raw) not in ours]
    known = refused() if others else ()
    nobodys = [raw for raw in others if _is_unread(raw, known, alive)]
    if nobodys:
        rendered[knowledge.LIVE] += "".join(f"{raw}\n" for raw in nobodys)
    return pages | _in_folder(rendered)


class _Shown:
    """The fields of a memory that pages need, in a fifth of its memory."""

    __slots__ = _SHOWN

    def __init__(self, memory: Memory) -> None:
        for name in _SHOWN:
            setattr(self, name, getattr(memory, name))
        self.tags = tuple(map(sys.intern, memory.tags))


def _is_unread(raw: str, refused: Collection[str], alive: Collection[str]) -> bool:
    record = knowledge.read(raw)
    return bool(raw) and (record is None or (raw in refused and record.get("id") not in alive))


def list_tombstones(present: Mapping[str, str] | Texts) -> list[dict[str, Any]]:
    """List the tombstones in the archive, with the fields they hide."""
    found = []
    for records in _noted_lines(present).values():
        gone = [record for record in records if knowledge.is_tombstone(record)]
        last = conflicts.resolve_lines(records)
        found += [last] if knowledge.is_tombstone(last) else gone
    return found


def _text_times(memories: Iterable[Memory], present: Mapping[str, str] | Texts) -> dict[str, str]:
    """Return the times of texts that are older than the last change of their memory, by id."""
    if not any(
        conflicts.has_note(raw) for path in (LINES, ARCHIVE) for raw in lines_of(present, path)
    ):
        return {}
    told = {id: conflicts.resolve_lines(records) for id, records in _noted_lines(present).items()}
    return {
        memory.id: str(told[memory.id][conflicts.SAID_AT])
        for memory in memories
        if is_line(memory)
        and conflicts.SAID_AT in told.get(memory.id, {})
        and told[memory.id]["content"] == memory.content
    }


def _noted_lines(present: Mapping[str, str] | Texts) -> dict[str, list[dict[str, Any]]]:
    """Group the archived lines, and live ones with a note, by the id of their memory.

    Only of memories of which one line has a note or is a tombstone: others say nothing but what
    they are, and there may be very many.
    """
    found: dict[str, list[dict[str, Any]]] = {}
    for raw in _each_noted_line(present):
        if conflicts.has_note(raw) or _TOMBSTONE in raw:
            record = knowledge.read(raw) or {}
            found.setdefault(str(record.get("id") or ""), [])
    found.pop("", None)
    for raw in _each_noted_line(present) if found else ():
        record = knowledge.read(raw) or {}
        if str(record.get("id") or "") in found:
            found[str(record["id"])].append(record)
    return found


def _each_noted_line(present: Mapping[str, str] | Texts) -> Iterator[str]:
    yield from lines_of(present, ARCHIVE)
    yield from filter(conflicts.has_note, lines_of(present, LINES))


def _loose(
    present: Mapping[str, str] | Texts, files: Iterable[TopicFile]
) -> dict[str, list[Loose]]:
    """Group people's own lines by page; those of a removed page go to the topic's first page."""
    names = {name for file in files for name in file.names}
    found: dict[str, list[Loose]] = {}
    for path in sorted(present):
        name = path.removeprefix(FOLDER)
        topic = re.split(r"[-.]", name)[0]
        if topic in {known.name for known in topics.TOPICS} and path.endswith(".md"):
            home = name if name in names else f"{topic}.md"
            found.setdefault(home, []).extend(topics.own_lines(present[path]))
    return found


def _in_folder(pages: Mapping[str, str]) -> dict[str, str]:
    return {FOLDER + name: text for name, text in pages.items()}
