"""Memories in Markdown: memsearch, basic-memory, MemPalace, Claude Code, rules of other agents."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

from ademem.core.memory import TYPES, Category
from ademem.core.text import sha256_hex
from ademem.files.readers.items import (
    SECTION_CHARS,
    Found,
    Item,
    Reader,
    Skipped,
    files_below,
    moment_of,
    passages,
    read_text,
    split_front_matter,
    text_of,
    texts_of,
)

_DATE = re.compile(r"(\d{4}-\d{2}-\d{2})")
_HEADING_CHARS = 120


def _name(path: str, root: str) -> str:
    """Return the path below the folder that was named."""
    folder = root if os.path.isdir(root) else os.path.dirname(root)
    return os.path.relpath(path, folder).replace(os.sep, "/")


def _passage_items(
    path: str,
    root: str,
    text: str,
    kind: str,
    globs: Sequence[str] = (),
    created_at: datetime | None = None,
) -> Iterator[Item]:
    """Yield an item for each bullet or short section of a page."""
    name = _name(path, root)
    for passage in passages(text):
        heading = passage.heading[:_HEADING_CHARS]
        yield Item(
            id=f"{name}#{sha256_hex(passage.heading, passage.text)[:16]}",
            content=passage.text,
            title=heading or None,
            kind=kind,
            path=globs[0] if len(globs) == 1 else None,
            created_at=created_at,
        )


# memsearch


def _fits_memsearch(path: str) -> bool:
    folder = os.path.join(path, ".memsearch")
    is_own = os.path.basename(os.path.abspath(path)) == ".memsearch"
    return os.path.isdir(folder) or (is_own and os.path.isdir(path))


def _read_memsearch(path: str, project: str) -> Found:
    below = os.path.join(path, ".memsearch")
    root = below if os.path.isdir(below) else path
    for each in files_below(root, ".md"):
        found = _DATE.search(os.path.basename(each))
        _, text = split_front_matter(read_text(each))
        yield from _passage_items(
            each, root, text, Category.FACT, created_at=moment_of(found[1]) if found else None
        )


# basic-memory

_OBSERVATION = re.compile(r"^- \[([^\]\[xX ][^\]]*)\]\s+(.+?)(?:\s+\(([^()]*)\))?\s*$", re.M)
_RELATION = re.compile(r"^- ([^\[\n]*?)\s*\[\[([^\]]+)\]\]", re.M)
_TAG = re.compile(r"(?<!\w)#([\w/-]+)")


def _fits_basic_memory(path: str) -> bool:
    if not os.path.isdir(path):
        return False
    pages = (split_front_matter(read_text(each))[0] for each in files_below(path, ".md")[:20])
    return any("permalink" in fields and "title" in fields for fields in pages)


def _read_basic_memory(path: str, project: str) -> Found:
    notes = []
    for each in files_below(path, ".md"):
        fields, text = split_front_matter(read_text(each))
        notes.append((each, fields, text))
    named = {
        key: _first_id(each, path, fields, text)
        for each, fields, text in notes
        for key in (text_of(fields.get("title")), text_of(fields.get("permalink")))
        if key
    }
    for each, fields, text in notes:
        links = [("related", named[name]) for _, name in _RELATION.findall(text) if name in named]
        yield from _note(each, path, fields, text, tuple(links))


def _first_id(path: str, root: str, fields: dict[str, Any], text: str) -> str:
    found = next(_note(path, root, fields, text, ()), None)
    return found.id if isinstance(found, Item) else ""


def _note(
    path: str, root: str, fields: dict[str, Any], text: str, links: tuple[tuple[str, str], ...]
) -> Iterator[Item | Skipped]:
    """Yield the observations of a note, or without any its prose; the first has the relations."""
    permalink = text_of(fields.get("permalink")) or _name(path, root)
    title = text_of(fields.get("title")) or permalink
    created_at = moment_of(str(fields.get("created") or fields.get("date") or ""))
    observations = _OBSERVATION.findall(text)
    for number, (kind, content, _) in enumerate(observations):
        yield Item(
            id=f"{permalink}#{sha256_hex(kind, content)[:16]}",
            content=_TAG.sub("", content).strip(),
            title=title,
            kind=kind.strip().lower(),
            tags=tuple(_TAG.findall(content)),
            created_at=created_at,
            links=links if number == 0 else (),
        )
    if observations:
        return
    prose = _RELATION.sub("", re.sub(r"^#.*$", "", text, flags=re.M)).strip()
    if not prose:
        yield Skipped(where=_name(path, root), why="it has no text")
    elif len(prose) > SECTION_CHARS:
        yield Skipped(where=_name(path, root), why=f"over {SECTION_CHARS:,} characters of prose")
    else:
        yield Item(
            id=permalink,
            content=prose,
            title=title,
            kind=text_of(fields.get("type")) if fields.get("type") in TYPES else Category.FACT,
            tags=tuple(texts_of(fields.get("tags"))),
            created_at=created_at,
            links=links,
        )


# MemPalace, exported

_DRAWER = re.compile(r"^## (\S[^\n]*)\n\n((?:>[^\n]*\n)+)\n((?:\|[^\n]*\n)*)", re.M)
_ROOM = re.compile(r"\A# (.+?) / (.+?)\n")


def _fits_palace_export(path: str) -> bool:
    index = os.path.join(path, "index.md")
    return os.path.isfile(index) and read_text(index).startswith("# Palace Export")


def _read_palace_export(path: str, project: str) -> Found:
    for each in files_below(path, ".md"):
        text = read_text(each)
        room = _ROOM.match(text)
        for id, quoted, table in _DRAWER.findall(text) if room else ():
            filed = re.search(r"^\| Filed \| (.*) \|$", table, re.M)
            lines = (line.removeprefix(">").removeprefix(" ") for line in quoted.splitlines())
            yield Item(
                id=id.strip(),
                content="\n".join(lines).strip(),
                tags=(room[1], room[2]) if room else (),
                created_at=moment_of(filed[1]) if filed else None,
            )


# Claude Code: its own memory, CLAUDE.md and rules

_KINDS = {
    "user": Category.PREFERENCE,
    "feedback": Category.PREFERENCE,
    "project": Category.FACT,
    "reference": Category.FACT,
}
_LINK = re.compile(r"\[\[([^\]|]+)")
_IMPORT = re.compile(r"^\s*@\S+\s*$", re.M)


def _fits_claude(path: str) -> bool:
    if os.path.basename(path) in ("CLAUDE.md", "CLAUDE.local.md"):
        return os.path.isfile(path)
    if os.path.isfile(path):
        return path.endswith(".md") and _is_own_memory(path)
    if os.path.isdir(os.path.join(path, ".claude", "rules")):
        return True
    if os.path.isfile(os.path.join(path, "CLAUDE.md")):
        return True
    return os.path.isdir(path) and any(map(_is_own_memory, files_below(path, ".md")[:20]))


def _is_own_memory(path: str) -> bool:
    fields, _ = split_front_matter(read_text(path))
    return "name" in fields and "description" in fields and bool(_kind_of(fields))


def _kind_of(fields: dict[str, Any]) -> str:
    metadata = fields.get("metadata")
    inner = metadata.get("type") if isinstance(metadata, dict) else None
    kind = text_of(inner) or text_of(fields.get("type"))
    return kind if kind in _KINDS else ""


def _read_claude(path: str, project: str) -> Found:
    for page in _claude_pages(path):
        yield from _claude_page(page, path)


def _claude_pages(path: str) -> list[str]:
    """Return a file itself, the pages of instructions in a project's folder, or all pages."""
    if os.path.isfile(path):
        return [path]
    pages = [os.path.join(path, name) for name in ("CLAUDE.md", "CLAUDE.local.md")]
    rules = os.path.join(path, ".claude", "rules")
    pages += files_below(rules, ".md") if os.path.isdir(rules) else []
    return [page for page in pages if os.path.isfile(page)] or files_below(path, ".md")


