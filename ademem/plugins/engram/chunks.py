"""The exchange with Engram through `.engram/`, which git carries like the files of a project.

A chunk is one JSON object in gzip, named by the first digits of the SHA-256 of its bytes and never
changed; a manifest lists the chunks of all who write. What is new stands in it as rows, what was
changed or deleted since as mutations, in the order in which they can be applied.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import suppress
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from ademem.core import confined, record_json, registers
from ademem.core.clock import UTC, parse
from ademem.core.errors import AdememError
from ademem.core.memory import Memory
from ademem.core.redaction import redact
from ademem.core.shared_files import locked
from ademem.core.text import unique
from ademem.core.value import Value, replace
from ademem.files.readers.items import text_of
from ademem.plugins.engram import documents
from ademem.plugins.engram.documents import (
    GONE,
    SENT,
    SOURCE,
    TARGET,
    Document,
    Job,
    Report,
    Row,
    state_of,
)
from ademem.plugins.exchange import folder
from ademem.plugins.exchange.folder import (
    BYTES,
    MIB,
    MOST_BYTES,
    SUFFIX,
    BadChunk,
    Folder,
    decompress,
)
from ademem.store import (
    Store,
    database,
    foreign,
    journal,
    memory_queries,
    replication,
    sessions,
)

if TYPE_CHECKING:
    from ademem.core.project import Project

FOLDER = ".engram"
MANIFEST = os.path.join(FOLDER, "manifest.json")
VERSION = 1
ID_CHARS = 8
MOST_CHUNKS = 100_000
SECOND = timedelta(seconds=1)
_SIDES = {"<<<<<<<": (True, False), "|||||||": (False, False), "=======": (False, True)}
"""Lines of a conflict by their beginning, and which sides have those after them."""
_ROWS = {
    "session": ("sessions", "id", "started_at"),
    "observation": ("observations", "sync_id", "updated_at"),
    "prompt": ("prompts", "sync_id", "created_at"),
    "relation": ("relations", "sync_id", "updated_at"),
}
"""The list of each entity's rows, their key, and the time that a mutation gives them."""


class BadManifest(AdememError):
    """The manifest is not changed, as chunks of others would be lost from it."""

    hint = f"`git checkout HEAD -- {MANIFEST}` brings back the last that was committed"


class Manifest(Value):
    chunks: dict[str, Row] = {}
    is_conflicted: bool = False


class Sent(Value):
    chunks: tuple[str, ...] = ()
    sessions: int = 0
    observations: int = 0
    mutations: int = 0
    held_back: tuple[str, ...] = ()
    """Ids of memories with a secret, which were not sent."""
    problems: tuple[str, ...] = ()


class Received(Value):
    read: tuple[str, ...]
    reports: tuple[Report, ...]
    event: str
    problems: tuple[str, ...]


class Outgoing(Value):
    sessions: tuple[Row, ...]
    observations: tuple[Row, ...]
    mutations: tuple[Row, ...]
    states: tuple[tuple[str, str, str], ...]
    """Table of foreign fields, name of the row, and state."""
    held_back: tuple[str, ...]


# The folder


def read_manifest(project: Project) -> Manifest:
    """Read both sides of a conflict; raises BadManifest or Refused."""
    if (data := confined.read_bytes(project.root, MANIFEST, 16 * MIB)) is None:
        return Manifest()
    text = data.decode("utf-8", "replace")
    is_conflicted = any(line.startswith("<<<<<<<") for line in text.splitlines())
    entries: dict[str, Row] = {}
    for side in (_side(text, 0), _side(text, 1)) if is_conflicted else (text,):
        for id, entry in _parse_entries(side):
            entries.setdefault(id, entry)
    return Manifest(chunks=entries, is_conflicted=is_conflicted)


def _parse_entries(side: str) -> Iterator[tuple[str, Row]]:
    try:
        found = json.loads(side)
    except (ValueError, RecursionError) as error:
        raise BadManifest(f"{MANIFEST} cannot be read: {error}") from error
    if not isinstance(found, dict) or found.get("version") != VERSION:
        raise BadManifest(f"{MANIFEST} is not of version {VERSION}, which is read")
    for entry in documents.rows_of(found, "chunks")[:MOST_CHUNKS]:
        id = entry.get("id")
        if isinstance(id, str) and re.fullmatch(f"[0-9a-f]{{{ID_CHARS}}}", id):
            yield id, entry


def _side(text: str, side: int) -> str:
    """Return ours (0) or theirs (1) of a file with conflict markers."""
    entries, wanted = [], True
    for line in text.splitlines(keepends=True):
        if line[:7] in _SIDES:
            wanted = _SIDES[line[:7]][side]
        elif line.startswith(">>>>>>>"):
            wanted = True
        elif wanted:
            entries.append(line)
    return "".join(entries)


