"""Memories of programs that keep them in SQLite, or that export JSON."""

from __future__ import annotations

import gzip
import os
import sqlite3
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import Any

from ademem.core.errors import UsageError
from ademem.core.memory import Category
from ademem.core.text import replace_surrogates, sha256_hex
from ademem.files.readers.items import (
    EXPORT_BYTES,
    FILE_BYTES,
    MOST_PATTERNS,
    Found,
    Item,
    Prompt,
    Reader,
    Skipped,
    join_patterns,
    make_item,
    moment_of,
    object_of,
    read_json,
    text_of,
    texts_of,
)
from ademem.store.foreign import columns, open_foreign, rows

CLAUDE_MEM = "claude-mem.db"
MEMORY_SERVICE = "sqlite_vec.db"
PALACE = "sqlite_exact.sqlite3"
PALACE_FACTS = "knowledge_graph.sqlite3"
CHROMA = "chroma.sqlite3"
EXPORT_PALACE = (
    "python -c 'from mempalace.exporter import export_palace;"
    """ export_palace("PALACE", "DIR")'"""
)
INDEXES = ("mempalace_closets", "mempalace_assets")
"""Collections of a palace that point at drawers, or describe pictures."""
HISTORY = "history.db"
OPEN_MEMORY = "memories.jsonl.gz"
BRIEF = {"human": "preferences", "persona": "notes", "project": "summary", "task": "focus"}
"""Fields of the brief by the labels of Letta's blocks."""


def _file(path: str, name: str) -> str:
    return os.path.join(path, name) if os.path.isdir(path) else path


def _has_table(path: str, name: str, table: str, *needed: str) -> bool:
    place = _file(path, name)
    if os.path.isfile(place):
        with suppress(UsageError, sqlite3.Error), open_foreign(place) as db:
            return columns(db, table) >= set(needed)
    return False


def _fits(path: str, endings: str, holds: str) -> bool:
    if path.endswith(tuple(endings.split())) and os.path.isfile(path):
        with suppress(UsageError):
            found = read_json(path)
            return isinstance(found, dict) and isinstance(found.get(holds), list)
    return False


# claude-mem


def _claude_mem_projects(path: str) -> list[str]:
    names = ("project", "merged_into_project")
    with open_foreign(_file(path, CLAUDE_MEM)) as db:
        found = (*rows(db, "observations", *names), *rows(db, "session_summaries", *names))
        return sorted({*map(_project, found)} - {""})


def _read_claude_mem(path: str, project: str) -> Found:
    with open_foreign(_file(path, CLAUDE_MEM)) as db:
        for row in rows(db, "observations", *_PLACED, *_OBSERVATION):
            if project in ("", _project(row)):
                yield _read_observation(row)
        for row in rows(db, "session_summaries", *_PLACED, *_SUMMARY):
            if project in ("", _project(row)):
                yield _read_summary(row)
        found = rows(db, "sdk_sessions", "content_session_id", "project")
        sessions = {row["content_session_id"]: row["project"] for row in found}
        for row in rows(db, "user_prompts", *_PROMPT):
            session = text_of(row["content_session_id"])
            text = text_of(row["prompt_text"])
            if text and session and project in ("", sessions.get(session)):
                yield Prompt(
                    id=f"{session}:{row['prompt_number']}",
                    session_id=session,
                    content=text,
                    created_at=moment_of(row["created_at_epoch"]),
                )


def _read_observation(row: Any) -> Item | Skipped:
    content, title = _observation_text(row), text_of(row["title"])
    inside = [path for path in texts_of(row["files_modified"]) if not os.path.isabs(path)]
    return make_item(
        f"observation {row['id']}",
        content or title,
        id=f"observation:{row['id']}",
        title=title if content and title else None,
        kind=text_of(row["type"]) or Category.FACT,
        tags=tuple(texts_of(row["concepts"])),
        path=join_patterns(inside)[0],
        created_at=moment_of(row["created_at_epoch"]),
    )


def _observation_text(row: Any) -> str:
    """Return the prose, and the facts that are not in it as a list."""
    prose = text_of(row["narrative"]) or text_of(row["text"])
    facts = [fact for fact in texts_of(row["facts"]) if fact not in prose]
    listed = "\n".join(f"- {fact}" for fact in facts)
    return "\n\n".join(filter(None, (prose, listed)))


