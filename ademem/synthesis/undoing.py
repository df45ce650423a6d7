"""Take an act back: every memory that it changed is again as it was before."""

from __future__ import annotations

from ademem.core.errors import FORBIDDEN, NotFound
from ademem.core.memory import Trust
from ademem.core.value import replace
from ademem.core.who import remedy
from ademem.store import jobs, judged_texts, memories, procedures, revisions
from ademem.store.database import sqlite3
from ademem.store.transitions import BY_PERSON, CannotDo

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from ademem.core.memory import Memory
    from ademem.store import Store
    from ademem.store.memories import Change
    from ademem.store.revisions import Revision
    from ademem.store.transitions import Act


def undo_event(event: str, act: Act, *, dry_run: bool = False) -> list[Memory]:
    """Restore every memory that the event changed to its state before, last change first.

    Raises NotFound, or CannotDo when one of them was changed since or is deleted for good, and
    for an agent where a person did it, or said or confirmed one of them.
    """
    reason = f"{revisions.UNDOES}{event}"
    change = replace(act, reason=reason, event_id=memories.new_event()).change("undo")
    with act.store.transaction():
        changed = revisions.of_events(act.store, [event])
        if not changed:
            raise NotFound(f"no event has the id {event!r}", "`ademem log` shows the events")
        _check(event, changed, act)
        if dry_run:
            ids = dict.fromkeys(row.memory_id for row in changed)
            return [memories.get(act.store, id) for id in ids]
        try:
            restored = [_put_back(revision, change, act.store) for revision in reversed(changed)]
        except sqlite3.IntegrityError as error:
            if str(error) in FORBIDDEN:
                raise
            raise CannotDo(
                "another live memory now says the same", "`ademem recall` finds it"
            ) from error
        procedures.undo_outcomes(act.store, event, change.event_id)
        procedures.undo_details(act.store, restored)
        jobs.follow(act.store, act.now)
    return restored


def _check(event: str, changed: Sequence[Revision], act: Act) -> None:
    for each in changed if act.by_agent else ():
        if each.actor == Trust.USER or memories.is_of_person(act.store, each.memory()):
            raise CannotDo(f"to undo {event} needs a person", remedy("undo", event))
    for left in {revision.memory_id: revision for revision in changed}.values():
        if left.operation == "delete" and not left.snapshot["content"]:
            hint = (
                "nothing of it is left; `ademem log` shows acts before it, for `ademem undo EVENT`"
            )
            raise CannotDo(f"{left.memory_id} was deleted for good", hint)
        now = revisions.last(act.store, left.memory_id)
        if now.compared != left.compared and not _is_only_placed(left, now):
            why = f"{left.memory_id} was changed since ({now.operation})"
            raise CannotDo(why, f"`ademem undo {now.event_id}` takes that back first")


def _is_only_placed(inserted: Revision, now: Revision) -> bool:
    """Tell whether an agent said since where or when a new memory applies: that goes with it."""
    if inserted.operation != "insert" or now.actor == Trust.USER:
        return False
    return all(
        now.compared[name] == value
        for name, value in inserted.compared.items()
        if name != "anchors"
    )


def _put_back(revision: Revision, change: Change, store: Store) -> Memory:
    """Restore a memory to its state before the revision; one inserted by it is deleted.

    Raises CannotDo where an agent would restore a confirmed text that reads as an order.
    """
    memory = memories.get(store, revision.memory_id)
    before = revisions.before(store, revision)
    if before is None:
        earlier = replace(memory, deleted_at=change.at, pinned=False)
    else:
        earlier = replace(memory, **before.fields(), last_accessed_at=change.at)
        needs_check = change.actor != Trust.USER and earlier.live and not earlier.quarantine_reason
        text = earlier.title, earlier.content
        if needs_check and (found := judged_texts.find_instruction(store, *text)):
            raise CannotDo(f"{memory.id} needs a person, as its earlier text {found}", BY_PERSON)
    return memories.put_back(store, earlier, change)