def _write_manifest(project: Project, entries: Iterable[Row]) -> None:
    ordered = sorted(entries, key=lambda one: (text_of(one.get("created_at")), one["id"]))
    text = json.dumps({"version": VERSION, "chunks": ordered}, ensure_ascii=False, indent=2)
    confined.write_text(project.root, MANIFEST, text + "\n")


def _path(id: str) -> str:
    return os.path.join(FOLDER, "chunks", id + SUFFIX)


def _read_chunk(project: Project, id: str) -> bytes:
    if (data := confined.read_bytes(project.root, _path(id), MOST_BYTES)) is None:
        raise BadChunk("it is listed, and not there")
    content = decompress(data)
    if hashlib.sha256(content).hexdigest()[:ID_CHARS] != id:
        raise BadChunk("its content is not what its name says")
    return content


def _is_intact(project: Project, id: str) -> bool:
    with suppress(BadChunk, OSError):
        return _read_chunk(project, id) is not None
    return False


def unread(store: Store, manifest: Manifest) -> list[str]:
    listed = journal.chunks(store, TARGET)
    return [id for id in manifest.chunks if id not in listed]


# Import


def receive(project: Project, job: Job, *, dry_run: bool = False) -> Received:
    """Apply each unread chunk whole or not at all."""
    read, reports, problems = [], [], []
    with locked(os.path.join(project.home, "run", "sync.lock"), root=project.home_root):
        manifest = read_manifest(project)
        if manifest.is_conflicted and not dry_run:
            _write_manifest(project, manifest.chunks.values())
        for id in unread(job.store, manifest):
            try:
                document = _document(_read_chunk(project, id), manifest.chunks[id])
            except (BadChunk, OSError) as error:
                problems.append(f"chunk {id}: {folder.reason_of(error)}")
                continue
            with suppress(database.DryRun), job.store.transaction():
                reports.append(documents.import_document(document, job))
                if dry_run:
                    raise database.DryRun
                journal.note_chunk(job.store, TARGET, id, None, job.now)
            problems += [f"chunk {id}: {one.where}: {one.why}" for one in reports[-1].skipped]
            read.append(id)
    return Received(
        read=tuple(read), reports=tuple(reports), event=job.event_id, problems=tuple(problems)
    )


def _document(content: bytes, entry: Row) -> Document:
    """Return rows and mutations as rows, of which a mutation counts; raises BadChunk."""
    chunk = _parse_chunk(content)
    document: dict[str, list[Any]] = {name: [] for name, _, _ in _ROWS.values()} | {"removed": []}
    mutated = set()
    for mutation in documents.rows_of(chunk, "mutations"):
        entity, key = text_of(mutation.get("entity")), text_of(mutation.get("entity_key"))
        mutated.add((entity, key))
        if mutation.get("op") != "delete" or entity == "observation":
            if entity in _ROWS:
                name, _, _ = _ROWS[entity]
                document[name].append(_row_of(mutation, entity, key, entry))
        elif entity in ("session", "prompt"):
            document["removed"].append((entity, key))
    for entity in ("session", "observation", "prompt"):
        name, id, _ = _ROWS[entity]
        rows = documents.rows_of(chunk, name)
        document[name] += [row for row in rows if (entity, text_of(row.get(id))) not in mutated]
    return document


def _parse_chunk(content: bytes) -> Row:
    try:
        chunk = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise BadChunk("it is not JSON") from error
    if not isinstance(chunk, dict):
        raise BadChunk("it is not an object")
    return chunk


def _row_of(mutation: Row, entity: str, key: str, entry: Row) -> Row:
    """Return what a mutation writes; an observation that it deletes has the time of its end."""
    _, id, time = _ROWS[entity]
    at = text_of(mutation.get("occurred_at")) or text_of(entry.get("created_at"))
    row: Row = {id: key, time: at} | _payload(mutation)
    is_deleted = mutation.get("op") == "delete" or row.get("deleted") is True
    if entity == "observation" and is_deleted:
        row["deleted_at"] = text_of(row.get("deleted_at")) or at
    return row


def _payload(mutation: Row) -> Row:
    """Return the object of a mutation, which is in JSON, sometimes twice."""
    payload = mutation.get("payload")
    with suppress(ValueError, RecursionError):
        for _ in range(2):
            payload = json.loads(payload) if isinstance(payload, str) else payload
    found = payload if isinstance(payload, dict) else {}
    return {name: value for name, value in found.items() if value is not None}


# Export


