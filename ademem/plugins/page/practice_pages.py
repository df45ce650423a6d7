"""Pages of procedures, skill files, missions and agents, and the acts on them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from ademem.core.errors import Conflict, UsageError
from ademem.core.text import counted
from ademem.core.untrusted import import_label
from ademem.core.value import as_dict
from ademem.doors.reading import find_memory
from ademem.doors.undoable import Done, by_event, by_memory, in_order, inverse, last_event
from ademem.doors.views import WITHHELD, to_row
from ademem.files.project_brief import FIELDS, StaleCore
from ademem.operations import curation, sessions
from ademem.operations.files import get_brief, list_agents, list_earlier_briefs, update_brief
from ademem.plugins.page.briefs import earlier_texts, field_text
from ademem.plugins.page.entry import Act, Page, PageRequest
from ademem.plugins.page.paging import cut
from ademem.plugins.procedures import operations, views
from ademem.plugins.procedures.export import Files
from ademem.plugins.procedures.missions import OUTCOMES
from ademem.store.missions import Mission
from ademem.store.runtime import Runtime
from ademem.store.transitions import CannotDo


def _page(
    name: str, rows: Sequence[dict[str, Any]], key: str, request: PageRequest
) -> dict[str, Any]:
    shown, following = cut(rows, key, request.query.get("after", ""))
    return {name: shown, "next": following}


def _procedures(memories: Runtime, request: PageRequest) -> dict[str, Any]:
    archived = bool(request.query.get("archived"))
    found = operations.list_procedures(memories, archived=archived)
    shown = [views.procedure_json(each) for each in found]
    return _page("procedures", shown, "id", request) | {"archived": archived}


def _procedure(memories: Runtime, request: PageRequest) -> dict[str, Any]:
    found = operations.get_procedure(memories, request.path["id"])
    past = operations.get_procedure_history(memories, found.id)
    return {
        "each": views.procedure_json(found),
        "memory": found.memory,
        "markdown": WITHHELD if found.memory.quarantine_reason else found.wording.markdown,
        "history": past["history"],
        "sources": {id: find_memory(memories, id) for id in past["sources"]},
    }


def _skills(memories: Runtime, request: PageRequest) -> dict[str, Any]:
    scanned = operations.reindex_skills(memories, dry_run=True)
    skills = views.to_skills(operations.list_skills(memories, archived=True), scanned)
    return _page("skills", skills, "path", request)


def _missions(memories: Runtime, request: PageRequest) -> dict[str, Any]:
    page = _page("missions", list(map(as_dict, operations.list_missions(memories))), "id", request)
    for row in page["missions"]:
        row["memories"] = len(operations.list_mission_memories(memories, row["id"]))
    return page


def _mission(memories: Runtime, request: PageRequest) -> dict[str, Any]:
    mission = operations.get_mission(memories, request.path["id"])
    entries = operations.list_mission_memories(memories, mission.id)
    episodes = sessions.list_episodes(memories, None, mission_id=mission.id)
    worked: list[str | None] = [each.session_id for each in episodes[::-1]]
    worked += [memory.source_session_id for memory in entries]
    return _page("entries", list(map(to_row, entries)), "id", request) | {
        "mission": mission,
        "sessions": list(dict.fromkeys(filter(None, worked))),
        "episode": next((each for each in episodes if not each.session_id), None),
    }


def _agents(memories: Runtime, request: PageRequest) -> dict[str, Any]:
    chosen = request.query.get("agent", "")
    brief = get_brief(memories, chosen)
    labelled = get_brief(memories, chosen, labelled=True)
    earlier = list_earlier_briefs(memories, chosen)
    return {
        "agents": list_agents(memories),
        "chosen": chosen,
        "brief": brief,
        "labelled": labelled,
        "came": import_label(brief.claimed_author) if brief else "",
        "fields": FIELDS,
        "text_of": field_text,
        "earlier": {each.name: list(earlier_texts(brief, earlier, each.name)) for each in FIELDS},
    }


PAGES = (
    Page("/procedures", "procedures.html", _procedures, "Procedures"),
    Page("/procedure/{id}", "procedure.html", _procedure),
    Page("/skills", "skills.html", _skills, "Skills"),
    Page("/missions", "missions.html", _missions, "Missions"),
    Page("/mission/{id}", "mission.html", _mission),
    Page("/agents", "agents.html", _agents, "Agents"),
)


Row = dict[str, Any] | None


def _record_outcome(memories: Runtime, request: PageRequest) -> Done:
    outcome = request.form.get("outcome", "")
    reason = request.form.get("reason", "").strip()
    procedure = operations.record_outcome(memories, request.path["id"], outcome, reason)
    label = f"{outcome} of “{procedure.wording.title}”"
    return by_event(label, last_event(memories, procedure.id))


def _export(memories: Runtime, request: PageRequest) -> Done:
    """Export one procedure, which confirms it, or all confirmed ones."""
    id, publish = request.path.get("id"), "publish" in request.form
    ids = [each.id for each in operations.list_procedures(memories)] if id is None else [id]
    events = _last_events(memories, ids)
    planned = operations.export_procedures(memories, id, publish=publish, dry_run=True)
    before = operations.read_skill_files(memories, [each.path for each in planned])
    done = operations.export_procedures(memories, id, publish=publish)
    after = operations.read_skill_files(memories, [each.path for each in done])
    written = sum(each.outcome == "written" for each in done)
    changes = [by_event("", event) for event in _last_events(memories, ids, events)]
    files = _files_done(before, after)
    return in_order(f"export, {counted(written, 'file')} written", *changes, files)


def _files_done(before: Files, after: Files) -> Done:
    given = {"before": before, "after": after}
    return Done(label="", way=restore_files.__name__, given=given)


@inverse
def restore_files(memories: Runtime, before: Files, after: Files) -> Done:
    operations.restore_skill_files(memories, before, after)
    return _files_done(after, before)


def _reindex(memories: Runtime, _: PageRequest) -> Done | None:
    events = _last_events(memories, _skill_memories(memories))
    scanned = operations.reindex_skills(memories)
    changes = _last_events(memories, _skill_memories(memories), events)
    found = len(scanned.added) + len(scanned.changed) + len(scanned.restored)
    label = f"reindex, {counted(found, 'file')} read, {len(scanned.archived)} gone"
    return in_order(label, *(by_event("", event) for event in changes)) if changes else None


def _skill_memories(memories: Runtime) -> list[str]:
    found = operations.list_skills(memories, archived=True)
    return [each.memory.id for each in found if each.memory]


def _last_events(memories: Runtime, ids: Iterable[str], before: Iterable[str] = ()) -> list[str]:
    """Return the last event of each memory, once, without those *before*."""
    found = dict.fromkeys(last_event(memories, id) for id in ids)
    return [event for event in found if event not in set(before)]


def _start_mission(memories: Runtime, request: PageRequest) -> Done:
    mission = operations.start_mission(
        memories, request.form.get("goal", ""), id=request.form.get("id", "")
    )
    return _mission_done(f"start the mission {mission.id}", mission.id, None, mission)


def _end_mission(memories: Runtime, request: PageRequest) -> Done:
    outcome = request.form.get("outcome", "")
    if outcome not in OUTCOMES:
        raise UsageError(f"no outcome {outcome!r}", ", ".join(OUTCOMES))
    before = operations.get_mission(memories, request.path["id"])
    reason = request.form.get("reason", "").strip()
    ended = operations.end_mission(memories, before.id, outcome, reason=reason)
    label = f"end the mission {before.id}, {counted(len(ended.copied), 'memory')} copied"
    copied = [by_event("", ended.event)] if ended.event else []
    return in_order(label, _mission_done("", before.id, before, ended.mission), *copied)


def _mission_done(label: str, id: str, before: Mission | None, after: Mission | None) -> Done:
    rows = {"before": before and as_dict(before), "after": after and as_dict(after)}
    given = {"label": label, "id": id, **rows}
    return Done(label=label, way=restore_mission.__name__, given=given)


@inverse
def restore_mission(memories: Runtime, label: str, id: str, before: Row, after: Row) -> Done:
    earlier, later = (Mission(**row) if row else None for row in (before, after))
    operations.restore_mission(memories, id, earlier, later)
    return _mission_done(label, id, later, earlier)


def _promote_entry(memories: Runtime, request: PageRequest) -> Done:
    with memories.store.transaction():  # so that the newest act is this one
        newest = _newest_event(memories)
        copy = operations.promote_from_mission(memories, request.path["id"])
        if _newest_event(memories) == newest:
            raise CannotDo(f"it was copied before, as {copy.id}", f"ademem show {copy.id}")
    return by_memory("copy to the project", memories, copy)


def _newest_event(memories: Runtime) -> str:
    return next((event.id for event in curation.list_events(memories, 1)), "")


def _edit_brief(memories: Runtime, request: PageRequest) -> Done:
    form, agent = request.form, request.form.get("agent", "")
    name, version = form.get("field", ""), form.get("version", "")
    if name not in (field.name for field in FIELDS) or not version.isdecimal():
        raise UsageError("the form names no field and version of a brief", "load the page again")
    before = field_text(get_brief(memories, agent), name)
    try:
        return set_field(memories, agent, name, form.get("content", ""), before, int(version))
    except StaleCore as error:
        raise Conflict(str(error), f"its text is now: {before}") from error


@inverse
def set_field(
    memories: Runtime, agent: str, name: str, text: str, before: str, version: int
) -> Done:
    lines = text.replace("\r\n", "\n").split("\n")
    is_list = any(field.is_list for field in FIELDS if field.name == name)
    changes = {name: lines if is_list else "\n".join(lines)}
    version = update_brief(memories, changes, agent, expect_version=version).version

    given = {"agent": agent, "name": name, "text": before, "before": text, "version": version}
    label = f"edit the brief of {agent or 'the project'}"
    return Done(label=label, way=set_field.__name__, given=given)


ACTS = (
    Act("/procedure/{id}/outcome", _record_outcome),
    Act("/procedure/{id}/export", _export),
    Act("/procedures/export", _export),
    Act("/skills/reindex", _reindex),
    Act("/missions/start", _start_mission),
    Act("/mission/{id}/end", _end_mission),
    Act("/memory/{id}/copy", _promote_entry),
    Act("/agents/edit", _edit_brief),
)
