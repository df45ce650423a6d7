"""The skill files in the database: what came, changed and went since the last look."""

from __future__ import annotations

from ademem.capture.gate.lookup import is_taken
from ademem.capture.gate.rows import id_of
from ademem.core.digest import sha256_hex
from ademem.core.memory import SKILL, Category, Importance, Memory, Scope, Status, Tier, Trust
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
"""What can have become of a file."""
MOST_ASKED = 100
"""Files of one scan whose author git is asked for."""
CONFIDENCE = 0.9
"""Of a text that the project keeps among its files."""


class Scanned(Value):
    """Paths by what became of them, and what could not be read."""

    added: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    restored: tuple[str, ...] = ()
    archived: tuple[str, ...] = ()
    unchanged: tuple[str, ...] = ()
    problems: tuple[Problem, ...] = ()


class Step(Value):
    """One file: how the index has it, and how the folder does."""

    kind: str
    entry: Entry | None
    skill: Skill | None

    @property
    def path(self) -> str:
        known = self.skill or self.entry
        return known.path if known else ""


class Scan(Value):
    """One look at all of them."""

    runtime: Runtime
    now: datetime
    event_id: str
    authors: dict[str, str | None]
    """By the path of a file that is new or says something new, who git says wrote it if it came
    with the files."""

    @property
    def store(self) -> Store:
        return self.runtime.store


def scan(runtime: Runtime, now: datetime, *, dry_run: bool = False) -> Scanned:
    """Bring the index and the memories behind it to what the folders hold."""
    root = folders.root(runtime.project)
    seen = folders.listing(root)
    read = list(reading.read_all(root))
    news = [
        step.skill
        for step in _steps(read, table.all_of(runtime.store))
        if step.skill and step.kind != UNCHANGED
    ]
    authors = {} if dry_run else _authors(news, runtime)  # git is asked while no one has to wait
    look = Scan(runtime=runtime, now=now, event_id=memories.new_event(), authors=authors)
    with runtime.store.transaction():
        steps = _steps(read, table.all_of(runtime.store))
        if not dry_run:
            _take(steps, look)
    if not dry_run:
        folders.note(runtime.project, seen)
    told = {kind: tuple(step.path for step in steps if step.kind == kind) for kind in KINDS}
    return Scanned(problems=tuple(each for each in read if isinstance(each, Problem)), **told)


def _authors(skills: Sequence[Skill], runtime: Runtime) -> dict[str, str | None]:
    """None for what was written here, or is trusted; that is noted as the person's own."""
    from ademem.core import trust
    from ademem.sync.provenance import provenance_of, skill_digest

    provenance = provenance_of(runtime.project, runtime.store, runtime.environment)
    digests = {skill.path: skill_digest(skill.path, skill.digest) for skill in skills}
    authors = {
        skill.path: None
        if provenance.trusts_files or digests[skill.path] in provenance.own
        else provenance.author_of(skill.path, ask=number < MOST_ASKED)
        for number, skill in enumerate(skills)
    }
    if runtime.store.is_trusted:
        own = [digests[path] for path, author in authors.items() if author is None]
        trust.note_own_records(own, runtime.environment)
    return authors


def figures(scanned: Scanned) -> dict[str, int]:
    """How many files became what."""
    return {name: len(getattr(scanned, name)) for name in Scanned._fields}


def _steps(read: Iterable[Skill | Problem], entries: Iterable[Entry]) -> list[Step]:
    """A file that cannot be read stays what it was."""
    known = {entry.path: entry for entry in entries}
    there = [_step(each, known.get(each.path)) for each in read if isinstance(each, Skill)]
    present = {each.path for each in read}
    gone = [
        Step(kind=ARCHIVED, entry=entry, skill=None)
        for path, entry in known.items()
        if path not in present and entry.archived_at is None
    ]
    return there + gone


def _step(skill: Skill, entry: Entry | None) -> Step:
    if entry is None:
        kind = ADDED
    elif entry.archived_at:
        kind = RESTORED
    else:
        kind = UNCHANGED if entry.content_hash == skill.digest else CHANGED
    return Step(kind=kind, entry=entry, skill=skill)


def _take(steps: Iterable[Step], look: Scan) -> None:
    news = [step for step in steps if step.kind != UNCHANGED]
    for step in news:
        if step.skill:
            _keep(step.skill, step.entry, look)
        elif step.entry:
            _bury(step.entry, look)
    if news:
        jobs.follow(look.store, look.now)


