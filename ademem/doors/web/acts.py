"""Acts of the page: forms as calls of the acts that all doors have, or of `api`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ademem import api
from ademem.api.curation import require_revision
from ademem.core.errors import UsageError
from ademem.core.memory import Memory
from ademem.doors import undoable
from ademem.doors.undoable import Done, NotAllowed
from ademem.doors.web import (
    evaluation_page,
    map_page,
    memories_page,
    memory_page,
    practice_acts,
    upkeep_pages,
)
from ademem.doors.web.asked import Asked
from ademem.doors.web.route import Act
from ademem.store.runtime import Runtime


def _decision(verb: str, decide: Callable[..., Memory], **options: Any) -> Act:
    """Return an act on one memory at the revision that the browser saw."""

    def do(memories: Runtime, asked: Asked) -> Done:
        memory = decide(memories, asked.path["id"], revision=asked.revision, **options)
        return undoable.by_memory(verb, memories, memory)

    return Act(path=f"/memory/{{id}}/{verb}", do=do)


def _reject(memories: Runtime, asked: Asked) -> Done:
    reason = asked.form.get("reason", "")
    return undoable.reject(memories, asked.path["id"], asked.revision, reason)


def _edit_and_promote(memories: Runtime, asked: Asked) -> Done:
    return undoable.edit_and_promote(memories, asked.path["id"], asked.revision, **asked.changes)


def _skip(memories: Runtime, asked: Asked) -> Done:
    return undoable.skip(memories, api.get(memories, asked.path["id"]).id)


def _promote(memories: Runtime, asked: Asked, *, pinned: bool = False) -> Done:
    """Confirm a memory; a quarantined one needs the digits that the terminal shows."""
    memory = api.get(memories, asked.path["id"])
    if memory.quarantine_reason:
        if asked.site.show_digits is None:
            raise NotAllowed(f"{memory.id} is in quarantine, and no terminal shows digits for it")
        if not asked.site.entry.check_digits(memory.id, asked.form.get("digits", "")):
            raise NotAllowed(
                f"these are not the digits for {memory.id}", "ask for new ones on its page"
            )
    return undoable.promote(memories, memory.id, asked.revision, pinned=pinned)


def _promote_pinned(memories: Runtime, asked: Asked) -> Done:
    return _promote(memories, asked, pinned=True)


def _show_digits(memories: Runtime, asked: Asked) -> None:
    """Show new digits for a quarantined memory in the terminal of the server."""
    memory = api.get(memories, asked.path["id"])
    if asked.site.show_digits is None:
        raise NotAllowed("no terminal shows digits")
    asked.site.show_digits(memory.id, asked.site.entry.new_digits(memory.id))


def _edit(memories: Runtime, asked: Asked) -> Done:
    return undoable.edit(memories, asked.path["id"], asked.revision, **asked.changes)


def _delete_hard(memories: Runtime, asked: Asked) -> None:
    """Delete a memory for good, which nothing takes back; the person types its id."""
    memory = api.get(memories, asked.path["id"])
    if asked.form.get("typed", "").strip() != memory.id:
        raise UsageError("the typed id is another one", f"type {memory.id} to delete it for good")
    api.delete(memories, memory.id, hard=True, revision=asked.revision)
    asked.site.forget(asked.project)


def _settle(memories: Runtime, asked: Asked) -> Done:
    return undoable.settle(memories, asked.path["id"], asked.form.get("other", ""))


def _supersede(memories: Runtime, asked: Asked) -> Done:
    by = asked.form.get("by", "")
    return undoable.supersede(memories, asked.path["id"], asked.revision, by)


def _merge(memories: Runtime, asked: Asked) -> Done:
    into, content = (asked.form.get(name, "") for name in ("into", "content"))
    content = content.replace("\r\n", "\n")
    return undoable.merge(memories, asked.path["id"], asked.revision, into, content)


def _undo_event(memories: Runtime, asked: Asked) -> Done:
    event = asked.form.get("event", "")
    return undoable.by_event(f"undo {event}", event).back(memories)


def _redo_event(memories: Runtime, asked: Asked) -> Done:
    """Bring back an act by undoing the undo of it."""
    event = asked.form.get("event", "")
    return undoable.by_event("redo", event).back(memories)


def _decide_all(memories: Runtime, asked: Asked) -> Done:
    """Decide about the selected memories in one act; one of two pairs may be selected twice."""
    found = [_selected(memories, given) for given in dict.fromkeys(asked.lists.get("id", []))]
    verb, tag = (asked.form.get(name, "").strip() for name in ("verb", "tag"))
    return undoable.decide_all(memories, found, verb, tag)


def _selected(memories: Runtime, given: str) -> Memory:
    """Return the memory of `ID:REVISION`; raises Conflict where it is at another revision."""
    id, _, revision = given.partition(":")
    memory = api.get(memories, id)
    require_revision(memory, int(revision) if revision.isdecimal() else None)
    return memory


ACTS = (
    Act(path="/memory/{id}/promote", do=_promote),
    Act(path="/memory/{id}/promote-pinned", do=_promote_pinned),
    Act(path="/memory/{id}/digits", do=_show_digits),
    Act(path="/memory/{id}/edit-promote", do=_edit_and_promote),
    Act(path="/memory/{id}/skip", do=_skip),
    Act(path="/memory/{id}/reject", do=_reject),
    _decision("archive", api.archive),
    _decision("restore", api.restore),
    _decision("delete", api.delete),
    _decision("pin", api.pin),
    _decision("unpin", api.pin, pinned=False),
    Act(path="/memory/{id}/edit", do=_edit),
    Act(path="/memory/{id}/delete-hard", do=_delete_hard),
    Act(path="/memory/{id}/settle", do=_settle),
    Act(path="/memory/{id}/supersede", do=_supersede),
    Act(path="/memory/{id}/merge", do=_merge),
    Act(path="/memories/decide", do=_decide_all),
    *memories_page.ACTS,
    *memory_page.ACTS,
    *map_page.ACTS,
    Act(path="/log/undo", do=_undo_event),
    Act(path="/log/redo", do=_redo_event),
    *practice_acts.ACTS,
    *evaluation_page.ACTS,
    *upkeep_pages.ACTS,
)
