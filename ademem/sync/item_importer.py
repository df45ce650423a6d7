"""Import edits of pages and decisions on the review sheet."""

from __future__ import annotations

import re

from ademem.core.clock import parse
from ademem.core.memory import Draft, Origin, Status, Trust
from ademem.core.value import replace
from ademem.files import SHEET
from ademem.files.snapshot import MemoryLines, values_of
from ademem.files.texts import Problem
from ademem.guard.injection import order_in, order_of
from ademem.store import memories, memory_queries, transitions
from ademem.store.transitions import CannotDo
from ademem.sync.differences import (
    AddedItem,
    EditedItem,
    RefusedCandidate,
    RemovedItem,
    ReviewedCandidate,
    changed_fields,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import datetime

    from ademem.core.memory import Memory
    from ademem.files.snapshot import Offer, PlacedItem
    from ademem.sync.import_context import ImportContext


ItemDifference = EditedItem | RemovedItem | AddedItem | ReviewedCandidate | RefusedCandidate


def import_difference(difference: ItemDifference, context: ImportContext) -> None:
    match difference:
        case EditedItem():
            _apply_edit(difference, context)
        case RemovedItem():
            _apply_removal(difference, context)
        case AddedItem():
            _add_item(difference, context)
        case ReviewedCandidate():
            _apply_review(difference, context)
        case RefusedCandidate():
            _apply_refusal(difference, context)


def _apply_edit(difference: EditedItem, context: ImportContext) -> None:
    known = context.find(difference.id)
    if known is None:
        return _add_item(AddedItem(placed=difference.now), context)
    if known.superseded_by and difference.now.values == values_of(known):
        return None
    source = context.provenance.of(difference.now.path, known.id)
    if not known.live:
        if difference.before or not context.history.has_returned(known.id):
            return None
        known = transitions.restore(known.id, context.act_of(source))
        context.note("restored", known.id)
    return context.edit(known, changed_fields(difference, known), source)


def _apply_removal(difference: RemovedItem, context: ImportContext) -> None:
    """Archive the memory, unless it was changed after the version that was removed."""
    known, before = context.find(difference.id), difference.before
    if known is None or not known.live or not context.history.has_change(known.id):
        return
    if isinstance(before, MemoryLines):
        versions, path = before.values, before.last.path
    else:
        versions, path = frozenset((before.values,)), before.path
    if values_of(known) in versions:
        source = context.provenance.of(path, known.id)
        transitions.archive(known.id, context.act_of(source))
        context.note("archived", known.id)


def _add_item(difference: AddedItem, context: ImportContext) -> None:
    """Add an item: promoted if it is a person's or came with the files, else a candidate.

    A second text about one memory is a candidate, too.
    """
    placed, item = difference.placed, difference.placed.item
    if difference.is_second and item.id:
        texts = [" ".join(text.split()) for text in context.earlier_texts(item.id)]
        text = " ".join(item.content.split())
        was_replaced = text in texts and (text != texts[-1] or len(texts) == 1)
        if was_replaced and not context.history.has_written(item.content):
            return
    if not context.claim(placed):
        return
    source = context.provenance.of(placed.path, item.id, item.content)
    trust = source.trust
    by_merge = difference.is_second and not context.history.by_hand
    if source.by_person and (by_merge or order_of(item.title, item.content)):
        trust = Trust.IMPORT  # git put it there, or it needs a person's command
    origin = Origin(trust=trust, source_type=trust.value, claimed_author=source.author)
    promoted = not (difference.is_second or source.by_agent)
    _write(placed, origin, context, promoted=promoted)


def _write(
    placed: PlacedItem,
    origin: Origin,
    context: ImportContext,
    *,
    promoted: bool,
    created_at: datetime | None = None,
) -> None:
    """Pass a claimed item to the gate."""
    item, branch = placed.item, context.waits_on(placed.item.id, None)
    draft = Draft(
        content=item.content,
        category=placed.category,
        title=item.title,
        tags=item.tags,
        path=item.path,
        promoted=promoted,
        created_at=created_at,
        origin=replace(origin, source_id=placed.path, branch=branch),
    )
    context.write(draft, placed)


def _apply_review(difference: ReviewedCandidate, context: ImportContext) -> None:
    """Apply corrections, then a tick; another branch's sheet is no decision."""
    now, before, id = difference.now, difference.before, difference.now.placed.item.id
    known = _find_candidate(id, context)
    if known is None:
        store = context.act.store
        is_known = id and (context.find(id) is not None or memory_queries.is_dead_by_id(store, id))
        if not is_known:
            _propose(now, context)
        return
    if not context.history.has_file_change(SHEET):
        return
    source = context.provenance.of(SHEET, known.id)
    if before is None or now.values != before.values:
        edit = EditedItem(
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
            line = now.placed.item.line
            context.ignored.append(Problem(path=SHEET, line=line, message=message))
            return
        transitions.promote(known.id, context.act_of(source))
        context.note("promoted", known.id)


def _apply_refusal(difference: RefusedCandidate, context: ImportContext) -> None:
    """Reject the candidate, unless it was changed after the version that was removed.

    Where a commit took item and offer away, another store had archived it.
    """
    known, before = _find_candidate(difference.id, context), difference.before
    if known is None or (before and _with_category(before, known).values != values_of(known)):
        return
    history = context.history
    act = context.act_of(context.provenance.of(SHEET, known.id))
    if history.by_hand or (difference.offered and history.has_file_change(SHEET)):
        transitions.reject(known.id, act)
        context.note("rejected", known.id)
    elif history.has_change(known.id):
        transitions.archive(known.id, act)
        context.note("archived", known.id)


def _propose(offer: Offer, context: ImportContext) -> None:
    """Add a candidate of another store, or one that a person wrote; a tick promotes it."""
    item = offer.placed.item
    if not context.claim(offer.placed):
        return
    source = context.provenance.of(SHEET, item.id, item.content)
    order = order_of(item.title, item.content)
    by_person = item.id is None and source.by_person and not order
    trust, kind, moment = _parse_origin(offer.origin_text)
    if by_person or kind in context.settings.promote_sources:
        kind = "file"
    if source.by_agent:
        trust = source.trust
    trust = Trust.USER if by_person else trust
    origin = Origin(trust=trust, source_type=kind, claimed_author=source.author)
    promoted = offer.ticked and not source.by_agent
    _write(offer.placed, origin, context, promoted=promoted, created_at=moment)


def _find_candidate(id: str | None, context: ImportContext) -> Memory | None:
    """Return the memory if it is a candidate that the sheet may decide."""
    found = context.find(id)
    waits = found and found.live and found.status is Status.CANDIDATE
    return found if found and waits and not found.quarantine_reason else None


def _with_category(offer: Offer, known: Memory) -> PlacedItem:
    """Return the item in the category it names, or else in the memory's."""
    return offer.placed if offer.has_category else replace(offer.placed, category=known.category)


def _parse_origin(text: str) -> tuple[Trust, str, datetime | None]:
    """Parse trust, kind of source and time; a sheet cannot raise trust."""
    found = re.fullmatch(r"(?:(tool|web) by )?([\w-]{1,40})(?:, (\S+))?", text)
    if not found:
        return Trust.IMPORT, "file", None
    try:
        moment = parse(found[3]) if found[3] else None
    except ValueError:
        moment = None
    return Trust(found[1] or Trust.IMPORT), found[2], moment
