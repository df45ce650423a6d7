"""Import decisions on the sheet: candidates confirmed, corrected, refused or proposed."""

from __future__ import annotations

import re

from ademem.core.clock import parse
from ademem.core.memory import Draft, Origin, Status, Trust
from ademem.core.value import replace
from ademem.files.pages import SHEET
from ademem.files.snapshot import item_values
from ademem.files.texts import Problem
from ademem.guard.injection import instruction_in, order_in
from ademem.store import imports, memories, memory_queries, transitions
from ademem.store.transitions import CannotDo
from ademem.sync.differences import Edited, changed_fields

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import datetime

    from ademem.core.memory import Memory
    from ademem.files.snapshot import Offered, Placed
    from ademem.sync.differences import Refused, Reviewed
    from ademem.sync.import_context import ImportContext


def apply_review(difference: Reviewed, context: ImportContext) -> None:
    """Apply corrections, then a tick; another branch's sheet is no decision."""
    now, before = difference.now, difference.before
    known = _find_candidate(now.item.entry.id, context)
    if now.item.entry.id is None or (known is None and not _is_known(now.item.entry.id, context)):
        return _propose(now, context)
    if known is None or not context.history.reached(SHEET):
        return None
    source = context.provenance.of(SHEET, known.id)
    if before is None or now.says != before.says:
        edit = Edited(
            id=known.id,
            now=_with_category(now, known),
            before=_with_category(before, known) if before else None,
        )
        context.edit(known, changed_fields(edit, known), source)
    if now.ticked and not (before and before.ticked):
        order = order_in(memories.get(context.act.store, known.id))
        if order:  # whoever ticked it
            raise CannotDo(f"{known.id} {order}", "`ademem promote` in a terminal confirms it")
        if source.by_agent:
            message = f"an agent ticked {known.id}, which confirms nothing: `ademem review` does"
            line = now.item.entry.line
            context.ignored.append(Problem(path=SHEET, line=line, message=message))
            return None
        transitions.promote(known.id, context.by(source))
        context.note("promoted", known.id)
    return None


def apply_refusal(difference: Refused, context: ImportContext) -> None:
    """Reject the candidate, unless it was changed after the version that was removed.

    Where a commit took item and offer away, somebody else's store had no use for it any more.
    """
    known, before = _find_candidate(difference.id, context), difference.before
    unchanged = known and (
        before is None or _with_category(before, known).said == item_values(known)
    )
    if not known or not unchanged:
        return
    act = context.by(context.provenance.of(SHEET, known.id))
    if context.history.by_hand or (difference.offered and context.history.reached(SHEET)):
        transitions.reject(known.id, act)
        context.note("rejected", known.id)
    elif context.history.counts(known.id):
        transitions.archive(known.id, act)
        context.note("archived", known.id)


def _propose(offer: Offered, context: ImportContext) -> None:
    """Add a candidate of another store, or one that a person wrote; a tick promotes it."""
    item = offer.item
    if not context.is_new(item):
        return
    source = context.provenance.of(SHEET, item.entry.id, item.entry.content)
    order = instruction_in(f"{item.entry.title or ''}\n{item.entry.content}")
    by_person = item.entry.id is None and source.by_person and not order
    trust, kind, moment = _parse_origin(offer.origin_text)
    if by_person or kind in context.job.settings.promote_sources:
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
            branch=context.waits_on(item.entry.id, None),
            claimed_author=source.author,
        ),
    )
    context.keep(draft, item)


def _find_candidate(id: str | None, context: ImportContext) -> Memory | None:
    """Return the memory if it is a candidate that the sheet may decide."""
    found = memory_queries.by_id(context.act.store, id)
    waits = found and found.live and found.status is Status.CANDIDATE
    return found if found and waits and not found.quarantine_reason else None


def _is_known(id: str, context: ImportContext) -> bool:
    """Return True for a memory that is here, or was deleted for good."""
    store = context.act.store
    return memory_queries.by_id(store, id) is not None or imports.is_dead_by_id(store, id)


def _with_category(offer: Offered, known: Memory) -> Placed:
    """Return the item in the category it names, or else in the memory's own."""
    return offer.item if offer.filed else replace(offer.item, category=known.category)


def _parse_origin(text: str) -> tuple[Trust, str, datetime | None]:
    """Parse trust, kind of source and time; a sheet cannot raise trust."""
    said = re.fullmatch(r"(?:(tool|web) by )?([\w-]{1,40})(?:, (\S+))?", text)
    if not said:
        return Trust.IMPORT, "file", None
    try:
        moment = parse(said[3]) if said[3] else None
    except ValueError:
        moment = None
    return Trust(said[1] or Trust.IMPORT), said[2], moment
