"""Procedures as files, which people edit: nothing that a person wrote is ever overwritten."""

from __future__ import annotations

import os

from ademem.core import confined
from ademem.core.digest import sha256_hex
from ademem.core.errors import AdememError
from ademem.core.memory import PROCEDURE, Status, Trust
from ademem.core.value import Value, replace
from ademem.store import memory_queries, transitions
from ademem.store import procedures as table
from ademem.store import skills as index
from ademem.store.skills import Entry
from ademem.store.transitions import Act
from ademem.synthesis.procedures import page, rows

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from ademem.store.runtime import Runtime
    from ademem.synthesis.procedures.page import Page
    from ademem.synthesis.procedures.rows import Procedure

WRITTEN, UNCHANGED, REMOVED, TAKEN_OVER, DELETED, FOREIGN, REFUSED = (
    "written",
    "unchanged",
    "removed",
    "edit taken over",
    "left deleted",
    "left alone: people wrote it",
    "left alone: not a regular file",
)
"""What can become of a file."""
MOST_NAMES = 99


class Unconfirmed(AdememError):
    """Nobody confirmed what would be in a file for everybody."""

    def __init__(self, id: str) -> None:
        super().__init__(
            f"{id} is a candidate", f"a person exports it, or confirms it: `ademem promote {id}`"
        )


class Exported(Value):
    path: str
    """Relative to the project."""
    outcome: str


class Export(Value):
    """Where to, and by whom."""

    runtime: Runtime
    now: datetime
    publish: bool
    """Also to where Claude Code loads skills from."""
    asked: bool = False
    """Somebody asked for it by name: what was deleted is written again."""
    dry_run: bool = False


def asked_for(id: str | None, job: Export, act: Act) -> list[Exported]:
    """What somebody typed: one by its id, which a person thereby confirms, or all."""
    store = act.store
    if id is None:
        confirmed = [each for each in rows.listed(store) if may_be_exported(each)]
    else:
        job = replace(job, asked=True)
        procedure = rows.get(store, id)
        waits = procedure.memory.status is Status.CANDIDATE and procedure.memory.live
        if waits and act.actor == Trust.USER:
            procedure = _confirmed(procedure, job, act)
        confirmed = [procedure]
    return [told for procedure in confirmed for told in export(procedure, job)]


def _confirmed(procedure: Procedure, job: Export, act: Act) -> Procedure:
    if job.dry_run:
        return replace(procedure, memory=replace(procedure.memory, status=Status.PROMOTED))
    transitions.promote(procedure.id, act)
    return rows.get(act.store, procedure.id)


def export_all(runtime: Runtime, now: datetime) -> list[Exported]:
    """Every procedure that is confirmed; what was written is up to date, or in people's hands."""
    job = Export(runtime=runtime, now=now, publish=runtime.settings.skills.publish)
    found = [each for each in rows.listed(runtime.store) if may_be_exported(each)]
    told = [told for procedure in found for told in export(procedure, job)]
    return told + [each for gone in rows.ever(runtime.store) for each in _withdraw(gone, job)]


def may_be_exported(procedure: Procedure) -> bool:
    memory = procedure.memory
    return memory.shareable and memory.status is Status.PROMOTED


def export(procedure: Procedure, job: Export) -> list[Exported]:
    """Bring its file, or files, up to date. Raises Unconfirmed."""
    if not may_be_exported(procedure):
        raise Unconfirmed(procedure.id)
    store, root = job.runtime.store, job.runtime.project.root
    own = procedure.details.exported_skill_path
    name = _stem(own) if own else _free_name(procedure, root, _names(job))
    told = [_put(procedure, f".ade/skills/{name}.md", name, job)]
    if job.publish:
        procedure = rows.get(store, procedure.id)
        told.append(_put(procedure, f".claude/skills/{name}/SKILL.md", name, job))
    if not job.dry_run:
        _note_export(rows.get(store, procedure.id), told[0].path, job)
    return told


def _note_export(procedure: Procedure, path: str, job: Export) -> None:
    """By the later of two clocks: the change may come from a machine that is ahead."""
    at = max(job.now, procedure.memory.updated_at)
    noted = replace(procedure.details, exported_skill_path=path, exported_at=at)
    table.put(job.runtime.store, noted)


def take_edit(procedure: Procedure, found: Page, runtime: Runtime, now: datetime) -> Procedure:
    """What a person made of the file is the next version of the procedure."""
    if page.says(found, procedure.wording):
        return procedure
    act = Act(store=runtime.store, now=now, actor=Trust.USER)
    return rows.edit(procedure, found.wording, act, runtime.settings)


def owner(sync_id: str | None, runtime: Runtime, now: datetime) -> Procedure | None:
    """The procedure that a file with this mark speaks of: the one that took its place, if any."""
    found = memory_queries.by_sync_id(runtime.store, sync_id)
    seen: set[str] = set()
    while found and found.superseded_by and found.id not in seen:
        seen.add(found.id)
        found = memory_queries.by_id(runtime.store, found.superseded_by)
    details = table.get(runtime.store, found.id) if found else None
    if found and details is None and found.source_type == PROCEDURE:
        return rows.adopt(found, runtime.store, now)
    return rows.Procedure(memory=found, details=details) if found and details else None


