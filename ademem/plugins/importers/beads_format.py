"""The format `beads` of `ademem import`: the knowledge files of a Beads project."""

from __future__ import annotations

from contextlib import nullcontext

from ademem.doors.cli.formats import Format, Source, show_lines
from ademem.files.records import Imported
from ademem.operations.files import rolled_back, with_event
from ademem.plugins.importers import beads
from ademem.store.memories import new_event
from ademem.store.runtime import Runtime


def import_project(runtime: Runtime, path: str, *, dry_run: bool = False) -> Imported:
    """Import a project, a folder or a file of Beads, and keep the lines that were not read."""
    event = new_event()
    with rolled_back(runtime) if dry_run else nullcontext():
        imported = beads.import_files(
            path, runtime.store, runtime.settings.gate, runtime.clock(), event
        )
    if not dry_run:
        beads.save_misread(imported.misread, runtime.project)
    return with_event(imported, event, runtime)


def _import(memories: Runtime, source: Source) -> None:
    imported = import_project(memories, source.path, dry_run=source.dry_run)
    show_lines(memories, imported, dry_run=source.dry_run)


FORMATS = (Format(name="beads", run=_import, fits=beads.fits),)
