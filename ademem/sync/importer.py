"""Import the differences of the files: every change is a revision of one act."""

from __future__ import annotations

from collections import Counter
from itertools import islice

from ademem.core.memory import Draft, Origin, Status, Trust
from ademem.core.repository import commit
from ademem.core.text import sha256_hex
from ademem.files import records
from ademem.files.pages import SHEET
from ademem.files.records import BadLine, Outcome
from ademem.files.snapshot import Line, Placed, Reading, item_values, snapshot
from ademem.files.texts import Problem, digests_of
from ademem.guard.injection import instruction_in
from ademem.store import transitions
from ademem.store.memories import new_event
from ademem.store.transitions import CannotDo
from ademem.sync import review_importer
from ademem.sync.differences import (
    Added,
    ChangedLine,
    ConcurrentLine,
    Edited,
    Foreign,
    Refused,
    Removed,
    Reviewed,
    changed_fields,
    find_differences,
)
from ademem.sync.import_context import ImportContext
from ademem.sync.import_progress import ImportReport
from ademem.sync.line_importer import (
    find_memory,
    import_line,
    keep_losing_text,
    release_texts,
    restore_keys,
    was_replaced,
)
from ademem.sync.merge_artefacts import MergeArtefacts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from datetime import datetime
    from typing import Any

    from ademem.core.clock import Deadline
    from ademem.core.memory import Memory
    from ademem.core.settings import GateSettings
    from ademem.files.branches import Place
    from ademem.files.texts import Texts
    from ademem.store import Store
    from ademem.sync.differences import Difference
    from ademem.sync.git_history import GitHistory
    from ademem.sync.import_progress import Progress
    from ademem.sync.merge_base import Base
    from ademem.sync.provenance import Provenance

BATCH = 200
"""Changes of one transaction, so that other writers wait a fraction of a second."""

_ODD = (ValueError, TypeError, OverflowError, RecursionError)
"""Errors of values that are valid in JSON and not in a memory."""


def import_files(
    base: Base,
    texts: Mapping[str, str] | Texts,
    history: GitHistory,
    store: Store,
    settings: GateSettings,
    now: datetime,
    place: Place | None = None,
    *,
    provenance: Provenance,
    deadline: Deadline | None = None,
    progress: Progress | None = None,
) -> ImportReport:
    """Import the differences between the files and the *base*.

    In one transaction, of which nothing is left if the *deadline* passes (TooLate); with *progress*
    what is more than one batch goes on where it stopped, a transaction for each.
    """
    reading = Reading()
    present, before = snapshot(texts, reading), snapshot(base.texts, reading)
    joins = None if history.by_hand else MergeArtefacts(history, before, present)
    context = ImportContext(base, history, store, settings, now, place, provenance, new_event())
    context.waits_on(None, None)  # git is asked before others have to wait for the database

    def plan() -> Iterator[Difference]:
        return find_differences(before, present, joins)

    counted = Counter(_place(difference)[0] for difference in plan()) if progress else {}
    if progress and (sum(counted.values()) > BATCH or progress.is_begun):
        _import_in_batches(plan, context, progress, _plan_name(base, texts, history), counted)
    else:
        _import_at_once(plan(), context, deadline)
    named = {name: tuple(ids) for name, ids in context.done.items()}
    return ImportReport(
        event=context.event if named else "",
        problems=(*present.problems, *context.problems, *context.ignored),
        refused=tuple(context.problems),
        oversized=present.oversized,
        **named,
    )


def _import_at_once(
    plan: Iterator[Difference], context: ImportContext, deadline: Deadline | None
) -> None:
    found = list(plan)
    with context.act.store.transaction():
        for difference in found:
            if deadline:
                deadline.check()
            _apply(difference, context)
        later, context.later = context.later or [], None
        release_texts(later, context)
        for difference in later:
            if deadline:
                deadline.check()
            _apply(difference, context)
        restore_keys(context)


def _import_in_batches(
    plan: Callable[[], Iterator[Difference]],
    context: ImportContext,
    progress: Progress,
    name: str,
    waiting: Mapping[str, int],
) -> None:
    """Import in batches, each one transaction, with its progress recorded after it.

    A batch that is done again after a kill in between changes nothing, as the store has it already.
    What has to wait for the others is done behind them, by the same rules as in one transaction.
    """
    store = context.act.store
    progress.begin(name, waiting, context.event)
    context.continue_as(progress.event)
    late: list[Difference] = []
    left = enumerate(plan())
    for number, difference in islice(left, progress.done):
        if number in progress.late:
            late.append(difference)
    while batch := list(islice(left, BATCH)):
        numbers = []
        with store.transaction():
            for number, difference in batch:
                _apply(difference, context)
                if context.later:
                    numbers.append(number)
                    late += context.later
                    context.later = []
        done = Counter(_place(difference)[0] for _, difference in batch)
        progress.batch(done, numbers, 0, *context.emptied())
        progress.pause()
    context.later = None
    for start in range(progress.late_done, len(late), BATCH):
        with store.transaction():
            release_texts(late[start : start + BATCH], context)
        progress.pause()
    for start in range(progress.late_done, len(late), BATCH):
        batch_of_late = late[start : start + BATCH]
        with store.transaction():
            for difference in batch_of_late:
                _apply(difference, context)
        progress.batch({}, (), len(batch_of_late), *context.emptied())
        progress.pause()
    with store.transaction():
        restore_keys(context)
    context.done, context.problems = progress.changed, progress.problems


