"""What people decided about candidates on their sheet: confirmed, corrected, refused, proposed."""

from __future__ import annotations

import re

from ademem.core.clock import parse
from ademem.core.memory import Draft, Origin, Status, Trust
from ademem.core.value import replace
from ademem.files.pages import SHEET
from ademem.files.reading import said_of
from ademem.files.texts import Problem
from ademem.guard.injection import instruction_in, order_in
from ademem.store import imports, memories, memory_queries, transitions
from ademem.store.transitions import CannotDo
from ademem.sync.differences import Edited, changes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import datetime

    from ademem.core.memory import Memory
    from ademem.files.reading import Offered, Placed
    from ademem.sync.differences import Refused, Reviewed
    from ademem.sync.import_context import Taking


def reviewed(difference: Reviewed, taking: Taking) -> None:
    """Corrected, then confirmed; what another branch's sheet says is no decision."""
    now, before = difference.now, difference.before
    known = _candidate(now.item.entry.id, taking)
    if now.item.entry.id is None or (known is None and not _is_known(now.item.entry.id, taking)):
        return _propose(now, taking)
    if known is None or not taking.lineage.reached(SHEET):
        return None
    source = taking.provenance.of(SHEET, known.id)
    if before is None or now.says != before.says:
        edit = Edited(
            id=known.id, now=_filed(now, known), before=_filed(before, known) if before else None
        )
        taking.edit(known, changes(edit, known), source)
    if now.ticked and not (before and before.ticked):
        order = order_in(memories.get(taking.act.store, known.id))
        if order:  # whoever ticked it
            raise CannotDo(f"{known.id} {order}", "`ademem promote` in a terminal confirms it")
        if source.by_agent:
            message = f"an agent ticked {known.id}, which confirms nothing: `ademem review` does"
            line = now.item.entry.line
            taking.ignored.append(Problem(path=SHEET, line=line, message=message))
            return None
        transitions.promote(known.id, taking.by(source))
        taking.note("promoted", known.id)
    return None


def refused(difference: Refused, taking: Taking) -> None:
    """Unless it says more by now than whoever deleted it could see.

    Where a commit took item and offer away, somebody else's store had no use for it any more.
    """
    known, before = _candidate(difference.id, taking), difference.before
    unchanged = known and (before is None or _filed(before, known).said == said_of(known))
    if not known or not unchanged:
        return
    act = taking.by(taking.provenance.of(SHEET, known.id))
    if taking.lineage.by_hand or (difference.offered and taking.lineage.reached(SHEET)):
        transitions.reject(known.id, act)
        taking.note("rejected", known.id)
    elif taking.lineage.counts(known.id):
        transitions.archive(known.id, act)
        taking.note("archived", known.id)


def _propose(offer: Offered, taking: Taking) -> None:
    """A candidate of somebody else's, or one that a person wrote down; ticked, it is confirmed."""
    item = offer.item
    if not taking.is_new(item):
        return
    source = taking.provenance.of(SHEET, item.entry.id, item.entry.content)
    order = instruction_in(f"{item.entry.title or ''}\n{item.entry.content}")
    by_person = item.entry.id is None and source.by_person and not order
    trust, kind, moment = _told_by(offer.told_by)
    if by_person or kind in taking.job.settings.promote_sources:
        kind = "file"
    if source.by_agent:
        trust = source.trust
    draft = Draft(
        content=item.entry.content,
        category=item.category,
        title=item.entry.title,
        tags=item.entry.tags,
        path=item.entry.path,
        promoted=offer.ticked and not source.by_agent,
        created_at=moment,
        origin=Origin(
            trust=Trust.USER if by_person else trust,
            source_type=kind,
            source_id=SHEET,
            branch=taking.waits_on(item.entry.id, None),
            claimed_author=source.author,
        ),
    )
    taking.keep(draft, item)


def _candidate(id: str | None, taking: Taking) -> Memory | None:
    """The memory while it waits for a word that the sheet may give."""
    found = memory_queries.by_id(taking.act.store, id)
    waits = found and found.live and found.status is Status.CANDIDATE
    return found if found and waits and not found.quarantine_reason else None


def _is_known(id: str, taking: Taking) -> bool:
    """Whether it is decided here already, or was deleted for good."""
    store = taking.act.store
    return memory_queries.by_id(store, id) is not None or imports.is_dead_by_id(store, id)


def _filed(offer: Offered, known: Memory) -> Placed:
    """The item in the category it tells, or else in the memory's own."""
    return offer.item if offer.filed else replace(offer.item, category=known.category)


def _told_by(text: str) -> tuple[Trust, str, datetime | None]:
    """Trust, kind of source and moment; a better trust is not for a sheet to give."""
    said = re.fullmatch(r"(?:(tool|web) by )?([\w-]{1,40})(?:, (\S+))?", text)
    if not said:
        return Trust.IMPORT, "file", None
    try:
        moment = parse(said[3]) if said[3] else None
    except ValueError:
        moment = None
    return Trust(said[1] or Trust.IMPORT), said[2], moment
