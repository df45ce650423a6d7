"""Acts on procedures, skill files, missions and briefs."""

from __future__ import annotations

from collections.abc import Iterable

from ademem import api
from ademem.core.text import counted
from ademem.doors.undoable import Done, by_event, in_order, last_event
from ademem.doors.web.asked import Asked
from ademem.doors.web.route import Act
from ademem.store.runtime import Runtime
from ademem.synthesis.procedures.export import Files


def _record_outcome(memories: Runtime, asked: Asked) -> Done:
    outcome = asked.form.get("outcome", "")
    reason = asked.form.get("reason", "").strip()
    procedure = api.record_outcome(memories, asked.path["id"], outcome, reason)
    label = f"{outcome} of “{procedure.wording.title}”"
    return by_event(label, last_event(memories, procedure.id))


def _export(memories: Runtime, asked: Asked) -> Done:
    return _write_files(memories, asked.path["id"], publish="publish" in asked.form)


def _export_all(memories: Runtime, asked: Asked) -> Done:
    return _write_files(memories, None, publish="publish" in asked.form)


def _write_files(memories: Runtime, id: str | None, *, publish: bool) -> Done:
    """Export one procedure, which confirms it, or all confirmed ones."""
    ids = [each.id for each in api.list_procedures(memories)] if id is None else [id]
    events = _last_events(memories, ids)
    planned = api.export_procedures(memories, id, publish=publish, dry_run=True)
    before = api.read_skill_files(memories, [each.path for each in planned])
    done = api.export_procedures(memories, id, publish=publish)
    after = api.read_skill_files(memories, [each.path for each in done])
    written = sum(each.outcome == "written" for each in done)
    changes = [by_event("", event) for event in _last_events(memories, ids, events)]
    files = _files_done(before, after)
    return in_order(f"export, {counted(written, 'file')} written", *changes, files)


def _files_done(before: Files, after: Files) -> Done:
    def back(memories: Runtime) -> Done:
        api.restore_skill_files(memories, before, after)
        return _files_done(after, before)

    return Done(label="", back=back)


def _reindex(memories: Runtime, _: Asked) -> Done | None:
    """Scan the folders; undo takes back what that did to memories."""
    events = _last_events(memories, _skill_memories(memories))
    scanned = api.reindex_skills(memories)
    changes = _last_events(memories, _skill_memories(memories), events)
    found = len(scanned.added) + len(scanned.changed) + len(scanned.restored)
    label = f"reindex, {counted(found, 'file')} read, {len(scanned.archived)} gone"
    return in_order(label, *(by_event("", event) for event in changes)) if changes else None


def _skill_memories(memories: Runtime) -> list[str]:
    return [each.memory.id for each in api.list_skills(memories, gone=True) if each.memory]


def _last_events(memories: Runtime, ids: Iterable[str], known: Iterable[str] = ()) -> list[str]:
    """Return the last event of each memory, once, without the known ones."""
    found = dict.fromkeys(last_event(memories, id) for id in ids)
    return [event for event in found if event not in set(known)]


ACTS = (
    Act(path="/procedure/{id}/outcome", do=_record_outcome),
    Act(path="/procedure/{id}/export", do=_export),
    Act(path="/procedures/export", do=_export_all),
    Act(path="/skills/reindex", do=_reindex),
)
