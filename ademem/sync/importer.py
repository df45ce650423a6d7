"""Taking over what people and git did to the files: every change one revision of one act."""

from __future__ import annotations

from collections import Counter
from itertools import islice

from ademem.core.digest import sha256_hex
from ademem.core.memory import Draft, Origin, Status, Trust
from ademem.core.repository import commit
from ademem.files.formats import plain
from ademem.files.formats.record import BadLine, Outcome
from ademem.files.pages import SHEET
from ademem.files.reading import Line, Placed, Reading, said_of, snapshot
from ademem.files.texts import Problem, digests_of
from ademem.guard.injection import instruction_in
from ademem.store import transitions
from ademem.store.memories import new_event
from ademem.store.transitions import CannotDo
from ademem.sync import review_importer
from ademem.sync.differences import (
    Added,
    Edited,
    Foreign,
    Gone,
    Outlived,
    Refused,
    Reviewed,
    Told,
    changes,
    differences,
)
from ademem.sync.import_context import Taking
from ademem.sync.import_progress import Taken
from ademem.sync.merge_artefacts import Joins
from ademem.sync.record_importer import known_as, make_way, outlived, replaced, settle, told

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from datetime import datetime
    from typing import Any

    from ademem.core.clock import Deadline
    from ademem.core.memory import Memory
    from ademem.core.settings import GateSettings
    from ademem.files.staging import Place
    from ademem.files.texts import Texts
    from ademem.store import Store
    from ademem.sync.base import Base
    from ademem.sync.differences import Difference
    from ademem.sync.git_history import Lineage
    from ademem.sync.import_progress import Progress
    from ademem.sync.provenance import Provenance

BATCH = 200
"""Changes of one transaction: others who write wait for a fraction of a second."""

_ODD = (ValueError, TypeError, OverflowError, RecursionError)
"""How values fail that JSON can have and a memory cannot."""


def take(
    base: Base,
    texts: Mapping[str, str] | Texts,
    lineage: Lineage,
    store: Store,
    settings: GateSettings,
    now: datetime,
    place: Place | None = None,
    *,
    provenance: Provenance,
    deadline: Deadline | None = None,
    progress: Progress | None = None,
) -> Taken:
    """Bring the store to what the files say where they differ from the *base*.

    In one transaction, of which nothing is left if the *deadline* passes (TooLate); with *progress*
    what is more than one batch goes on where it stopped, a transaction for each.
    """
    reading = Reading()
    present, before = snapshot(texts, reading), snapshot(base.texts, reading)
    joins = None if lineage.by_hand else Joins(lineage, before, present)
    taking = Taking(base, lineage, store, settings, now, place, provenance, new_event())
    taking.waits_on(None, None)  # git is asked before others have to wait for the database

    def plan() -> Iterator[Difference]:
        return differences(before, present, joins)

    counted = Counter(_place(difference)[0] for difference in plan()) if progress else {}
    if progress and (sum(counted.values()) > BATCH or progress.is_begun):
        _in_batches(plan, taking, progress, _name(base, texts, lineage), counted)
    else:
        _at_once(plan(), taking, deadline)
    named = {name: tuple(ids) for name, ids in taking.done.items()}
    return Taken(
        event=taking.event if named else "",
        problems=(*present.problems, *taking.problems, *taking.ignored),
        refused=tuple(taking.problems),
        oversized=present.oversized,
        **named,
    )


def _at_once(plan: Iterator[Difference], taking: Taking, deadline: Deadline | None) -> None:
    found = list(plan)
    with taking.act.store.transaction():
        for difference in found:
            if deadline:
                deadline.check()
            _taken_over(difference, taking)
        later, taking.later = taking.later or [], None
        make_way(later, taking)
        for difference in later:
            if deadline:
                deadline.check()
            _taken_over(difference, taking)
        settle(taking)


def _in_batches(
    plan: Callable[[], Iterator[Difference]],
    taking: Taking,
    progress: Progress,
    name: str,
    waiting: Mapping[str, int],
) -> None:
    """Each batch is one transaction; its progress is noted after it.

    A batch that is done again after a kill in between changes nothing, as the store has it already.
    What has to wait for the others is done behind them, by the same rules as in one transaction.
    """
    store = taking.act.store
    progress.begin(name, waiting, taking.event)
    taking.continue_as(progress.event)
    late: list[Difference] = []
    left = enumerate(plan())
    for number, difference in islice(left, progress.done):
        if number in progress.late:
            late.append(difference)
    while batch := list(islice(left, BATCH)):
        numbers = []
        with store.transaction():
            for number, difference in batch:
                _taken_over(difference, taking)
                if taking.later:
                    numbers.append(number)
                    late += taking.later
                    taking.later = []
        done = Counter(_place(difference)[0] for _, difference in batch)
        progress.batch(done, numbers, 0, *taking.emptied())
        progress.pause()
    taking.later = None
    for start in range(progress.late_done, len(late), BATCH):
        with store.transaction():
            make_way(late[start : start + BATCH], taking)
        progress.pause()
    for start in range(progress.late_done, len(late), BATCH):
        batch_of_late = late[start : start + BATCH]
        with store.transaction():
            for difference in batch_of_late:
                _taken_over(difference, taking)
        progress.batch({}, (), len(batch_of_late), *taking.emptied())
        progress.pause()
    with store.transaction():
        settle(taking)
    taking.done, taking.problems = progress.changed, progress.problems


