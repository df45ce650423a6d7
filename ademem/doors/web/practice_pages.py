"""Pages of procedures, skill files, missions and agents."""

from __future__ import annotations

from typing import Any

from ademem import api
from ademem.core.errors import NoSuchMemory
from ademem.core.memory import Memory
from ademem.doors.views import practice as views
from ademem.doors.web.asked import Asked
from ademem.doors.web.route import Page
from ademem.store.runtime import Runtime


def _procedures(memories: Runtime, asked: Asked) -> dict[str, Any]:
    archived = bool(asked.query.get("archived"))
    found = api.list_procedures(memories, archived=archived)
    return {"procedures": [views.procedure_json(each) for each in found], "archived": archived}


def _procedure(memories: Runtime, asked: Asked) -> dict[str, Any]:
    found = api.get_procedure(memories, asked.path["id"])
    past = api.get_procedure_history(memories, found.id)
    sources = {id: _find(memories, id) for id in past["sources"]}
    return {"each": views.to_procedure(found, past["history"], sources)}


def _find(memories: Runtime, id: str) -> Memory | None:
    try:
        return api.get(memories, id)
    except NoSuchMemory:
        return None


def _skills(memories: Runtime, _: Asked) -> dict[str, Any]:
    scanned = api.reindex_skills(memories, dry_run=True)
    return {"skills": views.to_skills(api.list_skills(memories, gone=True), scanned)}


PAGES = (
    Page(path="/procedures", name="Procedures", template="procedures.html", read=_procedures),
    Page(path="/procedure/{id}", template="procedure.html", read=_procedure),
    Page(path="/skills", name="Skills", template="skills.html", read=_skills),
)