def _read_summary(row: Any) -> Item | Skipped:
    texts = ((name.replace("_", " ").capitalize(), text_of(row[name])) for name in _SUMMARY)
    return make_item(
        f"summary {row['id']}",
        "\n\n".join(f"{label}: {text}" for label, text in texts if text),
        id=f"summary:{row['id']}",
        title="Session summary",
        kind="session_summary",
        created_at=moment_of(row["created_at_epoch"]),
    )


_PLACED = ("id", "project", "merged_into_project", "created_at_epoch")
_OBSERVATION = "text type title facts narrative concepts files_modified".split()
_SUMMARY = "request investigated learned completed next_steps notes".split()
_PROMPT = "content_session_id prompt_number prompt_text created_at_epoch".split()


def _project(row: dict[str, Any]) -> str:
    """Return the project: of a worktree that was merged, the one that has its work now."""
    return text_of(row["merged_into_project"]) or text_of(row["project"])


# mcp-memory-service


_EDGES = {"contradicts": "conflicts_with", "supersedes": "supersedes"}


def _read_memory_service(path: str, project: str) -> Found:
    wanted = "content_hash content tags memory_type created_at created_at_iso deleted_at"
    with open_foreign(_file(path, MEMORY_SERVICE)) as db:
        states = rows(db, "memories", "content_hash", "deleted_at")
        deleted = {row["content_hash"] for row in states if row["deleted_at"] is not None}
        links = _read_links(db)
        for row in rows(db, "memories", *wanted.split()):
            if row["deleted_at"] is not None:
                continue
            yield make_item(
                f"memory {row['content_hash']}",
                text_of(row["content"]),
                id=str(row["content_hash"]),
                kind=text_of(row["memory_type"]) or Category.FACT,
                tags=tuple(texts_of(row["tags"])),
                created_at=moment_of(row["created_at"]) or moment_of(row["created_at_iso"]),
                links=tuple(
                    link for link in links.get(row["content_hash"], ()) if link[1] not in deleted
                ),
            )


def _read_links(db: sqlite3.Connection) -> dict[str, list[tuple[str, str]]]:
    """Return relations, and the memories that they lead to, by the memory that they come from."""
    links: dict[str, list[tuple[str, str]]] = {}
    for edge in rows(db, "memory_graph", "source_hash", "target_hash", "relationship_type"):
        if relation := _EDGES.get(edge["relationship_type"]):
            links.setdefault(edge["source_hash"], []).append((relation, edge["target_hash"]))
    for row in rows(db, "memories", "content_hash", "superseded_by"):
        if heir := text_of(row["superseded_by"]):
            links.setdefault(heir, []).append(("supersedes", row["content_hash"]))
    return links


# MemPalace


def _fits_palace(path: str) -> bool:
    if os.path.isdir(path) and os.path.isfile(os.path.join(path, CHROMA)):
        return True
    return _has_table(path, PALACE, "documents", "document", "metadata_json")


def _read_palace(path: str, project: str) -> Found:
    place = _file(path, PALACE)
    if not os.path.isfile(place):
        raise UsageError(
            f"{path} keeps its drawers in Chroma, which is not read",
            f"`{EXPORT_PALACE}` writes Markdown; import DIR",
        )
    yield from _read_drawers(place)
    facts = os.path.join(os.path.dirname(place), PALACE_FACTS)
    if os.path.isfile(facts):
        yield from _read_triples(facts)


def _read_drawers(place: str) -> Found:
    wanted = ("collection_id", "id", "document", "metadata_json", "created_at")
    with open_foreign(place) as db:
        collections = rows(db, "collections", "id", "name")
        left_out = {row["id"] for row in collections if row["name"] in INDEXES}
        for row in rows(db, "documents", *wanted):
            if row["collection_id"] in left_out:
                continue
            about = object_of(row["metadata_json"])
            yield make_item(
                f"drawer {row['id']}",
                text_of(row["document"]),
                id=str(row["id"]),
                tags=tuple(filter(None, (text_of(about.get("wing")), text_of(about.get("room"))))),
                created_at=moment_of(about.get("filed_at")) or moment_of(row["created_at"]),
            )


