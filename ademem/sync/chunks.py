"""Files of exchanged records, and the manifests that list them.

A chunk is lines of JSON in gzip, named by the SHA-256 of the uncompressed bytes, and never changed:
a half-written or damaged one does not have its name. A manifest lists the chunks of one replica in
lines, so that lines of both sides are its union where git left markers of a conflict.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import zlib

from ademem.core.json_text import loads
from ademem.core.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

    Entry = dict[str, Any]

MARK = "ademem"
VERSION = 1
MIB = 1 << 20
BYTES = 4 * MIB
"""Size of a chunk before compression from which the next act begins another one."""
MOST_BYTES = 64 * MIB
"""Largest chunk that is read, before and after compression."""
SUFFIX = ".jsonl.gz"
ID_CHARS = 64


class BadChunk(Exception):
    """The file is no chunk of that name; the message gives the reason."""


class Chunk(Value):
    id: str
    data: bytes
    """The file."""
    count: int
    """Its entries."""


class Manifest(Value):
    """The chunks of one replica that are in a folder."""

    replica: str
    project: str
    sizes: dict[str, int]
    """Bytes of the files by id."""


def is_id(name: str) -> bool:
    return len(name) == ID_CHARS and not name.strip("0123456789abcdef")


def pack(entries: Iterable[Entry], head: Entry) -> Iterator[Chunk]:
    """Yield chunks of the entries; one act stands in one chunk, up to half of what is read."""
    lines = [_line({MARK: VERSION} | head)]
    size, act = 0, None
    for entry in entries:
        line, event = _line(entry), entry.get("event_id")
        is_next_act = event is None or event != act
        if (size > BYTES and is_next_act) or size + len(line) > MOST_BYTES // 2:
            yield _chunk(lines)
            lines, size = lines[:1], 0
        lines.append(line)
        size, act = size + len(line), event
    if len(lines) > 1:
        yield _chunk(lines)


def _line(value: Entry) -> bytes:
    found = json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return found.encode("utf-8", "replace") + b"\n"


def _chunk(lines: list[bytes]) -> Chunk:
    text = b"".join(lines)
    id = hashlib.sha256(text).hexdigest()
    return Chunk(id=id, data=gzip.compress(text, mtime=0), count=len(lines) - 1)


def unpack(data: bytes, id: str) -> tuple[Entry, list[Any]]:
    """Return the head and the entries of a chunk; an entry that is no JSON is its text."""
    text = decompress(data)
    if hashlib.sha256(text).hexdigest() != id:
        raise BadChunk("its content is not what its name says")
    head, *entries = [_parse(line) for line in text.splitlines()] or [None]
    if not isinstance(head, dict) or head.get(MARK) != VERSION:
        raise BadChunk(f"it is not of version {VERSION}, which this ademem reads")
    return head, entries


def decompress(data: bytes) -> bytes:
    """Return the content of one gzip file; raises BadChunk if it is not whole, or too large."""
    reader = zlib.decompressobj(wbits=31)
    try:
        text = reader.decompress(data, MOST_BYTES)
    except zlib.error as error:
        raise BadChunk("it is damaged") from error
    if reader.unconsumed_tail:
        raise BadChunk(f"it has more than {MOST_BYTES:,} bytes")
    if not reader.eof or reader.unused_data:
        raise BadChunk("it is not whole")
    return text


def _parse(line: bytes) -> Any:
    try:
        return loads(line.decode("utf-8"))
    except (ValueError, RecursionError):
        return line.decode("utf-8", "replace")


def read_manifest(text: str) -> Manifest | None:
    """Read the lines that are valid, of whichever side of a conflict; None without a head."""
    head: Entry = {}
    sizes = {}
    for line in text.split("\n"):
        found = _parse(line.encode("utf-8", "replace"))
        if not isinstance(found, dict):
            continue
        if found.get(MARK) == VERSION and isinstance(found.get("replica"), str):
            head = found
        elif isinstance(found.get("id"), str) and is_id(found["id"]):
            size = found.get("bytes")
            sizes[found["id"]] = size if type(size) is int else -1
    if not head:
        return None
    project = head.get("project")
    project = project if isinstance(project, str) else ""
    return Manifest(replica=head["replica"], project=project, sizes=sizes)


def write_manifest(manifest: Manifest) -> str:
    head = {MARK: VERSION, "replica": manifest.replica, "project": manifest.project}
    listed = ({"id": id, "bytes": size} for id, size in sorted(manifest.sizes.items()))
    return b"".join(map(_line, (head, *listed))).decode()
