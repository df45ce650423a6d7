"""Bring the index of skill files and their memories up to date with the folders."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from ademem.capture.gate.form import Reviewed
from ademem.capture.gate.rows import build_row, free_sync_id
from ademem.core.memory import MAX_TITLED_BYTES, SKILL, Category, Memory, Origin, Status, Trust
from ademem.core.text import dedupe_key, truncate_bytes
from ademem.core.value import Value, replace
from ademem.files import skill_files
from ademem.files.skill_files import Skill, SkillProblem
from ademem.plugins.procedures import export
from ademem.store import (
    Store,
    jobs,
    judged_texts,
    memories,
    memory_queries,
    procedures,
    transitions,
)
from ademem.store.procedures import IndexedSkill
from ademem.store.runtime import Runtime
from ademem.store.transitions import Act
from ademem.sync.provenance import skill_authors

KINDS = ("added", "changed", "restored", "archived", "unchanged")
ADDED, CHANGED, RESTORED, ARCHIVED, UNCHANGED = KINDS
CONFIDENCE = 0.9


class Listed(Value):
    entry: IndexedSkill
    memory: Memory | None
    """None when it was deleted for good."""

    @property
    def name(self) -> str:
        return (self.memory.title if self.memory else None) or self.entry.path

    @property
    def there(self) -> bool:
        return self.entry.archived_at is None


def list_files(store: Store, *, archived: bool = False) -> list[Listed]:
    entries = [
        entry for entry in procedures.list_skills(store) if archived or entry.archived_at is None
    ]
    found = {memory.id: memory for memory in memory_queries.with_skill_file(store)}
    return [Listed(entry=entry, memory=found.get(entry.memory_id or "")) for entry in entries]


class Scanned(Value):
    added: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    restored: tuple[str, ...] = ()
    archived: tuple[str, ...] = ()
    unchanged: tuple[str, ...] = ()
    problems: tuple[SkillProblem, ...] = ()


def scan(runtime: Runtime, now: datetime, *, dry_run: bool = False) -> Scanned:
    root = skill_files.root(runtime.project)
    listing = skill_files.listing(root)
    read = list(skill_files.read_all(root))
    kinds = _compare(read, _entries(runtime.store))
    if not dry_run:
        kinds = _store_changes(read, kinds, runtime, now)
        skill_files.note_scanned(runtime.project, listing)
    paths = {kind: tuple(path for path, each in kinds.items() if each == kind) for kind in KINDS}
    return Scanned(problems=tuple(each for each in read if isinstance(each, SkillProblem)), **paths)


def _store_changes(
    read: list[Skill | SkillProblem], kinds: Mapping[str, str], runtime: Runtime, now: datetime
) -> dict[str, str]:
    """Store what changed; *kinds* were compared before the transaction, and are again in it."""
    store = runtime.store
    skills = {each.path: each for each in read if isinstance(each, Skill)}
    new = {path: skill.digest for path, skill in skills.items() if kinds[path] != UNCHANGED}
    authors = skill_authors(new, runtime)  # before the transaction, as git is slow
    act = Act(store=store, now=now, actor=Trust.IMPORT, event_id=memories.new_event())
    with store.transaction():
        entries = _entries(store)
        stored = _compare(read, entries)
        for path, kind in stored.items():
            if kind == ARCHIVED:
                _archive(entries[path], act)
            elif kind != UNCHANGED:
                _update(skills[path], entries.get(path), authors.get(path), act, runtime)
        if set(stored.values()) - {UNCHANGED}:
            jobs.follow(store, now)
    return stored


def _archive(entry: IndexedSkill, act: Act) -> None:
    """Archive the memory of a file that is gone; the file may come back as the same memory."""
    store = act.store
    procedures.put_skill(store, replace(entry, archived_at=act.now, updated_at=act.now))
    is_users = entry.source == procedures.USER
    memory = memory_queries.by_id(store, entry.memory_id) if is_users else None
    if memory and memory.status is not Status.ARCHIVED:
        archived = replace(memory, **transitions.archived())
        memories.update(store, archived, replace(act.change("archive"), reason=entry.path))


def _entries(store: Store) -> dict[str, IndexedSkill]:
    return {entry.path: entry for entry in procedures.list_skills(store)}


def _compare(
    read: Iterable[Skill | SkillProblem], entries: Mapping[str, IndexedSkill]
) -> dict[str, str]:
    """A file that cannot be read stays as it was."""
    skills = [each for each in read if isinstance(each, Skill)]
    kinds = {skill.path: _kind_of(skill, entries.get(skill.path)) for skill in skills}
    present = {each.path for each in read}
    gone = (path for path, entry in entries.items() if path not in present)
    return kinds | {path: ARCHIVED for path in gone if entries[path].archived_at is None}


def _kind_of(skill: Skill, entry: IndexedSkill | None) -> str:
    if entry is None:
        return ADDED
    if entry.archived_at:
        return RESTORED
    return UNCHANGED if entry.content_hash == skill.digest else CHANGED


def _update(
    skill: Skill, entry: IndexedSkill | None, author: str | None, act: Act, runtime: Runtime
) -> None:
    """Store the file; one exported from a procedure is an edit of that memory.

    *author* is who wrote it by git, if not trusted; None: here, or trusted.
    """
    store, now = act.store, act.now
    found = export.parse_skill_file(skill.raw)
    procedure = export.find_owner(found.sync_id, runtime, now)
    is_users = entry is not None and entry.source == procedures.USER and not entry.archived_at
    if procedure and not is_users:
        if found.edited and (entry is None or entry.content_hash != skill.digest):
            procedure = export.import_edit(procedure, found, runtime, now, author)
        export.index_file(procedure, skill.path, skill.digest, runtime, now)
        return
    memory = memory_queries.by_id(store, entry.memory_id if entry else None)
    if memory is None:
        memory = _insert_memory(skill, author, act)
    else:
        memory = _revise_memory(memory, skill, author, act)
    made = export.make_entry(
        *(skill.path, entry, store, now),
        kind=skill.kind,
        source=procedures.USER,
        memory_id=memory.id,
        content_hash=skill.digest,
        last_modified_at=skill.modified,
    )
    procedures.put_skill(store, made)


def _insert_memory(skill: Skill, author: str | None, act: Act) -> Memory:
    draft = Reviewed(
        content="",
        category=Category.PROCEDURE,
        confidence=CONFIDENCE,
        tags=(skill.kind,),
        promoted=True,
        origin=Origin(trust=Trust.IMPORT, source_type=SKILL),
    )
    sync_id = free_sync_id(act.store, SKILL, skill.path)
    memory = build_row(draft, sync_id, act.store.project_id, act.now)
    memory = replace(memory, **_fields(skill, memory, author, act.store, act.now))
    return memories.insert(act.store, memory, replace(act.change("insert"), reason=skill.path))


def _revise_memory(memory: Memory, skill: Skill, author: str | None, act: Act) -> Memory:
    is_archived = memory.status is Status.ARCHIVED
    live = replace(memory, **transitions.restored(memory)) if is_archived else memory
    revised = replace(live, **_fields(skill, live, author, act.store, act.now))
    if revised == memory:
        return memory
    change = act.change("restore" if is_archived else "edit")
    return memories.update(act.store, revised, replace(change, reason=skill.path))


def _fields(
    skill: Skill, memory: Memory, author: str | None, store: Store, now: datetime
) -> dict[str, Any]:
    topic = f"{SKILL}:{skill.path}"
    lead = "" if skill.description in skill.text else f"{skill.description}\n\n"
    content = truncate_bytes(f"{lead}{skill.text}".strip(), MAX_TITLED_BYTES)
    fields: dict[str, Any] = {
        "title": skill.name,
        "content": content,
        "topic_key": topic,
        "source_id": skill.path,
        "dedupe_key": dedupe_key(content, topic),
    }
    if (memory.title, memory.content) == (skill.name, content):
        return fields
    fields["claimed_author"] = author
    if order := judged_texts.find_instruction(store, skill.name, content, Trust.IMPORT):
        fields |= transitions.quarantined(order)
    elif memory.quarantine_reason:  # the instruction is no longer in the file
        fields |= transitions.promoted(memory, now) | {"quarantine_reason": None}
    return fields
