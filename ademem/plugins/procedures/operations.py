"""Functions about procedures, skills and missions."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ademem.core.memory import Memory
from ademem.operations.curation import act
from ademem.plugins.procedures import export, missions, records, skill_registry
from ademem.plugins.procedures.export import Exported, Files
from ademem.plugins.procedures.missions import Ended
from ademem.plugins.procedures.records import Procedure
from ademem.plugins.procedures.skill_registry import Scanned
from ademem.store import memory_queries, procedures
from ademem.store import missions as stored_missions
from ademem.store.missions import Mission
from ademem.store.runtime import Runtime, on_store

list_skills = on_store(skill_registry.list_files)
list_procedures = on_store(records.find_live)
get_procedure = on_store(records.get)
list_missions = on_store(stored_missions.list_all)
get_mission = on_store(missions.get_mission)


def reindex_skills(runtime: Runtime, *, dry_run: bool = False) -> Scanned:
    return skill_registry.scan(runtime, runtime.clock(), dry_run=dry_run)


def get_procedure_history(runtime: Runtime, id: str) -> dict[str, list[Any]]:
    id = get_procedure(runtime, id).id
    sources = procedures.sources(runtime.store).get(id, [])
    return {"sources": sources, "history": procedures.history(runtime.store, id)}


def record_outcome(runtime: Runtime, id: str, outcome: str, reason: str = "") -> Procedure:
    """*outcome* is `success` or `failure`; raises CannotDo for an abandoned procedure."""
    return records.report_outcome(get_procedure(runtime, id), outcome, reason, act(runtime))


def export_procedures(
    runtime: Runtime,
    id: str | None = None,
    *,
    name: str = "",
    publish: bool | None = None,
    dry_run: bool = False,
) -> list[Exported]:
    """Write confirmed procedures, or the one named, as skills; naming one confirms it.

    *name* is that of a new file. Raises Unconfirmed when an agent names a candidate.
    """
    job = export.Export(
        runtime=runtime,
        now=runtime.clock(),
        publish=runtime.settings.skills.publish if publish is None else publish,
        dry_run=dry_run,
        name=name,
    )
    return export.export_command(id, job, act(runtime))


def read_skill_files(runtime: Runtime, paths: Iterable[str]) -> Files:
    """Return the files and their rows, for `restore_skill_files`."""
    return export.read_files(paths, runtime)


def restore_skill_files(runtime: Runtime, files: Files, present: Files) -> None:
    """Undo an export: put *files* in the place of *present*; raises Conflict after a change."""
    export.restore_files(files, present, runtime)


def start_mission(runtime: Runtime, goal: str, *, id: str = "") -> Mission:
    return missions.start(goal, act(runtime), id=id)


def end_mission(runtime: Runtime, id: str, outcome: str, *, reason: str = "") -> Ended:
    """Copy the lessons; *outcome* is success, failure or cancelled."""
    return missions.end(id, outcome, reason, act(runtime), runtime.settings)


def restore_mission(
    runtime: Runtime, id: str, mission: Mission | None, present: Mission | None
) -> None:
    """Put a mission back as it was before its start (None) or its end.

    Raises CannotDo where it is not as *present*, or where a new one has memories by now.
    """
    missions.restore(id, mission, present, act(runtime))


def list_mission_memories(runtime: Runtime, id: str) -> list[Memory]:
    return memory_queries.of_mission(runtime.store, id=id)


def promote_from_mission(runtime: Runtime, id: str) -> Memory:
    return missions.promote(id, act(runtime), runtime.settings)
