"""Import the differences of the files: every change is a revision of one act.

An import in batches records its progress: `run/import` has a line for the plan and one for each
batch, so that the next process goes on behind the last batch after a kill. Without a plan it means
that an import waits.
"""

from __future__ import annotations

import os
import time
from itertools import islice

from ademem.core import confined, git
from ademem.core.clock import Deadline, TooLate, datetime
from ademem.core.errors import FORBIDDEN, AdememError, suppress
from ademem.core.json_text import compact, loads
from ademem.core.project import Project, import_path, import_waits, record_state
from ademem.core.repository import branch, commit
from ademem.core.shared_files import locked
from ademem.core.text import counted, sha256_hex
from ademem.core.value import Value, replace
from ademem.files import KNOWLEDGE, LINE_FILES, project_brief
from ademem.files.project_brief import BadCore
from ademem.files.snapshot import (
    KnownLines,
    conflict_problems,
    ids_to_compare,
    is_imported,
    snapshot,
    unchanged_pages,
)
from ademem.files.texts import BadLine, CombinedTexts, Problem, Texts, split_lines
from ademem.store import agreements, ledger
from ademem.store.database import sqlite3
from ademem.store.runtime import Runtime, redact_branch
from ademem.store.transitions import CannotDo
from ademem.sync.branches import Place, follow_branches
from ademem.sync.differences import Difference, ImportContext, find_differences
from ademem.sync.git_history import list_committed
from ademem.sync.provenance import Provenance, provenance_of
from ademem.sync.tracked_files import (
    MergeBase,
    base_path,
    only_text,
    paths_of,
    present,
    present_text,
    refused_lines,
    save_base,
)
from ademem.sync.trusting import follow_trust, list_watched

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Set
    from typing import Any

    from ademem.core.settings import GateSettings

KINDS = ("added", "edited", "promoted", "rejected", "archived", "restored")
NAMED_IDS = 5
NAMED_FILES = 5
NO_LIMIT = 1 << 40
PAUSE_S = 0.02
BATCH = 200
"""Changes of one transaction, so that other writers wait a fraction of a second."""
HOOK_BYTES = 4 * confined.MIB
"""Size of all files and of their base up to which a hook imports them."""
HOOK_FILES = 2000
COMMAND_BYTES = confined.MIB
"""Size of both up to which a command that imports them writes them, too."""
HALF_WRITTEN_S = 3.0
"""Age up to which an emptied file may be about to be written.

Programs that empty a file write it within milliseconds; a busy disk may take a second or two.
"""
AHEAD_S = 60.0
"""By how much such a file may be newer than the time of the reading, which may wait for a lock."""

_BAD_VALUES = (ValueError, TypeError, OverflowError, RecursionError)
"""Errors of values that are valid in JSON and not in a memory."""


class BeingWritten(AdememError):
    hint = "run it again in a few seconds"

    def __init__(self, path: str) -> None:
        super().__init__(f"{path} was emptied a moment ago: a program may be about to write it")


class ImportReport(Value):
    event: str = ""
    added: tuple[str, ...] = ()
    edited: tuple[str, ...] = ()
    promoted: tuple[str, ...] = ()
    rejected: tuple[str, ...] = ()
    archived: tuple[str, ...] = ()
    restored: tuple[str, ...] = ()
    unstamped: tuple[str, ...] = ()
    """Memories whose lines lost their stamps: an ademem that knows none wrote them."""
    problems: tuple[Problem, ...] = ()
    refused: tuple[Problem, ...] = ()
    """Problems of valid text that cannot be imported."""
    oversized: tuple[Problem, ...] = ()
    """Problems of text too long to be read, whose files are not written."""
    is_sound: bool | None = None
    """False if a line could not be read; None if nothing was compared."""
    outdated: tuple[str, ...] = ()
    """Files that git set back to an old rendering: the next one writes them anew."""

    @property
    def count(self) -> int:
        return len({id for kind in KINDS for id in getattr(self, kind)})

    @property
    def summary(self) -> str:
        parts = []
        for kind in KINDS:
            if ids := getattr(self, kind):
                more = f" and {len(ids) - NAMED_IDS} more" if len(ids) > NAMED_IDS else ""
                parts.append(f"{kind} {', '.join(ids[:NAMED_IDS])}{more}")
        memories = counted(self.count, "memory")
        return f"{memories} from git and hand edits: {'; '.join(parts)}." if parts else ""

    @property
    def advice(self) -> str:
        lines = counted(len(self.unstamped), "line")
        found = f"{lines} came from an older ademem, which writes no stamps: update it there."
        return found if self.unstamped else ""


