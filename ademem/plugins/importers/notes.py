"""Memories in Markdown: memsearch, basic-memory, MemPalace."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from typing import Any

from ademem.core.errors import UsageError
from ademem.core.memory import TYPES, Category
from ademem.core.redaction import redact
from ademem.core.text import replace_surrogates, sha256_hex, unique
from ademem.core.value import Value, replace
from ademem.files.readers.items import (
    PASSAGES_LACK,
    SECTION_CHARS,
    Found,
    Item,
    Reader,
    Skipped,
    files_below,
    moment_of,
    passages,
    read_text,
    text_of,
    texts_of,
)
from ademem.files.skill_files import split_front_matter

_DATE = re.compile(r"(\d{4}-\d{2}-\d{2})")
_TIME = re.compile(r"(?:[A-Za-z ]+ )?\d\d:\d\d")
"""A heading of daily notes that names nothing."""
_HEADING_CHARS = 120


def _name(path: str, root: str) -> str:
    folder = root if os.path.isdir(root) else os.path.dirname(root)
    return replace_surrogates(os.path.relpath(path, folder).replace(os.sep, "/"))


class Page(Value):
    name: str
    fields: dict[str, Any]
    """Its front matter."""
    text: str


def _pages(paths: Iterable[str], root: str) -> Iterator[Page | Skipped]:
    for path in paths:
        name = _name(path, root)
        try:
            if _leads_out(path, root):
                raise UsageError(OUTSIDE)
            text = read_text(path).replace("\r\n", "\n")
            fields, text, _ = split_front_matter(text)
        except UsageError as error:
            yield Skipped(where=name, why=str(error))
        else:
            yield Page(name=name, fields=fields, text=text)


def _redacted_pages(paths: Iterable[str], root: str) -> Iterator[Page | Skipped]:
    """Redact whole pages: a part lacks the heading above a value, and the end of a private span."""
    for page in _pages(paths, root):
        yield page if isinstance(page, Skipped) else replace(page, text=redact(page.text).text)


def _read_each(
    paths: Iterable[str], root: str, read: Callable[[Page], Iterator[Item | Skipped]]
) -> Found:
    for page in _redacted_pages(paths, root):
        yield from (page,) if isinstance(page, Skipped) else read(page)


OUTSIDE = "it is a link out of the folder"
LONG_PROSE = f"it has over {SECTION_CHARS:,} characters of prose"


def _leads_out(path: str, root: str) -> bool:
    inside = os.path.join(os.path.realpath(root), "")
    return path != root and not os.path.realpath(path).startswith(inside)


def _first_pages(paths: Sequence[str], root: str) -> Iterator[Page]:
    return (page for page in _pages(paths[:20], root) if isinstance(page, Page))


def _passage_items(page: Page, kind: str, created_at: datetime | None) -> Iterator[Item | Skipped]:
    for whole_heading, text, is_section in passages(page.text):
        heading = whole_heading[:_HEADING_CHARS]
        if is_section and len(text) > SECTION_CHARS:
            where = f"{page.name}, {heading}" if heading else page.name
            yield Skipped(where=where, why=LONG_PROSE)
            continue
        yield Item(
            id=f"{page.name}#{sha256_hex(whole_heading, text)[:16]}",
            content=text,
            title=heading or None,
            kind=kind,
            created_at=created_at,
        )


# memsearch

_TURN = re.compile(r"^<!-- session:[^\n>]* -->\n?", re.M)


def _fits_memsearch(path: str) -> bool:
    folder = os.path.join(path, ".memsearch")
    is_own = os.path.basename(os.path.abspath(path)) == ".memsearch"
    return os.path.isdir(folder) or (is_own and os.path.isdir(path))


def _read_memsearch(path: str, project: str) -> Found:
    below = os.path.join(path, ".memsearch")
    root = below if os.path.isdir(below) else path
    if _leads_out(root, path):
        yield Skipped(where=_name(root, path), why=OUTSIDE)
        return
    yield from _read_each(files_below(root, ".md"), root, _read_day)


def _read_day(page: Page) -> Iterator[Item | Skipped]:
    found = _DATE.search(os.path.basename(page.name))
    created_at = moment_of(found[1]) if found else None
    page = replace(page, text=_TURN.sub("", page.text))
    for item in _passage_items(page, Category.FACT, created_at):
        is_untitled = isinstance(item, Item) and _TIME.fullmatch(item.title or "")
        yield replace(item, title=None) if is_untitled else item


# basic-memory

_OBSERVATION = re.compile(r"^- \[(?![ xX]\])([^\[\]\n]+)\][ \t]+(\S.*)$", re.M)
_CONTEXT = re.compile(r"[ \t]\([^()]*\)\Z")
_RELATION = re.compile(r"^- [^\[\n]*\[\[([^\]\n]+)\]\]", re.M)
_TAG = re.compile(r"(?<!\w)#([\w/-]+)")


def _fits_basic_memory(path: str) -> bool:
    pages = _first_pages(files_below(path, ".md"), path) if os.path.isdir(path) else ()
    return any("permalink" in page.fields and "title" in page.fields for page in pages)


def _read_basic_memory(path: str, project: str) -> Found:
    notes = []
    for page in _redacted_pages(files_below(path, ".md"), path):
        if isinstance(page, Skipped):
            yield page
        else:
            notes.append(page)
    named = _ids_by_name(notes)
    for page in notes:
        targets = unique(found.partition("|")[0].strip() for found in _RELATION.findall(page.text))
        linked = unique(named[name] for name in targets if name in named)
        yield from _note(page, tuple(("related", id) for id in linked))
        for name in targets:
            if name not in named:
                yield Skipped(where=page.name, why=f"its relation to {name!r} leads to no note")


def _ids_by_name(notes: Iterable[Page]) -> dict[str, str]:
    """Return the ids of the first items of notes, by title and by permalink."""
    return {
        name: first.id
        for page in notes
        if isinstance(first := next(_note(page, ())), Item)
        for name in (text_of(page.fields.get("title")), text_of(page.fields.get("permalink")))
        if name
    }


def _note(page: Page, links: tuple[tuple[str, str], ...]) -> Iterator[Item | Skipped]:
    """Yield the observations of a note, or without any its prose; the first has the relations."""
    first: Item | Skipped
    first, *rest = list(_read_observations(page)) or (_read_prose(page),)
    yield replace(first, links=links) if isinstance(first, Item) else first
    yield from rest


def _about(page: Page) -> tuple[str, str, datetime | None]:
    """Return permalink, title and time of a note."""
    permalink = text_of(page.fields.get("permalink")) or page.name
    title = text_of(page.fields.get("title")) or permalink
    return permalink, title, moment_of(page.fields.get("created") or page.fields.get("date"))


def _read_observations(page: Page) -> Iterator[Item]:
    permalink, title, created_at = _about(page)
    for kind, observation in _OBSERVATION.findall(page.text):
        content = observation.rstrip()
        at = content.rfind("(")
        if at > 0 and _CONTEXT.match(content, at - 1):  # it stands in parentheses at the end
            content = content[:at].rstrip()
        yield Item(
            id=f"{permalink}#{sha256_hex(kind, content)[:16]}",
            content=_TAG.sub("", content).strip(),
            title=title,
            kind=kind.strip().lower(),
            tags=tuple(_TAG.findall(content)),
            created_at=created_at,
        )


def _read_prose(page: Page) -> Item | Skipped:
    permalink, title, created_at = _about(page)
    prose = _RELATION.sub("", re.sub(r"^#.*$", "", page.text, flags=re.M)).strip()
    if not prose:
        return Skipped(where=page.name, why="it has no text")
    if len(prose) > SECTION_CHARS:
        return Skipped(where=page.name, why=LONG_PROSE)
    kind = page.fields.get("type")
    return Item(
        id=permalink,
        content=prose,
        title=title,
        kind=text_of(kind) if kind in TYPES else Category.FACT,
        tags=tuple(texts_of(page.fields.get("tags"))),
        created_at=created_at,
    )


# MemPalace, exported

_DRAWER = re.compile(r"^## (\S[^\n]*)\n\n((?:>[^\n]*\n)+)\n((?:\|[^\n]*\n)*)", re.M)
_DRAWER_ID = re.compile(r"^## (\S[^\n]*)$", re.M)
_ROOM = re.compile(r"\A# (.+)\n")


def _fits_palace_export(path: str) -> bool:
    index = os.path.join(path, "index.md")
    pages = _first_pages([index], path) if os.path.isfile(index) else ()
    return any(page.text.startswith("# Palace Export") for page in pages)


def _read_room(page: Page) -> Iterator[Item | Skipped]:
    titled = _ROOM.match(page.text)
    wing, _, room = titled[1].partition(" / ") if titled else ("", "", "")
    drawers = _DRAWER.findall(page.text) if room else ()
    lost = Counter(_DRAWER_ID.findall(page.text) if room else ())
    lost.subtract(id for id, _, _ in drawers)
    for id in lost.elements():
        yield Skipped(where=f"{page.name}, {id}", why="its text is not quoted as a whole")
    for id, quoted, table in drawers:
        filed = re.search(r"^\| Filed \| (.*) \|$", table, re.M)
        lines = (line.removeprefix(">").removeprefix(" ") for line in quoted.splitlines())
        yield Item(
            id=id.strip(),
            content="\n".join(lines).strip(),
            tags=(wing, room),
            created_at=moment_of(filed[1]) if filed else None,
        )


READERS = (
    Reader(
        name="memsearch",
        place="a folder with `.memsearch/`",
        fits=_fits_memsearch,
        read=_read_memsearch,
        dropped=f"its index in Milvus, {PASSAGES_LACK}",
    ),
    Reader(
        name="basic-memory",
        place="a folder of notes with `title` and `permalink`",
        fits=_fits_basic_memory,
        read=_read_basic_memory,
        dropped="kinds of relations, remarks in parentheses, prose beside observations, and"
        f" prose of over {SECTION_CHARS:,} characters",
        files=lambda path: files_below(path, ".md"),
    ),
    Reader(
        name="mempalace",
        place="the folder of an export",
        fits=_fits_palace_export,
        read=lambda path, project: _read_each(files_below(path, ".md"), path, _read_room),
        dropped="sources of drawers",
    ),
)