def _keep(skill: Skill, entry: Entry | None, look: Scan) -> None:
    """A file that was written from a procedure speaks for that, not for a memory of its own."""
    if _is_exported(skill, entry, look):
        return
    memory = _behind(entry, look)
    kept = _renewed(memory, skill, look) if memory else _inserted(skill, look)
    table.put(
        look.store,
        Entry(
            id=entry.id if entry else sha256_hex(look.store.project_id, skill.path)[:32],
            path=skill.path,
            kind=skill.kind,
            source=table.USER,
            memory_id=kept.id,
            content_hash=skill.digest,
            last_modified_at=skill.modified,
            created_at=entry.created_at if entry else look.now,
            updated_at=look.now,
        ),
    )


def _is_exported(skill: Skill, entry: Entry | None, look: Scan) -> bool:
    """Whether it is a procedure's; what a person changed in it is the next version of that."""
    from ademem.synthesis.procedures import export, wording

    found = wording.parse_skill_file(skill.raw)
    procedure = export.find_owner(found.sync_id, look.runtime, look.now)
    if procedure is None or (entry and entry.source == table.USER and not entry.archived_at):
        return False
    if found.edited and (entry is None or entry.content_hash != skill.digest):
        procedure = export.import_edit(procedure, found, look.runtime, look.now)
    export.index_file(procedure, skill.path, skill.digest, look.runtime, look.now)
    return True


def _bury(entry: Entry, look: Scan) -> None:
    """The row stays, so that the file may come back as the same memory."""
    table.put(look.store, replace(entry, archived_at=look.now, updated_at=look.now))
    memory = _behind(entry, look) if entry.source == table.USER else None
    if memory and memory.status is not Status.ARCHIVED:
        archived = replace(memory, **transitions.archived())
        memories.update(look.store, archived, _change("archive", entry.path, look))


def _behind(entry: Entry | None, look: Scan) -> Memory | None:
    """The memory of a file; None when it was deleted for good."""
    return memory_queries.by_id(look.store, entry.memory_id if entry else None)


def _inserted(skill: Skill, look: Scan) -> Memory:
    sync_id = _free_sync_id(skill, look.store)
    memory = Memory(
        id=id_of(sync_id),
        sync_id=sync_id,
        project_id=look.store.project_id,
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
        created_at=look.now,
        updated_at=look.now,
        last_accessed_at=look.now,
        promoted_at=look.now,
    )
    said = replace(memory, **_said(skill, memory, look))
    return memories.insert(look.store, said, _change("insert", skill.path, look))


def _renewed(memory: Memory, skill: Skill, look: Scan) -> Memory:
    """What the file says now, alive again if it was archived with the file."""
    back = memory.status is Status.ARCHIVED
    renewed = replace(memory, **transitions.restored(memory)) if back else memory
    renewed = replace(renewed, **_said(skill, renewed, look))
    if renewed == memory:
        return memory
    operation = "restore" if back else "edit"
    return memories.update(look.store, renewed, _change(operation, skill.path, look))


def _said(skill: Skill, memory: Memory, look: Scan) -> dict[str, Any]:
    """The fields that follow from the file; an order to a model waits for a person's word."""
    topic = f"{SKILL}:{skill.path}"
    lead = "" if skill.description in skill.text else f"{skill.description}\n\n"
    content = bounded_bytes(
        f"{lead}{skill.text}".strip(), look.runtime.settings.gate.max_bytes_titled
    )
    said: dict[str, Any] = {
        "title": skill.name,
        "content": content,
        "topic_key": topic,
        "source_id": skill.path,
        "dedupe_key": dedupe_key(content, topic),
    }
    if (memory.title, memory.content) == (skill.name, content):
        return said
    said |= {"claimed_author": look.authors.get(skill.path)}
    order = instruction_in(f"{skill.name}\n{content}")
    if order:
        return said | transitions.quarantined(order)
    if memory.quarantine_reason:  # for an instruction that the file has no more
        return said | transitions.promoted(memory, look.now) | {"quarantine_reason": None}
    return said


def _free_sync_id(skill: Skill, store: Store) -> str:
    ordinal = 0
    while is_taken(store, found := sha256_hex(SKILL, skill.path, str(ordinal))[:32]):
        ordinal += 1
    return found


def _change(operation: str, path: str, look: Scan) -> Change:
    return Change(
        operation=operation,
        actor=Trust.IMPORT,
        at=look.now,
        reason=path,
        event_id=look.event_id,
    )
