"""All pages of the mirror as text, by their path in the project."""

from __future__ import annotations

import re

from ademem.mirror import brief, contest, entry, index, keep, knowledge, sheet, tombstone, topics
from ademem.mirror.selection import is_line, renders

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping
    from typing import Any

    from ademem.core import CoreMemory
    from ademem.mirror.entry import Loose
    from ademem.mirror.topics import TopicFile
    from ademem.model import Memory
    from ademem.settings import MirrorSettings

FOLDER = ".ade/memory/"
INDEX = FOLDER + "MEMORY.md"
LINES = FOLDER + knowledge.LIVE
SHEET = FOLDER + sheet.NAME
ARCHIVE = FOLDER + knowledge.ARCHIVE
BRIEF = ".ade/cto/MEMORY.md"


def render(
    memories: Iterable[Memory],
    document: CoreMemory | None,
    present: Mapping[str, str],
    settings: MirrorSettings,
    gone: Iterable[dict[str, Any]] = (),
    refused: Callable[[], Collection[str]] = tuple,
) -> dict[str, str]:
    """Of the memories, oldest first, what may be shown; what is not ours of the *present* stays.

    *gone* are tombstones of memories that may be shown no more; *refused* tells what could not
    be taken over of the lines: it stays, as does what nobody can read.
    """
    lines = [memory for memory in memories if is_line(memory)]
    shown = [memory for memory in lines if renders(memory)]
    files = topics.files(shown, settings.topic_entries)
    regions = keep.regions(present.get(INDEX, ""))
    pages = {
        INDEX: index.render(shown, document, files, regions, settings),
        BRIEF: brief.render(document, shown),
    }
    loose = _loose(present, files)
    for file in files:
        pages |= _in_folder(topics.render(file, loose))
    alive = {memory.id for memory in lines}
    standing = tombstone.standing(gone, alive)
    rendered = knowledge.render(lines, settings, standing, _said(lines, present))
    ours = {line for text in rendered.values() for line in text.split("\n")}
    others = [raw for raw in entry.lines_of(present.get(LINES, "")) if raw not in ours]
    known = refused() if others else ()
    nobodys = (raw for raw in others if _is_nobodys(raw, known, alive))
    rendered[knowledge.LIVE] += "".join(f"{raw}\n" for raw in nobodys)
    return pages | _in_folder(rendered)


def _is_nobodys(raw: str, refused: Collection[str], alive: Collection[str]) -> bool:
    record = knowledge.read(raw)
    return bool(raw) and (record is None or (raw in refused and record.get("id") not in alive))


def buried(present: Mapping[str, str]) -> list[dict[str, Any]]:
    """The tombstones that stand in the archive, with what they hide."""
    found = []
    for records in _told(present).values():
        gone = [record for record in records if tombstone.is_one(record)]
        last = contest.settled(records)
        found += [last] if tombstone.is_one(last) else gone
    return found


def _said(memories: Iterable[Memory], present: Mapping[str, str]) -> dict[str, str]:
    """When a text was said that the files know to be older than its memory, by id."""
    if not any(map(contest.is_noted, (present.get(LINES, ""), present.get(ARCHIVE, "")))):
        return {}
    told = {id: contest.settled(records) for id, records in _told(present).items()}
    return {
        memory.id: str(told[memory.id][contest.SAID_AT])
        for memory in memories
        if contest.SAID_AT in told.get(memory.id, {})
        and told[memory.id]["content"] == memory.content
    }


def _told(present: Mapping[str, str]) -> dict[str, list[dict[str, Any]]]:
    """Lines by the id of their memory: those of the archive, and live ones with a note."""
    live = filter(contest.is_noted, entry.lines_of(present.get(LINES, "")))
    found: dict[str, list[dict[str, Any]]] = {}
    for raw in (*entry.lines_of(present.get(ARCHIVE, "")), *live):
        record = knowledge.read(raw)
        if record and record.get("id"):
            found.setdefault(str(record["id"]), []).append(record)
    return found


def _loose(present: Mapping[str, str], files: Iterable[TopicFile]) -> dict[str, list[Loose]]:
    """A person's own lines by page; those of a page that is no more go to the topic's first."""
    names = {name for file in files for name in file.names}
    found: dict[str, list[Loose]] = {}
    for path, text in sorted(present.items()):
        name = path.removeprefix(FOLDER)
        topic = re.split(r"[-.]", name)[0]
        if topic in {known.name for known in topics.TOPICS} and path.endswith(".md"):
            home = name if name in names else f"{topic}.md"
            found.setdefault(home, []).extend(topics.loose(text))
    return found


def _in_folder(pages: Mapping[str, str]) -> dict[str, str]:
    return {FOLDER + name: text for name, text in pages.items()}