def _name(base: Base, texts: Mapping[str, str] | Texts, lineage: Lineage) -> str:
    """The same for the same files on both sides and the same history between them."""
    sides = (sorted(digests_of(each).items()) for each in (base.texts, texts))
    said = [f"{path} {digest}" for side in sides for path, digest in (*side, ("", ""))]
    head = commit(lineage.root) or ""
    return sha256_hex(*said, head, lineage.since, str(lineage.agreed), str(lineage.by_hand))


def _taken_over(difference: Difference, taking: Taking) -> None:
    try:
        with taking.act.store.savepoint():
            try:
                _TAKE[type(difference)](difference, taking)
            except (BadLine, CannotDo) as error:
                _refuse(difference, str(error), taking)
    except _ODD as error:
        _refuse(difference, f"cannot be taken over ({type(error).__name__}: {error})", taking)


def _refuse(difference: Difference, message: str, taking: Taking) -> None:
    path, line = _place(difference)
    taking.problems.append(Problem(path=path, line=line, message=message))


def edited(difference: Edited, taking: Taking) -> None:
    """Only what was changed in the file."""
    known = known_as(difference.id, taking)
    if known is None:
        return added(Added(item=difference.now), taking)
    if known.superseded_by and difference.now.said == said_of(known):
        return None
    source = taking.provenance.of(difference.now.path, known.id)
    if not known.live:
        if difference.before or not _on_purpose(known, taking.lineage):
            return None
        known = transitions.restore(known.id, taking.by(source))
        taking.note("restored", known.id)
    return taking.edit(known, changes(difference, known), source)


def _on_purpose(known: Memory, lineage: Lineage) -> bool:
    """Whether somebody put its entry in again, knowing that it was gone."""
    kept_quiet = lineage.returned(known.id) and not lineage.buried(known.id)
    return kept_quiet or lineage.taken_back(known.id)


def gone(difference: Gone, taking: Taking) -> None:
    """Unless it says more by now than whoever deleted it could see."""
    known = known_as(difference.id, taking)
    unchanged = known and known.live and difference.before.said == said_of(known)
    if known and unchanged and taking.lineage.counts(known.id):
        source = taking.provenance.of(difference.before.path, known.id)
        transitions.archive(known.id, taking.by(source))
        taking.note("archived", known.id)


def added(difference: Added, taking: Taking) -> None:
    """A person's own item is memory at once, as is what came with the files; an agent's waits.

    So does a second text about one memory.
    """
    item = difference.item
    id = item.entry.id if difference.doubtful else None
    settled = id and replaced(id, item.entry.content, taking)
    if (settled and not taking.lineage.taken_back(str(id))) or not taking.is_new(item):
        return
    source = taking.provenance.of(item.path, item.entry.id, item.entry.content)
    trust = source.trust
    merged = difference.doubtful and not taking.lineage.by_hand
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
            branch=taking.waits_on(item.entry.id, None),
            claimed_author=source.author,
        ),
    )
    taking.keep(draft, item)


def foreign(difference: Foreign, taking: Taking) -> None:
    record, path = difference.line.record, difference.line.path
    waits_on = taking.waits_on(None, str(record.get("key")))
    source = taking.provenance.of_record(path, record, None)
    if source.by_agent:
        record = record | {"status": Status.CANDIDATE}
    outcome = plain.write(record, taking.job_of(source, branch=waits_on))
    if outcome is Outcome.REJECTED:
        raise CannotDo("not kept; `ademem refusals` tells why")


_TAKE: dict[type, Callable[[Any, Taking], None]] = {
    Told: told,
    Outlived: outlived,
    Edited: edited,
    Gone: gone,
    Added: added,
    Foreign: foreign,
    Reviewed: review_importer.reviewed,
    Refused: review_importer.refused,
}


def _place(difference: Difference) -> tuple[str, int]:
    match difference:
        case (
            Told(line=line) | Outlived(line=line) | Foreign(line=line) | Gone(before=Line() as line)
        ):
            return line.path, line.number
        case Edited(now=item) | Added(item=item) | Gone(before=Placed() as item):
            return item.path, item.entry.line
        case Reviewed(now=offer):
            return offer.item.path, offer.item.entry.line
        case Refused():
            return SHEET, 1
    raise TypeError(difference)
