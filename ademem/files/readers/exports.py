"""Memories of programs that export JSON: mem0, with its database of changes, OpenMemory, Letta."""

from __future__ import annotations

import gzip
import json
import os
import zipfile
import zlib
from collections.abc import Iterator
from typing import Any

from ademem.core.errors import UsageError
from ademem.files.readers.items import (
    FILE_BYTES,
    Found,
    Item,
    Reader,
    Skipped,
    moment_of,
    object_of,
    read_text,
    text_of,
    texts_of,
)
from ademem.store.foreign import open_foreign, rows

HISTORY = "history.db"
OPEN_MEMORY = "memories.jsonl.gz"
BRIEF = {"human": "preferences", "persona": "notes", "project": "summary", "task": "focus"}
"""Fields of the brief by the labels of Letta's blocks."""
EXPORT_BYTES = 256 << 20
"""Longest unpacked export."""


def _json(path: str) -> Any:
    try:
        return json.loads(read_text(path))
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{path} is no JSON: {error}", "export it again") from error


def _fits(path: str, endings: str, holds: str) -> bool:
    if not (path.endswith(tuple(endings.split())) and os.path.isfile(path)):
        return False
    try:
        found = _json(path)
    except UsageError:
        return False
    return isinstance(found, dict) and isinstance(found.get(holds), list)


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
    found = _json(path)
    results = found.get("results") if isinstance(found, dict) else found
    earlier = _earlier_texts(os.path.join(os.path.dirname(path), HISTORY))
    for number, row in enumerate(results if isinstance(results, list) else (), 1):
        content = text_of(row.get("memory")) if isinstance(row, dict) else ""
        if not content:
            yield Skipped(where=f"result {number}", why="it has no text")
            continue
        metadata = object_of(row.get("metadata"))
        agent = text_of(row.get("agent_id"))
        yield Item(
            id=str(row.get("id") or row.get("hash") or number),
            content=content,
            earlier=tuple(earlier.get(text_of(row.get("id")), ())),
            tags=tuple(texts_of(row.get("categories") or metadata.get("categories"))),
            created_at=moment_of(row.get("created_at")),
            agent=agent or None,
            personal=bool(text_of(row.get("user_id")) and not agent),
        )


def _earlier_texts(path: str) -> dict[str, list[str]]:
    """Return the texts that memories had before, by their ids, from the database of changes."""
    found: dict[str, list[str]] = {}
    if os.path.isfile(path):
        with open_foreign(path) as db:
            for row in rows(db, "history", "memory_id", "old_memory", "event"):
                if row["event"] == "UPDATE" and (text := text_of(row["old_memory"])):
                    found.setdefault(text_of(row["memory_id"]), []).append(text)
    return found


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
                id=str(row.get("id") or number),
                content=content,
                tags=(*texts_of(row.get("categories")), *([app] if app else [])),
                created_at=moment_of(row.get("created_at")),
                archived=state == "archived",
            )


def _lines(path: str) -> Iterator[dict[str, Any]]:
    """Yield the objects of the lines; raises UsageError for a broken or too large archive."""
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
                    raise UsageError(
                        f"{path} unpacks to over {EXPORT_BYTES:,} bytes", "export less"
                    )
                if line.strip():
                    yield object_of(line.decode("utf-8", "replace"))
    except (OSError, EOFError, zlib.error, zipfile.BadZipFile, LookupError, RuntimeError) as error:
        # RuntimeError: it is encrypted, or compressed by another method.
        raise UsageError(f"cannot read {path}: {error}", "export it again") from error


# Letta


def _fits_letta(path: str) -> bool:
    return _fits(path, ".af .json", "blocks")


def _read_letta(path: str, project: str) -> Found:
    found = object_of(_json(path))
    blocks = {text_of(block.get("id")): block for block in map(object_of, found["blocks"])}
    agents = [agent for agent in found.get("agents", ()) if isinstance(agent, dict)]
    for agent in agents or [{"name": "letta", "block_ids": list(blocks)}]:
        name = text_of(agent.get("name")) or str(agent.get("id"))
        for id in texts_of(agent.get("block_ids")):
            block = blocks.get(id, {})
            label, value = text_of(block.get("label")), text_of(block.get("value"))
            if not value:
                yield Skipped(where=f"block {label or id} of {name}", why="it has no text")
                continue
            yield Item(
                id=f"{agent.get('id') or name}:{id}",
                content=value,
                title=label or None,
                agent=name,
                brief=BRIEF.get(label.casefold(), ""),
            )


READERS = (
    Reader(
        name="mem0",
        fits=_fits_mem0,
        read=_read_mem0,
        dropped="vectors, entities, messages",
    ),
    Reader(
        name="openmemory",
        fits=_fits_open_memory,
        read=_read_open_memory,
        dropped="deleted memories, access controls, the history of states",
    ),
    Reader(
        name="letta",
        fits=_fits_letta,
        read=_read_letta,
        dropped="messages, tools, settings of models",
    ),
)
