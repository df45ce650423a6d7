"""One memory: its page, the preview of an edit, and acts on its anchors."""

from __future__ import annotations

from typing import Any

from ademem import api
from ademem.core.anchor import of_command
from ademem.core.errors import UsageError
from ademem.core.memory import Memory
from ademem.doors.undoable import Done, by_memory, edit
from ademem.doors.views import memories as views
from ademem.doors.views.practice import cut
from ademem.doors.web.route import Act, Page, PageRequest, Shown
from ademem.store.runtime import Runtime


def read_memory(memories: Runtime, request: PageRequest) -> dict[str, Any]:
    memory = api.get(memories, request.path["id"])
    related = api.find_related(memories, memory.id)
    revisions = api.list_revisions(memories, memory.id)
    chosen = [request.query.get(name, "") for name in ("from", "to")]
    values = views.to_page(
        memory,
        revisions=revisions,
        related={name: [api.get(memories, id) for id in ids] for name, ids in related.items()},
        astray=api.find_astray(memories, [memory]),
        can_show_digits=request.site.show_digits is not None,
    )
    history, earlier = cut(values["history"], "revision", request.query.get("after", ""))
    return values | {
        "history": history,
        "earlier": earlier,
        "newest": values["history"][0]["revision"],
        "prompt": _find_prompt(memories, memory),
        "uses": views.to_uses(api.list_uses(memories, memory.id)),
        "similar": views.to_similar(api.compare(memories, memory.id)),
        "anchors": views.to_anchors(api.compare_anchors(memories, memory.id)),
        "sites": views.to_sites(api.list_sites(memories, memory.id)),
        "lines": views.to_lines(api.find_lines(memories, memory.id)),
        "compared": views.compare_revisions(revisions, *chosen),
    }


def _find_prompt(memories: Runtime, memory: Memory) -> str:
    session = memory.source_session_id
    return api.find_prompt(memories, session, memory.created_at) if session else ""


def _preview(memories: Runtime, request: PageRequest) -> Shown:
    """Show the verdict of each rule of the gate on a text before it is saved."""
    memory = api.get(memories, request.path["id"])
    changes = request.changes
    content = changes.get("content", memory.content)
    return Shown(
        template="preview.html",
        values={
            "memory": memory,
            "revision": request.form.get("revision", ""),
            "title": changes.get("title", memory.title),
            "content": content,
            "tags": " ".join(changes.get("tags", memory.tags)),
            "rules": api.preview_edit(memories, memory.id, **changes),
            "changed": list(views.diff_words(memory.content, content)),
            "here": f"/memory/{memory.id}",
        },
    )


def _renew_anchor(memories: Runtime, request: PageRequest) -> Done:
    memory = api.renew_anchor(
        memories, request.path["id"], request.form.get("anchor", ""), revision=request.revision
    )
    return by_memory("move the anchor of", memories, memory)


def _bind(memories: Runtime, request: PageRequest) -> Done:
    """Have the memory shown at files of a pattern, or before a command."""
    path, command = (request.form.get(name, "").strip() for name in ("path", "command"))
    changes: dict[str, Any] = {"file_scope_pattern": path} if path else {}
    if command:
        anchors = api.get(memories, request.path["id"]).anchors
        changes["anchors"] = (*anchors, of_command(command))
    if not changes:
        raise UsageError("no file and no command was given", "type one of them")
    return edit(memories, request.path["id"], request.revision, **changes)


PAGES = (Page(path="/memory/{id}", template="memory.html", read=read_memory),)
ACTS = (
    Act(path="/memory/{id}/preview", do=_preview, decides=False),
    Act(path="/memory/{id}/bind", do=_bind),
    Act(path="/memory/{id}/renew-anchor", do=_renew_anchor),
)