def import_changes_until(deadline: Deadline, runtime: Runtime) -> ImportReport | None:
    """Import the changes before the deadline; return None if that is left to the worker.

    Files that are being written are left to the next hook as well.
    """
    project = runtime.project
    if import_waits(project):
        return None
    if is_large(project, HOOK_BYTES):
        hand_over(project)
        return None
    with locked(lock_path(project), root=project.root, wait=False) as ours:
        if not ours:  # another process imports them now
            return None
        try:
            with git.limited(deadline):
                return _import_changes(runtime, None, deadline)
        except BeingWritten:
            return None
        except TooLate:
            hand_over(project)
            return None


def import_changes(
    runtime: Runtime,
    *,
    pause: Callable[[], None] | None = None,
    on_batch: Callable[[int, int], None] | None = None,
) -> ImportReport:
    """Import the changes as `mirror.refresh` does, and leave the files as they are.

    Raises BeingWritten.
    """
    project = runtime.project
    with locked(lock_path(project), root=project.root):
        report = _import_changes(runtime, Progress(runtime, pause, on_batch), None)
    return report


def _import_changes(
    runtime: Runtime, progress: Progress | None, deadline: Deadline | None
) -> ImportReport:
    project, store, now = runtime.project, runtime.store, runtime.clock()
    place = Place(project, runtime.settings.mirror)
    provenance = provenance_of(runtime)
    project_brief.refresh_agents(store, project, provenance.of_brief)
    report, texts = update_store(runtime, place, provenance, progress=progress, deadline=deadline)
    base = provenance.base
    read = texts.only(set(filter(is_imported, texts)).difference(report.outdated))
    agreement = agreements.advance(store, base.agreement)
    agreed = replace(base, agreement=agreement, texts=CombinedTexts([base.texts, read]))
    save_agreement(project, agreed, refused_lines(texts, report.refused), report.is_sound)
    record_state(project, [*place.watched(store), *list_watched(provenance)], agreement)
    ledger.renew(store, ledger.READ, project.root, now)
    if progress:
        progress.end()
    return report


def is_large(project: Project, most: int) -> bool:
    """Tell whether files and base have more bytes, or there are too many files for a hook."""
    size = count = 0
    for folder in (project.memory, os.path.join(project.ade, "agents")):
        with suppress(confined.Refused):
            there = confined.entries(project.root, folder)
            count += len(there)
            size += sum(each.st_size for _, each in there)
    with suppress(confined.Refused):
        base = confined.status(project.root, base_path(project))
        size += base.st_size if base else 0
    return count > HOOK_FILES or size > most


def lock_path(project: Project) -> str:
    path = os.path.join(project.run, "mirror.lock")
    return project.ade if confined.refusal(project.root, path) else path


