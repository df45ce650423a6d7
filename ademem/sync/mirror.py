"""Import edits of the files, then write what differs, without overwriting other edits."""

from __future__ import annotations

import os
import time
from contextlib import contextmanager, suppress

from ademem.core import confined, git, trust
from ademem.core.clock import TooLate
from ademem.core.project import import_waits, record_state
from ademem.core.repository import branch, commit
from ademem.core.shared_files import locked
from ademem.core.value import Value, replace
from ademem.files import agents, knowledge, project_brief
from ademem.files.branches import Place, follow_branches
from ademem.files.markdown import each_line, split
from ademem.files.project_brief import BadCore
from ademem.files.snapshot import LINES, conflict_lines, is_imported
from ademem.files.texts import OVERSIZE, Texts, digests_of, has_oversize, parts_of
from ademem.store import briefs, edits, made_at, memory_queries
from ademem.store.runtime import filed
from ademem.sync import import_progress, importer, merge_base
from ademem.sync.git_history import GitHistory, list_committed
from ademem.sync.import_progress import ImportReport, Progress
from ademem.sync.provenance import Provenance, provenance_of, record_digest
from ademem.sync.survey import (
    NOT_TEXT,
    File,
    fingerprint,
    load_fingerprints,
    present,
    readable_of,
    refused_lines,
    save_fingerprints,
    survey,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
    from datetime import datetime

    from ademem.core.clock import Deadline
    from ademem.core.project import Project
    from ademem.core.settings import Settings
    from ademem.store import Store


HOOK_BYTES = 4 * confined.MIB
"""Size of all files and of their base up to which a hook imports them."""
HOOK_FILES = 2000


PAUSE_S = 0.02


def _pause() -> None:
    """Let other writers use the database between batches."""
    time.sleep(PAUSE_S)


class Refreshed(Value):
    """The result of a refresh: paths in the project, and the bytes written."""

    written: tuple[str, ...]
    removed: tuple[str, ...]
    kept: tuple[str, ...]
    """Files with edits that could not be imported, left as they are."""
    bytes: int
    taken: ImportReport = ImportReport()
    """The import before the writing."""


def refresh(
    project: Project,
    store: Store,
    settings: Settings,
    now: datetime,
    *,
    force: bool = False,
    dry_run: bool = False,
    pause: Callable[[], None] | None = None,
    tell: Callable[[int, int], None] | None = None,
    environment: Mapping[str, str] | None = None,
) -> Refreshed:
    """Import edits of the files, then write what differs from the store.

    With *force* edits are not taken over but overwritten. A large import goes on in batches, with a
    *pause* between them, and *tell* hears how many of how many changes are in. The *environment*
    leads to what the person agreed to; without one, nothing is known of that.
    """
    steps = Progress(project, pause or _pause, tell)
    with _locked(project):
        if not dry_run:
            confined.remove_stale(project.root, project.ade)
            confined.remove_stale(project.home_root, project.home)
        taken, texts = ImportReport(), Texts(_no_text)
        place = Place(project, settings.mirror)
        if not dry_run:
            provenance = provenance_of(project, store, environment)
            agents.refresh(store, project, provenance.of_brief)
            taken, texts = _update_store(
                project, store, settings, place, now, provenance, force=force, steps=steps
            )
        found = survey(project, store, settings.mirror, texts, place, taken.refused)
        due = [file for file in found if not file.settled and _may_change(file, force)]
        if not dry_run:
            refused = refused_lines(texts, taken.refused)  # out of the files as they were read
            _carry_out(project, found, due)
            _save_agreement(project, store, found, due, refused, texts)
            _remember_own_lines(store, due, environment)
            _remember_own_briefs(store, environment)
            record_state(project, place.watched(store))
            if due or taken.count:
                edits.was_read(store, project.root, now)
            steps.end()
    return Refreshed(
        written=tuple(file.path for file in due if file.wanted is not None),
        removed=tuple(file.path for file in due if file.wanted is None),
        kept=tuple(file.path for file in found if not file.settled and file not in due),
        bytes=sum(len((file.wanted or "").encode()) for file in due),
        taken=taken,
    )


def import_changes(
    project: Project,
    store: Store,
    settings: Settings,
    now: datetime,
    *,
    pause: Callable[[], None] | None = None,
    tell: Callable[[int, int], None] | None = None,
    environment: Mapping[str, str] | None = None,
) -> ImportReport:
    """Import as `refresh` does, and leave the files as they are."""
    steps = Progress(project, pause or _pause, tell)
    with _locked(project):
        return _import_changes(project, store, settings, now, environment, steps, None)


def import_changes_until(
    deadline: Deadline,
    project: Project,
    store: Store,
    settings: Settings,
    now: datetime,
    *,
    environment: Mapping[str, str] | None = None,
) -> ImportReport | None:
    """Import the changes before the deadline; return None if that is left to the worker.

    What waits is tried no more by the hooks that follow.
    """
    if import_waits(project):
        return None
    if _is_large(project):
        import_progress.hand_over(project)
        return None
    with locked(_lock(project), root=project.root, wait=False) as ours:
        if not ours:  # whoever has it brings what is there now
            return None
        try:
            with git.limited(deadline):
                return _import_changes(project, store, settings, now, environment, None, deadline)
        except TooLate:
            import_progress.hand_over(project)
            return None


def _import_changes(
    project: Project,
    store: Store,
    settings: Settings,
    now: datetime,
    environment: Mapping[str, str] | None,
    steps: Progress | None,
    deadline: Deadline | None,
) -> ImportReport:
    place = Place(project, settings.mirror)
    provenance = provenance_of(project, store, environment)
    agents.refresh(store, project, provenance.of_brief)
    taken, texts = _update_store(
        project, store, settings, place, now, provenance, steps=steps, deadline=deadline
    )
    agreed = merge_base.load(project, made_at(store))
    read = {path: texts for path in texts if is_imported(path)}
    refused = refused_lines(texts, taken.refused)
    _save(project, replace(agreed, texts=_combine_texts(agreed.texts, read)), refused)
    record_state(project, place.watched(store))
    edits.was_read(store, project.root, now)
    if steps:
        steps.end()
    return taken


def _is_large(project: Project) -> bool:
    """Return True if the files are too large for a hook, by their sizes."""
    size = count = 0
    for folder in (project.memory, os.path.join(project.ade, "agents")):
        with suppress(confined.Refused):
            there = confined.entries(project.root, folder)
            count += len(there)
            size += sum(each.st_size for _, each in there)
    with suppress(confined.Refused):
        agreed = confined.status(project.root, merge_base.path(project))
        size += agreed.st_size if agreed else 0
    return count > HOOK_FILES or size > HOOK_BYTES


class Preview(Value):
    """The result of a trial refresh."""

    taken: ImportReport
    files: tuple[File, ...]
    """Files that would change, and files with edits that would be left alone."""


def preview(
    project: Project,
    store: Store,
    settings: Settings,
    now: datetime,
    *,
    force: bool = False,
    environment: Mapping[str, str] | None = None,
) -> Preview:
    """Do what `refresh` does to the store, compare the files, and roll back."""
    place = Place(project, settings.mirror)
    with suppress(_RolledBack), store.transaction():
        provenance = provenance_of(project, store, environment)
        taken, texts = _update_store(project, store, settings, place, now, provenance, force=force)
        found = survey(project, store, settings.mirror, texts, place, taken.refused)
        raise _RolledBack
    return Preview(taken=taken, files=tuple(file for file in found if not file.settled))


def preview_aside(project: Project, store: Store, settings: Settings) -> Preview:
    """Compare the files with a store that was made from them."""
    there = readable_of(present(project))
    found = survey(project, store, settings.mirror, there)
    return Preview(taken=ImportReport(), files=tuple(file for file in found if not file.settled))


def read_aside(project: Project, store: Store, settings: Settings, now: datetime) -> ImportReport:
    """Import the files into an empty store, and write nothing into the project."""
    with suppress(BadCore):
        project_brief.reconcile(store, project)
    there = readable_of(present(project))
    texts = there.only(filter(is_imported, there))
    elsewhere = GitHistory(root=project.root, by_hand=False)  # whoever wrote them, it was not here
    provenance = Provenance(project, store, lambda: elsewhere, None, agreed_before=False)
    return importer.import_files(
        merge_base.Base(), texts, elsewhere, store, settings.gate, now, provenance=provenance
    )


class _RolledBack(Exception):
    """Ends a transaction with a rollback."""


def _update_store(
    project: Project,
    store: Store,
    settings: Settings,
    place: Place,
    now: datetime,
    provenance: Provenance,
    *,
    force: bool = False,
    steps: Progress | None = None,
    deadline: Deadline | None = None,
) -> tuple[ImportReport, Texts]:
    """Import the files and follow branches; with *force* edits of memories are lost.

    Returns what `_import_files` does.
    """
    with suppress(BadCore):
        project_brief.reconcile(store, project, source=provenance.of_brief)
    if force:
        found = ImportReport(), Texts(_no_text)
    else:
        found = _import_files(project, store, settings, place, now, provenance, steps, deadline)
    follow_branches(place, store, now)
    return found


def _import_files(
    project: Project,
    store: Store,
    settings: Settings,
    place: Place,
    now: datetime,
    provenance: Provenance,
    steps: Progress | None,
    deadline: Deadline | None,
) -> tuple[ImportReport, Texts]:
    """Import the files; return the report and the texts that were read completely."""
    there = readable_of(present(project))
    paths = set(filter(is_imported, there))
    agreed = merge_base.load(project, made_at(store))
    if commit(project.root) != agreed.commit:  # what a teammate's ademem wrote is ours, too
        paths |= set(list_committed(project, there))
    texts = there.only(path for path in there if path in paths)
    read = texts.only(filter(is_imported, texts))
    if digests_of(agreed.texts) == read.digests:
        return ImportReport(), texts
    line = provenance.history
    taken = importer.import_files(
        *(agreed, read, line, store, settings.gate, now, place),
        provenance=provenance,
        deadline=deadline,
        progress=steps,
    )
    refused = {problem.path for problem in taken.refused} - set(LINES)  # lines are kept one by one
    refused |= {it.path for it in taken.oversized if not has_oversize(texts, it.path)}
    sound = {path for path in texts if path not in refused and not any(conflict_lines(texts, path))}
    return taken, texts.only(path for path in texts if path in sound)


def _save_agreement(
    project: Project,
    store: Store,
    found: Iterable[File],
    due: Sequence[File],
    refused: Collection[str],
    read: Texts,
) -> None:
    """Save the base: the files as they are now; the earlier text of one left alone.

    Where part of one could not be read, the rest is agreed on.
    """
    agreed = merge_base.load(project, made_at(store))
    texts: dict[str, Mapping[str, str] | Texts] = {}
    for file in found:
        if not is_imported(file.path):
            continue
        if file.settled or file in due:
            if file.wanted is not None:
                texts[file.path] = {file.path: file.wanted}
        elif file.path in read and has_oversize(read, file.path):
            texts[file.path] = read
        elif file.path in agreed.texts:
            texts[file.path] = agreed.texts
    _save(project, replace(agreed, texts=_combine_texts({}, texts)), refused)


def _save(project: Project, agreed: merge_base.Base, refused: Collection[str]) -> None:
    """Save the base with the commit and branch that are checked out."""
    here = {"commit": commit(project.root), "branch": filed(branch(project.root) or "")}
    kept = {*agreed.refused, *refused}
    if kept and LINES[-1] in agreed.texts:
        kept &= set(split(parts_of(agreed.texts, LINES[-1])))
    else:
        kept = set()
    merge_base.save(project, replace(agreed, refused=tuple(kept), **here))


def _combine_texts(
    agreed: Mapping[str, str] | Texts, newer: Mapping[str, Mapping[str, str] | Texts]
) -> Texts:
    """Combine texts of several mappings; of two the newer."""
    sources = dict.fromkeys(agreed, agreed) | dict(newer)
    digests: dict[int, dict[str, str]] = {}
    for source in sources.values():
        if id(source) not in digests:
            digests[id(source)] = digests_of(source)
    return Texts(
        lambda path: sources[path][path],
        {path: digests[id(source)][path] for path, source in sources.items()},
        lambda path: parts_of(sources[path], path),
    )


def _no_text(_path: str) -> str | None:
    return None


@contextmanager
def _locked(project: Project) -> Iterator[None]:
    with locked(_lock(project), root=project.root):
        yield


def _lock(project: Project) -> str:
    """Return the lock file, or the folder itself where the file is refused."""
    path = os.path.join(project.run, "mirror.lock")
    return project.ade if confined.refusal(project.root, path) else path


def _remember_own_lines(
    store: Store, due: Iterable[File], environment: Mapping[str, str] | None
) -> None:
    """Note outside of the project which lines this person's store has written."""
    texts = [file.wanted for file in due if file.path in LINES and file.wanted]
    if not texts or environment is None or not store.is_trusted:
        return
    claimed = memory_queries.claimed_sync_ids(store)
    lines = (line for text in texts for line in map(knowledge.read, each_line(text)) if line)
    own = [record_digest(line) for line in lines if line.get("sync_id") not in claimed]
    trust.note_own_records(own, environment)


def _remember_own_briefs(store: Store, environment: Mapping[str, str] | None) -> None:
    if environment is None or not store.is_trusted:
        return
    own = []
    for agent in ("", *sorted(briefs.agents(store))):
        document = project_brief.load(store, agent)
        own += project_brief.own_digests(document, agent) if document else []
    trust.note_own_records(own, environment)


def _may_change(file: File, force: bool) -> bool:
    return file.ours or (force and file.present != NOT_TEXT and OVERSIZE not in str(file.present))


def _carry_out(project: Project, found: Iterable[File], due: Sequence[File]) -> None:
    before = load_fingerprints(project)
    after = dict(before)
    for file in (*(file for file in found if file.settled), *due):
        if file.wanted is None:
            after.pop(file.path, None)
        else:
            after[file.path] = [fingerprint(file.path, file.wanted)]
    if due:
        both = {path: before.get(path, []) + after.get(path, []) for path in before | after}
        save_fingerprints(project, both)
    for file in due:
        if file.wanted is None:
            confined.remove(project.root, file.path)
        else:
            confined.write_text(project.root, file.path, file.wanted)
    save_fingerprints(project, after)
