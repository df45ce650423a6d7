"""Write the tracked files from the store, without overwriting edits."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Collection, Container, Iterable, Iterator, Sequence
from contextlib import suppress
from datetime import datetime
from functools import partial
from itertools import islice

from ademem.core import confined, git, record_json, trust
from ademem.core.bytecode import source_state
from ademem.core.memory import Memory
from ademem.core.project import (
    Project,
    files_changed,
    import_waits,
    list_files,
    record_state,
    recorded_agreement,
    recorded_state,
    watched_refs,
)
from ademem.core.repository import under_way
from ademem.core.settings import Settings
from ademem.core.shared_files import locked
from ademem.core.text import sha256_hex
from ademem.core.value import Value, as_dict, replace
from ademem.files import (
    BRIEF,
    BRIEF_PAGE,
    FOLDER,
    INDEX,
    LINE_FILES,
    SHEET,
    knowledge,
    project_brief,
)
from ademem.files.project_brief import BadCore, CoreMemory
from ademem.files.review_sheet import make_sheet, parse_sheet, render_sheet
from ademem.files.snapshot import CONFLICT_MARKS, count_states, is_imported, item_ids
from ademem.files.texts import OVERSIZE, CombinedTexts, Problem, Texts, clean_lines
from ademem.store import (
    Store,
    agreements,
    briefs,
    changes,
    creation_time,
    file_changes,
    ledger,
    memory_queries,
)
from ademem.store.database import DryRun
from ademem.store.runtime import Runtime
from ademem.sync import rendering
from ademem.sync.branches import Place, follow_branches
from ademem.sync.git_history import GitHistory, is_committed_text, read_removed
from ademem.sync.importer import (
    ImportReport,
    Progress,
    find_unreadable,
    import_files,
    lock_path,
    save_agreement,
    update_store,
    with_committed,
)
from ademem.sync.known_texts import KnownTexts, read_known, save_known
from ademem.sync.provenance import Provenance, provenance_of, record_digest
from ademem.sync.removals import copy_before
from ademem.sync.tracked_files import (
    NOT_TEXT,
    MergeBase,
    base_path,
    fingerprint,
    fingerprints_path,
    load_base,
    load_fingerprints,
    only_text,
    present,
    present_text,
    read_rendered,
    refused_lines,
    save_fingerprints,
    save_rendered,
)
from ademem.sync.trusting import follow_trust, list_watched


class File(Value):
    path: str
    wanted: str | None = None
    """None: it is to be removed."""
    present: str | None = None
    ours: bool = True
    """True if it does not exist, or is as ademem wrote it."""
    digest: str = ""
    """Of the text that is wanted; empty without one."""
    can_wait: bool = False
    """True if it is as committed, and what it lacks is no news: the next change writes it.

    A merge leaves the index of one side, and the entries of both in another order. On another
    branch, or at an older commit, what the default branch has comes with a merge. Files that a
    commit removed, all of them, stay away until something is learned.
    """
    is_removed: bool = False
    """True if git removed it, and it would say no more than it did: only a person writes it anew.

    As a file that git does not track, it would stop the pull that brings it back.
    """

    @property
    def is_current(self) -> bool:
        return self.wanted == self.present

    @property
    def is_read(self) -> bool:
        return self.present != NOT_TEXT and OVERSIZE not in str(self.present)

    @property
    def is_replaceable(self) -> bool:
        return self.is_read and self.wanted is not None


class Refreshed(Value):
    written: tuple[str, ...]
    removed: tuple[str, ...]
    kept: tuple[str, ...]
    """Files with edits that could not be imported, left as they are."""
    bytes: int
    unread: tuple[str, ...] = ()
    """Of those the files that cannot be read, which nothing overwrites."""
    taken: ImportReport = ImportReport()
    copied: str = ""
    """Folder with the files as they were, where much was removed from them."""


class Preview(Value):
    taken: ImportReport
    files: tuple[File, ...]
    """Files that would change, and files with edits that would be left alone."""


def refresh(
    runtime: Runtime,
    *,
    force: bool = False,
    lazily: bool = False,
    pause: Callable[[], None] | None = None,
    on_batch: Callable[[int, int], None] | None = None,
) -> Refreshed:
    """Import edits of the files, then write what differs from the store.

    With *force* edits are overwritten; *lazily*, nothing is written where all of it can wait, so
    that a merge leaves no clone with changes to commit. A large import runs in batches, with a
    *pause* between them, and *on_batch* gets the changes done and in all. Raises BeingWritten, and
    writes nothing, where a file was emptied a moment ago.
    """
    project, store, settings = runtime.project, runtime.store, runtime.settings
    now = runtime.clock()
    progress = Progress(runtime, pause, on_batch)
    place = Place(project, settings.mirror)
    with locked(lock_path(project), root=project.root):
        for root, folder in ((project.root, project.ade), (project.home_root, project.home)):
            confined.refusals(root, folder, removes_stale=True)
        provenance = provenance_of(runtime)
        project_brief.refresh_agents(store, project, provenance.of_brief)
        has_fault = provenance.base.has_fault
        if not (force or has_fault) and _is_idle(place, store, provenance, now):
            progress.end()
            return Refreshed(written=(), removed=(), kept=(), bytes=0)
        listed = list_files(project)
        report, texts = update_store(runtime, place, provenance, force=force, progress=progress)
        texts = texts if force else with_committed(texts, provenance, project)
        surveyed = _store_state(store, place)
        known = read_known(project, store)
        found = survey(store, place, texts, report.refused, known)
        stale = [file for file in found if not file.is_current]
        due = _choose_due(stale, force=force, lazily=lazily)
        refused = refused_lines(texts, report.refused)  # of the files as they were read
        base = provenance.base
        agreement = agreements.advance(store, base.agreement)
        copied = copy_before(project, store, due)
        edited = _paths_of_changed(listed, list_files(project))  # while all was rendered
        due = [file for file in due if file.path not in edited]
        _write_files(project, store, found, due, agreement)
        relisted = list_files(project)
        agreed = _agreed_texts(found, due, base, texts)
        save_agreement(
            project, replace(base, agreement=agreement, texts=agreed), refused, report.is_sound
        )
        if runtime.environment and store.is_trusted:
            _note_own_records(runtime, due, {*refused, *base.refused}, known.unchanged)
        save_known(project, known)
        others = _paths_of_changed(listed, relisted).difference(file.path for file in due)
        if not others and list_files(project) == relisted:  # else the next import reads them
            record_state(project, [*place.watched(store), *list_watched(provenance)], agreement)
        if due or report.count:
            ledger.renew(store, ledger.READ, project.root, now)
        progress.end()
        kept = tuple(file.path for file in stale if file not in due)
        # Of the store that was rendered: another process may have written since.
        save_rendered(project, "" if kept else _rendered_state(surveyed, place))
    written = {file.path: file.wanted for file in due if file.wanted is not None}
    return Refreshed(
        written=tuple(written),
        removed=tuple(file.path for file in due if file.wanted is None),
        kept=kept,
        bytes=sum(len(text.encode()) for text in written.values()),
        unread=tuple(file.path for file in stale if file not in due and not file.is_read),
        taken=report,
        copied=copied,
    )


def _is_idle(place: Place, store: Store, provenance: Provenance, now: datetime) -> bool:
    """Return True if nothing changed, also of the branches and people that are followed."""
    if not is_rendered(store, place):
        return False
    if not watched_refs(recorded_state(place.project)):
        return True
    return not follow_branches(place, store, now) + follow_trust(provenance, now)


def _choose_due(stale: Iterable[File], *, force: bool, lazily: bool) -> list[File]:
    due = [file for file in stale if file.ours or (force and file.is_replaceable)]
    if not lazily:
        return due
    due = [file for file in due if not file.is_removed]
    return [] if all(file.can_wait for file in due) else due


def _paths_of_changed(listed: Iterable[str], now: Iterable[str]) -> set[str]:
    """Return the paths of files in which two results of `list_files` differ."""
    changed = {*listed}.symmetric_difference(now)
    return {os.path.normpath(FOLDER + each.rsplit(" ", 2)[0]) for each in changed}


def is_rendered(store: Store, place: Place) -> bool:
    """Return True if nothing changed since a refresh left nothing to do."""
    if not agreements.holds(store, recorded_agreement(place.project)):
        return False
    state = _rendered_state(_store_state(store, place), place)
    return bool(state) and state == read_rendered(place.project)


def _rendered_state(database: list[object], place: Place) -> str:
    project = place.project
    if import_waits(project) or under_way(project.root) or files_changed(project):
        return ""
    records = (BRIEF_PAGE, base_path(project), fingerprints_path(project))
    state = (
        *(database, as_dict(place.settings), place.branch, place.commit, recorded_state(project)),
        *(_file_state(project, path) for path in records),
        source_state(),
    )
    return sha256_hex(json.dumps(state, sort_keys=True))


def _store_state(store: Store, place: Place) -> list[object]:
    document = project_brief.load(store)
    brief = project_brief.file_text(document) if document else None
    has_sheet = place.settings.candidates or confined.is_file(
        place.project.root, os.path.join(place.project.root, SHEET)
    )
    changed = changes(store) if has_sheet else file_changes(store)
    return [creation_time(store), changed, store.is_trusted, store.judged, brief]


def _file_state(project: Project, path: str) -> list[int]:
    with suppress(confined.Refused):
        if found := confined.status(project.root, path):
            return [found.st_mtime_ns, found.st_size, found.st_ino]
    return []


def preview(runtime: Runtime, *, force: bool = False) -> Preview:
    """Do what `refresh` does to the store, compare the files, and roll back."""
    project, store, settings = runtime.project, runtime.store, runtime.settings
    place = Place(project, settings.mirror)
    with suppress(DryRun), store.transaction():
        provenance = provenance_of(runtime)
        report, texts = update_store(runtime, place, provenance, force=force)
        texts = texts if force else with_committed(texts, provenance, project)
        found = survey(store, place, texts, report.refused)
        raise DryRun
    return Preview(taken=report, files=tuple(file for file in found if not file.is_current))


def compare_with_copy(runtime: Runtime) -> Preview:
    """Compare the files with a store that was made of them alone."""
    place, there = Place(runtime.project, runtime.settings.mirror), present(runtime.project)
    texts = only_text(there)
    unreadable = find_unreadable(set(there).difference(texts), runtime.project)
    found = survey(runtime.store, place, texts)
    return Preview(
        taken=ImportReport(problems=tuple(unreadable)),
        files=tuple(file for file in found if not file.is_current),
    )


def import_into_copy(
    project: Project, store: Store, settings: Settings, now: datetime
) -> ImportReport:
    """Import the files into an empty store, and write nothing into the project."""
    with suppress(BadCore):
        project_brief.reconcile(store, project)
    there = present_text(project)
    texts = there.only(filter(is_imported, there))
    provenance = Provenance(project, store, MergeBase(), {})
    provenance.history = GitHistory(root=project.root, by_hand=False)  # nothing was written here
    return import_files(texts, settings.gate, now, provenance=provenance)


def survey(
    store: Store,
    place: Place,
    imported: Texts | None = None,
    refused: Sequence[Problem] = (),
    known: KnownTexts | None = None,
) -> tuple[File, ...]:
    """Return each file that is wanted or was written by ademem, by path; change nothing.

    *imported* are texts, by path, whose changes are in the store: they count as ours. Lines that
    the import *refused*, now or before, stay. Lines that are *known* are not rendered again.
    """
    imported = imported or Texts()
    project = place.project
    texts = present(project, imported)
    document, brief_file = _survey_brief(project, store, texts.get(BRIEF))
    readable = only_text(texts)
    lines = rendering.lines_in(store, place, readable, known)

    def kept_lines() -> set[str]:
        base = load_base(project, store)
        return {*refused_lines(imported, refused), *base.refused}

    def committed() -> list[str]:
        listing = ("ls-tree", "-z", "--name-only", "HEAD", "--", FOLDER)
        return git.text(project.root, *listing).split("\0")

    wanted = rendering.render(
        *(lines, document, readable, place.settings, kept_lines, committed),
        unheard=partial(memory_queries.find_unheard, store),
        known=known,
    )
    if sheet := _render_candidates(store, readable.get(SHEET), place):
        wanted[SHEET] = sheet
    before = load_fingerprints(project, store)
    agreed = load_base(
        project, store
    ).texts.digests  # texts that were imported and not written since
    found = [brief_file]
    paths = wanted.keys() | before.keys() | set(filter(is_imported, texts))
    for path in paths - {BRIEF}:
        want = wanted.get(path)
        same = want is not None and texts.is_text(path, want)
        there = want if same else texts.get(path)  # one text in memory, not two
        if there is None and confined.refusal(project.root, path):
            there = NOT_TEXT
        digest = texts.digests.get(path, "")
        wanted_digest = digest if same else sha256_hex(want) if want is not None else ""
        is_read = digest == agreed.get(path)
        is_read = is_read or (path in imported and digest == imported.digests[path])
        ours = there is None or (
            OVERSIZE not in there
            and (is_read or _is_rendering(project, path, there, before.get(path, ())))
        )
        found.append(File(path=path, wanted=want, present=there, ours=ours, digest=wanted_digest))
    removed: Collection[str] = ()
    if before and _are_removed(project, texts, lines):
        waiting = {file.path for file in found}
    else:
        removed = _find_removed(project, found)
        waiting = _find_waiting(project, found, place).union(removed)
    marked = (
        replace(file, can_wait=file.path in waiting, is_removed=file.path in removed)
        for file in found
    )
    return tuple(sorted(marked, key=lambda file: file.path))


def _is_rendering(project: Project, path: str, text: str, fingerprints: Container[str]) -> bool:
    """Return True for a text that ademem wrote, here or before it was committed."""
    if fingerprint(path, text) in fingerprints:
        return True
    return path in (INDEX, BRIEF_PAGE) and is_committed_text(project, path, text)


def _are_removed(project: Project, texts: Texts, lines: Iterable[Memory]) -> bool:
    """Return True if all files were removed by `git rm`, and nothing was learned since."""
    if any(path.startswith(FOLDER) for path in texts):
        return False
    if git.text(project.root, "ls-files", "--", FOLDER):
        return False
    last = git.text(project.root, "log", "-1", "--format=%ct", "--", FOLDER).strip()
    return bool(last) and all(one.created_at.timestamp() < int(last) + 1 for one in lines)


def _find_removed(project: Project, found: Iterable[File]) -> set[str]:
    """Return the paths of absent files that git removed, and that would say no more than then."""
    wanted = {file.path: file.wanted for file in found if file.wanted and file.present is None}
    if not wanted:
        return set()
    with suppress(OSError):
        last = read_removed(project.root, wanted)
        return {path for path, text in last.items() if not _says_more(path, wanted[path], text)}
    return set()


def _says_more(path: str, wanted: str, before: str) -> bool:
    """Return True if the text has an item or line that the one before lacks; the index has none."""
    if path in (INDEX, BRIEF_PAGE):
        return False
    return bool(count_states(path, wanted).keys() - count_states(path, before).keys())


def _find_waiting(project: Project, found: Iterable[File], place: Place) -> set[str]:
    paths = [
        file.path
        for file in found
        if file.ours and not file.is_current and _has_no_news(file, place)
    ]
    if not paths:
        return set()
    with suppress(OSError):
        state = git.run(project.root, "status", "--porcelain", "-z", "--", *paths)
        tracked = git.text(project.root, "ls-files", "-z", "--", *paths).split("\0")
        if not state.code and not state.output:
            return {*paths} & {*tracked, *(file.path for file in found if file.present is None)}
    return set()


def _has_no_news(file: File, place: Place) -> bool:
    """Return True if what a refresh would change is written for people alone, or known elsewhere.

    That is the index, another order or layout of the entries, as a formatter gives them, and what
    the default branch says as well.
    """
    present, wanted = (_parts_of(file.path, text) for text in (file.present, file.wanted))
    if any(part.startswith(CONFLICT_MARKS) for part in present):
        return False
    if file.path in (INDEX, BRIEF_PAGE):
        return file.wanted is not None and (file.present is not None or place.is_elsewhere)
    if _has_same_states(file):
        return True
    if not place.is_elsewhere:
        return False
    there = {*_parts_of(file.path, place.text_on_default(file.path))}
    new, old = {*wanted} - {*present}, {*present} - {*wanted}
    return new <= there and not old & there


def _has_same_states(file: File) -> bool:
    """Return True for a page that says the same in another order or layout."""
    if file.wanted is None or not file.path.endswith(".md"):
        return False
    texts = file.present or "", file.wanted
    ids, others = (sorted(item_ids(text)) for text in texts)
    if ids != others:  # which costs less than reading all that they say
        return False
    states = (count_states(file.path, text) for text in texts)
    return next(states) == next(states)


def _parts_of(path: str, text: str | None) -> list[str]:
    if not text:
        return []
    is_list = path.endswith(".md") and path not in (INDEX, BRIEF_PAGE)
    return text.rstrip("\n").split("\n\n" if is_list else "\n")


def _survey_brief(
    project: Project, store: Store, present: str | None
) -> tuple[CoreMemory | None, File]:
    """Return the brief and its file, which counts as ours: its edits are imported."""
    try:
        document, ours = project_brief.newest(store, project), True
    except BadCore:
        document, ours = project_brief.load(store), False
    if document and document.claimed and present is None:
        document = None  # a colleague's, whose file comes by git: two new files would not merge
    wanted = project_brief.file_text(document) if document else present
    return document, File(path=BRIEF, wanted=wanted, present=present, ours=ours)


def _render_candidates(store: Store, there: str | None, place: Place) -> str | None:
    """Render the sheet; where it is turned off, only what the one that is *there* still offers."""
    settings = place.settings
    if there is None and not settings.candidates:
        return None
    if OVERSIZE in (there or ""):
        return there  # part of it could not be read, so that it stays as it is
    old = parse_sheet(there or "")
    shown = frozenset(old.offered)
    offered = rendering.each_offered(store, place)
    asked = (memory for memory in offered if settings.candidates or memory.id in shown)
    waiting = list(islice(asked, settings.topic_entries))
    needed = settings.candidates or waiting or old.free_texts
    return render_sheet(make_sheet(waiting, old)) if needed else None


def _note_fingerprints(
    project: Project, store: Store, found: Iterable[File], due: Sequence[File], agreement: str
) -> None:
    """Note the texts that will be in the files, before they are written."""
    before = load_fingerprints(project, store)
    after = dict(before)
    for path, (text, digest) in _texts_after(found, due).items():
        if text is not None:
            newest = fingerprint(path, text, digest)
            after[path] = [*(each for each in before.get(path, ()) if each != newest), newest]
    if after != before:
        save_fingerprints(project, after, agreement)


def _texts_after(found: Iterable[File], due: Container[File]) -> dict[str, tuple[str | None, str]]:
    """Return by path what files will have, the *due* ones and those that may stay, and its digest.

    The digest is empty where it is not known.
    """
    texts = {}
    for file in found:
        if file in due or file.is_current:
            texts[file.path] = file.wanted, file.digest
        elif file.can_wait:
            texts[file.path] = file.present, ""
    return texts


def _write_files(
    project: Project, store: Store, found: Iterable[File], due: Sequence[File], agreement: str
) -> None:
    _note_fingerprints(project, store, found, due, agreement)
    for file in due:
        if file.wanted is None:
            confined.remove(project.root, file.path)
        else:
            confined.write_text(project.root, file.path, file.wanted)


def _agreed_texts(
    found: Iterable[File], due: Sequence[File], base: MergeBase, read: Texts
) -> Texts:
    """Return the files as they are now; the earlier text of one left alone.

    Where part of one could not be read, the rest is agreed on.
    """
    imported = [file for file in found if is_imported(file.path)]
    written = _texts_after(imported, due)
    there = Texts()
    for path, (text, digest) in written.items():
        if text is not None:
            there.add(path, text, digest)
    alone = [file.path for file in imported if file.path not in written]
    in_part = list(filter(read.has_oversize, alone))
    before = [path for path in alone if path in base.texts and path not in in_part]
    return CombinedTexts([base.texts.only(before), read.only(in_part), there])


def _digest_own(store: Store, raw: Iterable[str]) -> list[str]:
    """Return the digests of the lines that have what this person accepted."""
    lines = list(filter(None, map(knowledge.parse_line, raw)))
    said_here = memory_queries.accepted(store, (str(line.get("sync_id")) for line in lines))
    return [
        record_digest(line)
        for line in lines
        if str(line.get("sync_id")) in said_here and not record_json.is_newer(line)
    ]


def _wanted_lines(due: Iterable[File]) -> Iterator[str]:
    for file in due:
        if file.path in LINE_FILES and file.wanted:
            yield from clean_lines(file.wanted)


def _note_own_records(
    runtime: Runtime, due: Iterable[File], refused: Collection[str], unchanged: Collection[str]
) -> None:
    """Note outside of the project which lines and briefs this person's store has written.

    Lines that stay in the files as others wrote them, such as the *refused* ones, are not its own.
    Those of memories that are *unchanged* since the last rendering were noted then.
    """
    store = runtime.store
    written = (line for line in _wanted_lines(due) if knowledge.find_id(line) not in unchanged)
    raw = [line for line in written if line not in refused]
    own = _digest_own(store, raw) if raw else []
    trust.note_own_records([*own, *_digest_own_briefs(store)], runtime.environment)


def _digest_own_briefs(store: Store) -> Iterator[str]:
    for agent in ("", *sorted(briefs.list_folders(store))):
        if document := project_brief.load(store, agent):
            for text in document.texts - {*document.claimed}:
                yield project_brief.text_digest(agent, text)