def update_store(
    runtime: Runtime,
    place: Place,
    provenance: Provenance,
    *,
    force: bool = False,
    progress: Progress | None = None,
    deadline: Deadline | None = None,
) -> tuple[ImportReport, Texts]:
    """Import brief and files; return what was done and read whole.

    With *force* only the brief, unless this database has agreed to no files yet, and no text.
    Raises BeingWritten, before any file is imported.
    """
    project, store, now = runtime.project, runtime.store, runtime.clock()
    with suppress(BadCore):
        project_brief.reconcile(store, project, source=provenance.of_brief)
    if force and provenance.base.agreement:
        follow_branches(place, store, now)
        return ImportReport(), Texts()
    found = present(project)
    there = provenance.present = only_text(found)
    texts = read = there.only(filter(is_imported, there))
    _check_whole(read, project, provenance.base, now)
    report = ImportReport(is_sound=None if read.digests else True)
    # Files with a line that could not be read are read again until it is gone.
    if provenance.base.texts.digests != read.digests or provenance.base.has_fault:
        outdated = provenance.history.outdated
        report = import_files(
            *(_as_agreed(read, provenance.base, outdated), runtime.settings.gate, now, place),
            provenance=provenance,
            deadline=deadline,
            progress=progress,
        )
        report = _with_outdated(report, read, outdated)
        texts = _without_refused(texts, report)
    if unreadable := find_unreadable(set(found).difference(there), project):
        report = replace(report, problems=(*report.problems, *unreadable))
    follow_branches(place, store, now)
    follow_trust(provenance, now)
    return report, Texts() if force else texts


def find_unreadable(paths: Iterable[str], project: Project) -> list[Problem]:
    """Return a problem for each file that is not UTF-8; notices name those that are refused."""
    message = "is not UTF-8 text, so nothing of it is imported; save it as UTF-8 or restore it"
    return [
        Problem(path=path, line=None, message=message)
        for path in sorted(filter(is_imported, paths))
        if not confined.refusal(project.root, path)
    ]


def _check_whole(read: Texts, project: Project, base: MergeBase, now: datetime) -> None:
    """Raise BeingWritten for a file that lost its whole text a moment ago, and not by git."""
    empty = sha256_hex("")
    for path in (path for path, digest in read.digests.items() if digest == empty):
        if base.texts.digests.get(path, empty) == empty:
            continue
        there = confined.status(project.root, path)
        age_s = now.timestamp() - there.st_mtime if there else 0.0
        if -AHEAD_S < age_s < HALF_WRITTEN_S and not _is_as_staged(project, path):
            raise BeingWritten(path)


def _is_as_staged(project: Project, path: str) -> bool:
    """Tell whether git has the same text: a checkout updates its index last."""
    return git.output(project.root, "ls-files", "--modified", "--others", "--", path) == b""


def with_committed(texts: Texts, provenance: Provenance, project: Project) -> Texts:
    """Add, after other commits, files that are not imported and that git has as they are.

    A teammate's ademem wrote them as ours would have.
    """
    there = provenance.present
    if there is None or commit(project.root) == provenance.base.commit:
        return texts
    others = [path for path in there if not is_imported(path)]
    committed = list_committed(provenance.uncommitted, others)
    sound = (path for path in committed if not any(conflict_problems(there, path)))
    return there.only([*texts, *sound])


def _as_agreed(read: Texts, base: MergeBase, outdated: Set[str]) -> Texts:
    """Return the texts, *outdated* ones as they were agreed on, until they are written again."""
    if not outdated:
        return read
    current = read.only(read.digests.keys() - outdated)
    return CombinedTexts([current, base.texts.only(outdated & base.texts.digests.keys())])


def _with_outdated(report: ImportReport, read: Texts, outdated: Set[str]) -> ImportReport:
    """Add the *outdated* files, with the problems of their present texts, which were not read."""
    if not outdated:
        return report
    problems = [problem for problem in report.problems if problem.path not in outdated]
    problems += snapshot(read.only(outdated & read.digests.keys())).problems
    return replace(report, problems=tuple(problems), outdated=tuple(sorted(outdated)))


def _without_refused(texts: Texts, report: ImportReport) -> Texts:
    """Leave out what was not read whole, and conflicts; lines are kept one by one."""
    refused = {problem.path for problem in report.refused} - set(LINE_FILES)
    refused |= {it.path for it in report.oversized if not texts.has_oversize(it.path)}
    left = (path for path in texts if path not in refused)
    return texts.only(path for path in left if not any(conflict_problems(texts, path)))


