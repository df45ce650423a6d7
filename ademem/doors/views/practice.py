"""Procedures with their outcomes, skill files with their state, missions and briefs."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Any

from ademem.core.memory import flags
from ademem.core.untrusted import import_label
from ademem.core.value import as_dict
from ademem.doors.views import WITHHELD, to_row
from ademem.files.project_brief import FIELDS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from ademem.core.memory import Memory
    from ademem.files.project_brief import Agent, CoreMemory
    from ademem.store.episodes import Episode
    from ademem.store.missions import Mission
    from ademem.synthesis.procedures.records import Procedure
    from ademem.synthesis.skill_registry import Listed, Scanned

    Row = dict[str, Any]

PAGE = 50
"""Rows of one page of a list."""
STATES = {
    "changed": "edited",
    "archived": "deleted",
    "unchanged": "same",
    "added": "new",
    "restored": "new",
}
"""States of a skill file by its difference from the index."""


def cut(rows: Sequence[Row], key: str, after: str) -> tuple[list[Row], str]:
    """Return the page of rows behind the one with that key, and the key of its last row.

    The key is empty on the last page.
    """
    keys = [str(row[key]) for row in rows]
    start = keys.index(after) + 1 if after in keys else 0
    shown = list(rows[start : start + PAGE])
    return shown, str(shown[-1][key]) if start + PAGE < len(rows) else ""


def procedure_json(each: Procedure) -> dict[str, Any]:
    memory, details = each.memory, each.details
    withheld = memory.quarantine_reason is not None
    return {
        "id": memory.id,
        "title": WITHHELD if withheld else memory.title,
        "trigger": WITHHELD if withheld else each.wording.trigger,
        "status": memory.status,
        "confidence": round(memory.confidence, 4),
        "success_count": details.success_count,
        "failure_count": details.failure_count,
        "last_used_at": details.last_used_at.isoformat() if details.last_used_at else None,
        "exported_skill_path": details.exported_skill_path,
        "exported_at": details.exported_at.isoformat() if details.exported_at else None,
        "superseded_by": details.superseded_by_memory_id,
        "flags": flags(memory),
    }


def to_procedure(
    each: Procedure, history: Sequence[Mapping[str, Any]], sources: Mapping[str, Memory | None]
) -> dict[str, Any]:
    """Return one procedure with its steps, outcomes newest first, and the episodes behind it."""
    memory = each.memory
    return procedure_json(each) | {
        "revision": memory.revision_count,
        "is_live": memory.live,
        "is_candidate": memory.live and memory.status == "candidate",
        "withheld": memory.quarantine_reason,
        "markdown": WITHHELD if memory.quarantine_reason else each.wording.markdown,
        "history": list(history),
        "sources": [
            {"id": id, "row": to_row(found) if found else None, "session": session}
            for id, found in sources.items()
            for session in [found.source_session_id if found else None]
        ],
    }


def skill_json(each: Listed) -> dict[str, Any]:
    entry, memory = each.entry, each.memory
    withheld = memory is not None and memory.quarantine_reason
    return {
        "path": entry.path,
        "name": WITHHELD if withheld else each.name,
        "kind": entry.kind,
        "source": entry.source,
        "memory": entry.memory_id,
        "content_hash": entry.content_hash,
        "modified_at": entry.last_modified_at.isoformat() if entry.last_modified_at else None,
        "archived_at": entry.archived_at.isoformat() if entry.archived_at else None,
        "flags": flags(memory) if memory else ["deleted"],
    }


def to_skills(listed: Iterable[Listed], scanned: Scanned) -> list[dict[str, Any]]:
    """Return the files of the index and of the folders by path, with state and problem."""
    states = {
        path: state for difference, state in STATES.items() for path in getattr(scanned, difference)
    }
    problems = {each.path: each.reason for each in scanned.problems}
    by_path = {each.entry.path: skill_json(each) for each in listed}
    return [
        by_path.get(path, {"path": path, "name": path, "memory": None, "source": None, "flags": []})
        | {
            "state": "problem" if path in problems else states.get(path, "deleted"),
            "problem": problems.get(path, ""),
        }
        for path in sorted({*by_path, *states, *problems})
    ]


def to_mission(
    mission: Mission, entries: Sequence[Memory], episodes: Sequence[Episode]
) -> dict[str, Any]:
    """Return a mission with its memories, oldest first, its sessions, and its episode."""
    written = [memory.source_session_id for memory in entries]
    seen = [each.session_id for each in episodes[::-1]]
    whole = next((each for each in episodes if not each.session_id), None)
    return as_dict(mission) | {
        "entries": [to_row(memory) for memory in entries],
        "sessions": [id for id in dict.fromkeys([*seen, *written]) if id],
        "episode": as_dict(whole) if whole else None,
    }


def to_agents(
    agents: Sequence[Agent],
    chosen: str,
    brief: CoreMemory | None,
    shown: CoreMemory | None,
    earlier: Sequence[CoreMemory],
) -> dict[str, Any]:
    """Return all agents, and the fields of one brief: as it is, as it is *shown*, and *earlier*."""
    return {
        "agents": [as_dict(each) for each in agents],
        "chosen": chosen,
        "version": brief.version if brief else 0,
        "came": import_label(brief.claimed_author) if brief else "",
        "updated_at": brief.updated_at if brief and brief.version else None,
        "fields": [
            {
                "name": field.name,
                "label": field.label,
                "is_list": field.is_list,
                "text": field_text(brief, field.name),
                "shown": field_text(shown, field.name).split("\n") if shown else [],
                "earlier": list(_earlier_texts(brief, earlier, field.name)),
                "claimed": [
                    text
                    for text in (brief.claimed if brief else ())
                    if text in field_text(brief, field.name).split("\n")
                ],
            }
            for field in FIELDS
        ],
    }


def _earlier_texts(
    brief: CoreMemory | None, earlier: Iterable[CoreMemory], name: str
) -> Iterator[dict[str, Any]]:
    """Yield the texts that a field had before, newest first, each with the version it began at."""
    after = field_text(brief, name)
    for same, versions in groupby(earlier, lambda each: field_text(each, name)):
        if same and same != after:
            first = [*versions][-1]
            yield {"text": same, "version": first.version, "at": first.updated_at}
        after = same


def field_text(brief: CoreMemory | None, name: str) -> str:
    """Return a field of a brief as text; a list has one item on each line."""
    value = getattr(brief, name) if brief else ""
    return value if isinstance(value, str) else "\n".join(value)