def _plan_name(base: Base, texts: Mapping[str, str] | Texts, history: GitHistory) -> str:
    """Identify the plan by the files of both sides and the history between them."""
    sides = (sorted(digests_of(each).items()) for each in (base.texts, texts))
    said = [f"{path} {digest}" for side in sides for path, digest in (*side, ("", ""))]
    head = commit(history.root) or ""
    return sha256_hex(*said, head, history.since, str(history.agreed), str(history.by_hand))


def _apply(difference: Difference, context: ImportContext) -> None:
    try:
        with context.act.store.savepoint():
            try:
                _HANDLERS[type(difference)](difference, context)
            except (BadLine, CannotDo) as error:
                _refuse(difference, str(error), context)
    except _ODD as error:
        _refuse(difference, f"cannot be taken over ({type(error).__name__}: {error})", context)


def _refuse(difference: Difference, message: str, context: ImportContext) -> None:
    path, line = _place(difference)
    context.problems.append(Problem(path=path, line=line, message=message))


def apply_edit(difference: Edited, context: ImportContext) -> None:
    """Apply the fields that were changed in the file."""
    known = find_memory(difference.id, context)
    if known is None:
        return add_item(Added(item=difference.now), context)
    if known.superseded_by and difference.now.said == item_values(known):
        return None
    source = context.provenance.of(difference.now.path, known.id)
    if not known.live:
        if difference.before or not _was_put_back(known, context.history):
            return None
        known = transitions.restore(known.id, context.by(source))
        context.note("restored", known.id)
    return context.edit(known, changed_fields(difference, known), source)


def _was_put_back(known: Memory, history: GitHistory) -> bool:
    """Return True if the entry was added again after its removal was known."""
    kept_quiet = history.returned(known.id) and not history.buried(known.id)
    return kept_quiet or history.taken_back(known.id)


def apply_removal(difference: Removed, context: ImportContext) -> None:
    """Archive the memory, unless it was changed after the version that was removed."""
    known = find_memory(difference.id, context)
    unchanged = known and known.live and difference.before.said == item_values(known)
    if known and unchanged and context.history.counts(known.id):
        source = context.provenance.of(difference.before.path, known.id)
        transitions.archive(known.id, context.by(source))
        context.note("archived", known.id)


def add_item(difference: Added, context: ImportContext) -> None:
    """Add an item: promoted if it is a person's or came with the files, else a candidate.

    So does a second text about one memory.
    """
    item = difference.item
    id = item.entry.id if difference.doubtful else None
    settled = id and was_replaced(id, item.entry.content, context)
    if (settled and not context.history.taken_back(str(id))) or not context.is_new(item):
        return
    source = context.provenance.of(item.path, item.entry.id, item.entry.content)
    trust = source.trust
    merged = difference.doubtful and not context.history.by_hand
    order = instruction_in(f"{item.entry.title or ''}\n{item.entry.content}")
    if source.by_person and (merged or order):
        trust = Trust.IMPORT  # git put it there, or it needs a person's own command
    draft = Draft(
        content=item.entry.content,
        category=item.category,
        title=item.entry.title,
        tags=item.entry.tags,
        path=item.entry.path,
        promoted=not (difference.doubtful or source.by_agent),
        origin=Origin(
            trust=trust,
            source_type=trust.value,
            source_id=item.path,
            branch=context.waits_on(item.entry.id, None),
            claimed_author=source.author,
        ),
    )
    context.keep(draft, item)


def import_foreign_line(difference: Foreign, context: ImportContext) -> None:
    record, path = difference.line.record, difference.line.path
    waits_on = context.waits_on(None, str(record.get("key")))
    source = context.provenance.of_record(path, record, None)
    if source.by_agent:
        record = record | {"status": Status.CANDIDATE}
    outcome = records.import_plain(record, context.job_of(source, branch=waits_on))
    if outcome is Outcome.REJECTED:
        raise CannotDo("not kept; `ademem log --refused` tells why")


_HANDLERS: dict[type, Callable[[Any, ImportContext], None]] = {
    ChangedLine: import_line,
    ConcurrentLine: keep_losing_text,
    Edited: apply_edit,
    Removed: apply_removal,
    Added: add_item,
    Foreign: import_foreign_line,
    Reviewed: review_importer.apply_review,
    Refused: review_importer.apply_refusal,
}


def _place(difference: Difference) -> tuple[str, int]:
    match difference:
        case (
            ChangedLine(line=line)
            | ConcurrentLine(line=line)
            | Foreign(line=line)
            | Removed(before=Line() as line)
        ):
            return line.path, line.number
        case Edited(now=item) | Added(item=item) | Removed(before=Placed() as item):
            return item.path, item.entry.line
        case Reviewed(now=offer):
            return offer.item.path, offer.item.entry.line
        case Refused():
            return SHEET, 1
    raise TypeError(difference)