def save_agreement(
    project: Project, base: MergeBase, refused: Collection[str], is_sound: bool | None
) -> None:
    refused_texts: set[str] = set()
    if (base.refused or refused) and KNOWLEDGE in base.texts:
        refused_texts = {*base.refused, *refused} & set(split_lines(base.texts.parts(KNOWLEDGE)))
    here = {"commit": commit(project.root), "branch": redact_branch(branch(project.root) or "")}
    sound = base.is_sound if is_sound is None else is_sound
    save_base(project, replace(base, refused=tuple(refused_texts), is_sound=sound, **here))


def import_files(
    texts: Texts,
    settings: GateSettings,
    now: datetime,
    place: Place | None = None,
    *,
    provenance: Provenance,
    deadline: Deadline | None = None,
    progress: Progress | None = None,
) -> ImportReport:
    """Import the differences between the files and the merge base.

    In one transaction, which is rolled back if the *deadline* passes (TooLate); with *progress*, an
    import of more than one batch continues an interrupted one, in a transaction for each batch.
    """
    base, known = provenance.base, KnownLines()
    base.texts.share(texts)
    same = unchanged_pages(texts, base.texts)
    compared = ids_to_compare(texts, base.texts, same) if base.is_sound else None
    present, before = (snapshot(side, same, known, compared) for side in (texts, base.texts))
    context, history = ImportContext(settings, now, place, provenance), provenance.history
    context.waits_on(None, None)  # git runs before others have to wait for the database

    def plan() -> Iterator[Difference]:
        return find_differences(before, present, history)

    waiting = _count_files(plan()) if progress else {}
    if progress and (sum(waiting.values()) > BATCH or progress.has_begun):
        # Identify the plan by the files of both sides and the history between them.
        sides = (sorted(side.digests.items()) for side in (base.texts, texts))
        way = (commit(history.root), history.since, history.agreed, history.by_hand)
        event = progress.begin(sha256_hex(repr((*sides, *way))), waiting, context.act.event_id)
        context.act = replace(context.act, event_id=event)
        left = islice(plan(), progress.done, None)
        while batch := list(islice(left, BATCH)):
            # One that is done again after a kill before its recording changes nothing.
            with provenance.store.transaction():
                for difference in batch:
                    _apply(difference, context)
                progress.advance()
            progress.add(_count_files(batch), context.done, context.problems)
            context.done, context.problems = {}, []
            progress.pause()
        context.done, context.problems = progress.changed, progress.problems
    else:
        found = list(plan())
        with provenance.store.transaction():
            for difference in found:
                if deadline:
                    deadline.check()
                _apply(difference, context)
    changed = {kind: tuple(ids) for kind, ids in context.done.items()}
    return ImportReport(
        event=context.act.event_id if changed else "",
        problems=(*present.problems, *context.problems, *context.ignored),
        refused=tuple(context.problems),
        oversized=present.oversized,
        is_sound=not present.problems,
        **changed,
    )