def _claude_page(path: str, root: str) -> Found:
    fields, text = split_front_matter(read_text(path))
    kind = _kind_of(fields)
    if not kind:
        if os.path.basename(path) != "MEMORY.md":  # the index of the memories
            globs = texts_of(fields.get("paths"))
            yield from _passage_items(path, root, _IMPORT.sub("", text), Category.CONVENTION, globs)
        return
    name = text_of(fields.get("name"))
    if not text.strip():
        yield Skipped(where=_name(path, root), why="it has no text")
        return
    yield Item(
        id=name,
        content=text.strip(),
        title=text_of(fields.get("description"))[:_HEADING_CHARS] or name,
        kind=_KINDS[kind],
        topic_key=name,
        personal=kind == "user",
        links=tuple(("related", link.strip()) for link in _LINK.findall(text)),
    )


# rules of other agents

RULES = (
    "AGENTS.md",
    ".cursorrules",
    ".windsurfrules",
    "GEMINI.md",
    ".github/copilot-instructions.md",
)
RULE_FOLDERS = {".cursor/rules": ".mdc", ".windsurf/rules": ".md"}


def _rule_files(path: str) -> list[str]:
    if os.path.isfile(path):
        is_rule = path.endswith(RULES) or path.endswith(".mdc")
        return [path] if is_rule else []
    found = [os.path.join(path, name) for name in RULES]
    for folder, ending in RULE_FOLDERS.items():
        place = os.path.join(path, folder)
        found += files_below(place, ending) if os.path.isdir(place) else []
    return [each for each in found if os.path.isfile(each)]


def _read_rules(path: str, project: str) -> Found:
    for each in _rule_files(path):
        fields, text = split_front_matter(read_text(each))
        globs = texts_of(fields.get("globs"))
        yield from _passage_items(each, path, text, Category.CONVENTION, globs)


READERS = (
    Reader(
        name="memsearch",
        fits=_fits_memsearch,
        read=_read_memsearch,
        dropped="its index in Milvus",
    ),
    Reader(
        name="basic-memory",
        fits=_fits_basic_memory,
        read=_read_basic_memory,
        dropped=f"prose beside observations, and prose of over {SECTION_CHARS:,} characters",
        files=lambda path: files_below(path, ".md"),
    ),
    Reader(
        name="mempalace",
        fits=_fits_palace_export,
        read=_read_palace_export,
        dropped="sources of drawers",
    ),
    Reader(
        name="claude",
        fits=_fits_claude,
        read=_read_claude,
        dropped="what `@` imports, blocks of code over 10 lines, the index",
        files=_claude_pages,
    ),
    Reader(
        name="rules",
        fits=lambda path: bool(_rule_files(path)),
        read=_read_rules,
        dropped="headings without text, tables",
        files=_rule_files,
    ),
)