def send(
    store: Store,
    project: Project,
    now: datetime,
    *,
    author: str,
    anew: bool = False,
    dry_run: bool = False,
) -> Sent:
    """Write what Engram's chunks lack; *anew* writes all, as do chunks of ours that are damaged."""
    with locked(os.path.join(project.home, "run", "sync.lock"), root=project.home_root):
        manifest = read_manifest(project)
        damaged = _list_damaged(store, project, manifest)
        anew = anew or bool(damaged)
        if not dry_run:
            journal.enrol(store, TARGET)
            if anew:
                journal.advance(store, TARGET, journal.ALL)
        last = journal.last(store.db)
        lacking = outgoing(store, project.name, anew=anew)
        sent = Sent(
            sessions=len(lacking.sessions),
            observations=len(lacking.observations),
            mutations=len(lacking.mutations),
            held_back=lacking.held_back,
            problems=tuple(f"chunk {id} was damaged; all is written anew" for id in damaged),
        )
        if dry_run:
            return sent
        made = _write_chunks(project, lacking, author, now)
        if made or manifest.is_conflicted:
            intact = {id: manifest.chunks[id] for id in manifest.chunks.keys() - damaged}
            _write_manifest(project, (made | intact).values())
        with store.transaction():
            folder.note_made(store, TARGET, made, now)
            for kind, key, state in lacking.states:
                foreign.mark(store, kind, key, SENT, state)
            journal.advance(store, TARGET, last)
        folder.remove_stale(Folder(root=project.root, base=FOLDER), now)
    return replace(sent, chunks=tuple(made))


def _list_damaged(store: Store, project: Project, manifest: Manifest) -> list[str]:
    own = [id for id, chunk in journal.chunks(store, TARGET).items() if chunk.replica]
    return [id for id in own if id in manifest.chunks and not _is_intact(project, id)]


def _write_chunks(
    project: Project, lacking: Outgoing, author: str, now: datetime
) -> dict[str, Row]:
    """Return the entries of the manifest for the chunks, by id."""
    at = now.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    entries = {}
    for content, counts in _pack(lacking):
        id = _write_chunk(project, content)
        entries[id] = {"id": id, "created_by": author, "created_at": at} | counts
    return entries


def _write_chunk(project: Project, content: bytes) -> str:
    while True:
        id = hashlib.sha256(content).hexdigest()[:ID_CHARS]
        try:
            if _read_chunk(project, id) == content:
                return id
        except (BadChunk, OSError):
            confined.write_bytes(project.root, _path(id), gzip.compress(content, mtime=0))
            return id
        content += b"\n"  # another chunk has this name


def _pack(found: Outgoing) -> Iterator[tuple[bytes, Row]]:
    """Yield chunks and their counts; a session stands in each one whose rows need it."""
    sessions = {row["id"]: row for row in found.sessions}
    observations: list[Row] = []
    size = 0
    for row in found.observations:
        observations.append(row)
        size += len(row["content"]) + len(row["title"])
        if size > BYTES:
            yield _chunk(sessions, observations, ())
            observations, size = [], 0
    if observations or found.mutations or (sessions and not found.observations):
        yield _chunk(sessions, observations, found.mutations)


def _chunk(
    sessions: dict[str, Row], observations: list[Row], mutations: tuple[Row, ...]
) -> tuple[bytes, Row]:
    named = {row["session_id"] for row in observations}
    wanted = [row for id, row in sessions.items() if id in named or mutations or not observations]
    content: Row = {"sessions": wanted, "observations": observations, "prompts": []}
    if mutations:
        content["mutations"] = list(mutations)
    counts = {"sessions": len(wanted), "memories": len(observations), "prompts": 0}
    text = json.dumps(content, ensure_ascii=False, separators=(",", ":"))
    return text.encode("utf-8", "replace"), counts


def outgoing(store: Store, project: str, *, anew: bool = False) -> Outgoing:
    """Return what chunks lack: the journal's rows since the last one, and deletions; *anew* all."""
    written: defaultdict[str, list[Row]] = defaultdict(list)
    for entry in replication.outgoing(store, TARGET):
        written[entry["entity"]].append(entry["registers"])
    found = _read_observations(store, project, [one["id"] for one in written["memory"]], anew)
    deletes = [*found.deletes, *_deletions_for_good(written["memory"], project)]
    both = (*found.rows, *found.edits)
    new_sessions, session_edits = _sessions(store, project, both, found.states)
    since = journal.last_written(store, TARGET)
    mutations = [
        _mutation("session", row["id"], row, str(row.get("ended_at", row["started_at"])), project)
        for row in session_edits
    ]
    mutations += [
        _mutation("observation", row["sync_id"], row, row["updated_at"], project)
        for row in found.edits
    ]
    mutations += _relations(written["relation"], project)
    mutations += sorted(deletes, key=lambda one: str(one["entity_key"]))
    mutations += [
        _mutation("session", id, {"id": id}, since[:19], project, op="delete")
        for id in (sessions.list_deleted(store, since) if since else ())
    ]
    return Outgoing(
        sessions=tuple(new_sessions),
        observations=tuple(found.rows),
        mutations=tuple({"seq": seq} | one for seq, one in enumerate(mutations, 1)),
        states=tuple(found.states),
        held_back=unique(found.held_back),
    )


