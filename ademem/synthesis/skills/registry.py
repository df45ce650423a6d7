"""Bring the index of skill files and their memories up to date with the folders."""

from __future__ import annotations

from ademem.capture.gate.lookup import is_taken
from ademem.capture.gate.rows import id_of
from ademem.core.digest import sha256_hex
from ademem.core.memory import (
    MAX_TITLED_BYTES,
    SKILL,
    Category,
    Importance,
    Memory,
    Scope,
    Status,
    Tier,
    Trust,
)
from ademem.core.text import bounded_bytes, dedupe_key
from ademem.core.value import Value, replace
from ademem.guard.injection import instruction_in
from ademem.store import jobs, memories, memory_queries, transitions
from ademem.store import skills as table
from ademem.store.memories import Change
from ademem.store.skills import Entry
from ademem.synthesis.skills import folders, reading
from ademem.synthesis.skills.reading import Problem, Skill

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import datetime
    from typing import Any

    from ademem.store import Store
    from ademem.store.runtime import Runtime

ADDED, CHANGED, RESTORED, ARCHIVED, UNCHANGED = KINDS = (
    "added",
    "changed",
    "restored",
    "archived",
    "unchanged",
)
"""Differences between a file and the index."""
MOST_AUTHORS = 100
"""Files of one scan whose author is looked up in git."""
CONFIDENCE = 0.9


class Listed(Value):
    """A file of the index with its memory."""

    entry: Entry
    memory: Memory | None
    """None when it was deleted for good."""

    @property
    def name(self) -> str:
        return (self.memory.title if self.memory else None) or self.entry.path

    @property
    def there(self) -> bool:
        return self.entry.archived_at is None


def list_files(store: Store, *, archived: bool = False) -> list[Listed]:
    """Return the files of the index by path, archived ones last."""
    entries = [entry for entry in table.all_of(store) if archived or entry.archived_at is None]
    found = {memory.id: memory for memory in memory_queries.with_skill_file(store)}
    return [Listed(entry=entry, memory=found.get(entry.memory_id or "")) for entry in entries]


class Scanned(Value):
    """Paths by difference, and the files that could not be read."""

    added: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    restored: tuple[str, ...] = ()
    archived: tuple[str, ...] = ()
    unchanged: tuple[str, ...] = ()
    problems: tuple[Problem, ...] = ()


class Difference(Value):
    """One file in the index and in its folder."""

    kind: str
    path: str
    entry: Entry | None
    skill: Skill | None


class Scan(Value):
    runtime: Runtime
    now: datetime
    event_id: str
    authors: dict[str, str | None]
    """Untrusted author in git by path of a file with new content; None: here or trusted."""

    @property
    def store(self) -> Store:
        return self.runtime.store


def scan(runtime: Runtime, now: datetime, *, dry_run: bool = False) -> Scanned:
    """Bring the index and its memories to the content of the folders."""
    store, root = runtime.store, folders.root(runtime.project)
    listing = folders.listing(root)
    read = list(reading.read_all(root))
    differences = _compare(read, table.all_of(store))
    if not dry_run:
        skills = [each.skill for each in differences if each.skill and each.kind != UNCHANGED]
        authors = _authors(skills, runtime)  # before the transaction, as git is slow
        job = Scan(runtime=runtime, now=now, event_id=memories.new_event(), authors=authors)
        with store.transaction():
            differences = _compare(read, table.all_of(store))
            for each in differences:
                if each.skill and each.kind != UNCHANGED:
                    _update(each.skill, each.entry, job)
                elif each.entry and each.kind == ARCHIVED:
                    _archive(each.entry, job)
            if any(each.kind != UNCHANGED for each in differences):
                jobs.follow(store, now)
        folders.note_scanned(runtime.project, listing)
    paths = {kind: tuple(each.path for each in differences if each.kind == kind) for kind in KINDS}
    return Scanned(problems=tuple(each for each in read if isinstance(each, Problem)), **paths)


def figures(scanned: Scanned) -> dict[str, int]:
    return {name: len(getattr(scanned, name)) for name in Scanned._fields}


def _authors(skills: Sequence[Skill], runtime: Runtime) -> dict[str, str | None]:
    """Look up authors, and record files without an untrusted one as the person's own."""
    from ademem.core import trust
    from ademem.sync.provenance import provenance_of, skill_digest

    provenance = provenance_of(runtime.project, runtime.store, runtime.environment)
    digests = {skill.path: skill_digest(skill.path, skill.digest) for skill in skills}
    authors = {
        skill.path: None
        if provenance.trusts_files or digests[skill.path] in provenance.own
        else provenance.author_of(skill.path, ask=number < MOST_AUTHORS)
        for number, skill in enumerate(skills)
    }
    if runtime.store.is_trusted:
        own = [digests[path] for path, author in authors.items() if author is None]
        trust.note_own_records(own, runtime.environment)
    return authors


