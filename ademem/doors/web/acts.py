"""Acts of the page: each calls one function of `api`, and can be undone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ademem import api
from ademem.api.curation import DECISIONS, require_revision
from ademem.core.errors import AdememError, UsageError
from ademem.core.memory import Memory
from ademem.core.text import counted, preview
from ademem.doors.web.asked import Asked, NotAllowed
from ademem.doors.web.route import Act, Done, by_event, in_order, last_event
from ademem.store.runtime import Runtime

LABEL_CHARS = 48


def _name(memory: Memory) -> str:
    return preview(memory.title or memory.content, LABEL_CHARS)


def _decision(verb: str, decide: Callable[..., Memory], **options: Any) -> Act:
    """Return an act on one memory at the revision that the browser saw."""

    def do(memories: Runtime, asked: Asked) -> Done:
        id = asked.path["id"]
        memory = decide(memories, id, revision=asked.revision, **options)
        return by_event(f"{verb} “{_name(memory)}”", last_event(memories, memory.id))

    return Act(path=f"/memory/{{id}}/{verb}", do=do)


def _reject(memories: Runtime, asked: Asked) -> Done:
    memory = api.refuse(
        memories,
        asked.path["id"],
        revision=asked.revision,
        reason=asked.form.get("reason", "").strip(),
    )
    return by_event(f"reject “{_name(memory)}”", last_event(memories, memory.id))


def _edit_and_promote(memories: Runtime, asked: Asked) -> Done:
    """Edit a candidate and confirm it; both are taken back together."""
    edited = _edit(memories, asked)
    accepted = api.promote(memories, asked.path["id"])
    return in_order(
        f"edit “{_name(accepted)}”",
        edited,
        by_event("", last_event(memories, accepted.id)),
    )


def _skip(memories: Runtime, asked: Asked) -> None:
    """Leave a memory out of the review until tomorrow."""
    asked.site.skipped[asked.path["id"]] = memories.now.astimezone().date().isoformat()


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
    memory = api.promote(memories, memory.id, pinned=pinned, revision=asked.revision)
    verb = "pin" if pinned else "promote"
    return by_event(f"{verb} “{_name(memory)}”", last_event(memories, memory.id))


def _promote_pinned(memories: Runtime, asked: Asked) -> Done:
    return _promote(memories, asked, pinned=True)


def _show_digits(memories: Runtime, asked: Asked) -> None:
    """Show new digits for a quarantined memory in the terminal of the server."""
    memory = api.get(memories, asked.path["id"])
    if asked.site.show_digits is None:
        raise NotAllowed("no terminal shows digits")
    asked.site.show_digits(memory.id, asked.site.entry.new_digits(memory.id))


def _edit(memories: Runtime, asked: Asked) -> Done:
    """Change a text; one in quarantine is read and approved, or rejected, before."""
    form = asked.form
    if api.get(memories, asked.path["id"]).quarantine_reason:
        raise NotAllowed("a text in quarantine is approved before it is edited")
    changes: dict[str, Any] = {
        name: form[name].replace("\r\n", "\n") for name in ("content", "category") if name in form
    }
    for name, key in (("title", "title"), ("topic_key", "topic_key"), ("path", "path")):
        if name in form:
            changes[key] = form[name].strip() or None
    if "importance" in form:
        changes["importance"] = form["importance"]
    if "tags" in form:
        changes["tags"] = tuple(form["tags"].replace(",", " ").split())
    memory = api.edit(memories, asked.path["id"], revision=asked.revision, **changes)
    return by_event(f"edit “{_name(memory)}”", last_event(memories, memory.id))


def _delete_hard(memories: Runtime, asked: Asked) -> None:
    """Delete a memory for good, which nothing takes back; the person types its id."""
    memory = api.get(memories, asked.path["id"])
    if asked.form.get("typed", "").strip() != memory.id:
        raise UsageError("the typed id is another one", f"type {memory.id} to delete it for good")
    api.delete(memories, memory.id, hard=True, revision=asked.revision)


def _settle(memories: Runtime, asked: Asked) -> Done:
    return _settled(memories, asked.path["id"], asked.form.get("other", ""))


def _settled(memories: Runtime, id: str, other: str) -> Done:
    api.settle_conflict(memories, id, other)
    return Done(label=f"settle {id}", back=lambda opened: _reopened(opened, id, other))


def _reopened(memories: Runtime, id: str, other: str) -> Done:
    api.reopen_conflict(memories, id, other)
    return Done(label=f"settle {id}", back=lambda opened: _settled(opened, id, other))


def _supersede(memories: Runtime, asked: Asked) -> Done:
    """Keep the other memory of a contradiction, and archive this one."""
    memory = api.supersede(
        memories, asked.path["id"], asked.form.get("by", ""), revision=asked.revision
    )
    return by_event(f"archive “{_name(memory)}”", last_event(memories, memory.id))


def _merge(memories: Runtime, asked: Asked) -> Done:
    memory = api.merge(
        memories,
        asked.path["id"],
        asked.form.get("into", ""),
        asked.form.get("content", "").replace("\r\n", "\n").strip(),
        revision=asked.revision,
    )
    return by_event(f"merge into “{_name(memory)}”", last_event(memories, memory.id))


def _undo_event(memories: Runtime, asked: Asked) -> Done:
    event = asked.form.get("event", "")
    restored = api.undo(memories, event)
    return by_event(f"undo {event}", last_event(memories, restored[0].id))


def _decide_all(memories: Runtime, asked: Asked) -> Done:
    """Decide about the selected memories in one act."""
    verb, tag = asked.form.get("verb", ""), asked.form.get("tag", "").strip()
    if verb not in (*DECISIONS, "tag"):
        raise UsageError(f"no decision {verb!r}", ", ".join(DECISIONS))
    found = [_selected(memories, given) for given in asked.lists.get("id", [])]
    if not found:
        raise UsageError("no memory is selected", "tick some first")
    if verb == "tag" and not tag:
        raise UsageError("there is no tag", "type one")
    if verb == "tag":
        event, decided = api.tag_all(memories, found, tag)
    else:
        event, decided = api.decide_all(memories, found, verb)
    if not decided:
        raise AdememError("none of them can be decided like this", "open one to see why")
    return by_event(f"{verb} {counted(len(decided), 'memory')}", event)


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
    Act(path="/log/undo", do=_undo_event),
)
