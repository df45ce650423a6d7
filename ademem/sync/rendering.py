"""All tracked files as text: the memories that may stand in them, rendered."""

from __future__ import annotations

from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache, partial
from itertools import chain
from operator import itemgetter
from typing import Any

from ademem.capture.gate.rows import id_of
from ademem.core import record_json, regex
from ademem.core.clock import datetime, parse
from ademem.core.memory import Category, Importance, Memory, Scope, Status, Tier
from ademem.core.registers import LIVE, Record, join, join_all
from ademem.core.settings import MirrorSettings
from ademem.core.text import sha256_hex
from ademem.files import (
    ARCHIVE,
    BRIEF_PAGE,
    FOLDER,
    INDEX,
    LINE_FILES,
    knowledge,
    markdown,
)
from ademem.files.knowledge import KnownLine
from ademem.files.markdown import FreeText, Page, TopicFile
from ademem.files.project_brief import CoreMemory
from ademem.files.snapshot import topic_of
from ademem.files.texts import Texts, clean_lines
from ademem.store import (
    Store,
    database,
    kept_copies,
    memories,
    memory_queries,
    replication,
    revisions,
    stamps,
)
from ademem.sync.branches import Place
from ademem.sync.known_texts import KnownTexts

_PAGE_FIELDS = (
    *("id", "title", "content", "file_scope_pattern", "confidence"),
    *("category", "tags", "pinned", "tier", "importance", "created_at"),
)


def is_on_page(memory: Memory) -> bool:
    return memory.shareable and memory.status is Status.PROMOTED


def has_line(memory: Memory) -> bool:
    """Return True for a memory in knowledge.jsonl: on a page, or LEARNED and not yet confirmed."""
    return memory.shareable and knowledge.has_line(memory.status, memory.knowledge_key)


class Lines:
    """The memories with a line that wait on no other branch, oldest first; each time read anew.

    Those whose line is among *there* keep it as long as they live: a colleague's memory that is a
    candidate or in quarantine here must not be taken away from others.
    """

    def __init__(
        self,
        store: Store,
        place: Place | None = None,
        there: Collection[str] = (),
        known: KnownTexts | None = None,
    ) -> None:
        self._store, self._place, self._there = store, place, there
        self._known = known

    def __iter__(self) -> Iterator[Memory]:
        return (memory for memory, _ in self._each())

    def read(self) -> Iterator[tuple[str, PageMemory | None, Record | KnownLine | None]]:
        """Yield of each the id, what a page has of it, if one does, and the record or known line.

        In one walk, as most rows are known and nothing else is read of them.
        """
        disputed = kept_copies.disputed_ids(self._store)
        for row in memory_queries.each_line(self._store, self._there):
            line = self._known.find(row) if self._known else None
            if line and line.id not in disputed and _is_plainly_confirmed(row):
                yield line.id, PageMemory.of_row(row, self._state_of(line.id)), line
            elif found := self._read_whole(row, line, disputed):
                yield found

    def _read_whole(
        self, row: tuple[Any, ...], line: KnownLine | None, disputed: Container[str]
    ) -> tuple[str, PageMemory | None, Record | KnownLine | None] | None:
        values = memory_queries.line_values(row)
        memory = self._find(values, disputed)
        if memory is None:
            return None
        page = None
        if _is_on_page(memory, values):
            is_row = memory.id not in disputed and not stamps.differs(values)
            state = self._state_of(memory.id) if is_row else b""
            page = PageMemory.of(memory, has_line(memory), state)
        return memory.id, page, line or stamps.record_of_row(values)

    def records(self) -> Iterator[Record | KnownLine]:
        return (record for _, _, record in self.read() if record)

    def others(self, gone: Iterable[str], alive: Collection[str]) -> Iterator[Record]:
        """Yield records for the archive: duplicates, archived ones, those of the lines *gone*.

        None of those that are *alive*, by id.
        """
        dead = [record for record in self._dead(gone) if record.id not in alive]
        yield from (record for record in dead if record.life == LIVE)
        yield from knowledge.newest_dead(record for record in dead if record.life != LIVE)

    def _each(self) -> Iterator[tuple[Memory, dict[str, Any]]]:
        disputed = kept_copies.disputed_ids(self._store)
        for row in memory_queries.each_line(self._store, self._there):
            values = memory_queries.line_values(row)
            if memory := self._find(values, disputed):
                yield memory, values

    def _find(self, row: dict[str, Any], disputed: Container[str]) -> Memory | None:
        """Return the memory of the row if it has a line."""
        memory = database.read_row(row, memories.from_values)
        if memory and (memory.id in disputed or _shows_other(memory, row)):
            record = stamps.record_of_row(row)
            memory = kept_copies.as_recorded(memory, record) if record else memory
        if memory and (has_line(memory) or self._is_kept(memory)) and self._is_here(memory):
            return memory
        return None

    def _is_here(self, memory: Memory) -> bool:
        """Return True if the memory belongs to this branch."""
        return self._place.shows(memory) if self._place else memory.source_branch is None

    def on_pages(self) -> Iterator[Memory]:
        return (memory for memory, row in self._each() if _is_on_page(memory, row))

    def _state_of(self, id: str) -> bytes:
        return self._known.states[id] if self._known else b""

    def _is_kept(self, memory: Memory) -> bool:
        if not memory.live or memory.hidden or memory.has_lost_branch:
            return False
        return memory.id in self._there or (self._place is not None and self._place.holds(memory))

    def _dead(self, gone: Iterable[str]) -> Iterator[Record]:
        store = self._store
        carried = join_all(one for _, one in knowledge.read_tombstones(gone))
        for id in carried.keys() - memory_queries.existing(store, carried):
            there = replication.read(store, id)
            yield join(carried[id], there) if there else carried[id]
        here = self._place.branch if self._place else None
        for row in memory_queries.list_removed(store):
            record = database.read_row(row, stamps.record_of_row)
            last = row["id"], row["revision_count"], row["deleted_at"]
            undone = row["deleted_at"] and revisions.is_undo(store, *last)
            if record and not undone and row["source_branch"] in (None, here):
                yield record
        yield from _removed_for_good(store)