def _compare(read: Iterable[Skill | Problem], entries: Iterable[Entry]) -> list[Difference]:
    """A file that cannot be read stays as it was."""
    known = {entry.path: entry for entry in entries}
    found = []
    for skill in (each for each in read if isinstance(each, Skill)):
        entry = known.get(skill.path)
        if entry is None:
            kind = ADDED
        elif entry.archived_at:
            kind = RESTORED
        else:
            kind = UNCHANGED if entry.content_hash == skill.digest else CHANGED
        found.append(Difference(kind=kind, path=skill.path, entry=entry, skill=skill))
    present = {each.path for each in read}
    return found + [
        Difference(kind=ARCHIVED, path=path, entry=entry, skill=None)
        for path, entry in known.items()
        if path not in present and entry.archived_at is None
    ]


def _update(skill: Skill, entry: Entry | None, job: Scan) -> None:
    """Store the file; one that was exported from a procedure belongs to that memory."""
    if _is_exported(skill, entry, job):
        return
    memory = _memory_of(entry, job)
    memory = _revise(memory, skill, job) if memory else _insert(skill, job)
    table.put(
        job.store,
        Entry(
            id=entry.id if entry else sha256_hex(job.store.project_id, skill.path)[:32],
            path=skill.path,
            kind=skill.kind,
            source=table.USER,
            memory_id=memory.id,
            content_hash=skill.digest,
            last_modified_at=skill.modified,
            created_at=entry.created_at if entry else job.now,
            updated_at=job.now,
        ),
    )


def _is_exported(skill: Skill, entry: Entry | None, job: Scan) -> bool:
    """Tell whether a procedure owns the file, and import a person's edit of it."""
    from ademem.synthesis.procedures import export, wording

    found = wording.parse_skill_file(skill.raw)
    procedure = export.find_owner(found.sync_id, job.runtime, job.now)
    if procedure is None or (entry and entry.source == table.USER and not entry.archived_at):
        return False
    if found.edited and (entry is None or entry.content_hash != skill.digest):
        procedure = export.import_edit(procedure, found, job.runtime, job.now)
    export.index_file(procedure, skill.path, skill.digest, job.runtime, job.now)
    return True


def _archive(entry: Entry, job: Scan) -> None:
    """Keep the row, so that the file may come back as the same memory."""
    table.put(job.store, replace(entry, archived_at=job.now, updated_at=job.now))
    memory = _memory_of(entry, job) if entry.source == table.USER else None
    if memory and memory.status is not Status.ARCHIVED:
        archived = replace(memory, **transitions.archived())
        memories.update(job.store, archived, _change("archive", entry.path, job))


def _memory_of(entry: Entry | None, job: Scan) -> Memory | None:
    return memory_queries.by_id(job.store, entry.memory_id if entry else None)


def _insert(skill: Skill, job: Scan) -> Memory:
    ordinal = 0
    while is_taken(job.store, sync_id := sha256_hex(SKILL, skill.path, str(ordinal))[:32]):
        ordinal += 1
    memory = Memory(
        id=id_of(sync_id),
        sync_id=sync_id,
        project_id=job.store.project_id,
        scope=Scope.PROJECT,
        tier=Tier.ACTIVE,
        category=Category.PROCEDURE,
        content="",
        importance=Importance.MEDIUM,
        confidence=CONFIDENCE,
        status=Status.PROMOTED,
        trust=Trust.IMPORT,
        source_type=SKILL,
        tags=(skill.kind,),
        access_score=CONFIDENCE,
        dedupe_key="",
        created_at=job.now,
        updated_at=job.now,
        last_accessed_at=job.now,
        promoted_at=job.now,
    )
    memory = replace(memory, **_fields(skill, memory, job))
    return memories.insert(job.store, memory, _change("insert", skill.path, job))


def _revise(memory: Memory, skill: Skill, job: Scan) -> Memory:
    """Update the memory, and restore it if it was archived with its file."""
    is_archived = memory.status is Status.ARCHIVED
    live = replace(memory, **transitions.restored(memory)) if is_archived else memory
    revised = replace(live, **_fields(skill, live, job))
    if revised == memory:
        return memory
    operation = "restore" if is_archived else "edit"
    return memories.update(job.store, revised, _change(operation, skill.path, job))


def _fields(skill: Skill, memory: Memory, job: Scan) -> dict[str, Any]:
    """Return the fields that follow from the file; an instruction to a model is quarantined."""
    topic = f"{SKILL}:{skill.path}"
    lead = "" if skill.description in skill.text else f"{skill.description}\n\n"
    content = bounded_bytes(f"{lead}{skill.text}".strip(), MAX_TITLED_BYTES)
    fields: dict[str, Any] = {
        "title": skill.name,
        "content": content,
        "topic_key": topic,
        "source_id": skill.path,
        "dedupe_key": dedupe_key(content, topic),
    }
    if (memory.title, memory.content) == (skill.name, content):
        return fields
    fields["claimed_author"] = job.authors.get(skill.path)
    if order := instruction_in(f"{skill.name}\n{content}"):
        fields |= transitions.quarantined(order)
    elif memory.quarantine_reason:  # the instruction is no longer in the file
        fields |= transitions.promoted(memory, job.now) | {"quarantine_reason": None}
    return fields


def _change(operation: str, path: str, job: Scan) -> Change:
    return Change(
        operation=operation,
        actor=Trust.IMPORT,
        at=job.now,
        reason=path,
        event_id=job.event_id,
    )
