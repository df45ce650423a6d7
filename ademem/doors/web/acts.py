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
    graph_pages,
    memories_page,
    practice_pages,
    upkeep_pages,
)
from ademem.doors.web.route import Act, PageRequest, revision_of
from ademem.store.runtime import Runtime


def _decision(verb: str, decide: Callable[..., Memory], **options: Any) -> Act:
    """Return an act on one memory at the revision that the browser saw."""

    def do(memories: Runtime, request: PageRequest) -> Done:
        memory = decide(memories, request.path["id"], revision=request.revision, **options)
        return undoable.by_memory(verb, memories, memory)

    return Act(path=f"/memory/{{id}}/{verb}", do=do)


def _reject(memories: Runtime, request: PageRequest) -> Done:
    reason = request.form.get("reason", "")
    return undoable.reject(memories, request.path["id"], request.revision, reason)


def _edit_and_promote(memories: Runtime, request: PageRequest) -> Done:
    return undoable.edit_and_promote(
        memories, request.path["id"], request.revision, **request.changes
    )


def _skip(memories: Runtime, request: PageRequest) -> Done:
    return undoable.skip(memories, api.get(memories, request.path["id"]).id)


def _promote(memories: Runtime, request: PageRequest, *, pinned: bool = False) -> Done:
    """Confirm a memory; a quarantined one needs the digits that the terminal shows."""
    memory = api.get(memories, request.path["id"])
    if memory.quarantine_reason:
        if request.site.show_digits is None:
            raise NotAllowed(f"{memory.id} is in quarantine, and no terminal shows digits for it")
        if not request.site.entry.check_digits(memory.id, request.form.get("digits", "")):
            raise NotAllowed(
                f"these are not the digits for {memory.id}", "ask for new ones on its page"
            )
    return undoable.promote(memories, memory.id, request.revision, pinned=pinned)


def _promote_pinned(memories: Runtime, request: PageRequest) -> Done:
    return _promote(memories, request, pinned=True)


def _show_digits(memories: Runtime, request: PageRequest) -> None:
    """Show new digits for a quarantined memory in the terminal of the server."""
    memory = api.get(memories, request.path["id"])
    if request.site.show_digits is None:
        raise NotAllowed("no terminal shows digits")
    request.site.show_digits(memory.id, request.site.entry.new_digits(memory.id))


def _edit(memories: Runtime, request: PageRequest) -> Done:
    return undoable.edit(memories, request.path["id"], request.revision, **request.changes)


def _delete_hard(memories: Runtime, request: PageRequest) -> None:
    """Delete a memory for good, which nothing takes back; the person types its id."""
    memory = api.get(memories, request.path["id"])
    if request.form.get("typed", "").strip() != memory.id:
        raise UsageError("the typed id is another one", f"type {memory.id} to delete it for good")
    api.delete(memories, memory.id, hard=True, revision=request.revision)
    request.site.forget(request.project)


def _settle(memories: Runtime, request: PageRequest) -> Done:
    return undoable.settle(memories, request.path["id"], request.form.get("other", ""))


def _supersede(memories: Runtime, request: PageRequest) -> Done:
    by = request.form.get("by", "")
    return undoable.supersede(memories, request.path["id"], request.revision, by)


def _merge(memories: Runtime, request: PageRequest) -> Done:
    into, content = (request.form.get(name, "") for name in ("into", "content"))
    content = content.replace("\r\n", "\n")
    return undoable.merge(memories, request.path["id"], request.revision, into, content)


def _undo_event(memories: Runtime, request: PageRequest) -> Done:
    event = request.form.get("event", "")
    return undoable.by_event(f"undo {event}", event).undo(memories)


def _redo_event(memories: Runtime, request: PageRequest) -> Done:
    """Bring back an act by undoing the undo of it."""
    event = request.form.get("event", "")
    return undoable.by_event("redo", event).undo(memories)


def _decide_all(memories: Runtime, request: PageRequest) -> Done:
    """Decide about the selected memories in one act; one of two pairs may be selected twice."""
    found = [_get_selected(memories, given) for given in dict.fromkeys(request.lists.get("id", []))]
    verb, tag = (request.form.get(name, "").strip() for name in ("verb", "tag"))
    return undoable.decide_all(memories, found, verb, tag)


def _get_selected(memories: Runtime, given: str) -> Memory:
    """Return the memory of `ID:REVISION`; raises Conflict where it is at another revision."""
    id, _, revision = given.partition(":")
    memory = api.get(memories, id)
    require_revision(memory, revision_of(revision))
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
    *graph_pages.ACTS,
    Act(path="/log/undo", do=_undo_event),
    Act(path="/log/redo", do=_redo_event),
    *practice_pages.ACTS,
    *evaluation_page.ACTS,
    *upkeep_pages.ACTS,
)
