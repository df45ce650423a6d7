"""The exchange of records through a folder that machines share, in both directions.

Each database writes files under its own names only: chunks, and one manifest that lists them. So
two machines may write at once, and a drive may deliver files late, twice, in any order or damaged.
What is lost or damaged is sent again by its writer, or by another database that had read it.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from itertools import pairwise
from typing import Any

from ademem.core import confined, record_json
from ademem.core.confined import Refused, SharedRoot
from ademem.core.errors import AdememError, UsageError
from ademem.core.json_text import loads
from ademem.core.project import Project
from ademem.core.redaction import redact
from ademem.core.settings import GateSettings
from ademem.core.shared_files import locked
from ademem.core.value import Value, replace
from ademem.store import Store, journal, replication, stamps
from ademem.store.memories import Change, new_event
from ademem.sync.provenance import safe_name
from ademem.sync.record_import import make_admission_rule

Entry = dict[str, Any]


OURS = os.path.join(".ade", "sync")
"""The folder of a project whose files git carries."""
TARGET = "folder "
"""Prefix of the names of targets that are folders."""
MOST_CHUNKS = 64
"""Chunks of one database above which it writes one of all records in their place."""
BATCH = 200
"""Entries of one transaction, so that other writers wait a fraction of a second."""
STALE_S = 86_400


class OtherProject(AdememError):
    def __init__(self, folder: Folder, others: list[str], project: str) -> None:
        super().__init__(
            f"{folder.path} has the memories of {', '.join(others)}, and this is {project}",
            "name another folder; `--force` exchanges with it if both are one project",
        )


class EmptyFolder(AdememError):
    def __init__(self, folder: Folder) -> None:
        super().__init__(
            f"{folder.path} is empty, though it was used before",
            "connect the drive; `--force` writes everything there anew",
        )


class Folder(Value):
    root: str
    base: str
    """The folder below *root*; empty if it is the root."""

    @property
    def path(self) -> str:
        return os.path.join(self.root, self.base) if self.base else str(self.root)

    @property
    def target(self) -> str:
        return TARGET + self.path

    def inside(self, *names: str) -> str:
        return os.path.join(self.base, *names)

    def chunk(self, id: str) -> str:
        return self.inside("chunks", id + SUFFIX)


class Exchanged(Value):
    path: str
    is_new: bool
    event: str
    """The act that `ademem undo` takes back; empty if nothing changed here."""
    read: tuple[str, ...]
    changed: int
    """Memories and relations that changed here."""
    sent: int = 0
    written: tuple[str, ...] = ()
    held_back: tuple[str, ...] = ()
    """Ids of memories with a secret, which were not sent."""
    problems: tuple[str, ...]


def folder_at(path: str, project: Project) -> Folder:
    real = os.path.realpath(path)
    if real == os.path.join(project.root, OURS):
        return Folder(root=project.root, base=OURS)
    if ".ade" in real.split(os.sep) or ".git" in real.split(os.sep):
        raise UsageError(f"{path} has files of another kind", f"name another folder, or {OURS}")
    if not os.path.isdir(real):
        raise UsageError(f"there is no folder {path}", "connect the drive, or make the folder")
    return Folder(root=SharedRoot(real), base="")


def list_enrolled(store: Store) -> list[str]:
    targets = stamps.targets(store.db)
    return [each.removeprefix(TARGET) for each in targets if each.startswith(TARGET)]


def unread(store: Store, folder: Folder) -> list[str]:
    noted = journal.chunks(store, folder.target)
    return [id for id in _chunk_ids(folder) if id not in noted]


def check(store: Store, folder: Folder, project: Project) -> None:
    """Raise OtherProject or EmptyFolder if the folder is probably not the one that is meant."""
    found = manifests(folder)
    if folder.target not in stamps.targets(store.db):
        if others := {each.project for each in found} - {project.name}:
            raise OtherProject(folder, sorted(others), project.name)
    elif not (folder.base or found or _chunk_ids(folder)) and journal.chunks(store, folder.target):
        raise EmptyFolder(folder)


def exchange(
    store: Store,
    project: Project,
    settings: GateSettings,
    folder: Folder,
    now: datetime,
    *,
    name: str = "",
    trusted: bool = False,
    force: bool = False,
) -> Exchanged:
    """Read what others wrote into the folder, then write what they do not have.

    *name* is written beside what is sent. What arrives is labelled with the name that stands
    there, unless the folder's content is *trusted*.
    """
    if not force:
        check(store, folder, project)
    is_new = journal.enrol(store, folder.target)
    problems: list[str] = []
    event = new_event()
    with locked(os.path.join(project.home, "run", "sync.lock"), root=project.home_root):
        change = Change(operation="import", actor="import", at=now, event_id=event)
        read, changed = _read(store, settings, folder, change, problems, trusted=trusted)
        written: dict[str, Any] = {}
        try:
            written = _write(store, project, folder, now, name)
            remove_stale(folder, now)
        except OSError as error:
            problems.append(f"nothing could be written there: {error.strerror or error}")
    return Exchanged(
        path=folder.path,
        is_new=is_new,
        event=event if changed else "",
        read=tuple(read),
        changed=changed,
        **written,
        problems=tuple(problems),
    )


def _read(
    store: Store,
    settings: GateSettings,
    folder: Folder,
    change: Change,
    problems: list[str],
    *,
    trusted: bool,
) -> tuple[list[str], int]:
    """Apply the chunks that were not read yet, each of them together with the record of it."""
    read, changed = [], 0
    for id in unread(store, folder):
        try:
            head, entries = _unpack(folder, id)
        except (BadChunk, OSError) as error:
            problems.append(f"chunk {id}: {reason_of(error)}")
            continue
        name = safe_name(head.get("by"))
        author, vouched = (None, name) if trusted else (name, None)
        change = replace(change, author=author, vouched=vouched)
        admit = make_admission_rule(store, settings, change.at, author)
        changed += _apply(store, folder, id, entries, change, admit)
        read.append(id)
    change = replace(change, author=None if trusted else "")
    admit = make_admission_rule(store, settings, change.at, change.author)
    for _ in range(0, journal.find_deferred(store).count if read else 0, replication.REPLAYED):
        with store.transaction():
            replication.replay(store, change, admit, failed=False)
    with store.transaction():
        replication.replay(store, change, admit)
    return read, changed


def reason_of(error: Exception) -> str:
    """Return why a chunk cannot be read."""
    return error.reason if isinstance(error, Refused) else str(error)


def _apply(
    store: Store,
    folder: Folder,
    id: str,
    entries: list[Any],
    change: Change,
    admit: replication.Admit,
) -> int:
    """Return the number of memories and relations that a chunk changed."""
    changed = 0
    ends = [0, *_ends(entries)]
    for start, end in pairwise(ends):
        with store.transaction():
            for entry in entries[start:end]:
                found = entry if isinstance(entry, dict) else {"registers": entry}
                given = (found.get("entity"), found.get("registers"), change, admit)
                changed += replication.receive(store, *given, folder.target)
            if end == ends[-1]:
                journal.note_chunk(store, folder.target, id, None, change.at)
    return changed


def _ends(entries: list[Any]) -> Iterator[int]:
    start = 0
    acts = [entry.get("event_id") if isinstance(entry, dict) else None for entry in entries]
    for at in range(1, len(entries)):
        if at - start >= BATCH and (acts[at] is None or acts[at] != acts[at - 1]):
            yield at
            start = at
    yield len(entries)


class _Inventory(Value):
    """Chunks that the manifests of a folder list, and those that are noted here."""

    replica: str
    listed: Sequence[Manifest]
    noted: Mapping[str, journal.Chunk]

    @property
    def own(self) -> Mapping[str, int] | None:
        """Sizes in our manifest, by id; None where there is none."""
        found = (each.sizes for each in self.listed if each.replica == self.replica)
        return next(found, None)

    @property
    def made(self) -> set[str]:
        return {id for id, chunk in self.noted.items() if chunk.replica == self.replica}


def _write(
    store: Store, project: Project, folder: Folder, now: datetime, name: str
) -> dict[str, Any]:
    """Write what the others lack; the cursor moves after the files are there."""
    target = folder.target
    with store.transaction():
        replica = stamps.replica(store)
    noted = journal.chunks(store, target)
    inventory = _Inventory(replica=replica, listed=manifests(folder), noted=noted)
    if not (_has_read(folder, inventory) and _has_sent(folder, inventory)):
        journal.advance(store, target, journal.ALL)
    is_all = journal.cursor(store, target) == journal.ALL
    last = journal.last(store.db)
    held_back: list[str] = []
    entries = outgoing(store, folder, held_back)
    made, count = _write_chunks(folder, entries, {"by": name, "project": project.name})
    if made or is_all:
        sizes = made if is_all else {**(inventory.own or {}), **made}
        text = write_manifest(Manifest(replica=replica, project=project.name, sizes=sizes))
        confined.write_text(folder.root, folder.inside("manifests", f"{replica}.jsonl"), text)
    with store.transaction():
        if is_all:
            journal.cover_chunks(store, target, replica)
        note_made(store, target, made, now)
        journal.advance(store, target, last)
    if is_all:
        for id in inventory.made - made.keys():
            confined.remove(folder.root, folder.chunk(id))
    return {"sent": count, "written": tuple(made), "held_back": tuple(held_back)}


def _write_chunks(
    folder: Folder, entries: Iterable[Entry], head: Entry
) -> tuple[dict[str, int], int]:
    """Return the bytes of each chunk by its id, and the number of entries."""
    made: dict[str, int] = {}
    count = 0
    for chunk in pack(entries, head):
        confined.write_bytes(folder.root, folder.chunk(chunk.id), chunk.data)
        made[chunk.id] = len(chunk.data)
        count += chunk.count
    return made, count


def note_made(store: Store, target: str, made: Iterable[str], now: datetime) -> None:
    replica = stamps.replica(store)
    for id in made:
        journal.note_chunk(store, target, id, replica, now)


def _has_sent(folder: Folder, inventory: _Inventory) -> bool:
    """Tell whether the folder has all that we sent, in no more chunks than a database has."""
    own = inventory.own
    if own is None or inventory.made - own.keys() or len(own) > MOST_CHUNKS:
        return False
    return all(_is_intact(folder, id) for id in own)


def _has_read(folder: Folder, inventory: _Inventory) -> bool:
    """Tell whether the folder has all that we read and no file of ours has."""
    own, noted = inventory.own or {}, inventory.noted
    return all(
        _size(folder, id) == size
        for each in inventory.listed
        for id, size in each.sizes.items()
        if id in noted and id not in own and not noted[id].is_covered
    )


def outgoing(store: Store, folder: Folder, held_back: list[str]) -> Iterator[Entry]:
    """Yield the entries to be sent; ids of what has a secret are added to *held_back* instead."""
    for entry in replication.outgoing(store, folder.target):
        if any(redact(text).found for text in record_json.texts_in(entry["registers"])):
            held_back.append(str(entry["registers"].get("id") or entry["registers"]["sync_id"]))
        else:
            yield entry


def manifests(folder: Folder) -> list[Manifest]:
    """Leave out copies under other names, as drives make them."""
    found = []
    for name in confined.names(folder.root, folder.inside("manifests")):
        try:
            data = confined.read_bytes(folder.root, folder.inside("manifests", name), MIB)
        except OSError:
            continue
        one = read_manifest((data or b"").decode("utf-8", "replace"))
        if one and name == f"{one.replica}.jsonl":
            found.append(one)
    return found


def _chunk_ids(folder: Folder) -> list[str]:
    names = confined.names(folder.root, folder.inside("chunks"))
    ids = (name.removesuffix(SUFFIX) for name in names if name.endswith(SUFFIX))
    return list(filter(is_id, ids))


def _unpack(folder: Folder, id: str) -> tuple[Entry, list[Any]]:
    if (data := confined.read_bytes(folder.root, folder.chunk(id), MOST_BYTES)) is None:
        raise BadChunk("it was removed while it was read")
    return unpack(data, id)


def _is_intact(folder: Folder, id: str) -> bool:
    with suppress(BadChunk, OSError):
        return _unpack(folder, id) is not None
    return False


def _size(folder: Folder, id: str) -> int:
    with suppress(OSError):
        if there := confined.status(folder.root, folder.chunk(id)):
            return there.st_size
    return -1


def remove_stale(folder: Folder, now: datetime) -> None:
    """Delete temporary files that killed processes left, on whichever machine."""
    for inside in filter(None, (folder.base, folder.inside("manifests"), folder.inside("chunks"))):
        confined.remove_left(folder.root, inside, now.timestamp() - STALE_S)


MARK = "ademem"
VERSION = 1
MIB = 1 << 20
BYTES = 4 * MIB
"""Size of a chunk before compression from which the next act begins another one."""
MOST_BYTES = 64 * MIB
"""Largest chunk that is read, before and after compression."""
MOST_LINES = 200_000
"""Most lines of a chunk that is read; so many of a chunk that is written have half its bytes."""
SUFFIX = ".jsonl.gz"
ID_CHARS = 64


class BadChunk(Exception):
    """The file is not a chunk of that name; the message gives the reason."""


class Chunk(Value):
    id: str
    data: bytes
    count: int


class Manifest(Value):
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
    """Return the head and the entries; an entry that is not JSON is its text."""
    text = decompress(data)
    if hashlib.sha256(text).hexdigest() != id:
        raise BadChunk("its content is not what its name says")
    if text.count(b"\n") > MOST_LINES:
        raise BadChunk(f"it has more than {MOST_LINES:,} lines")
    head, *entries = [_parse(line) for line in text.splitlines()] or [None]
    if not isinstance(head, dict) or head.get(MARK) != VERSION:
        raise BadChunk(f"it is not of version {VERSION}, which this ademem reads")
    return head, entries


def decompress(data: bytes) -> bytes:
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
    project = head["project"] if isinstance(head.get("project"), str) else ""
    return Manifest(replica=head["replica"], project=project, sizes=sizes)


def write_manifest(manifest: Manifest) -> str:
    head = {MARK: VERSION, "replica": manifest.replica, "project": manifest.project}
    listed = ({"id": id, "bytes": size} for id, size in sorted(manifest.sizes.items()))
    return b"".join(map(_line, (head, *listed))).decode()
