"""Pages of procedures, skill files, missions and agents."""

from __future__ import annotations

from typing import Any

from ademem import api
from ademem.core.errors import NoSuchMemory
from ademem.core.memory import Memory
from ademem.core.value import as_dict
from ademem.doors.views import practice as views
from ademem.doors.web.asked import Asked
from ademem.doors.web.route import Page
from ademem.store.runtime import Runtime


def _procedures(memories: Runtime, asked: Asked) -> dict[str, Any]:
    archived = bool(asked.query.get("archived"))
    found = api.list_procedures(memories, archived=archived)
    rows, after = views.cut(
        [views.procedure_json(each) for each in found], "id", asked.query.get("after", "")
    )
    return {"procedures": rows, "next": after, "archived": archived}


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


def _skills(memories: Runtime, asked: Asked) -> dict[str, Any]:
    scanned = api.reindex_skills(memories, dry_run=True)
    skills = views.to_skills(api.list_skills(memories, gone=True), scanned)
    rows, after = views.cut(skills, "path", asked.query.get("after", ""))
    return {"skills": rows, "next": after}


def _missions(memories: Runtime, asked: Asked) -> dict[str, Any]:
    found = [as_dict(each) for each in api.list_missions(memories)]
    rows, after = views.cut(found, "id", asked.query.get("after", ""))
    for row in rows:
        row["memories"] = len(api.list_mission_memories(memories, row["id"]))
    return {"missions": rows, "next": after}


def _mission(memories: Runtime, asked: Asked) -> dict[str, Any]:
    mission = api.get_mission(memories, asked.path["id"])
    entries = api.list_mission_memories(memories, mission.id)
    episodes = api.list_episodes(memories, None, mission=mission.id)
    found = views.to_mission(mission, entries, episodes)
    rows, after = views.cut(found["entries"], "id", asked.query.get("after", ""))
    return {"mission": found | {"entries": rows}, "next": after}


def _agents(memories: Runtime, asked: Asked) -> dict[str, Any]:
    chosen = asked.query.get("agent", "")
    brief = api.get_brief(memories, chosen)
    shown = api.get_brief(memories, chosen, labelled=True)
    earlier = api.list_earlier_briefs(memories, chosen)
    return views.to_agents(api.list_agents(memories), chosen, brief, shown, earlier)


PAGES = (
    Page(path="/procedures", name="Procedures", template="procedures.html", read=_procedures),
    Page(path="/procedure/{id}", template="procedure.html", read=_procedure),
    Page(path="/skills", name="Skills", template="skills.html", read=_skills),
    Page(path="/missions", name="Missions", template="missions.html", read=_missions),
    Page(path="/mission/{id}", template="mission.html", read=_mission),
    Page(path="/agents", name="Agents", template="agents.html", read=_agents),
)