class _Observations:
    """Rows of memories for a chunk: new ones, edits, deletions, and what has a secret."""

    def __init__(self) -> None:
        self.rows: list[Row] = []
        self.edits: list[Row] = []
        self.deletes: list[Row] = []
        self.states: list[tuple[str, str, str]] = []
        self.held_back: list[str] = []

    def add(self, memory: Memory, row: Row, before: str) -> None:
        """Add a row unless the chunks have it in this state; *before* is empty for a new one."""
        state = state_of(row)
        if state == before:
            return
        if _has_secret(row):
            self.held_back.append(memory.id)
            return
        self.states.append((foreign.MEMORY, memory.id, state))
        (self.edits if before else self.rows).append(row)

    def delete(self, memory: Memory, row: Row, project: str) -> None:
        at = documents.format_time(memory.deleted_at or memory.updated_at + SECOND)
        self.deletes.append(_deletion(row["sync_id"], at, project))
        self.states.append((foreign.MEMORY, memory.id, GONE))


def _read_observations(
    store: Store, project: str, written: Iterable[str], anew: bool
) -> _Observations:
    stored = foreign.get_all(store, foreign.MEMORY)
    found = _Observations()
    for memory in _candidates(store, stored, written, anew):
        fields = stored.get(memory.id, {})
        before = fields.get(SENT, "")
        row = documents.observation_of(memory, fields, project)
        if memory.shareable:
            found.add(memory, row, "" if anew else before)
        elif before and (anew or before != GONE) and not _is_hidden(store, memory):
            found.delete(memory, row, project)
    return found


def _candidates(
    store: Store, stored: dict[str, Row], written: Iterable[str], anew: bool
) -> list[Memory]:
    """Return the memories whose rows in the chunks may be missing or outdated."""
    if anew:
        return memory_queries.everything(store)
    sent = (id for id, fields in stored.items() if fields.get(SENT))
    return memory_queries.by_ids(store, [*written, *sent])


def _is_hidden(store: Store, memory: Memory) -> bool:
    """Return True for a live memory behind an elder one of its text."""
    record = replication.read(store, memory.id)
    return record is not None and record.life == registers.LIVE


def _has_secret(row: Row) -> bool:
    return any(redact(text).found for text in row.values() if isinstance(text, str))


def _deletions_for_good(written: Iterable[Row], project: str) -> Iterator[Row]:
    for gone in written:
        if gone.get("life") == registers.REMOVED:
            at = documents.format_time(parse(gone["updated_at"]))
            yield _deletion(gone["sync_id"] or gone["id"], at, project)


def _relations(written: Iterable[Row], project: str) -> Iterator[Row]:
    for values in written:
        if values["marked_by_actor"] != SOURCE:
            names = ("created_at", "updated_at")
            times = {name: documents.format_time(parse(values[name])) for name in names}
            row = values | times | {"project": project}
            yield _mutation("relation", row["sync_id"], row, times["updated_at"], project)


def _sessions(
    store: Store, project: str, of: tuple[Row, ...], states: list[tuple[str, str, str]]
) -> tuple[list[Row], list[Row]]:
    stored = foreign.get_all(store, foreign.SESSION)
    marked = {id: fields[SENT] for id, fields in stored.items() if fields.get(SENT)}
    needed = {row["session_id"] for row in of}
    new, edits = [], []
    for row in documents.sessions_of(store, needed, project, of):
        before, state = marked.get(row["id"]), state_of(row)
        if row["id"] in needed:
            new.append(row)
        elif before and before != state:
            edits.append(row)
        if before != state:
            states.append((foreign.SESSION, row["id"], state))
    return new, edits


def _deletion(sync_id: str, at: str, project: str) -> Row:
    payload = {"sync_id": sync_id, "deleted": True, "deleted_at": at, "hard_delete": False}
    return _mutation("observation", sync_id, payload, at, project, op="delete")


def _mutation(
    entity: str, key: str, payload: Row, at: str, project: str, *, op: str = "upsert"
) -> Row:
    given = {name: value for name, value in payload.items() if value is not None and name != "seq"}
    if entity == "observation":
        given.pop("id", None)
    return {
        "target_key": "local",
        "entity": entity,
        "entity_key": key,
        "op": op,
        "payload": record_json.compact(dict(sorted(given.items()))),
        "source": "local",
        "project": project,
        "occurred_at": at,
    }