_columns_of = partial(map, memory_queries.LINE_COLUMNS.index)
_read_plainness = itemgetter(
    *_columns_of(("status", "stamps", "quarantine_reason", "kept_of", "source_branch"))
)
_read_page_fields = itemgetter(*_columns_of(_PAGE_FIELDS))


def _is_plainly_confirmed(row: tuple[Any, ...]) -> bool:
    """Return True for a row that is on a page as it is if it has a line at all."""
    status, stated, *held_back = _read_plainness(row)
    is_as_recorded = not stamps.differs({"stamps": stated})
    return status == Status.PROMOTED and is_as_recorded and not any(held_back)


def _is_on_page(memory: Memory, row: Mapping[str, Any]) -> bool:
    """Return True if it is confirmed, here or, where it has no line of its own, by others."""
    if is_on_page(memory):
        return True
    record = None if has_line(memory) else database.read_row(row, stamps.record_of_row)
    return record is not None and record.value("status") == Status.PROMOTED


def _shows_other(memory: Memory, row: Mapping[str, Any]) -> bool:
    """Return True for a confirmed memory whose record says something else than its row."""
    return stamps.differs(row) and memory.status is Status.PROMOTED


def _removed_for_good(store: Store) -> Iterator[Record]:
    for sync_id, _ in memory_queries.tombstones(store):
        id = id_of(sync_id)
        for revision in memories.revisions(store, id)[-1:]:
            last = revision["snapshot"]
            gone = replication.read(store, id)
            if gone and last["scope"] == Scope.PROJECT and last["promoted_at"]:
                yield gone


def each_offered(store: Store, place: Place) -> Iterator[Memory]:
    """Yield candidates for the review sheet, oldest first, without those of other branches."""
    categories = {topic.category for topic in markdown.TOPICS}
    disputed = kept_copies.disputed_ids(store)
    for memory in memory_queries.project_candidates(store):
        is_offered = memory.live and memory.category in categories and place.shows(memory)
        is_held = memory.quarantine_reason or memory.hidden or memory.is_heard or memory.kept_of
        if is_offered and not is_held and memory.id not in disputed:
            yield memory