def _read_triples(facts: str) -> Found:
    """Yield triples that are still valid, as sentences."""
    with open_foreign(facts) as db:
        names = {row["id"]: text_of(row["name"]) for row in rows(db, "entities", "id", "name")}
        times = ("valid_from", "valid_to", "extracted_at")
        for row in rows(db, "triples", "id", "subject", "predicate", "object", *times):
            if not row["valid_to"]:
                subject, object = (
                    names.get(row[end]) or text_of(row[end]) for end in ("subject", "object")
                )
                yield make_item(
                    f"triple {row['id']}",
                    _sentence(subject, text_of(row["predicate"]), object),
                    id=f"triple:{row['id']}",
                    created_at=moment_of(row["valid_from"]) or moment_of(row["extracted_at"]),
                )


def _sentence(subject: str, predicate: str, object: str) -> str:
    """Return a triple as a sentence; empty for one that lacks an end."""
    return f"{subject} {predicate.replace('_', ' ')} {object}" if subject and object else ""


# mem0


def _fits_mem0(path: str) -> bool:
    if os.path.isdir(path):
        return os.path.isdir(os.path.join(path, "collection"))
    return _fits(path, ".json", "results")


def _read_mem0(path: str, project: str) -> Found:
    if os.path.isdir(path):
        raise UsageError(
            f"{path} is a folder of Qdrant, which is not read",
            "write JSON first: `json.dump(Memory().get_all(user_id=…), open('mem0.json', 'w'))`",
        )
    found = read_json(path)
    about = found if isinstance(found, dict) else {"results": found}
    results, relations = _list_of(about, "results"), _list_of(about, "relations")
    earlier = _read_earlier(os.path.join(os.path.dirname(path), HISTORY))
    for number, row in enumerate(results, 1):
        yield _read_result(number, row if isinstance(row, dict) else {}, earlier)
    is_personal = any(map(_is_personal, map(object_of, results)))  # whose is not told
    for number, triple in enumerate(map(object_of, relations), 1):
        source, target = text_of(triple.get("source")), text_of(triple.get("target"))
        content = _sentence(source, text_of(triple.get("relationship")), target)
        id = f"relation:{sha256_hex(content)[:16]}"
        yield make_item(f"relation {number}", content, id=id, personal=is_personal)


def _list_of(about: dict[str, Any], name: str) -> list[Any]:
    values = about.get(name)
    return values if isinstance(values, list) else []


def _read_result(number: int, row: dict[str, Any], earlier: dict[str, list[str]]) -> Item | Skipped:
    metadata = object_of(row.get("metadata"))
    return make_item(
        f"result {number}",
        text_of(row.get("memory")),
        id=replace_surrogates(str(row.get("id") or row.get("hash") or number)),
        earlier=tuple(earlier.get(text_of(row.get("id")), ())),
        tags=tuple(texts_of(row.get("categories") or metadata.get("categories"))),
        created_at=moment_of(row.get("created_at")),
        agent=text_of(row.get("agent_id")) or None,
        personal=_is_personal(row),
    )


def _read_earlier(history: str) -> dict[str, list[str]]:
    """Return earlier texts by the ids of memories, from the log of changes; none without one."""
    earlier: dict[str, list[str]] = {}
    if os.path.isfile(history):
        with open_foreign(history) as db:
            for row in rows(db, "history", "memory_id", "old_memory", "event"):
                if row["event"] == "UPDATE" and (text := text_of(row["old_memory"])):
                    earlier.setdefault(text_of(row["memory_id"]), []).append(text)
    return earlier


def _is_personal(row: dict[str, Any]) -> bool:
    return bool(text_of(row.get("user_id")) and not text_of(row.get("agent_id")))


# OpenMemory


def _fits_open_memory(path: str) -> bool:
    if not (path.endswith(".zip") and zipfile.is_zipfile(path)):
        return False
    with zipfile.ZipFile(path) as archive:
        return OPEN_MEMORY in archive.namelist()


