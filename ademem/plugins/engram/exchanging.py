"""Import from Engram and export to it, by files and through its chunks, for a project."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

from ademem.capture import provenance
from ademem.core.errors import UsageError
from ademem.core.memory import Trust
from ademem.core.value import Value
from ademem.files.readers import Comparison
from ademem.operations.files import rolled_back, with_event
from ademem.plugins.engram import chunks, documents
from ademem.plugins.engram.chunks import Received, Sent
from ademem.plugins.engram.documents import Document, Job, Report
from ademem.store import journal, stamps
from ademem.store.memories import new_event
from ademem.store.runtime import Runtime, move_personal
from ademem.sync.provenance import provenance_of, sender_name
from ademem.sync.record_import import make_admission_rule


class Status(Value):
    is_enrolled: bool
    """There was an export, and what changes is noted for the next one."""
    chunks: int
    unread: tuple[str, ...]
    waiting: Sent
    is_conflicted: bool
    """The manifest has both sides of a merge; the next import or export makes it one."""


def import_export(
    runtime: Runtime,
    path: str | bytes,
    *,
    project: str = "",
    dry_run: bool = False,
    on_progress: Callable[[int], None] | None = None,
) -> Report:
    """Import an export, its text or the database; raises UsageError unless *project* is certain."""
    document = documents.read_document(path)
    projects = documents.list_projects(document)
    if project not in projects and (project or len(projects) > 1):
        raise UsageError(
            f"it has the projects {', '.join(projects)}", "name one with `--from-project`"
        )
    job = _make_job(
        runtime,
        author=None,
        project=project,
        asked_by_agent=provenance.trust_of_caller(runtime) is not Trust.USER,
        on_progress=on_progress or (lambda count: None),
    )
    with rolled_back(runtime) if dry_run else nullcontext():
        report = documents.import_document(document, job)
    move_personal(runtime)
    return with_event(report, job.event_id, runtime)


def _make_job(runtime: Runtime, *, author: str | None, **fields: Any) -> Job:
    """Return a new act; what it brings is labelled with the *author*, unless that is None."""
    store, settings, now = runtime.store, runtime.settings.gate, runtime.clock()
    admit = make_admission_rule(store, settings, now, author)
    return Job(store=store, settings=settings, now=now, admit=admit, event_id=new_event(), **fields)


def compare(runtime: Runtime, path: str, *, project: str = "") -> list[Comparison]:
    """Return what of an export is imported, by its projects or of the one that is named."""
    compared, projects = [], [project]
    if not project:
        projects = documents.list_projects(documents.read_document(path)) or projects
    for name in projects:
        report = import_export(runtime, path, project=name, dry_run=True)
        new = report.inserted + report.updated + report.deleted
        compared.append(Comparison(project=name, known=report.known, new=new))
    return compared


def export(runtime: Runtime) -> Document:
    return documents.export_document(runtime.store, runtime.project.name, runtime.clock())


def send(runtime: Runtime, *, force: bool = False, dry_run: bool = False) -> Sent:
    """Write what changed since the last export into a chunk of `.engram/`; *force* writes all."""
    store, project, author = runtime.store, runtime.project, sender_name(runtime)
    return chunks.send(store, project, runtime.clock(), author=author, anew=force, dry_run=dry_run)


def receive(runtime: Runtime, *, dry_run: bool = False) -> Received:
    """Read the chunks of `.engram/` that are new here."""
    author = None if provenance_of(runtime).trusts_everybody else ""
    job = _make_job(runtime, author=author, is_shared=True)
    return chunks.receive(runtime.project, job, dry_run=dry_run)


def leave(runtime: Runtime) -> bool:
    """Note no more changes for the chunks, which stay; False if none was noted."""
    return journal.leave(runtime.store, documents.TARGET)


def get_status(runtime: Runtime) -> Status:
    manifest = chunks.read_manifest(runtime.project)
    return Status(
        is_enrolled=documents.TARGET in stamps.targets(runtime.store.db),
        chunks=len(manifest.chunks),
        unread=tuple(chunks.unread(runtime.store, manifest)),
        waiting=send(runtime, dry_run=True),
        is_conflicted=manifest.is_conflicted,
    )