def render(
    lines: Lines,
    document: CoreMemory | None,
    present: Texts,
    settings: MirrorSettings,
    refused: Callable[[], Collection[str]] = tuple,
    committed: Callable[[], Collection[str]] = tuple,
    unheard: Callable[[Collection[str]], Collection[str]] = lambda _: (),
    known: KnownTexts | None = None,
) -> dict[str, str]:
    """Render the memories that may be shown; lines of people in the *present* files stay.

    *refused* returns the lines that could not be imported: they stay, as do unreadable ones, those
    of a newer ademem, and texts of ids that *unheard* returns: the database never had them.
    *committed* returns the files of HEAD: of these a page or an archive
    without entries stays, as git reports a conflict where one side deletes a file and the other
    changes it.
    """
    known = known or KnownTexts()
    on_page: list[PageMemory] = []
    alive: set[str] = set()

    def read_live() -> Iterator[Record | KnownLine]:
        for id, page, record in lines.read():
            alive.add(id)
            if page:
                on_page.append(page)
            if record:
                yield record

    gone = list(filter(knowledge.is_tombstone_text, present.lines(ARCHIVE)))
    written = knowledge.render_lines(read_live(), lines.others(gone, alive), gone, known.note)
    pages = _render_pages(on_page, document, present, settings, committed, known)
    if ARCHIVE in present and ARCHIVE not in written and ARCHIVE in committed():
        written[ARCHIVE] = ""
    for path, others in list(_find_others(present, written)):
        if kept := "".join(_kept_lines(others, refused, alive, unheard)):
            written[path] = written.get(path, "") + kept
    return pages | written


def _find_others(present: Texts, written: Mapping[str, str]) -> Iterator[tuple[str, list[str]]]:
    """Yield by path the lines that are there and in none of the *written* files."""
    for path in LINE_FILES:
        own = written.get(path, "")
        others = [] if present.is_text(path, own) else list(filter(None, present.lines(path)))
        for text in (own, *written.values()):
            if others:
                ours = set(map(hash, clean_lines(text)))
                others = [raw for raw in others if hash(raw) not in ours]
        yield path, others


def _render_pages(
    on_page: Sequence[PageMemory],
    document: CoreMemory | None,
    present: Texts,
    settings: MirrorSettings,
    committed: Callable[[], Collection[str]],
    known: KnownTexts,
) -> dict[str, str]:
    free_texts = _free_texts(present, known)
    shown: Sequence[Memory] = on_page  # type: ignore[assignment]
    stay = _topics_that_stay({memory.category for memory in shown}, present, committed)
    stay |= {_topic_in(name) for name in free_texts}
    files = markdown.split_topics(shown, settings.topic_entries, stay)
    regions, _ = markdown.split_regions(present.get(INDEX) or "")
    confirmed: list[Memory] = [one for one in on_page if one.is_confirmed]  # type: ignore[misc]
    rendered = {
        INDEX: markdown.render_index(confirmed, document, files, regions, settings),
        BRIEF_PAGE: markdown.render_brief(document, confirmed),
    }
    by_page = _place_free_texts(free_texts, files)
    for page in chain.from_iterable(map(markdown.pages_of, files)):
        rendered[FOLDER + page.name] = _render_page(
            page, by_page.get(page.name, ()), present, known
        )
    return rendered


def _render_page(page: Page, own: Collection[FreeText], present: Texts, known: KnownTexts) -> str:
    """Return the page that is there where rendering its rows gave it before."""
    rows: Iterable[PageMemory] = () if own else page.memories  # type: ignore[assignment]
    states, path = [row.state for row in rows], FOLDER + page.name
    if known.is_page(page.name, states, present.digests.get(path, "")):
        return present[path]
    text = markdown.render_page(page, own)
    digest = sha256_hex(text)
    known.note_page(page.name, states, digest)
    if not own:
        known.note_plain(digest)
    return text