def _read_open_memory(path: str, project: str) -> Found:
    for number, row in enumerate(_lines(path), 1):
        content = text_of(row.get("content"))
        state = text_of(row.get("state")) or "active"
        if not content:
            yield Skipped(where=f"line {number}", why="it has no text")
        elif state != "deleted":
            app = text_of(row.get("app"))
            yield Item(
                id=replace_surrogates(str(row.get("id") or number)),
                content=content,
                tags=(*texts_of(row.get("categories")), *([app] if app else [])),
                created_at=moment_of(row.get("created_at")),
                archived=state == "archived",
            )


def _lines(path: str) -> Iterator[dict[str, Any]]:
    try:
        with (
            zipfile.ZipFile(path) as archive,
            archive.open(OPEN_MEMORY) as packed,
            gzip.open(packed) as file,
        ):
            read = 0
            while line := file.readline(FILE_BYTES):
                read += len(line)
                if read > EXPORT_BYTES:
                    fault = f"{path} unpacks to over {EXPORT_BYTES:,} bytes"
                    raise UsageError(fault, "export less")
                if line.strip():
                    yield object_of(line.decode("utf-8", "replace"))
    except (OSError, EOFError, zlib.error, zipfile.BadZipFile, LookupError, RuntimeError) as error:
        # RuntimeError: it is encrypted, or compressed by another method.
        raise UsageError(f"cannot read {path}: {error}", "export it again") from error


# Letta


def _read_letta(path: str, project: str) -> Found:
    found = object_of(read_json(path))
    blocks = {text_of(block.get("id")): block for block in map(object_of, found["blocks"])}
    for agent in _list_agents(found, blocks):
        name = text_of(agent.get("name")) or replace_surrogates(str(agent.get("id")))
        for id in texts_of(agent.get("block_ids")):
            block = blocks.get(id, {})
            label, value = text_of(block.get("label")), text_of(block.get("value"))
            yield make_item(
                f"block {label or id} of {name}",
                value,
                id=replace_surrogates(f"{agent.get('id') or name}:{id}"),
                title=label or None,
                agent=name,
                brief=BRIEF.get(label.casefold(), ""),
            )


def _list_agents(found: dict[str, Any], ids: Iterable[str]) -> list[dict[str, Any]]:
    """Return the agents, and one more with the blocks that none of them has."""
    agents = [agent for agent in _list_of(found, "agents") if isinstance(agent, dict)]
    owned = {id for agent in agents for id in texts_of(agent.get("block_ids"))}
    if rest := [id for id in ids if id not in owned]:
        agents.append({"name": "letta", "block_ids": rest})
    return agents


READERS = (
    Reader(
        name="claude-mem",
        place="`claude-mem.db` or its folder",
        fits=lambda path: _has_table(
            path, CLAUDE_MEM, "observations", "memory_session_id", "project"
        ),
        read=_read_claude_mem,
        projects=_claude_mem_projects,
        dropped="subtitles, counts of tokens, files that were read, absolute paths, and all but"
        f" {MOST_PATTERNS} of the files that one observation changed",
    ),
    Reader(
        name="mcp-memory-service",
        place="`sqlite_vec.db` or its folder",
        fits=lambda path: _has_table(
            path, MEMORY_SERVICE, "memories", "content_hash", "memory_type"
        ),
        read=_read_memory_service,
        dropped="vectors, metadata, other edges of its graph, deleted memories",
    ),
    Reader(
        name="mempalace",
        place="`sqlite_exact.sqlite3` or its folder",
        fits=_fits_palace,
        read=_read_palace,
        dropped="vectors, closets, descriptions of pictures, sources of drawers, properties of"
        " entities, facts that have an end",
    ),
    Reader(
        name="mem0",
        place="JSON of `get_all()`",
        fits=_fits_mem0,
        read=_read_mem0,
        dropped="vectors, metadata, messages",
    ),
    Reader(
        name="openmemory",
        place="the exported zip",
        fits=_fits_open_memory,
        read=_read_open_memory,
        dropped="deleted memories, metadata, access controls, the history of states",
    ),
    Reader(
        name="letta",
        place="an `.af` file",
        fits=lambda path: _fits(path, ".af .json", "blocks"),
        read=_read_letta,
        dropped="descriptions of blocks, messages, tools, settings of models",
    ),
)