def _count_files(differences: Iterable[Difference]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for path, _ in (difference.position for difference in differences):
        counts[path] = counts.get(path, 0) + 1
    return counts


def _apply(difference: Difference, context: ImportContext) -> None:
    try:
        with context.act.store.savepoint():
            try:
                return difference.apply(context)
            except (CannotDo, BadLine) as error:
                message = str(error)
    except _BAD_VALUES as error:
        message = f"cannot be taken over ({type(error).__name__}: {error})"
    except sqlite3.IntegrityError as error:  # its sync id is that of another memory
        if str(error) in FORBIDDEN:
            raise
        message = f"cannot be stored beside the other memories ({error})"
    path, line = difference.position
    context.problems.append(Problem(path=path, line=line, message=message))


class Progress:
    """The recorded progress of an import in batches.

    Between them it calls *pause*, by default to let other writers use the database for PAUSE_S, and
    *on_batch* with the changes done and in all.
    """

    def __init__(
        self,
        runtime: Runtime,
        pause: Callable[[], None] | None,
        on_batch: Callable[[int, int], None] | None,
    ) -> None:
        self._project, self._store = runtime.project, runtime.store
        self._agreement = ""
        self.pause = pause or (lambda: time.sleep(PAUSE_S))
        self._on_batch = on_batch
        self._record: list[dict[str, Any]] = []

    @property
    def has_begun(self) -> bool:
        return bool(_read_record(self._project))

    @property
    def done(self) -> int:
        return sum(sum(line.get("files", {}).values()) for line in self._record)

    @property
    def changed(self) -> dict[str, list[str]]:
        ids: dict[str, list[str]] = {}
        for line in self._record:
            for kind, changed in line.get("changed", {}).items():
                ids.setdefault(kind, []).extend(changed)
        return ids

    @property
    def problems(self) -> list[Problem]:
        found = (problem for line in self._record for problem in line.get("problems", ()))
        return [Problem(path=path, line=line, message=message) for path, line, message in found]

    def begin(self, plan: str, waiting: Mapping[str, int], event: str) -> str:
        """Continue the same *plan*, or begin a new one with counts of changes *waiting* by file.

        Returns the act, which stays the same: changes of an earlier plan are part of it. What
        another database imported, or this one before an older copy replaced it, is done again.
        """
        self._record = _read_record(self._project)
        if self._record:
            self._agreement = str(self._record[-1].get("agreement", ""))
        if not agreements.holds(self._store, self._agreement):
            self._record = []
        event = self._record[0].get("event", event) if self._record else event
        if not self._record or self._record[0].get("plan") != plan:
            self.advance()
            head = {"plan": plan, "event": event, "waiting": dict(waiting)}
            self._record = [head | {"agreement": self._agreement, "changed": self.changed}]
        text = "".join(f"{compact(line)}\n" for line in self._record)
        confined.write_text(self._project.root, import_path(self._project), text)
        return event

    def advance(self) -> None:
        """Count the next batch, in its transaction."""
        self._agreement = agreements.advance(self._store, self._agreement)

    def add(
        self, files: Mapping[str, int], changed: Mapping[str, list[str]], problems: list[Problem]
    ) -> None:
        listed = [[it.path, it.line, it.message] for it in problems]
        line = {"files": dict(files), "changed": dict(changed), "problems": listed}
        line["agreement"] = self._agreement
        self._record.append(line)
        data = compact(line)
        confined.append_line(self._project.root, import_path(self._project), data, NO_LIMIT)
        if self._on_batch:
            self._on_batch(self.done, sum(self._record[0]["waiting"].values()))

    def end(self) -> None:
        confined.remove(self._project.root, import_path(self._project))


def hand_over(project: Project) -> None:
    confined.touch(project.root, import_path(project))


def describe_waiting(project: Project) -> list[str]:
    record = _read_record(project)
    left: dict[str, int] = {}
    if record and "waiting" in record[0]:
        left |= record[0]["waiting"]
        for line in record[1:]:
            for path, count in line.get("files", {}).items():
                left[path] = left.get(path, 0) - count
    else:
        for path in filter(is_imported, paths_of(project)):
            with suppress(OSError), confined.open_file(project.root, path) as file:
                left[path] = sum(1 for _ in file)
    return _describe_counts(left)


def find_unread(project: Project) -> tuple[Problem, ...]:
    """Return what cannot be read in the files as they are now."""
    texts = present_text(project)
    return snapshot(texts.only(filter(is_imported, texts))).problems


def _describe_counts(left: Mapping[str, int]) -> list[str]:
    """Describe numbers of lines by path."""
    waiting = {os.path.basename(path): count for path, count in left.items() if count > 0}
    if len(waiting) > NAMED_FILES:
        count, files = counted(sum(waiting.values()), "line"), counted(len(waiting), "file")
        return [f"{count} of {files} wait for the worker"]
    return [
        f"{counted(count, 'line')} of {name} {'waits' if count == 1 else 'wait'} for the worker"
        for name, count in sorted(waiting.items())
    ]


def _read_record(project: Project) -> list[dict[str, Any]]:
    """Read the record up to a last line that was cut off."""
    found: list[dict[str, Any]] = []
    path = import_path(project)
    with suppress(OSError, ValueError), confined.open_file(project.root, path) as file:
        for line in (loads(raw.decode()) for raw in file):
            if not isinstance(line, dict):
                break
            found.append(line)
    return found