def _free_texts(present: Texts, known: KnownTexts) -> dict[str, list[FreeText]]:
    """Return a person's own lines by the name of their page."""
    found = {}
    for path in sorted(filter(topic_of, present)):
        digest = present.digests[path]
        if known.is_plain(digest):
            continue
        if texts := markdown.free_texts_of(present[path]):
            found[path.removeprefix(FOLDER)] = texts
        else:
            known.note_plain(digest)
    return found


def _place_free_texts(
    free_texts: Mapping[str, list[FreeText]], files: Iterable[TopicFile]
) -> dict[str, list[FreeText]]:
    """Return a person's lines by page: those of a removed one are on the topic's first."""
    names = {name for file in files for name in file.names}
    by_page: dict[str, list[FreeText]] = {}
    for name, texts in free_texts.items():
        page = name if name in names else f"{_topic_in(name)}.md"
        by_page.setdefault(page, []).extend(texts)
    return by_page


def _topic_in(name: str) -> str:
    return regex.split(r"[-.]", name)[0]


def _topics_that_stay(
    categories: Collection[str], present: Texts, committed: Callable[[], Collection[str]]
) -> set[str]:
    """Return the topics without entries whose committed page is there."""
    empty = (topic.name for topic in markdown.TOPICS if topic.category not in categories)
    left = {topic for topic in empty if f"{FOLDER}{topic}.md" in present}
    there = set(committed()) if left else set()
    return {topic for topic in left if f"{FOLDER}{topic}.md" in there}


def lines_in(
    store: Store, place: Place | None, texts: Texts, known: KnownTexts | None = None
) -> Lines:
    there = knowledge.map_live(line for path in LINE_FILES for line in texts.lines(path))
    if known:
        known.look_in(there)
    return Lines(store, place, there.keys(), known)


def _kept_lines(
    others: Collection[str],
    refused: Callable[[], Collection[str]],
    alive: Collection[str],
    unheard: Callable[[Collection[str]], Collection[str]],
) -> Iterator[str]:
    if not others:
        return
    kept = refused()
    parsed = [(raw, knowledge.parse_line(raw)) for raw in others]
    ids = {raw: str(line.get("id")) for raw, line in parsed if line}
    texts = {ids[raw] for raw, line in parsed if line and "sync_id" in line and line["content"]}
    unknown = unheard(texts)
    for raw, line in parsed:
        is_refused = raw in kept and ids.get(raw) not in alive
        if line is None or is_refused or record_json.is_newer(line) or ids[raw] in unknown:
            yield f"{raw}\n"


@lru_cache(maxsize=1024)
def _split_tags(text: str) -> tuple[str, ...]:
    return tuple(text.split())


class PageMemory:
    """The fields of a memory that pages need; it takes a fifth of the bytes of a Memory."""

    __slots__ = (*_PAGE_FIELDS, "is_confirmed", "state")
    category: Category
    tags: tuple[str, ...]
    pinned: bool
    tier: Tier
    importance: Importance
    confidence: float
    created_at: datetime

    is_confirmed: bool
    """Confirmed here; not by others alone."""
    state: bytes
    """That of the row in the known texts; empty where a page has it otherwise than the row."""

    def __init__(self, values: Iterable[Any], is_confirmed: bool, state: bytes) -> None:
        self.id, self.title, self.content, self.file_scope_pattern, self.confidence, *rest = values
        self.category, self.tags, self.pinned, self.tier, self.importance, self.created_at = rest
        self.is_confirmed, self.state = is_confirmed, state

    @classmethod
    def of(cls, memory: Memory, is_confirmed: bool, state: bytes) -> PageMemory:
        return cls((getattr(memory, name) for name in _PAGE_FIELDS), is_confirmed, state)

    @classmethod
    def of_row(cls, row: tuple[Any, ...], state: bytes) -> PageMemory:
        """Read a row of `memory_queries.each_line` that was read before: it is valid."""
        *same, category, tags, pinned, tier, importance, created_at = _read_page_fields(row)
        kinds = Category(category), _split_tags(tags), bool(pinned), Tier(tier)
        return cls((*same, *kinds, Importance(importance), parse(created_at)), True, state)