def note(procedure: Procedure, path: str, digest: str, runtime: Runtime, now: datetime) -> None:
    """Keep in the index that the file is ours, and what it says now."""
    known = {entry.path: entry for entry in index.all_of(runtime.store)}.get(path)
    entry = Entry(
        id=known.id if known else sha256_hex(runtime.store.project_id, path)[:32],
        path=path,
        kind="skill",
        source=index.EXPORTED,
        memory_id=procedure.id,
        content_hash=digest,
        created_at=known.created_at if known else now,
        updated_at=now,
    )
    if known is None or replace(known, updated_at=now) != entry:
        index.put(runtime.store, entry)


def _withdraw(procedure: Procedure, job: Export) -> list[Exported]:
    """Of one that was given up, the files that are as we wrote them go."""
    details, memory, store = procedure.details, procedure.memory, job.runtime.store
    own = details.exported_skill_path
    if own is None or memory.live or memory.superseded_by or not details.exported_at:
        return []
    told = []
    for path in (own, f".claude/skills/{_stem(own)}/SKILL.md"):
        root = job.runtime.project.root
        if confined.refusal(root, path):
            continue
        found = page.read(confined.read_text(root, path) or "")
        if found.sync_id == memory.sync_id and not found.edited:
            confined.remove(root, path)
            index.remove(store, path)
            told.append(Exported(path=path, outcome=REMOVED))
    table.put(store, replace(details, exported_at=None))
    return told


def _put(procedure: Procedure, path: str, name: str, job: Export) -> Exported:
    """One file."""
    runtime = job.runtime
    if confined.refusal(runtime.project.root, path):
        return Exported(path=path, outcome=REFUSED)
    there = confined.read_text(runtime.project.root, path)
    if there is None:
        if not job.asked and _was_there(path, runtime):
            return Exported(path=path, outcome=DELETED)
        return _write(procedure, path, name, job)
    found = page.read(there)
    known = owner(found.sync_id, runtime, job.now)
    if known is None or not _has_name(procedure, name, known):
        return Exported(path=path, outcome=FOREIGN)
    if found.edited and found.digest != _known_digest(path, runtime):
        return _taken(procedure, found, path, job)
    if page.says(found, procedure.wording):
        if not job.dry_run:
            note(procedure, path, found.digest, runtime, job.now)
        return Exported(path=path, outcome=UNCHANGED)
    return _write(procedure, path, name, job)


def _has_name(procedure: Procedure, name: str, writer: Procedure) -> bool:
    """Whether the file written from *writer* is its own: that one may have handed it on."""
    handed_on = writer.details.exported_skill_path is None
    own = _stem(procedure.details.exported_skill_path or "")
    return writer.id == procedure.id or (handed_on and own == name)


def _taken(procedure: Procedure, found: Page, path: str, job: Export) -> Exported:
    if not job.dry_run:
        taken = take_edit(procedure, found, job.runtime, job.now)
        note(taken, path, found.digest, job.runtime, job.now)
    return Exported(path=path, outcome=TAKEN_OVER)


def _write(procedure: Procedure, path: str, name: str, job: Export) -> Exported:
    text = page.text_of(procedure.wording, name, procedure.memory.sync_id)
    if job.dry_run:
        return Exported(path=path, outcome=WRITTEN)
    written = confined.write_text(job.runtime.project.root, path, text)
    note(procedure, path, page.read(text).digest, job.runtime, job.now)
    return Exported(path=path, outcome=WRITTEN if written else UNCHANGED)


def _was_there(path: str, runtime: Runtime) -> bool:
    return any(entry.path == path for entry in index.all_of(runtime.store))


def _known_digest(path: str, runtime: Runtime) -> str | None:
    entries = {entry.path: entry for entry in index.all_of(runtime.store)}
    return entries[path].content_hash if path in entries else None


def _names(job: Export) -> set[str]:
    """Names that other procedures have for their files."""
    found = (details.exported_skill_path for details in table.all_of(job.runtime.store))
    return {_stem(path) for path in found if path}


def _free_name(procedure: Procedure, root: str, taken: set[str]) -> str:
    """Its title, numbered where that names a file of somebody else."""
    memory = procedure.memory
    name = page.name_of(procedure.wording.title, memory.sync_id)
    for candidate in (name, *_numbered(name)):
        paths = (f".ade/skills/{candidate}.md", f".claude/skills/{candidate}/SKILL.md")
        ours = [_is_ours(root, path, memory.sync_id) for path in paths]
        if candidate not in taken and all(ours):
            return candidate
    return page.name_of("", memory.sync_id)


def _numbered(name: str) -> Iterator[str]:
    return (f"{name}-{number}" for number in range(2, MOST_NAMES + 1))


def _is_ours(root: str, path: str, sync_id: str) -> bool:
    """No file, or one written from this procedure."""
    if confined.refusal(root, path):
        return False
    text = confined.read_text(root, path)
    return text is None or page.read(text).sync_id == sync_id


def _stem(path: str) -> str:
    return os.path.basename(path).removesuffix(".md")
