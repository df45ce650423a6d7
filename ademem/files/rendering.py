"""All tracked files as text: the memories that may stand in them, rendered."""

from __future__ import annotations

import re
import sys

from ademem.capture.gate.rows import id_of
from ademem.core.clock import parse
from ademem.core.memory import Importance, Memory, Scope, Status, Tier
from ademem.core.text import number
from ademem.files import ARCHIVE, BRIEF_PAGE, FOLDER, INDEX, KNOWLEDGE, LINE_FILES, knowledge, pages
from ademem.files.texts import clean_lines
from ademem.store import memories, memory_queries, relations, revisions

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

    from ademem.core.settings import MirrorSettings
    from ademem.files.branches import Place
    from ademem.files.knowledge import Record
    from ademem.files.markdown import FreeText
    from ademem.files.project_brief import CoreMemory
    from ademem.files.texts import Texts
    from ademem.store import Store

UNEDITED = 2
"""Revisions of a memory that was created and archived without an edit."""

_TOMBSTONE = f'"{knowledge.TOMBSTONE}"'
_PAGE_FIELDS = (
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


def is_on_page(memory: Memory) -> bool:
    """Return True for a promoted memory that everyone may read."""
    return memory.shareable and memory.status is Status.PROMOTED


def has_line(memory: Memory) -> bool:
    """Return True for a memory in knowledge.jsonl: on a page, or LEARNED and not yet confirmed."""
    return is_on_page(memory) or (memory.shareable and memory.knowledge_key is not None)


class Lines:
    """The memories that have a line, oldest first, without those that wait on another branch.

    Each iteration reads the store anew.
    """

    def __init__(self, store: Store, place: Place | None = None) -> None:
        self._store, self._place = store, place

    def __iter__(self) -> Iterator[Memory]:
        place = self._place
        for memory in memory_queries.each_line(self._store):
            shown = place.shows(memory) if place else memory.source_branch is None
            if shown and has_line(memory):
                yield memory


def each_offered(store: Store, place: Place) -> Iterator[Memory]:
    """Yield candidates for the review sheet, oldest first, without those of other branches."""
    categories = {topic.category for topic in pages.TOPICS}
    for memory in memory_queries.each_project_candidate(store):
        is_candidate = memory.shareable and memory.status is Status.CANDIDATE
        if is_candidate and memory.category in categories and place.shows(memory):
            yield memory


def tombstones_of(store: Store, place: Place, carried: Sequence[Record] = ()) -> Iterator[Record]:
    """Yield tombstones of memories that may have had a line.

    The *carried* ones are of the files: of memories that were never here, or that went elsewhere.
    """
    ours = memory_queries.update_stamps(store, [record["id"] for record in carried])
    for record in carried:
        if ours.get(record["id"], record["updated_at"]) == record["updated_at"]:
            yield record
    for row in memory_queries.removed_lines(store):
        id, sync_id, at, category, created_at, content, deleted_at, revision, branch, heir = row
        undone = deleted_at and revisions.operation_of(store, id, revision) == ("undo", deleted_at)
        won = knowledge.is_losing_text(heir, id, content)  # its memory has the text by now
        if undone or won or branch not in (None, place.branch):
            continue
        texts = [content]
        if not heir and revision > UNEDITED:
            rows = memories.revisions(store, id)
            texts += [row["snapshot"]["content"] for row in reversed(rows)]
        created = parse(created_at)
        yield knowledge.tombstone(id, sync_id, parse(at), category, created, texts)
    for sync_id, at in memory_queries.tombstones(store):  # deleted for good
        id = id_of(sync_id)
        for revision in memories.revisions(store, id)[-1:]:
            last = revision["snapshot"]
            if last["scope"] == Scope.PROJECT and last["promoted_at"]:
                created = parse(last["created_at"])
                yield knowledge.tombstone(id, sync_id, parse(at), last["category"], created, ())


def find_later(store: Store) -> dict[str, str]:
    """Return by id the id of the latest memory that says something else, where words tell it.

    Settled pairs count, too: pages are equal on every machine, whatever its model and its person.
    """
    pairs = relations.list_pairs(store)
    if not pairs:
        return {}
    from ademem.capture.gate import contradiction, duplicates, relating

    rows = {
        one.seq: one for one in memories.numbered(store, {seq for pair in pairs for seq in pair})
    }
    found = {}
    for each in pairs:
        earlier, later = (rows[seq] for seq in each)
        one, other = map(duplicates.compared_text, (earlier, later))
        if contradiction.likelihood(one, other) >= relating.LIKELY:
            found[earlier.id] = later.id
    return found


def render(
    memories: Iterable[Memory],
    document: CoreMemory | None,
    present: Texts,
    settings: MirrorSettings,
    tombstones: Iterable[Record] = (),
    refused: Callable[[], Collection[str]] = tuple,
    committed: Callable[[], Collection[str]] = tuple,
    later: Mapping[str, str] = {},
) -> dict[str, str]:
    """Render the memories that may be shown; lines of people in the *present* files stay.

    *refused* returns the lines that could not be imported: they stay, as do unreadable ones.
    *committed* returns the files of HEAD: of these a page without entries stays, as git reports a
    conflict where one side deletes a file and the other changes it. A *later* memory stands before
    the one that it says otherwise.
    """
    rows = {one.id: _PageFields(one) for one in memories if is_on_page(one)}
    shown: list[Memory] = _put_later_first(rows, later)  # type: ignore[assignment]
    free_texts = _list_free_texts(present)
    categories = {memory.category for memory in shown}
    emptied = {
        f"{FOLDER}{topic.name}.md": topic.name
        for topic in pages.TOPICS
        if topic.category not in categories
    }
    left = emptied.keys() & present.digests.keys()
    stay = {emptied[path] for path in left.intersection(committed())} if left else set()
    stay |= {topic for topic, _ in free_texts}
    files = pages.split_topics(shown, settings.topic_entries, stay)
    regions = pages.regions_of(present.get(INDEX) or "")
    rendered = {
        INDEX: pages.render_index(shown, document, files, regions, settings),
        BRIEF_PAGE: pages.render_brief(document, shown),
    }
    names = {name for file in files for name in file.names}
    by_page: dict[str, list[FreeText]] = {}
    for (topic, name), texts in free_texts.items():  # of a removed page: on the topic's first one
        by_page.setdefault(name if name in names else f"{topic}.md", []).extend(texts)
    for file in files:
        for name, text in pages.render_topic(file, by_page).items():
            rendered[FOLDER + name] = text
    del rows, shown, files, free_texts, by_page
    alive = {memory.id for memory in memories if has_line(memory)}
    newest = knowledge.newest_tombstones(tombstones, alive)
    shared = (memory for memory in memories if has_line(memory))
    lines = knowledge.render_lines(shared, settings, newest, _text_times(memories, present))
    ours = {number(line) for text in lines.values() for line in clean_lines(text)}
    others = [raw for raw in present.lines(KNOWLEDGE) if raw and number(raw) not in ours]
    kept = refused() if others else ()
    unread = []
    for raw in others:
        record = knowledge.read(raw)
        if record is None or (raw in kept and record.get("id") not in alive):
            unread.append(f"{raw}\n")
    if unread:
        lines[KNOWLEDGE] += "".join(unread)
    return rendered | lines


def _list_free_texts(present: Texts) -> dict[tuple[str, str], list[FreeText]]:
    """Return a person's lines in the topic files, by the topic and the name of the page."""
    topics = {topic.name for topic in pages.TOPICS}
    found = {}
    for path in sorted(present):
        name = path.removeprefix(FOLDER)
        topic = re.split(r"[-.]", name)[0]
        if (
            topic in topics
            and path.endswith(".md")
            and (texts := pages.free_texts_of(present[path]))
        ):
            found[topic, name] = texts
    return found


class _PageFields:
    """The fields of a memory that pages need, in a fifth of its memory."""

    __slots__ = _PAGE_FIELDS
    tier: Tier
    importance: Importance
    confidence: float

    def __init__(self, memory: Memory) -> None:
        for name in _PAGE_FIELDS:
            setattr(self, name, getattr(memory, name))
        self.tags = tuple(map(sys.intern, memory.tags))


def _put_later_first(
    rows: Mapping[str, _PageFields], later: Mapping[str, str]
) -> list[_PageFields]:
    """Put a later memory before the first that it says otherwise, and rank it no lower."""
    for id, heir in later.items():
        if id in rows and heir in rows:
            one, other = rows[id], rows[heir]
            other.tier = min(one.tier, other.tier)
            other.importance = max(one.importance, other.importance, key=lambda each: each.weight)
            other.confidence = max(one.confidence, other.confidence)
    placed: dict[str, _PageFields] = {}
    for id, row in rows.items():
        if (heir := later.get(id, "")) in rows:
            placed.setdefault(heir, rows[heir])
        placed.setdefault(id, row)
    return list(placed.values())


def list_tombstones(present: Texts) -> list[Record]:
    found: list[Record] = []
    for records in _records_with_notes(present).values():
        last = knowledge.resolve_lines(records)
        found += [last] if knowledge.is_tombstone(last) else filter(knowledge.is_tombstone, records)
    return found


def _text_times(memories: Iterable[Memory], present: Texts) -> Mapping[str, str]:
    """Return the times of texts that are older than the last change of their memory, by id."""
    if not any(knowledge.has_note(raw) for path in LINE_FILES for raw in present.lines(path)):
        return {}
    grouped = _records_with_notes(present)
    resolved = {id: knowledge.resolve_lines(records) for id, records in grouped.items()}
    return {
        memory.id: str(resolved[memory.id][knowledge.SAID_AT])
        for memory in memories
        if has_line(memory)
        and knowledge.SAID_AT in resolved.get(memory.id, {})
        and resolved[memory.id]["content"] == memory.content
    }


def _records_with_notes(present: Texts) -> dict[str, list[Record]]:
    """Group the archived lines, and live ones with a note, by the id of their memory.

    Only of memories of which one line has a note or is a tombstone: there may be very many others.
    """

    def lines() -> Iterator[str]:
        yield from present.lines(ARCHIVE)
        yield from filter(knowledge.has_note, present.lines(KNOWLEDGE))

    found: dict[str, list[Record]] = {}
    for raw in lines():
        if knowledge.has_note(raw) or _TOMBSTONE in raw:
            record = knowledge.read(raw) or {}
            found.setdefault(str(record.get("id") or ""), [])
    found.pop("", None)
    for raw in lines() if found else ():
        record = knowledge.read(raw) or {}
        if str(record.get("id") or "") in found:
            found[str(record["id"])].append(record)
    return found
