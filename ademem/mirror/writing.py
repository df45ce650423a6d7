"""Bringing the files up to date without overwriting what somebody else wrote."""

from __future__ import annotations

import os
from contextlib import suppress

from ademem import core, files
from ademem.core import BadCore
from ademem.locks import locked
from ademem.mirror import written
from ademem.mirror.survey import NOT_TEXT, File, survey
from ademem.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ademem.project import Project
    from ademem.settings import MirrorSettings
    from ademem.store import Store


class Refreshed(Value):
    """Paths in the project, and how many bytes were written."""

    written: tuple[str, ...]
    removed: tuple[str, ...]
    kept: tuple[str, ...]
    """Changed by somebody else since we wrote them, so left alone."""
    bytes: int


def refresh(
    project: Project,
    store: Store,
    settings: MirrorSettings,
    *,
    force: bool = False,
    dry_run: bool = False,
) -> Refreshed:
    """Write what differs from the store; files edited by hand only when *force* says so."""
    with locked(os.path.join(project.run, "mirror.lock")):
        if not dry_run:
            with suppress(BadCore):
                core.reconcile(store, project)
        found = survey(project, store, settings)
        due = [file for file in found if not file.settled and _may_change(file, force)]
        if not dry_run:
            _carry_out(project, found, due)
    return Refreshed(
        written=tuple(file.path for file in due if file.wanted is not None),
        removed=tuple(file.path for file in due if file.wanted is None),
        kept=tuple(file.path for file in found if not file.settled and file not in due),
        bytes=sum(len((file.wanted or "").encode()) for file in due),
    )


def _may_change(file: File, force: bool) -> bool:
    return file.ours or (force and file.present != NOT_TEXT)


def _carry_out(project: Project, found: Iterable[File], due: Sequence[File]) -> None:
    before = written.load(project)
    after = dict(before)
    for file in (*(file for file in found if file.settled), *due):
        if file.wanted is None:
            after.pop(file.path, None)
        else:
            after[file.path] = [written.fingerprint(file.path, file.wanted)]
    if due:
        both = {path: before.get(path, []) + after.get(path, []) for path in before | after}
        written.save(project, both)
    for file in due:
        path = os.path.join(project.root, file.path)
        if file.wanted is None:
            files.remove(path)
        else:
            files.write_atomic(path, file.wanted)
    written.save(project, after)
