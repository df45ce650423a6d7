"""Refresh, import and check the files and briefs of a project; import and export JSON lines."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, nullcontext, suppress
from typing import Any, TypeVar

from ademem.capture import provenance
from ademem.capture.feedback import FeedbackReport, capture_comments
from ademem.core import clock, confined, project
from ademem.core.client import mission_of
from ademem.core.errors import UsageError
from ademem.core.memory import Trust
from ademem.core.repository import under_way
from ademem.core.settings import load_configuration
from ademem.core.value import Value, replace
from ademem.files import project_brief, readers, records
from ademem.files.project_brief import Agent, BadCore, CoreMemory, FileSource
from ademem.files.records import Imported
from ademem.files.texts import Problem
from ademem.store import admission, briefs, jobs, ledger, memory_queries, revisions
from ademem.store.database import DryRun
from ademem.store.memories import new_event
from ademem.store.opening import open_in_memory
from ademem.store.runtime import Runtime, is_writable, move_personal, open_runtime
from ademem.sync import checks, importer, mirror
from ademem.sync.importer import ImportReport
from ademem.sync.mirror import Preview
from ademem.sync.provenance import provenance_of

Result = TypeVar("Result", bound=Value)


class Inspection(Value):
    runtime: Runtime
    read: ImportReport | None
    """Report of the import into an empty store in memory; None where there is a database."""


@contextmanager
def inspect_files(
    root: str | None = None, *, environment: Mapping[str, str] = os.environ
) -> Iterator[Inspection]:
    """Open files and database, or in a fresh clone an empty store in memory; change no file."""
    found, report = project.find(root, environment, os.getcwd()), None
    if not is_writable(found):
        from ademem.worker.read_only import open_copy

        runtime = open_copy(found, environment, clock.now())
    elif os.path.exists(found.database) and not admission.why_foreign(found):
        runtime = open_runtime(found, environment, clock.now())
    else:
        read = load_configuration(found, environment)
        now = clock.now()
        store = open_in_memory(found, now)
        runtime = Runtime(found, read.settings, store, environment, now, read.warnings)
        report = mirror.import_into_copy(found, store, read.settings, now)
    with runtime:
        yield Inspection(runtime=runtime, read=report)


def check_files(inspection: Inspection) -> tuple[Problem, ...]:
    runtime, settings = inspection.runtime, inspection.runtime.settings
    return checks.check(
        runtime.project, runtime.store, settings.mirror, settings.gate, read=inspection.read
    )


def preview_files(inspection: Inspection, *, force: bool = False) -> Preview:
    """*force* drops edits of the files."""
    runtime = inspection.runtime
    if inspection.read is not None:
        return mirror.compare_with_copy(runtime)
    return mirror.preview(runtime, force=force)


refresh_files, import_files = mirror.refresh, importer.import_changes


def import_and_write(
    runtime: Runtime, on_import: Callable[[int, int], None] | None = None
) -> ImportReport:
    """Import edits of the files, and write what follows; where they are large, the worker does."""
    is_large = importer.is_large(runtime.project, importer.COMMAND_BYTES)
    if not (is_large and runtime.settings.jobs.auto):
        return refresh_files(runtime, lazily=True, on_batch=on_import).taken
    report = import_files(runtime, on_batch=on_import)
    jobs.queue(runtime.store, "mirror", "project", runtime.clock())
    return report


def import_pending(
    runtime: Runtime, on_import: Callable[[int, int], None] | None = None, *, is_new: bool = False
) -> None:
    """Import changes that wait for the worker, or all files into a new store, where it can be."""
    with suppress(confined.Refused):
        if is_new:
            refresh_files(runtime, lazily=True, on_batch=on_import)
        elif not under_way(runtime.project.root):
            with suppress(sqlite3.OperationalError, OSError, importer.BeingWritten):
                import_files(runtime, on_batch=on_import)
                jobs.queue(runtime.store, "mirror", "project", runtime.clock())


def read_pending_brief(runtime: Runtime) -> tuple[CoreMemory | None, BadCore | None]:
    """Return a brief in the file that is not imported, or why it cannot be."""
    return project_brief.pending_edit(runtime.store, runtime.project)


def export_memories(
    runtime: Runtime, *, include_personal: bool = False
) -> Iterator[dict[str, Any]]:
    """Yield records of live memories, of other owners on request, then of their relations."""
    opened = runtime.with_own() if include_personal else [runtime]
    stores = [each.store for each in opened]
    ids = set()
    for store in stores:
        for record in records.export_lines(store, include_personal=include_personal):
            ids.add(record["sync_id"])
            yield record
    for store in stores:
        yield from records.export_relations(store, ids)


def export_some(runtime: Runtime, ids: Iterable[str]) -> Iterator[dict[str, Any]]:
    """Yield records of live memories of any owner, none in quarantine, then of their relations."""
    found = memory_queries.by_ids(runtime.store, set(ids))
    exported = set()
    for record in records.export_records(runtime.store, found, include_personal=True):
        exported.add(record["sync_id"])
        yield record
    yield from records.export_relations(runtime.store, exported)


def import_lines(
    runtime: Runtime,
    lines: Iterable[str],
    on_progress: Callable[[int], None] | None = None,
    *,
    confirms: bool = True,
    dry_run: bool = False,
) -> Imported:
    """Write JSON lines through the gate; bad lines are reported.

    Unless the importer *confirms*, confirmed memories come as candidates and none is pinned. What
    they say otherwise than other memories is found at once, or by the worker where they are many
    and where there is a model, which compares better than words.
    """
    event = new_event()
    with rolled_back(runtime) if dry_run else nullcontext():
        imported = records.import_lines(
            lines,
            runtime.store,
            runtime.settings,
            runtime.clock(),
            on_progress,
            event=event,
            mission=mission_of(runtime.environment),
            confirms=confirms,
        )
    move_personal(runtime)
    return with_event(imported, event, runtime)


def with_event(imported: Result, event: str, runtime: Runtime) -> Result:
    return replace(imported, event=event if revisions.has_event(runtime.store, event) else "")


@contextmanager
def rolled_back(runtime: Runtime) -> Iterator[None]:
    with suppress(DryRun), runtime.store.transaction():
        yield
        raise DryRun


def import_foreign(
    runtime: Runtime,
    path: str,
    *,
    format: str = "auto",
    project: str = "",
    personal: bool = False,
    dry_run: bool = False,
    follow: bool = False,
    on_progress: Callable[[int], None] | None = None,
) -> readers.Report:
    """Import the memories of another program; *project* is one of the source's.

    With *follow*, sessions tell the person when a file of the source changes after this. Raises
    UsageError where the format or the project is not certain.
    """
    job = readers.Job(
        store=runtime.store,
        settings=runtime.settings.gate,
        now=runtime.clock(),
        event_id=new_event(),
        personal=personal,
        project=project,
        on_progress=on_progress or (lambda count: None),
        cuts=[],
    )
    reader = readers.find_reader(format, path)
    if follow and reader.files is None:
        raise UsageError(f"{reader.name} is imported as a whole", "leave `--follow` out")
    with rolled_back(runtime) if dry_run else nullcontext():
        report = readers.import_from(reader, path, job)
    move_personal(runtime)
    if follow and reader.files is not None and not dry_run:
        place = os.path.realpath(path)
        ledger.follow(runtime.store, reader.name, place, reader.files(place))
    return with_event(report, job.event_id, runtime)


def compare_foreign(
    runtime: Runtime, path: str, *, format: str = "auto", project: str = ""
) -> tuple[str, list[readers.Comparison]]:
    """Return the format at the path, and what of it is imported, by project of the source."""
    reader = readers.find_reader(format, path)
    store, settings = runtime.store, runtime.settings.gate
    job = readers.Job(store=store, settings=settings, now=runtime.now, project=project, cuts=[])
    return reader.name, readers.compare(reader, path, job)


def import_feedback(runtime: Runtime, text: str, *, dry_run: bool = False) -> FeedbackReport:
    """Read review comments as `gh` prints them."""
    with rolled_back(runtime) if dry_run else nullcontext():
        return capture_comments(text, runtime)


def get_brief(runtime: Runtime, agent: str = "", *, labelled: bool = False) -> CoreMemory | None:
    """*labelled* marks texts that an agent set; raises BadCore."""
    store, project = runtime.store, runtime.project

    def source(path: str) -> FileSource:
        return provenance_of(runtime).of_brief(path)

    if agent:
        found = project_brief.agent_brief(store, project, project_brief.agent_folder(agent), source)
    else:
        found = project_brief.newest(store, project, source=source)
    return project_brief.with_labels(store, found) if labelled else found


def list_earlier_briefs(runtime: Runtime, agent: str = "") -> list[CoreMemory]:
    """Newest first, without the present one."""
    return project_brief.list_earlier(runtime.store, agent and project_brief.agent_folder(agent))


def update_brief(
    runtime: Runtime,
    changes: Mapping[str, Any],
    agent: str = "",
    *,
    expect_version: int | None = None,
) -> CoreMemory:
    """Replace the given fields; raises StaleCore when another update came first."""
    document = project_brief.patch(
        runtime.store,
        runtime.project,
        changes,
        runtime.clock(),
        expect_version=expect_version,
        by_person=provenance.trust_of_caller(runtime) is Trust.USER,
        source=lambda path: provenance_of(runtime).of_brief(path),
        **({"agent": project_brief.agent_folder(agent)} if agent else {}),
    )
    if agent:
        briefs.register_agent(runtime.store, agent, runtime.clock())
    return document


def list_agents(runtime: Runtime) -> list[Agent]:
    return project_brief.list_agents(runtime.store, runtime.project)
